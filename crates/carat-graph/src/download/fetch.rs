//! Downloads one address into one part file: resumes, retries, and never takes more bytes than expected.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, StatusCode, header};

use super::{Event, Options};
use crate::DataError;

/// An attempt that brought this much more than any before does not count as failed: over a poor connection a large file
/// may come in several pieces.
const GOOD_PROGRESS: u64 = 1 << 20;

/// How long the body may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
    /// Exactly so many bytes; fewer is a broken connection, more is the wrong file.
    Exactly(u64),
    /// No more than so many bytes; the server tells how many.
    AtMost(u64),
}

impl Expected {
    fn limit(self) -> u64 {
        match self {
            Self::Exactly(size) | Self::AtMost(size) => size,
        }
    }
}

/// What to fetch, and into which file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'a> {
    /// Where it is.
    pub(super) address: &'a str,
    /// What to call it in reports.
    pub(super) what: &'a str,
    /// The file it grows in.
    pub(super) part: &'a Path,
    /// How long it may be.
    pub(super) expected: Expected,
}

/// Why a fetch failed after all attempts.
pub(super) enum FetchError {
    /// The server says that there is no such file.
    Missing(DataError),
    /// Anything else.
    Other(DataError),
}

impl From<DataError> for FetchError {
    fn from(error: DataError) -> Self {
        Self::Other(error)
    }
}

impl From<FetchError> for DataError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Missing(error) | FetchError::Other(error) => error,
        }
    }
}

/// Why one attempt failed.
enum Trouble {
    /// Another attempt may succeed.
    Passing(String),
    /// The server cannot resume the part; another attempt must start from the beginning.
    CannotResume(String),
    /// Not there.
    Missing(String),
    /// No attempt will succeed.
    Final(String),
    /// The server has another file than the one wanted; the part is worthless.
    WrongFile(String),
    /// The disk, not the network.
    Local(io::Error),
}

/// Keeps connections open from one file to the next.
pub(super) struct Fetcher<'a> {
    agent: Agent,
    options: &'a Options,
}

