//! Times one plain training by PyTorch Geometric, with a Python that the user names. Any failure gives no time.

use std::ffi::{OsStr, OsString};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use carat::Protocol;
use carat_graph::{Dataset, writers};
use carat_lab::sweep::Run;
use carat_nn::AttentionKind;
use serde::Deserialize;

use super::grids;

/// F of the timed network, which every dataset's grid contains.
pub(super) const HIDDEN: usize = 25;
/// K.
pub(super) const HEADS: usize = 3;
/// L.
pub(super) const LAYERS: usize = 2;

const SCRIPT: &str = include_str!("pyg.py");

/// A training takes seconds. After this time it is stopped.
const PATIENCE: Duration = Duration::from_secs(120);

/// A training without CAR, protocol best.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct PlainTraining {
    /// Seconds, validation included.
    pub(super) seconds: f64,
    /// Epochs.
    pub(super) epochs: usize,
}

/// Our training of the same network on a dataset that counts.
pub(super) fn same_network<'a>(runs: &[&'a Run], data: &str) -> Option<&'a Run> {
    let is_same = |run: &&&Run| {
        let c = &run.config;
        let sizes = (c.network.arch, c.network.hidden, c.network.heads, c.network.layers)
            == (AttentionKind::Gat, HIDDEN, HEADS, LAYERS);
        run.is_baseline()
            && c.data.name == data
            && c.stopping.protocol == Protocol::Best
            && c.data.split == 0
            && c.seed == 0
            && sizes
    };
    runs.iter().find(is_same).filter(|_| grids::counts(data)).copied()
}

/// The Python that the user names for this.
pub(super) fn python() -> Option<OsString> {
    std::env::var_os("CARAT_PYTHON").filter(|python| !python.is_empty())
}

/// Trains on the dataset's first split.
pub(super) fn train(python: &OsStr, dataset: &Dataset) -> Option<PlainTraining> {
    let path = std::env::temp_dir().join(format!("carat-pyg-{}-{}.npz", std::process::id(), dataset.name()));
    writers::npz::write(dataset, &path).ok()?;
    let sizes = [HIDDEN, HEADS, LAYERS].map(|size| size.to_string());
    let child = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(&path)
        .args(sizes)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let output = child.ok().and_then(finished);
    // If this fails, the system cleans its temporary folder.
    let _ = std::fs::remove_file(&path);
    serde_json::from_str(output?.trim()).ok()
}

/// The process's output, if it succeeded in time. It writes one line, which fits in any pipe.
fn finished(mut child: Child) -> Option<String> {
    let start = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if start.elapsed() > PATIENCE {
            // Fails only if the process has just ended.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_that_fails_gives_no_time() {
        let dataset = Dataset::from_rows("tiny", &[(0, 1)], &[vec![1.0], vec![0.0]], &[Some(0), Some(1)]).unwrap();
        assert_eq!(train(OsStr::new("/nowhere/python"), &dataset), None);
        assert_eq!(train(OsStr::new("false"), &dataset), None);
    }
}
