//! Answers to a client.

use serde::Serialize;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    status: u16,
    kind: &'static str,
    /// The content security policy.
    policy: String,
    body: Vec<u8>,
}

/// The policy of JSON documents: a browser may neither show nor run them.
const NOTHING_ALLOWED: &str = "default-src 'none'; frame-ancestors 'none'";

impl Response {
    /// A page that must not be framed, with its own policy.
    pub fn page(html: &str, policy: &str) -> Self {
        let policy = format!("{policy}; frame-ancestors 'none'");
        Self { status: 200, kind: "text/html; charset=utf-8", policy, body: html.as_bytes().to_vec() }
    }

    /// A JSON document.
    pub fn json(value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => Self { status: 200, kind: "application/json", policy: NOTHING_ALLOWED.into(), body },
            Err(error) => Self::refusal(500, &error.to_string()),
        }
    }

    /// An error: a JSON document with the key `error`.
    pub fn refusal(status: u16, why: &str) -> Self {
        let body = serde_json::json!({ "error": why }).to_string().into_bytes();
        Self { status, kind: "application/json", policy: NOTHING_ALLOWED.into(), body }
    }

    /// The status code.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The bytes on the wire.
    pub fn bytes(&self, head_only: bool) -> Vec<u8> {
        let Self { status, kind, policy, body } = self;
        let reason = match status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            414 => "URI Too Long",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        let allow = if *status == 405 { "Allow: GET, HEAD\r\n" } else { "" };
        let mut bytes = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n{allow}\
             Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\nCache-Control: no-store\r\n\r\n",
            body.len()
        )
        .into_bytes();
        if !head_only {
            bytes.extend_from_slice(body);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_whole_and_strict() {
        let response = Response::json(&["a", "</script>"]);
        let text = String::from_utf8(response.bytes(false)).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, r#"["a","</script>"]"#);
        for part in ["HTTP/1.1 200 OK\r\n", "Content-Length: 17\r\n", "nosniff", "default-src 'none'", "no-store"] {
            assert!(head.contains(part), "{part}: {head}");
        }
        let head_only = String::from_utf8(response.bytes(true)).unwrap();
        assert_eq!(head_only, format!("{head}\r\n\r\n"));
        let refused = String::from_utf8(Response::refusal(405, "a \"reason\"\n").bytes(false)).unwrap();
        assert!(refused.contains("Allow: GET, HEAD\r\n") && refused.ends_with(r#"{"error":"a \"reason\"\n"}"#));
    }
}
