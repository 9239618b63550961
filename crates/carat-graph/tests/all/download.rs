//! Fetching from servers that cut short, stall, lie and never end.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::server::{Reply, Server};
use carat_graph::DataError;
use carat_graph::catalogue::{self, Entry, FileEntry, Fingerprint, Source};
use carat_graph::download::{Event, Options, Summary, get};
use sha2::{Digest, Sha256};

const PATH: &str = "planetoid/ind.test.x";

fn body(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 % 251) as u8).collect()
}

fn fingerprint(bytes: &[u8]) -> Fingerprint {
    let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Fingerprint { sha256, size: bytes.len() as u64 }
}

/// A dataset of one file that should hold `bytes`.
fn entry(bytes: &[u8], source: Source) -> Entry {
    let file = FileEntry { path: PATH.into(), fingerprint: Some(fingerprint(bytes)), packed: None, source };
    Entry { name: "test".into(), files: vec![file], ..catalogue::find("cora").unwrap() }
}

fn quick() -> Options {
    Options { stall_timeout: Duration::from_millis(400), back_off: Duration::from_millis(10), ..Options::default() }
}

/// Fetches `bytes` from `server`; the report of retries comes with the result.
fn fetch(server: &Server, bytes: &[u8], data_dir: &Path) -> (Result<Summary, DataError>, Vec<String>) {
    let entry = entry(bytes, Source::Address(format!("{}/{PATH}", server.address)));
    let mut retries = Vec::new();
    let result = get(&entry, data_dir, &quick(), &mut |event| {
        if let Event::Retry { problem, .. } = event {
            retries.push(problem.to_string());
        }
    });
    (result, retries)
}

/// The finished file, and nothing but it and the lock.
fn assert_clean(data_dir: &Path, bytes: &[u8]) {
    assert_eq!(fs::read(data_dir.join(PATH)).unwrap(), bytes);
    assert_eq!(fs::read_dir(data_dir.join("planetoid")).unwrap().count(), 1);
}

fn assert_nothing_kept(data_dir: &Path) {
    assert_eq!(fs::read_dir(data_dir.join("planetoid")).unwrap().count(), 0);
}

#[test]
fn a_file_is_fetched_only_once() {
    let bytes = body(300_000);
    let sent = bytes.clone();
    let server = Server::start(move |_, _| Reply::Whole(sent.clone()));
    let folder = tempfile::tempdir().unwrap();
    let (result, retries) = fetch(&server, &bytes, folder.path());
    assert_eq!(result.unwrap(), Summary { fetched: vec![PATH.into()], present: vec![] });
    assert!(retries.is_empty());
    assert_clean(folder.path(), &bytes);
    let (result, _) = fetch(&server, &bytes, folder.path());
    assert_eq!(result.unwrap(), Summary { fetched: vec![], present: vec![PATH.into()] });
    assert_eq!(server.requests().len(), 1);
    // Other contents under the same name are replaced.
    fs::write(folder.path().join(PATH), "something else").unwrap();
    assert_eq!(fetch(&server, &bytes, folder.path()).0.unwrap().fetched.len(), 1);
    assert_clean(folder.path(), &bytes);
}

#[test]
fn a_gzip_compressed_copy_counts_as_present() {
    let bytes = body(5_000);
    let server = Server::start(|_, _| Reply::Status("404 Not Found"));
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("planetoid")).unwrap();
    let packed = fs::File::create(folder.path().join(format!("{PATH}.gz"))).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
    encoder.write_all(&bytes).unwrap();
    encoder.finish().unwrap();
    assert_eq!(fetch(&server, &bytes, folder.path()).0.unwrap().present, [PATH]);
    assert!(server.requests().is_empty());
}

#[test]
fn a_connection_cut_short_is_resumed() {
    let bytes = body(200_000);
    let sent = bytes.clone();
    let server = Server::start(move |_, number| match number {
        0 => Reply::Truncated(sent.clone(), 70_000),
        _ => Reply::Ranged(sent.clone()),
    });
    let folder = tempfile::tempdir().unwrap();
    let (result, retries) = fetch(&server, &bytes, folder.path());
    result.unwrap();
    assert_clean(folder.path(), &bytes);
    assert_eq!(retries.len(), 1);
    assert_eq!(server.requests()[1].from, Some(70_000));
}

