use serde_json::Value;

use super::*;
use crate::samples::inputs;

/// Status and body of the answer to a request for this address.
fn ask(explorer: &mut Explorer<'_>, target: &str) -> (u16, Value) {
    let head = format!("GET {target} HTTP/1.1\r\nHost: localhost:4000\r\n\r\n");
    let request = Request::parse(head.as_bytes(), 4000).unwrap().unwrap();
    let response = answer(explorer, &LivePage::new(), &request);
    let text = String::from_utf8(response.bytes(false)).unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    (response.status(), serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.into())))
}

#[test]
fn every_address_has_its_answer_and_all_others_none() {
    let inputs = inputs();
    let mut explorer = Explorer::new(&inputs).unwrap();
    let (status, page) = ask(&mut explorer, "/");
    assert!(status == 200 && page.as_str().is_some_and(|html| html.starts_with("<!DOCTYPE html>")));
    let (status, info) = ask(&mut explorer, "/api/info");
    assert_eq!((status, &info["nodes"], &info["runs"][1]["name"]), (200, &Value::from(32), &Value::from("car")));
    let (status, found) = ask(&mut explorer, "/api/search?q=%3Cimg");
    assert_eq!((status, &found["nodes"][0]["id"]), (200, &Value::from(1)));
    let (status, view) = ask(&mut explorer, "/api/node?id=0&limit=3&layer=0&head=1");
    assert_eq!((status, view["edges"].as_array().map(Vec::len)), (200, Some(3)));
    let (status, without) = ask(&mut explorer, "/api/without?src=3&dst=0");
    assert_eq!((status, &without["source"]["id"], without["runs"].as_array().map(Vec::len)), (200, &3.into(), Some(2)));
    for (target, expected) in [
        ("/api/search", 400),
        ("/api/node", 400),
        ("/api/node?id=", 400),
        ("/api/node?id=-1", 400),
        ("/api/node?id=4294967296", 400),
        ("/api/node?id=32", 404),
        ("/api/node?id=1&limit=many", 400),
        ("/api/without?src=1", 400),
        ("/api/without?src=31&dst=0", 404),
        ("/api/without?src=1&dst=99", 404),
        ("/api", 404),
        ("/api/", 404),
        ("/api/info/", 404),
        ("//", 404),
        ("/index.html", 404),
        ("/../../etc/passwd", 404),
        ("/..%2f..%2fetc%2fpasswd", 404),
        ("/%2e%2e/config.toml", 404),
        ("/api/../config.toml", 404),
        ("http://localhost:4000/", 404),
    ] {
        let (status, answer) = ask(&mut explorer, target);
        assert_eq!(status, expected, "{target}: {answer}");
        assert!(answer["error"].as_str().is_some_and(|error| !error.is_empty()), "{target}: {answer}");
    }
}
