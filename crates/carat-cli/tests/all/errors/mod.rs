//! `docs/errors.md`: wrong inputs and what `carat` says to each. The document is made here, by running the binary, and
//! compared with the file, so it cannot rot. After a change of wording: `CARAT_BLESS=1 cargo test -p carat-cli --test
//! all errors`.
//!
//! Every case runs in a folder of its own. Whatever fails must leave that folder as it was, byte for byte.

mod arguments;
mod explain;
mod explore;
mod lab;
mod layouts;
mod mapped;
mod outputs;
mod own;
mod runs;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{as_in_paper, samples};

/// One wrong input.
pub struct Case {
    /// What is wrong, as the document puts it.
    pub what: &'static str,
    /// What follows `carat` on the command line.
    pub command: &'static str,
    /// 1: the work failed; 2: the arguments or the input are wrong.
    pub code: i32,
    /// Makes the files that the command meets.
    pub prepare: fn(&Path),
    /// How the command is run.
    pub under: Under,
}

/// The conditions a command runs under.
#[derive(Clone, Copy, PartialEq)]
pub enum Under {
    /// Nothing unusual.
    Usual,
    /// No file may grow beyond this many blocks of 512 bytes: a disk that fills up, without needing one.
    FullDisk(u32),
    /// Standard output goes to a full device.
    FullStdout,
}

/// A case under usual conditions where the input is wrong.
pub const fn case(what: &'static str, command: &'static str, prepare: fn(&Path)) -> Case {
    Case { what, command, code: 2, prepare, under: Under::Usual }
}

/// Needs no files.
pub fn nothing(_: &Path) {}

/// Writes a file below `folder`.
pub fn put(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Writes the files of a layout below `folder`.
pub fn put_all(folder: &Path, files: samples::Files) {
    for (name, bytes) in files {
        put(folder, &name, bytes);
    }
}

/// Runs `carat` where it must succeed, to make what a case needs.
pub fn succeed(folder: &Path, command: &str) {
    let output = carat(folder, command, Under::Usual);
    assert_eq!(output.2, Some(0), "carat {command}: {}", output.1);
}

fn carat(folder: &Path, command: &str, under: Under) -> (String, String, Option<i32>) {
    let program = env!("CARGO_BIN_EXE_carat");
    let mut child = match under {
        Under::FullDisk(blocks) => {
            let mut shell = Command::new("sh");
            // Without the trap the signal of the limit would end the process; a full disk sends none.
            shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")).arg(program);
            shell
        }
        _ => Command::new(program),
    };
    let stdout = match under {
        Under::FullStdout => File::create("/dev/full").unwrap().into(),
        _ => Stdio::piped(),
    };
    let output = child
        .args(as_in_paper(&command.split(' ').collect::<Vec<_>>()))
        .current_dir(folder)
        .env("CARAT_DATA", "data")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// Every file and folder below `root`, with the contents of the files.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
                found.insert(path, None);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, Some(bytes));
            }
        }
    }
    found
}

/// Runs a case; gives its row of the table. Adds to `problems` what is not as it should be.
fn row(case: &Case, problems: &mut Vec<String>) -> String {
    let folder = tempfile::tempdir().unwrap();
    // The name as the program sees it, should the temporary folder be a link.
    let root = folder.path().canonicalize().unwrap();
    (case.prepare)(&root);
    let before = snapshot(&root);
    let server = case.command.contains("SERVER").then(outputs::serve);
    let address = server.unwrap_or_default();
    let taken = case.command.contains("PORT").then(|| TcpListener::bind("127.0.0.1:0").unwrap());
    let port = taken.as_ref().map(|listener| listener.local_addr().unwrap().port().to_string()).unwrap_or_default();
    let command = case.command.replace("SERVER", &address).replace("PORT", &port);
    let (stdout, stderr, code) = carat(&root, &command, case.under);

    let mut said = stderr.trim_end().replace(&root.display().to_string(), "DIR");
    if !address.is_empty() {
        said = said.replace(&address, "SERVER");
    }
    if !port.is_empty() {
        said = said.replace(&port, "PORT");
    }
    let after = snapshot(&root);
    let left: Vec<&PathBuf> = after
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(*bytes) && !outputs::belongs_to_downloads(path, &root))
        .map(|(path, _)| path)
        .collect();
    let checks = [
        (code == Some(case.code), format!("exit code {code:?}")),
        (stdout.is_empty(), format!("prints {stdout}")),
        (left.is_empty(), format!("leaves {left:?}")),
        (before.keys().all(|path| after.contains_key(path)), "removes a file".into()),
        (said.starts_with("error: ") && said.lines().count() <= 2, "is not one or two lines of error".into()),
        (!said.contains("carat has a bug"), "panics".into()),
    ];
    for (_, problem) in checks.into_iter().filter(|(right, _)| !right) {
        problems.push(format!("{}: carat {}: {problem}; it says: {said}", case.what, case.command));
    }
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', "<br>");
    let (command, said) = (cell(case.command), cell(said.trim_start_matches("error: ")));
    format!("| {} | `carat {command}` | {} | {said} |\n", case.what, case.code)
}

