//! Two tiny runs on a folder graph whose names try everything.

use std::path::Path;

use tempfile::TempDir;

use crate::support::stdout;

/// Markup in a name.
pub const SCRIPT: &str = "<script>hacked=1</script>";
/// What a spreadsheet would compute.
pub const FORMULA: &str = "=1+1";
const NODES: usize = 30;

/// A baseline and a regularised run. Odd and even nodes are of two classes, node n is of the year 1990 + n, and every
/// fifth node has the same author.
pub struct Pair {
    folder: TempDir,
    pub base: String,
    pub car: String,
}

impl Pair {
    /// Trains both.
    pub fn train() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let graph = folder.path().join("graph <b>");
        std::fs::create_dir(&graph).unwrap();
        let name = |n: usize| match n % 5 {
            0 => SCRIPT.to_string(),
            1 => FORMULA.to_string(),
            2 => "</td></svg> 'single' & \"\"double\"\"".to_string(),
            3 => "\u{202e}drawkcab \u{1b}[31m".to_string(),
            _ => "שלום עולם".to_string(),
        };
        let node = |n: usize| {
            let (label, angle) = (["cats <i>", "=dogs"][n % 2], n as f64);
            let (one, other) = (angle.sin() + (n % 2) as f64, angle.cos());
            format!("n{n},{label},\"{} {n}\",{},\"Author {}; X{n}\",{one:.3},{other:.3}\n", name(n), 1990 + n, n % 5)
        };
        let edges = (0..NODES - 1).flat_map(|n| [(n, (n + 1) % NODES), (n, (n + 5) % NODES), (n, (n * 7 + 2) % NODES)]);
        let edges: String = edges.filter(|(i, j)| i != j && *j != 0).map(|(i, j)| format!("n{i},n{j}\n")).collect();
        let nodes: String = (0..NODES).map(node).collect();
        std::fs::write(graph.join("nodes.csv"), format!("id,label,name,year,authors,f0,f1\n{nodes}")).unwrap();
        // Node 0 has one in-edge, whose attention is always 1.
        std::fs::write(graph.join("edges.csv"), format!("src,dst\nn4,n0\n{edges}")).unwrap();
        let train = |name: &str, lambda: &str| {
            let (out, data) = (folder.path().join(name).display().to_string(), graph.display().to_string());
            let sizes = ["--hidden", "6", "--heads", "2", "--epochs", "12", "--lambda", lambda];
            stdout(folder.path(), &[&["train", "--data", &data, "--out", &out], &sizes[..]].concat());
            out
        };
        let (base, car) = (train("base", "0"), train("car", "1"));
        Self { folder, base, car }
    }

    /// The folder that everything is in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}
