//! Which requests are answered. The server listens on loopback only, but any web site open in a browser on the same
//! machine can make that browser send requests here.
//!
//! A site can point a name of its own at 127.0.0.1 (DNS rebinding); its requests carry that name as their host. A site
//! can also embed our addresses; its requests carry its own origin, or the browser says that they cross sites.

use httparse::Header;

use super::response::Response;

/// The host names of this machine.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Refuses a request to another host than this machine's server at `port`, or from a page of another origin.
pub fn check(headers: &[Header<'_>], port: u16) -> Result<(), Response> {
    let mut hosts = values(headers, "host");
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_ours(host, port) => {}
        _ => return Err(Response::refusal(403, "this server answers to 127.0.0.1 and localhost only")),
    }
    let foreign = |origin: &[u8]| !origin.strip_prefix(b"http://").is_some_and(|host| is_ours(host, port));
    if values(headers, "origin").any(foreign) {
        return Err(Response::refusal(403, "pages of other origins are not answered"));
    }
    Ok(())
}

/// Refuses requests that a page of another site makes. Following a link to this server is allowed.
pub fn check_fetch(headers: &[Header<'_>]) -> Result<(), Response> {
    if values(headers, "sec-fetch-site").any(|site| site != b"same-origin" && site != b"none") {
        return Err(Response::refusal(403, "pages of other sites are not answered"));
    }
    Ok(())
}

fn values<'a>(headers: &'a [Header<'a>], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
}

fn is_ours(host: &[u8], port: u16) -> bool {
    let Ok(host) = std::str::from_utf8(host) else { return false };
    HOSTS.iter().any(|name| {
        let rest = host.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name));
        rest.is_some() && (host[name.len()..] == format!(":{port}") || port == 80 && host.len() == name.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(list: &[(&str, &str)], port: u16) -> bool {
        let headers: Vec<Header<'_>> =
            list.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect();
        check(&headers, port).and_then(|()| check_fetch(&headers)).is_err()
    }

    #[test]
    fn only_this_machine_under_its_own_names() {
        for host in ["127.0.0.1:4000", "localhost:4000", "LOCALHOST:4000", "[::1]:4000"] {
            assert!(!refused(&[("Host", host)], 4000), "{host}");
        }
        for host in [
            "127.0.0.1",
            "127.0.0.1:4001",
            "127.0.0.1:40000",
            "127.0.0.1:4000.evil.example",
            "evil.example",
            "evil.example:4000",
            "localhost.evil.example:4000",
            "127.0.0.1.nip.io:4000",
            "0.0.0.0:4000",
            "localhost:04000",
            " localhost:4000",
            "user@localhost:4000",
            "",
            "łocalhost:4000",
        ] {
            assert!(refused(&[("Host", host)], 4000), "{host}");
        }
        assert!(!refused(&[("host", "localhost")], 80));
        assert!(refused(&[], 4000));
        assert!(refused(&[("Host", "localhost:4000"), ("Host", "localhost:4000")], 4000));
    }

    #[test]
    fn only_pages_of_our_own() {
        let with = |name, value| refused(&[("Host", "localhost:4000"), (name, value)], 4000);
        for origin in ["http://localhost:4000", "http://127.0.0.1:4000"] {
            assert!(!with("Origin", origin), "{origin}");
        }
        for origin in ["null", "https://localhost:4000", "http://evil.example", "http://localhost:4000/", ""] {
            assert!(with("Origin", origin), "{origin}");
        }
        for (site, wrong) in [("same-origin", false), ("none", false), ("same-site", true), ("cross-site", true)] {
            assert_eq!(with("Sec-Fetch-Site", site), wrong, "{site}");
        }
    }
}
