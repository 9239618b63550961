//! Connections: each has its own thread and a time limit, and their number is limited.
//!
//! One thread, the caller of [`Server::serve`], answers all requests one after the other and owns the networks and
//! their buffers. A client that sends or reads slowly does not delay the others.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use carat::Error;

use super::request::Request;
use super::response::Response;

/// The most connections at a time. One browser opens six.
const MOST_CONNECTIONS: usize = 64;
/// Time limit for sending an answer.
const SEND_TIMEOUT: Duration = Duration::from_secs(20);
/// After the answer, input is read and ignored for at most this long. Closing earlier, while a refused client is still
/// sending, would reset the connection before the client has read the answer.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// How often the server checks whether to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A server on a port of the loopback interface.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

/// A request, and the channel for its answer.
struct Question {
    request: Request,
    reply: SyncSender<Response>,
}

impl Server {
    /// Listens on a port of 127.0.0.1. With port 0 the system picks a free one.
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

    /// The address to open in a browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers requests on this thread until `stopped` is true.
    pub fn serve(self, mut answer: impl FnMut(&Request) -> Response, stopped: impl Fn() -> bool) -> Result<(), Error> {
        let (ask, questions) = sync_channel::<Question>(MOST_CONNECTIONS);
        let stop = Arc::new(AtomicBool::new(false));
        let (address, port) = (self.address, self.address.port());
        let (listener, stop_accepting) = (self.listener, Arc::clone(&stop));
        let acceptor = std::thread::Builder::new().name("acceptor".into()).spawn(move || {
            accept(&listener, port, &ask, &stop_accepting);
        });
        let acceptor = acceptor.map_err(|e| Error::Threads { threads: 1, problem: e.to_string() })?;
        while !stopped() {
            match questions.recv_timeout(POLL_INTERVAL) {
                // Sending fails only if the connection has ended.
                Ok(question) => drop(question.reply.send(answer(&question.request))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        stop.store(true, Ordering::SeqCst);
        // The acceptor waits for a connection: this one wakes it.
        drop(TcpStream::connect_timeout(&address, POLL_INTERVAL));
        if acceptor.join().is_err() {
            return Err(Error::Threads { threads: 1, problem: "the one that takes connections broke down".into() });
        }
        Ok(())
    }
}

/// Accepts connections until `stop` is set.
fn accept(listener: &TcpListener, port: u16, ask: &SyncSender<Question>, stop: &AtomicBool) {
    let open = Arc::new(AtomicUsize::new(0));
    for connection in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = connection else {
            // Most likely out of file descriptors: some will be free again soon.
            std::thread::sleep(POLL_INTERVAL);
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            let full = Response::refusal(503, "too many connections at once; try again");
            // A few hundred bytes fit into the socket's buffer, and it does not matter if the client is gone.
            let _ = stream.set_nonblocking(true).and_then(|()| stream.write_all(&full.bytes(false)));
            continue;
        }
        let (ask, counted) = (ask.clone(), Counted(Arc::clone(&open)));
        let started = std::thread::Builder::new().name("connection".into()).spawn(move || {
            let _counted = counted;
            // A connection that the client breaks off needs no handling.
            let _ = handle(&mut stream, port, &ask);
        });
        if started.is_err() {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// One of the open connections; dropping it lowers their number.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads one request, sends its answer, and closes the connection.
fn handle(stream: &mut TcpStream, port: u16, ask: &SyncSender<Question>) -> io::Result<()> {
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
    let deadline = Instant::now() + DRAIN_TIMEOUT;
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

/// Sends all bytes within [`SEND_TIMEOUT`].
fn send(stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let deadline = Instant::now() + SEND_TIMEOUT;
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