#[test]
fn a_later_run_resumes_where_the_first_gave_up() {
    let bytes = body(100_000);
    let sent = bytes.clone();
    let server = Server::start(move |_, number| match number {
        0 => Reply::Truncated(sent.clone(), 40_000),
        1..=2 => Reply::Status("503 Service Unavailable"),
        _ => Reply::Ranged(sent.clone()),
    });
    let folder = tempfile::tempdir().unwrap();
    let error = fetch(&server, &bytes, folder.path()).0.unwrap_err();
    assert!(matches!(error, DataError::Download { .. }) && !error.is_input_error());
    assert!(error.to_string().contains("status 503") && error.to_string().contains("3 attempts"), "{error}");
    assert!(!folder.path().join(PATH).exists());
    assert_eq!(fs::metadata(folder.path().join(format!("{PATH}.part"))).unwrap().len(), 40_000);
    fetch(&server, &bytes, folder.path()).0.unwrap();
    assert_eq!(server.requests()[3].from, Some(40_000));
    assert_clean(folder.path(), &bytes);
}

#[test]
fn a_server_that_ignores_ranges_is_read_from_the_start() {
    let bytes = body(100_000);
    let sent = bytes.clone();
    let server = Server::start(move |_, number| match number {
        0 => Reply::Truncated(sent.clone(), 40_000),
        _ => Reply::Whole(sent.clone()),
    });
    let folder = tempfile::tempdir().unwrap();
    fetch(&server, &bytes, folder.path()).0.unwrap();
    assert_eq!(server.requests()[1].from, Some(40_000));
    assert_clean(folder.path(), &bytes);
}

#[test]
fn a_server_that_refuses_a_range_is_read_from_the_start() {
    let bytes = body(100_000);
    let sent = bytes.clone();
    let server = Server::start(move |request, _| match request.from {
        Some(_) => Reply::Status("416 Range Not Satisfiable"),
        None => Reply::Whole(sent.clone()),
    });
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("planetoid")).unwrap();
    fs::write(folder.path().join(format!("{PATH}.part")), &bytes[..10_000]).unwrap();
    fetch(&server, &bytes, folder.path()).0.unwrap();
    assert_eq!(server.requests().iter().map(|r| r.from).collect::<Vec<_>>(), [Some(10_000), None]);
    assert_clean(folder.path(), &bytes);
}

#[test]
fn a_part_of_another_file_does_not_spoil_the_download() {
    let bytes = body(100_000);
    let sent = bytes.clone();
    let server = Server::start(move |_, _| Reply::Ranged(sent.clone()));
    for stale in [&b"rubbish"[..], &vec![0u8; 100_000], &vec![7u8; 200_000]] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("planetoid")).unwrap();
        fs::write(folder.path().join(format!("{PATH}.part")), stale).unwrap();
        fetch(&server, &bytes, folder.path()).0.unwrap();
        assert_clean(folder.path(), &bytes);
    }
}

#[test]
fn a_wrong_checksum_names_both_sums_and_keeps_nothing() {
    let bytes = body(50_000);
    let mut corrupt = bytes.clone();
    corrupt[25_000] ^= 1;
    let (expected, found) = (fingerprint(&bytes).sha256, fingerprint(&corrupt).sha256);
    let server = Server::start(move |_, _| Reply::Whole(corrupt.clone()));
    let folder = tempfile::tempdir().unwrap();
    let error = fetch(&server, &bytes, folder.path()).0.unwrap_err();
    assert!(matches!(error, DataError::Checksum { .. }), "{error}");
    assert!(error.to_string().contains(&expected) && error.to_string().contains(&found), "{error}");
    assert_nothing_kept(folder.path());
}

