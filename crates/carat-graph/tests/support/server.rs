//! A small HTTP server that misbehaves on demand.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the server was asked.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    /// The first byte of a `Range: bytes=N-` header.
    pub from: Option<usize>,
}

/// How it answers.
pub enum Reply {
    /// The whole body, whatever was asked.
    Whole(Vec<u8>),
    /// The body from the byte that was asked for, with status 206.
    Ranged(Vec<u8>),
    /// The headers promise `.0`, the connection closes after `.1` bytes of it.
    Truncated(Vec<u8>, usize),
    /// As [`Reply::Truncated`], but the connection stays open and silent for a while.
    Stalled(Vec<u8>, usize, Duration),
    /// The body in pieces of `.1` bytes with pauses.
    Slow(Vec<u8>, usize, Duration),
    /// No length, and bytes as long as the other side takes them.
    Endless,
    /// A redirect to a path of this server.
    Redirect(String),
    /// A bare status line.
    Status(&'static str),
    /// Bytes that are not HTTP.
    Noise,
}

/// A running server. The thread ends with the test process.
pub struct Server {
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers each request with what `reply` makes of it and of the number of requests before it.
    pub fn start(reply: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, reply) = (Arc::clone(&requests), Arc::new(reply));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, reply) = (Arc::clone(&seen), Arc::clone(&reply));
                thread::spawn(move || {
                    let Some(request) = read_request(&stream) else { return };
                    let number = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(request.clone());
                        seen.len() - 1
                    };
                    // The client may hang up at any moment; that is its right.
                    let _ = answer(stream, reply(&request, number), request.from);
                });
            }
        });
        Self { address, requests }
    }

    /// Everything asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let path = first.split(' ').nth(1)?.trim_start_matches('/').to_string();
    let mut from = None;
    for line in lines {
        let line = line.ok()?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().ok();
        }
    }
    Some(Request { path, from })
}

fn answer(mut stream: TcpStream, reply: Reply, from: Option<usize>) -> std::io::Result<()> {
    let head = |status: &str, length: usize| {
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
    };
    match reply {
        Reply::Whole(body) => {
            stream.write_all(head("200 OK", body.len()).as_bytes())?;
            stream.write_all(&body)
        }
        Reply::Ranged(body) => {
            let start = from.unwrap_or(0);
            if start == 0 {
                return answer(stream, Reply::Whole(body), None);
            }
            if start >= body.len() {
                return answer(stream, Reply::Status("416 Range Not Satisfiable"), None);
            }
            let (rest, end, all) = (body.len() - start, body.len() - 1, body.len());
            let range = format!("Content-Range: bytes {start}-{end}/{all}\r\nConnection: close\r\n\r\n");
            stream
                .write_all(format!("HTTP/1.1 206 Partial Content\r\nContent-Length: {rest}\r\n{range}").as_bytes())?;
            stream.write_all(&body[start..])
        }
        Reply::Truncated(body, kept) => {
            stream.write_all(head("200 OK", body.len()).as_bytes())?;
            stream.write_all(&body[..kept])
        }
        Reply::Stalled(body, kept, pause) => {
            stream.write_all(head("200 OK", body.len()).as_bytes())?;
            stream.write_all(&body[..kept])?;
            thread::sleep(pause);
            Ok(())
        }
        Reply::Slow(body, piece, pause) => {
            stream.write_all(head("200 OK", body.len()).as_bytes())?;
            for piece in body.chunks(piece) {
                stream.write_all(piece)?;
                stream.flush()?;
                thread::sleep(pause);
            }
            Ok(())
        }
        Reply::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&[b'x'; 4096])?;
            }
        }
        Reply::Redirect(path) => stream.write_all(
            format!("HTTP/1.1 302 Found\r\nLocation: /{path}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        ),
        Reply::Status(status) => stream.write_all(head(status, 0).as_bytes()),
        Reply::Noise => stream.write_all(b"220 this is an FTP server\r\n"),
    }
}