const HEAD: &str = "# What carat says when something is wrong

Every error is one or two lines on stderr, after the word `error:`, that say what is wrong, where, and what to do.
Exit code 2: the arguments or the input are wrong. Exit code 1: the work failed. Standard output stays empty, and no
failing command below leaves a file behind that was not there before, or changes one that was.

This file is made by `crates/carat-cli/tests/all/errors`, which runs each command and fails where the answer is not the
one below; `CARAT_BLESS=1 cargo test -p carat-cli --test all errors` writes it anew. `DIR` stands for the folder a
command runs in, `SERVER` for the address of a web server that misbehaves, `PORT` for a port that another program
listens on.
";

#[test]
fn the_document_has_the_errors_of_the_program() {
    let sections = [
        ("Arguments", arguments::cases()),
        ("Causal attention regularisation", arguments::car_cases()),
        ("A user's own graph in a `.npz` file", own::npz_cases()),
        ("A user's own graph in a folder of tables", own::folder_cases()),
        ("A mapped graph in a `.carat` file", mapped::cases()),
        ("Public layouts", layouts::cases()),
        ("Training, predicting and the run folder", runs::cases()),
        ("Sets of graphs, and folds", runs::graph_cases()),
        ("Effects", runs::effects_cases()),
        ("Explainers", runs::explainers_cases()),
        ("Explaining", explain::cases()),
        ("Exploring", explore::cases()),
        ("Graph convolution networks and pruning", runs::rewire_cases()),
        ("Sweeps, stores and reports", lab::cases()),
        ("Searches for settings", lab::tune_cases()),
        ("Outputs and downloads", outputs::cases()),
    ];
    assert!(sections.iter().map(|(_, cases)| cases.len()).sum::<usize>() >= 40);
    let (mut document, mut problems) = (HEAD.to_string(), Vec::new());
    for (title, cases) in sections {
        document.push_str(&format!("\n## {title}\n\n| wrong | command | exit | error |\n|---|---|---|---|\n"));
        for case in &cases {
            document.push_str(&row(case, &mut problems));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    if std::env::var_os("CARAT_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &document).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    for (line, (expected, found)) in document.lines().zip(written.lines()).enumerate() {
        assert_eq!(found, expected, "docs/errors.md:{}; CARAT_BLESS=1 rewrites the file", line + 1);
    }
    assert_eq!(written.lines().count(), document.lines().count(), "docs/errors.md; CARAT_BLESS=1 rewrites the file");
}

/// Training is the one command whose output grows while it works. What a full disk leaves of it are whole files, and
/// enough of them to go on from.
#[test]
fn a_run_that_a_full_disk_stopped_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), "data generate planted --nodes 300 --mean-degree 4 --out graph.npz");
    let train = "train --data graph.npz --hidden 8 --epochs 2 --out run";
    let (stdout, stderr, code) = carat(folder.path(), train, Under::FullDisk(2));
    assert_eq!((stdout.as_str(), code), ("", Some(1)), "{stderr}");
    assert_eq!(stderr, "error: run/model.safetensors: cannot write: File too large (os error 27)\n");
    let run = folder.path().join("run");
    let left = snapshot(&run);
    let whole = ["config.toml", "encoding.toml", "metrics.csv"].map(|name| run.join(name));
    assert_eq!(left.into_keys().collect::<Vec<_>>(), whole);
    succeed(folder.path(), "train --out run --resume");
    succeed(folder.path(), "predict --run run --out p.csv");
}