#[test]
fn a_stalled_connection_is_given_up_and_resumed() {
    let bytes = body(100_000);
    let sent = bytes.clone();
    let server = Server::start(move |_, number| match number {
        0 => Reply::Stalled(sent.clone(), 30_000, Duration::from_secs(20)),
        _ => Reply::Ranged(sent.clone()),
    });
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let (result, retries) = fetch(&server, &bytes, folder.path());
    result.unwrap();
    assert!(retries[0].contains("stalled"), "{retries:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(server.requests()[1].from, Some(30_000));
    assert_clean(folder.path(), &bytes);
}

#[test]
fn a_slow_connection_is_not_a_stalled_one() {
    let bytes = body(16_000);
    let sent = bytes.clone();
    // 16 pieces, 1.6 s in all: four times the stall limit, and never silent for as long as that.
    let server = Server::start(move |_, _| Reply::Slow(sent.clone(), 1_000, Duration::from_millis(100)));
    let folder = tempfile::tempdir().unwrap();
    let (result, retries) = fetch(&server, &bytes, folder.path());
    result.unwrap();
    assert!(retries.is_empty(), "{retries:?}");
    assert_clean(folder.path(), &bytes);
}

#[test]
fn server_trouble_passes_and_a_missing_file_does_not() {
    let bytes = body(1_000);
    let sent = bytes.clone();
    let server = Server::start(move |_, number| match number {
        0 => Reply::Status("500 Internal Server Error"),
        1 => Reply::Status("429 Too Many Requests"),
        _ => Reply::Whole(sent.clone()),
    });
    let folder = tempfile::tempdir().unwrap();
    let (result, retries) = fetch(&server, &bytes, folder.path());
    result.unwrap();
    assert_eq!(retries.len(), 2);
    assert_clean(folder.path(), &bytes);

    for status in ["404 Not Found", "403 Forbidden"] {
        let server = Server::start(move |_, _| Reply::Status(status));
        let folder = tempfile::tempdir().unwrap();
        let error = fetch(&server, &bytes, folder.path()).0.unwrap_err();
        assert!(error.to_string().contains(&status[..3]), "{error}");
        assert_eq!(server.requests().len(), 1);
        assert_nothing_kept(folder.path());
    }
}

#[test]
fn redirects_are_followed_but_not_for_ever() {
    let bytes = body(1_000);
    let sent = bytes.clone();
    let server = Server::start(move |request, _| match request.path.as_str() {
        "moved" => Reply::Whole(sent.clone()),
        _ => Reply::Redirect("moved".into()),
    });
    let folder = tempfile::tempdir().unwrap();
    fetch(&server, &bytes, folder.path()).0.unwrap();
    assert_clean(folder.path(), &bytes);

    let server = Server::start(|_, _| Reply::Redirect("round".into()));
    let folder = tempfile::tempdir().unwrap();
    assert!(fetch(&server, &bytes, folder.path()).0.is_err());
    assert!(server.requests().len() < 40);
    assert_nothing_kept(folder.path());
}

#[test]
fn a_body_that_is_too_long_is_refused_and_never_written() {
    let bytes = body(1_000);
    let endless = Server::start(|_, _| Reply::Endless);
    let announced = Server::start(|_, _| Reply::Whole(body(2_000)));
    for server in [&endless, &announced] {
        let folder = tempfile::tempdir().unwrap();
        let error = fetch(server, &bytes, folder.path()).0.unwrap_err();
        assert!(error.to_string().contains("the catalogue has 1000 bytes"), "{error}");
        assert_nothing_kept(folder.path());
    }
}

#[test]
fn a_server_that_is_not_there_or_not_a_web_server_is_an_error() {
    let bytes = body(1_000);
    let noise = Server::start(|_, _| Reply::Noise);
    let folder = tempfile::tempdir().unwrap();
    assert!(fetch(&noise, &bytes, folder.path()).0.is_err());
    assert_nothing_kept(folder.path());
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let entry = entry(&bytes, Source::Address(format!("http://{free}/x")));
    let error = get(&entry, folder.path(), &quick(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("connection failed"), "{error}");
    assert_nothing_kept(folder.path());
}

#[test]
fn two_at_once_share_one_download() {
    let bytes = body(400_000);
    let sent = bytes.clone();
    let server = Server::start(move |_, _| Reply::Slow(sent.clone(), 100_000, Duration::from_millis(100)));
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| fetch(&server, &bytes, folder.path()).0.unwrap());
        }
    });
    assert_eq!(server.requests().len(), 1);
    assert_clean(folder.path(), &bytes);
}

