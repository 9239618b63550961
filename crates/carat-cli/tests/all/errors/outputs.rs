//! Outputs that cannot be written, and servers that do not hold what they promise.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use super::{Case, Under, case, nothing, put, succeed};
use crate::support::samples;

fn graph(dir: &Path) {
    put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
}

fn failed(what: &'static str, command: &'static str, prepare: fn(&Path)) -> Case {
    Case { code: 1, ..case(what, command, prepare) }
}

fn full_disk(what: &'static str, command: &'static str, prepare: fn(&Path)) -> Case {
    Case { under: Under::FullDisk(2), ..failed(what, command, prepare) }
}

/// A larger graph, whose files do not fit the limit of [`full_disk`].
fn large(dir: &Path) {
    succeed(dir, "data generate planted --nodes 300 --mean-degree 4 --out graph.npz");
}

fn run(dir: &Path) {
    large(dir);
    succeed(dir, "train --data graph.npz --hidden 2 --heads 1 --layers 1 --epochs 1 --out run");
}

pub fn cases() -> Vec<Case> {
    vec![
        failed("An output folder that is a file", "data convert graph.npz graph.npz/out.npz", graph),
        failed("The same for a folder of tables", "data convert graph.npz graph.npz/out", graph),
        failed("An output in a folder that does not exist", "data convert graph.npz no/such/out.npz", graph),
        case("A folder that is not empty", "data convert graph.npz full", |dir| {
            graph(dir);
            put(dir, "full/notes.txt", "hello");
        }),
        case("Features too many for a table", "data convert graph.npz out", |dir| {
            let mut arrays = samples::own_arrays();
            arrays.retain(|array| array.0 != "x");
            arrays.push(("x_data", "<f4", &[1], samples::f32s(&[1.0])));
            arrays.push(("x_indices", "<i8", &[1], samples::i64s(&[0])));
            arrays.push(("x_indptr", "<i8", &[5], samples::i64s(&[0, 1, 1, 1, 1])));
            arrays.push(("x_shape", "<i8", &[2], samples::i64s(&[4, 4_000_000_000])));
            put(dir, "graph.npz", samples::npz(&arrays));
        }),
        failed("A run folder that is a file", "train --data graph.npz --epochs 1 --out graph.npz/run", graph),
        full_disk("The disk fills up: `.npz`", "data convert graph.npz out.npz", large),
        full_disk("The disk fills up: CSV tables", "data convert graph.npz out", large),
        full_disk("The disk fills up: Parquet tables", "data convert graph.npz out --format parquet", large),
        full_disk("The disk fills up: predictions", "predict --run run --out p.csv", run),
        full_disk("The disk fills up: attention", "attention --run run --out a.parquet", run),
        full_disk("The disk fills up: effects", "effects --run run --out e.csv", run),
        full_disk("The disk fills up: explained edges", "explain --base run --car run --out e.csv", run),
        Case { under: Under::FullStdout, ..failed("Standard output is full", "data list", nothing) },
        Case { under: Under::FullStdout, ..failed("The same with `--json`", "data list --json", nothing) },
        case("A mirror that is no web address", "data get cora --mirror ftp://example.org", nothing),
        failed("A dataset without a public address", "data get arxiv-tape", nothing),
        failed("A file with another checksum", "data get MUTAG --mirror SERVER/changed", nothing),
        failed("A server without the file", "data get MUTAG --mirror SERVER/missing", nothing),
        failed("A file that is longer than it should be", "data get MUTAG --mirror SERVER/longer", nothing),
    ]
}

/// What a download leaves on purpose: the data folder and the lock in it.
pub fn belongs_to_downloads(path: &Path, root: &Path) -> bool {
    let path = path.strip_prefix(root).unwrap_or(path);
    path == Path::new("data")
        || path.starts_with("data/.carat-download.lock")
        || path == Path::new("data/tudataset")
        || path == Path::new("data/tudataset/MUTAG")
}

/// A server whose files under `changed` have the right length and the wrong bytes, under `longer` one byte more, and
/// under anything else do not exist.
pub fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let path = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            let (way, file) = path.split_once('/').unwrap_or_default();
            let entry = carat_graph::catalogue::find("MUTAG").unwrap();
            let size = entry
                .files
                .iter()
                .find(|known| known.path == file)
                .map(|known| known.fingerprint.as_ref().unwrap().size as usize);
            let (status, length) = match (way, size) {
                ("changed", Some(size)) => ("200 OK", size),
                ("longer", Some(size)) => ("200 OK", size + 1),
                _ => ("404 Not Found", 0),
            };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            // The client may hang up when it has seen enough.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![b'0'; length]));
        }
    });
    address
}
