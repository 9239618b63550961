//! Connections: each has a thread of its own, none may take long, and there are never many.
//!
//! All questions are answered by one thread, the one that called [`Server::serve`], one after the other; it has the
//! networks and their buffers to itself. A client that is slow to ask or to listen keeps nobody else waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use carat::Error;

use super::request::Request;
use super::response::Response;

/// Connections at a time; one browser opens six.
const MOST_CONNECTIONS: usize = 64;
/// Time in which a client must have taken its answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a refused client may still be sending is read for so long and no further, so that it gets to see the answer.
const FAREWELL: Duration = Duration::from_millis(500);
/// Time between looks at whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A server on a port of the loopback interface.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

/// A request, and where its answer goes.
struct Question {
    request: Request,
    reply: SyncSender<Response>,
}

impl Server {
    /// Takes a port of 127.0.0.1; 0 takes any that is free.
    pub fn bind(port: u16) -> Result<Self, Error> {
        let refused = |error: io::Error| match error.kind() {
            ErrorKind::AddrInUse => {
                Error::Config(format!("port {port} is taken; choose another --port, or none to get a free one"))
            }
            _ => Error::Config(format!("cannot listen on port {port}: {error}; choose another --port")),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where a browser finds it.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers until `stopped` says so. Every question is answered on this thread.
    pub fn serve(self, mut answer: impl FnMut(&Request) -> Response, stopped: impl Fn() -> bool) -> Result<(), Error> {
        let (ask, questions) = sync_channel::<Question>(MOST_CONNECTIONS);
        let ended = Arc::new(AtomicBool::new(false));
        let (address, port) = (self.address, self.address.port());
        let (listener, over) = (self.listener, Arc::clone(&ended));
        let reception = std::thread::Builder::new().name("reception".into()).spawn(move || {
            receive(&listener, port, &ask, &over);
        });
        let reception = reception.map_err(|e| Error::Threads { threads: 1, problem: e.to_string() })?;
        while !stopped() {
            match questions.recv_timeout(LOOK_EVERY) {
                // Who no longer waits has gone away.
                Ok(question) => drop(question.reply.send(answer(&question.request))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        ended.store(true, Ordering::SeqCst);
        // The reception waits for a connection; this one lets it see that it is over.
        drop(TcpStream::connect_timeout(&address, LOOK_EVERY));
        if reception.join().is_err() {
            return Err(Error::Threads { threads: 1, problem: "the one that takes connections broke down".into() });
        }
        Ok(())
    }
}

/// Takes connections until it is over.
fn receive(listener: &TcpListener, port: u16, ask: &SyncSender<Question>, over: &AtomicBool) {
    let open = Arc::new(AtomicUsize::new(0));
    for connection in listener.incoming() {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = connection else {
            // Out of file descriptors, most likely: some will be free again soon.
            std::thread::sleep(LOOK_EVERY);
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            let full = Response::refusal(503, "too many connections at once; try again");
            // A few hundred bytes fit into the socket's buffer; a client that is gone does not matter.
            let _ = stream.set_nonblocking(true).and_then(|()| stream.write_all(&full.bytes(false)));
            continue;
        }
        let (ask, place) = (ask.clone(), Place(Arc::clone(&open)));
        let started = std::thread::Builder::new().name("connection".into()).spawn(move || {
            let _place = place;
            // A client that breaks off is its own affair.
            let _ = attend(&mut stream, port, &ask);
        });
        if started.is_err() {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// A place among the connections, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads one request, has it answered, and closes.
fn attend(stream: &mut TcpStream, port: u16, ask: &SyncSender<Question>) -> io::Result<()> {
    let (response, head_only) = match Request::read(stream, port) {
        Ok(None) => return Ok(()),
        Ok(Some(request)) => {
            let head_only = request.head_only;
            let (reply, replies) = sync_channel(1);
            let closing = || Response::refusal(503, "the server is closing");
            let asked = ask.send(Question { request, reply });
            (asked.ok().and_then(|()| replies.recv().ok()).unwrap_or_else(closing), head_only)
        }
        Err(refusal) => (refusal, false),
    };
    send(stream, &response.bytes(head_only))?;
    stream.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + FAREWELL;
    let mut rest = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        stream.set_read_timeout(Some(left))?;
        if stream.read(&mut rest)? == 0 {
            return Ok(());
        }
    }
}

/// Sends everything before the client's patience, or ours, is over.
fn send(stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
