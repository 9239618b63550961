//! `carat explore` as a user runs it: its server spoken to directly, its page and its exported files in a real browser.

mod page;
mod server;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::stdout;

/// Names that would do harm if they were taken for markup, script or part of a line.
pub const HOSTILE: [&str; 6] = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\"double\" & 'single'",
    "שלום עולם",
    "\u{202e}turned around",
    "a title that is so long that no picture on a telephone has room for it, whichever way it is turned",
];

/// The name of one of the first nodes, as pages show it: with its id, and without what turns text around.
pub fn hostile_name(node: usize) -> String {
    format!("{} (n{node})", HOSTILE[node].replace('\u{202e}', "\u{fffd}"))
}

/// A folder with a graph of hostile names in `graph`, and two runs on it: `plain` and `car`.
pub fn workshop() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph");
    std::fs::create_dir(&graph).unwrap();
    let mut nodes = String::from("id,label,name,year,f0,f1,f2\n");
    for n in 0..60 {
        let name = HOSTILE.get(n).map_or_else(|| format!("Paper {n}"), ToString::to_string).replace('"', "\"\"");
        let label = ["<b>bold</b>", "Theory", "Practice"][n % 3];
        let feature = |class: usize| f64::from(u8::from(n % 3 == class)) + ((n * 31 + class * 17) % 23) as f64 / 20.0;
        nodes.push_str(&format!(
            "n{n},{label},\"{name}\",{},{},{},{}\n",
            1990 + n % 30,
            feature(0),
            feature(1),
            feature(2)
        ));
    }
    std::fs::write(graph.join("nodes.csv"), nodes).unwrap();
    let mut edges = String::from("src,dst\n");
    // Node 0 is a hub; node 11 hears all the hostile names; nobody is heard by node 59.
    (1..59).for_each(|n| edges.push_str(&format!("n{n},n0\n")));
    (0..10).for_each(|n| edges.push_str(&format!("n{n},n11\n")));
    (12..58).for_each(|n| edges.push_str(&format!("n{},n{n}\nn{},n{n}\n", n * 7 % 59, n * 13 % 57)));
    (1..6).for_each(|n| edges.push_str(&format!("n{},n{n}\n", n + 20)));
    std::fs::write(graph.join("edges.csv"), edges).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let train = ["train", "--data", &at("graph"), "--hidden", "8", "--heads", "2", "--epochs", "6"];
    stdout(folder.path(), &[&train[..], &["--out", &at("plain")]].concat());
    stdout(folder.path(), &[&train[..], &["--lambda", "1", "--out", &at("car")]].concat());
    folder
}

/// A running server, killed in the end.
pub struct Running {
    child: Child,
    /// `127.0.0.1:12345`.
    pub host: String,
}

impl Running {
    /// Starts `carat explore plain car` in a workshop, and waits for the address that it prints.
    pub fn start(folder: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_carat"))
            .args(["explore", "plain", "car"])
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.strip_prefix("http://").and_then(|rest| rest.split('/').next());
        let host = host.unwrap_or_else(|| panic!("no address: {line}")).to_string();
        Self { child, host }
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.host.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Status, head and body of the answer to these bytes.
    pub fn send(&self, bytes: &[u8]) -> (u16, String, String) {
        self.try_send(bytes).unwrap()
    }

    /// The same, from a server that may break off.
    pub fn try_send(&self, bytes: &[u8]) -> std::io::Result<(u16, String, String)> {
        let mut stream = TcpStream::connect(&self.host)?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The server may have refused before it has read all.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Ok((status, head.to_string(), body.to_string()))
    }

    /// The same for a plain request for an address.
    pub fn get(&self, target: &str) -> (u16, String, String) {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host).as_bytes())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
