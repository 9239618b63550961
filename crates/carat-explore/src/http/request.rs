//! Parses requests. Their bytes are untrusted.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;

use super::guard;
use super::response::Response;

/// The longest head of a request: its first line and its headers.
const LONGEST_HEAD: usize = 8 * 1024;
/// The longest path with its query.
const LONGEST_TARGET: usize = 2 * 1024;
/// The most headers. Browsers send fewer.
const MOST_HEADERS: usize = 64;
/// Time limit for receiving the whole head.
const PATIENCE: Duration = Duration::from_secs(5);

/// A valid request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The path, as it was sent; it names no file anywhere.
    pub path: String,
    /// The query's names and values, decoded.
    pub query: Vec<(String, String)>,
    /// Whether the client wants only the head of the answer.
    pub head_only: bool,
}

impl Request {
    /// The first value of that name in the query.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Reads one request to the server at `port`. An invalid request gives the answer that says so; `None` means that
    /// the client closed the connection without a request.
    pub fn read(stream: &mut TcpStream, port: u16) -> Result<Option<Self>, Response> {
        let deadline = Instant::now() + PATIENCE;
        let mut head = Vec::new();
        let mut piece = [0; 2048];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return Err(Response::refusal(408, "the request did not come in time"));
            }
            match stream.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(count) => head.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
                Err(_) => return Ok(None),
            }
            if let Some(request) = Self::parse(&head, port)? {
                return Ok(Some(request));
            }
        }
    }

    /// The request in these bytes; `None` if it is incomplete.
    pub fn parse(head: &[u8], port: u16) -> Result<Option<Self>, Response> {
        let line_ends = head.iter().position(|&byte| byte == b'\n');
        // The first line also holds the method and the version.
        if line_ends.unwrap_or(head.len()) > LONGEST_TARGET + 32 {
            return Err(Response::refusal(414, "the address is too long"));
        }
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let status = parsed.parse(&head[..head.len().min(LONGEST_HEAD)]);
        match status {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) if head.len() < LONGEST_HEAD => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::refusal(431, "the request has too many headers"));
            }
            Err(_) => return Err(Response::refusal(400, "this is no HTTP request")),
        }
        guard::check(parsed.headers, port)?;
        let head_only = match parsed.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => return Err(Response::refusal(405, "only GET and HEAD are answered")),
        };
        let target = parsed.path.unwrap_or_default();
        if target.len() > LONGEST_TARGET {
            return Err(Response::refusal(414, "the address is too long"));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path.starts_with("/api/") {
            guard::check_fetch(parsed.headers)?;
        }
        Ok(Some(Self { path: path.to_string(), query: decoded(query)?, head_only }))
    }
}

/// Names and values of a query.
fn decoded(query: &str) -> Result<Vec<(String, String)>, Response> {
    let text = |part: &str| {
        let part = part.replace('+', " ");
        let decoded = percent_decode_str(&part).decode_utf8().map(|text| text.into_owned());
        decoded.map_err(|_| Response::refusal(400, "the query is not UTF-8"))
    };
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Ok((text(name)?, text(value)?))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_do_harm(start in "(GET|HEAD|POST|.{0,9}) \
            ?[/?&=%+a-z0-9]{0,40}", rest in proptest::collection::vec(any::<u8>(), 0..300)) {
            let bytes = [start.as_bytes(), &rest].concat();
            let with_host = [start.as_bytes(), b" HTTP/1.1\r\nHost: localhost:8080\r\n", &rest, b"\r\n\r\n"].concat();
            for bytes in [bytes, with_host] {
                if let Err(refused) = Request::parse(&bytes, 8080) {
                    prop_assert!((400..500).contains(&refused.status()));
                }
            }
        }
    }

    fn parse(text: &str) -> Result<Option<Request>, u16> {
        Request::parse(text.as_bytes(), 8080).map_err(|refused| refused.status())
    }

    fn get(target: &str) -> Result<Option<Request>, u16> {
        parse(&format!("GET {target} HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"))
    }

    #[test]
    fn queries_are_decoded() {
        let request = get("/api/search?q=a%20b+c%26%3D%22&limit=3&&flag").unwrap().unwrap();
        assert_eq!(request.path, "/api/search");
        let expected = [("q", "a b c&=\""), ("limit", "3"), ("flag", "")];
        assert_eq!(request.query, expected.map(|(name, value)| (name.to_string(), value.to_string())));
        assert_eq!((request.value("limit"), request.value("none")), (Some("3"), None));
        assert_eq!(get("/?q=%ff"), Err(400));
        assert_eq!(get("/?q=%e2%98%83").unwrap().unwrap().value("q"), Some("☃"));
    }

    #[test]
    fn only_reading_is_answered() {
        for (method, status) in [("POST", 405), ("PUT", 405), ("DELETE", 405), ("OPTIONS", 405), ("G(T", 400)] {
            let found = parse(&format!("{method} / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"));
            assert_eq!(found, Err(status), "{method}");
        }
        assert!(parse("HEAD / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n").unwrap().unwrap().head_only);
        assert_eq!(parse("nonsense\r\n\r\n"), Err(400));
        assert_eq!(parse("GET / HTTP/1.1\r\nHost localhost\r\n\r\n"), Err(400));
    }

    #[test]
    fn long_requests_are_refused_before_they_are_complete() {
        assert_eq!(parse("GET / HTTP/1.1\r\nHost: localhost:80"), Ok(None));
        assert_eq!(get(&format!("/api/search?q={}", "a".repeat(3000))), Err(414));
        assert_eq!(parse(&format!("GET /{}", "a".repeat(3000))), Err(414));
        assert_eq!(parse(&format!("GET / HTTP/1.1\r\nHost: localhost:8080\r\nX: {}", "a".repeat(9000))), Err(431));
        let many: String = (0..70).map(|at| format!("X{at}: a\r\n")).collect();
        assert_eq!(parse(&format!("GET / HTTP/1.1\r\nHost: localhost:8080\r\n{many}\r\n")), Err(431));
        assert!(get(&format!("/?q={}", "a".repeat(2000))).unwrap().is_some());
    }
}