impl<'a> Fetcher<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("carat/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(options.connect_timeout))
            .timeout_connect(Some(options.connect_timeout))
            .timeout_send_request(Some(options.stall_timeout))
            .timeout_recv_response(Some(options.stall_timeout))
            .timeout_per_read(Some(options.stall_timeout))
            .build();
        Self { agent: config.into(), options }
    }

    /// Fetches `job.address` into `job.part`, resuming what is there. Tells whether the part comes from more than one
    /// response.
    pub(super) fn fetch(&self, job: Job<'_>, report: &mut dyn FnMut(Event<'_>)) -> Result<bool, FetchError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(job.part).map_err(|e| DataError::write(job.part, e))?;
        let result = self.fetch_into(&mut file, job, report);
        let empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        drop(file);
        if result.is_err() && empty {
            super::discard(job.part)?;
        }
        result
    }

    fn fetch_into(&self, file: &mut File, job: Job<'_>, report: &mut dyn FnMut(Event<'_>)) -> Result<bool, FetchError> {
        let failed = |problem: String| DataError::Download { url: job.address.to_string(), problem };
        let local = |e: io::Error| DataError::write(job.part, e);
        let mut furthest = 0;
        let mut failures = 0;
        loop {
            let mut offset = file.metadata().map_err(local)?.len();
            if offset > 0 && matches!(job.expected, Expected::Exactly(size) if offset == size) {
                return Ok(true);
            }
            if offset >= job.expected.limit() {
                file.set_len(0).map_err(local)?;
                offset = 0;
            }
            let problem = match self.attempt(file, offset, job, report) {
                Ok(from) => return Ok(from > 0),
                Err(Trouble::Passing(problem)) => problem,
                Err(Trouble::CannotResume(problem)) => {
                    file.set_len(0).map_err(local)?;
                    problem
                }
                Err(Trouble::Missing(problem)) => return Err(FetchError::Missing(failed(problem))),
                Err(Trouble::Final(problem)) => return Err(failed(problem).into()),
                Err(Trouble::WrongFile(problem)) => {
                    file.set_len(0).map_err(local)?;
                    return Err(failed(problem).into());
                }
                Err(Trouble::Local(error)) => return Err(local(error).into()),
            };
            let reached = file.metadata().map_err(local)?.len();
            failures = if reached >= furthest + GOOD_PROGRESS { 0 } else { failures + 1 };
            furthest = furthest.max(reached);
            if failures >= self.options.tries.max(1) {
                let advice = "run the command again to resume, or name another server with --mirror URL";
                return Err(failed(format!("{problem}; gave up after {failures} attempts; {advice}")).into());
            }
            let pause = self.pause(failures);
            report(Event::Retry { what: job.what, problem: &problem, pause });
            std::thread::sleep(pause);
        }
    }

    fn pause(&self, failures: u32) -> Duration {
        self.options.back_off.saturating_mul(1 << failures.saturating_sub(1).min(6))
    }

    /// One request. Returns the offset from which the server resumed: 0 if it sent the whole file.
    fn attempt(
        &self,
        file: &mut File,
        offset: u64,
        Job { address, what, expected, .. }: Job<'_>,
        report: &mut dyn FnMut(Event<'_>),
    ) -> Result<u64, Trouble> {
        let mut request = self.agent.get(address).header(header::ACCEPT_ENCODING, "identity");
        if offset > 0 {
            request = request.header(header::RANGE, format!("bytes={offset}-"));
        }
        let response = request.call().map_err(|e| self.explain(e))?;
        let status = response.status();
        let start = match status {
            // A server that does not know ranges sends everything.
            StatusCode::OK => 0,
            StatusCode::PARTIAL_CONTENT => match content_range(response.headers()) {
                Some((start, _)) if start == offset && offset > 0 => offset,
                _ => return Err(Trouble::CannotResume("the server sent another part than the one asked for".into())),
            },
            StatusCode::RANGE_NOT_SATISFIABLE => {
                return Err(Trouble::CannotResume("the server cannot resume".into()));
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                let advice = "the server has no such file; name another with --mirror URL";
                return Err(Trouble::Missing(format!("status {}: {advice}", status.as_u16())));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
                return Err(Trouble::Passing(format!("the server answered with status {status}")));
            }
            status if status.is_server_error() => {
                return Err(Trouble::Passing(format!("the server answered with status {status}")));
            }
            status => return Err(Trouble::Final(format!("the server answered with status {status}"))),
        };
        let total = match start {
            0 => response.body().content_length(),
            _ => content_range(response.headers()).and_then(|(_, total)| total),
        };
        if let Some(total) = total.filter(|total| *total > expected.limit()) {
            return Err(too_long(Some(total), expected));
        }
        let goal = match expected {
            Expected::Exactly(size) => Some(size),
            Expected::AtMost(_) => total,
        };
        file.set_len(start).map_err(Trouble::Local)?;
        file.seek(SeekFrom::Start(start)).map_err(Trouble::Local)?;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0u8; 1 << 16];
        let mut received = start;
        report(Event::Progress { what, received, size: goal });
        loop {
            let n = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(self.explain(ureq::Error::from(e))),
            };
            if received + n as u64 > expected.limit() {
                return Err(too_long(None, expected));
            }
            file.write_all(&buffer[..n]).map_err(Trouble::Local)?;
            received += n as u64;
            report(Event::Progress { what, received, size: goal });
        }
        match goal {
            Some(goal) if received < goal => {
                Err(Trouble::Passing(format!("the server closed the connection after {received} of {goal} bytes")))
            }
            _ => Ok(start),
        }
    }

    /// Describes a network error, and tells whether another attempt makes sense.
    fn explain(&self, error: ureq::Error) -> Trouble {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                Trouble::Passing(format!("no connection within {:?}", self.options.connect_timeout))
            }
            ureq::Error::Timeout(_) => {
                Trouble::Passing(format!("the connection stalled: nothing for {:?}", self.options.stall_timeout))
            }
            ureq::Error::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                Trouble::Passing("the connection was cut short".into())
            }
            ureq::Error::Io(e) => Trouble::Passing(format!("the connection failed: {e}")),
            ureq::Error::Protocol(e) => Trouble::Passing(format!("the answer is not HTTP: {e}")),
            ureq::Error::ConnectionFailed => Trouble::Passing("the connection failed".into()),
            ureq::Error::HostNotFound => Trouble::Final("no such host, or no network".into()),
            other => Trouble::Final(other.to_string()),
        }
    }
}

fn too_long(total: Option<u64>, expected: Expected) -> Trouble {
    let sent = total.map_or_else(|| "more".to_string(), |total| format!("{total} bytes"));
    Trouble::WrongFile(match expected {
        Expected::Exactly(size) => format!("the server sent {sent}, but the catalogue has {size} bytes; not kept"),
        Expected::AtMost(size) => format!("the server sent {sent}, but the archive may have {size} bytes; not kept"),
    })
}

/// First byte and total of a `Content-Range: bytes 5-9/10` header.
fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let value = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.trim().parse().ok()?, total.trim().parse().ok()))
}
