//! The server, spoken to byte by byte.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Running, hostile_name, workshop};
use crate::support::{assert_fails, carat};

#[test]
fn questions_are_answered_and_everything_else_is_refused() {
    let folder = workshop();
    let server = Running::start(folder.path(), &["--threads", "2"]);
    let host = &server.host;

    let (status, head, page) = server.get("/");
    assert_eq!(status, 200);
    for part in
        ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "nosniff", "text/html; charset=utf-8"]
    {
        assert!(head.contains(part), "{part}: {head}");
    }
    assert!(!head.contains("unsafe") && !head.to_lowercase().contains("access-control"), "{head}");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    let (status, head_only, nothing) = server.send(format!("HEAD / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
    assert_eq!((status, nothing.as_str()), (200, ""));
    assert_eq!(head_only, head);

    let json = |target: &str| {
        let (status, head, body) = server.get(target);
        assert!(status == 200 && head.contains("Content-Type: application/json"), "{target}: {head} {body}");
        serde_json::from_str::<Value>(&body).unwrap()
    };
    assert_eq!(json("/api/info")["nodes"], 60);
    let found = json("/api/search?q=%D7%A9%D7%9C%D7%95%D7%9D");
    assert_eq!((&found["nodes"][0]["id"], &found["nodes"][0]["name"]), (&3.into(), &hostile_name(3).into()));
    let view = json("/api/node?id=11&limit=6");
    assert_eq!((view["edges"].as_array().unwrap().len(), &view["node"]["degree"]), (6, &10.into()));
    let without = json("/api/without?src=4&dst=11");
    assert_eq!(without["source"]["name"], hostile_name(4));
    assert_eq!(without["runs"][0]["before"]["loss"], view["runs"][0]["loss"]);

    // Other hosts' names (DNS rebinding), other origins, other sites.
    let with = |host: &str, more: &str| server.send(format!("GET /api/info HTTP/1.1\r\n{host}{more}\r\n").as_bytes()).0;
    let ours = format!("Host: {host}\r\n");
    let port = server.port();
    assert_eq!(with(&ours, ""), 200);
    assert_eq!(with(&format!("Host: localhost:{port}\r\n"), &format!("Origin: http://localhost:{port}\r\n")), 200);
    for wrong in [
        "",
        "Host: evil.example\r\n",
        "Host: 127.0.0.1\r\n",
        "Host: evil.example:PORT\r\n",
        "Host: 127.0.0.1.nip.io:PORT\r\n",
    ] {
        assert_eq!(with(&wrong.replace("PORT", &port.to_string()), ""), 403, "{wrong}");
    }
    assert_eq!(with(&ours, &ours), 403);
    for more in ["Origin: http://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
        assert_eq!(with(&ours, more), 403, "{more}");
    }

    for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT"] {
        let sent = format!("{method} / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\n\r\nhello");
        let (status, head, _) = server.send(sent.as_bytes());
        assert!(status == 405 && head.contains("Allow: GET, HEAD"), "{method}: {head}");
    }
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/plain/config.toml",
        "/api/%2e%2e/%2e%2e/x",
        "/index.html",
    ] {
        let (status, _, body) = server.get(path);
        assert_eq!((status, body.contains("root:")), (404, false), "{path}");
    }
    assert_eq!(server.get(&format!("/api/search?q={}", "a".repeat(2500))).0, 414);
    assert_eq!(server.get(&format!("/{}", "a".repeat(100_000))).0, 414);
    let long = format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "a".repeat(100_000));
    assert_eq!(server.send(long.as_bytes()).0, 431);
    let (status, _, _) = server.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n");
    assert_eq!(status, 400);
    for (target, expected) in [
        ("/api/node?id=60", 404),
        ("/api/node?id=x", 400),
        ("/api/without?src=59&dst=11", 404),
        ("/api/search?q=%ff", 400),
    ] {
        assert_eq!(server.get(target).0, expected, "{target}");
    }
    assert_eq!(server.get("/api/info").0, 200, "after all that");
}

#[test]
fn slow_and_silent_clients_do_not_delay_others() {
    let folder = workshop();
    let server = Running::start(folder.path(), &[]);
    let open = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(&server.host).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    let mut silent: Vec<TcpStream> = (0..20).map(|_| open(b"")).collect();
    silent.extend((0..20).map(|_| open(b"GET / HTTP/1.1\r\nHost: 127")));
    // One asks and never listens.
    let deaf = open(format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", server.host).as_bytes());
    let began = Instant::now();
    assert_eq!(server.get("/api/info").0, 200);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());

    // More than there is room for: some are turned away, and soon there is room again.
    silent.extend((0..60).map(|_| open(b"")));
    let answered = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(200));
        let asked = server.try_send(format!("GET /api/info HTTP/1.1\r\nHost: {}\r\n\r\n", server.host).as_bytes());
        asked.is_ok_and(|(status, _, _)| status == 200)
    });
    assert!(answered, "the server stays full");
    let mut said = String::new();
    silent[25].set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    silent[25].read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    drop(deaf);
}

#[test]
fn it_listens_on_loopback_only_and_ends_on_ctrl_c() {
    let folder = workshop();
    let mut server = Running::start(folder.path(), &["--node", "paper 30"]);
    let start: Value = serde_json::from_str(&server.get("/api/info").2).unwrap();
    assert_eq!(start["start"], 30);
    let port = server.port();
    // State 0A is listening; 0100007F is 127.0.0.1.
    let listening = |table: &str| -> Vec<String> {
        let text = std::fs::read_to_string(format!("/proc/{}/net/{table}", server.id())).unwrap_or_default();
        let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let ours = rows.filter(|row| row.len() > 3 && row[3] == "0A" && row[1].ends_with(&format!(":{port:04X}")));
        ours.map(|row| row[1].to_string()).collect()
    };
    assert_eq!((listening("tcp"), listening("tcp6")), (vec![format!("0100007F:{port:04X}")], Vec::new()));

    let runs = ["plain", "car"].map(|run| folder.path().join(run).display().to_string());
    let second = carat(folder.path(), &["explore", &runs[0], "--port", &port.to_string()]);
    assert_fails(&second, 2, &[&format!("port {port} is taken"), "--port"]);

    assert!(Command::new("kill").args(["-INT", &server.id().to_string()]).status().unwrap().success());
    let began = Instant::now();
    let status = server.child.wait().unwrap();
    assert!(status.success() && began.elapsed() < Duration::from_secs(5), "{status} after {:?}", began.elapsed());
    assert!(TcpStream::connect(&server.host).is_err());
}