#[test]
fn a_mirror_replaces_every_address_and_may_hold_packed_files() {
    let (bytes, packed) = (body(10_000), body(3_000));
    let mut entry = entry(&bytes, Source::Unpublished);
    entry.files[0].packed = Some(fingerprint(&packed));
    let folder = tempfile::tempdir().unwrap();
    let error = get(&entry, folder.path(), &quick(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("--mirror"), "{error}");

    let sent = packed.clone();
    let server = Server::start(move |request, _| match request.path.as_str() {
        "data/planetoid/ind.test.x.gz" => Reply::Whole(sent.clone()),
        _ => Reply::Status("404 Not Found"),
    });
    let options = Options { mirror: Some(format!("{}/data/", server.address)), ..quick() };
    assert_eq!(get(&entry, folder.path(), &options, &mut |_| {}).unwrap().fetched, [PATH]);
    assert_eq!(fs::read(folder.path().join(format!("{PATH}.gz"))).unwrap(), packed);

    for bad in ["ftp://example.org", "/a/folder", "http://", "http://[::1", "http://a b/", ""] {
        let options = Options { mirror: Some(bad.into()), ..quick() };
        let error = get(&entry, folder.path(), &options, &mut |_| {}).unwrap_err();
        assert!(error.is_input_error() && error.to_string().contains("--mirror"), "{error}");
    }
}

/// A zip archive with these members.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn archive_entry(server: &Server, files: &[(&str, &[u8])]) -> Entry {
    let files = files
        .iter()
        .map(|(name, bytes)| FileEntry {
            path: format!("tudataset/SET/{name}"),
            fingerprint: Some(fingerprint(bytes)),
            packed: None,
            source: Source::Archive { address: format!("{}/SET.zip", server.address), member: format!("SET/{name}") },
        })
        .collect();
    Entry { name: "SET".into(), files, ..catalogue::find("MUTAG").unwrap() }
}

#[test]
fn files_are_taken_out_of_their_archive_which_is_fetched_once() {
    let (a, b) = (body(5_000), body(70_000));
    let zip = archive(&[("SET/README.txt", b"hello"), ("SET/a.txt", &a), ("SET/b.txt", &b)]);
    let cut = zip.len() / 2;
    let server = Server::start(move |_, number| match number {
        0 => Reply::Truncated(zip.clone(), cut),
        _ => Reply::Ranged(zip.clone()),
    });
    let folder = tempfile::tempdir().unwrap();
    let entry = archive_entry(&server, &[("a.txt", &a), ("b.txt", &b)]);
    let summary = get(&entry, folder.path(), &quick(), &mut |_| {}).unwrap();
    assert_eq!(summary.fetched.len(), 2);
    assert_eq!(fs::read(folder.path().join("tudataset/SET/a.txt")).unwrap(), a);
    assert_eq!(fs::read(folder.path().join("tudataset/SET/b.txt")).unwrap(), b);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(fs::read_dir(folder.path().join("tudataset/SET")).unwrap().count(), 2);
    assert!(!folder.path().join("SET.zip.part").exists());
}

#[test]
fn a_bad_archive_leaves_nothing() {
    let a = body(5_000);
    let cases = [
        (archive(&[("SET/other.txt", &a)]), "does not hold SET/a.txt"),
        (archive(&[("SET/a.txt", &body(5_001))]), "SHA-256"),
        // Unpacks to 50 MB; only what the catalogue allows is ever written.
        (archive(&[("SET/a.txt", &vec![0; 50_000_000])]), "SHA-256"),
        (b"this is no archive".to_vec(), "not a zip archive"),
    ];
    for (zip, complaint) in cases {
        let server = Server::start(move |_, _| Reply::Whole(zip.clone()));
        let folder = tempfile::tempdir().unwrap();
        let entry = archive_entry(&server, &[("a.txt", &a)]);
        let error = get(&entry, folder.path(), &quick(), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains(complaint), "{error}");
        assert_eq!(fs::read_dir(folder.path().join("tudataset/SET")).unwrap().count(), 0);
        assert!(!folder.path().join("SET.zip.part").exists());
    }
}
