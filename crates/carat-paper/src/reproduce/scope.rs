//! How much of the paper is computed, and on which data.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use carat::{Arm, ModelKind};
use carat_graph::catalogue;
use carat_lab::sweep::Run;

use super::paper;

/// The family of synthetic graphs in the catalogue.
const SYNTHETIC: &str = "syn-cora";

/// How much of the paper's grid is computed, and on which data.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The available datasets, in the paper's order.
    pub datasets: Vec<String>,
    /// The available synthetic graphs with their homophily.
    pub synthetic: Vec<(String, f64)>,
    /// The available sets of graphs, for graph classification.
    pub graph_sets: Vec<String>,
    /// True for the documented subset that takes minutes.
    pub quick: bool,
    /// Splits of each dataset that has several.
    pub splits: Vec<usize>,
    /// Seeds of every setting.
    pub seeds: Vec<u64>,
    /// The folder of the datasets.
    pub data_dir: PathBuf,
}

impl Scope {
    /// All of the paper's data in the data folder: one split, one seed, the full grid.
    pub fn at(data_dir: &Path) -> Self {
        let is_there = |name: &str| catalogue::find(name).is_some_and(|entry| entry.is_present(data_dir));
        let datasets = paper::DATASETS.iter().map(|figures| figures.data.to_string());
        Self {
            datasets: datasets.filter(|data| is_there(data)).collect(),
            synthetic: synthetic().into_iter().filter(|(name, _)| is_there(name)).collect(),
            graph_sets: graph_sets().into_iter().filter(|name| is_there(name)).collect(),
            quick: false,
            splits: vec![0],
            seeds: vec![0],
            data_dir: data_dir.to_path_buf(),
        }
    }

    /// The scope that some runs cover, for a report on a store whose commands are unknown.
    pub fn of_runs(runs: &[Run], data_dir: &Path) -> Self {
        let of_paper = |run: &&Run| paper::place(&run.config.data.name).is_some();
        let has = |data: &str| runs.iter().any(|run| run.config.data.name == data);
        let is_synthetic = |run: &&Run| synthetic().iter().any(|(name, _)| *name == run.config.data.name);
        // Items about graph convolution networks have splits of their own.
        let has_scope = |run: &&Run| run.config.model != ModelKind::Gcn;
        let of_study = || runs.iter().filter(has_scope).filter(|run| of_paper(run) || is_synthetic(run));
        let of_graphs = |run: &&Run| graph_sets().contains(&run.config.data.name);
        let splits: BTreeSet<usize> = of_study().map(|run| run.config.data.split).collect();
        // Splits of sets of graphs are folds. There are always ten.
        let seeds = of_study().chain(runs.iter().filter(of_graphs)).map(|run| run.config.seed);
        let seeds: BTreeSet<u64> = seeds.collect();
        // Only the full grids have the smallest and the largest width, more than one synthetic graph of each homophily,
        // the control on sets of graphs, or pruned graphs of more than two splits.
        let full = |run: &Run| matches!(run.config.network.hidden, 10 | 200 | 256) && of_paper(&run);
        let replicate = |run: &Run| is_synthetic(&run) && !run.config.data.name.ends_with("-r1");
        let control = |run: &Run| of_graphs(&run) && run.config.regulariser.arm == Arm::Constant;
        let pruned = |run: &Run| run.config.prune.is_some() && run.config.data.split > 1;
        Self {
            datasets: paper::DATASETS.iter().map(|f| f.data.to_string()).filter(|data| has(data)).collect(),
            synthetic: synthetic().into_iter().filter(|(name, _)| has(name)).collect(),
            graph_sets: graph_sets().into_iter().filter(|name| has(name)).collect(),
            quick: !runs.iter().any(|run| full(run) || replicate(run) || control(run) || pruned(run)),
            splits: if splits.is_empty() { vec![0] } else { splits.into_iter().collect() },
            seeds: if seeds.is_empty() { vec![0] } else { seeds.into_iter().collect() },
            data_dir: data_dir.to_path_buf(),
        }
    }

    /// The splits to compute on a dataset: those in scope that it has.
    pub fn splits_of(&self, data: &str) -> Vec<usize> {
        let of_data = catalogue::find(data).map_or(1, |entry| entry.facts.splits.max(1) as usize);
        let splits: Vec<usize> = self.splits.iter().copied().filter(|split| *split < of_data).collect();
        if splits.is_empty() { vec![0] } else { splits }
    }
}

/// Names and homophily of the synthetic graphs: `syn-cora-h0.10-r1` has 0.1.
fn synthetic() -> Vec<(String, f64)> {
    let names = catalogue::find(SYNTHETIC).map(|family| family.variants).unwrap_or_default();
    let homophily = |name: &str| name.rsplit("-h").next()?.split("-r").next()?.parse().ok();
    names.into_iter().filter_map(|name| homophily(&name).map(|homophily| (name, homophily))).collect()
}

/// Names of the sets of graphs.
fn graph_sets() -> Vec<String> {
    let sets = catalogue::entries().iter().filter(|entry| entry.facts.graphs.is_some());
    sets.map(|entry| entry.name.clone()).collect()
}

#[cfg(test)]
pub(super) fn everything(quick: bool) -> Scope {
    Scope {
        datasets: paper::DATASETS.iter().map(|figures| figures.data.to_string()).collect(),
        synthetic: synthetic(),
        graph_sets: graph_sets(),
        quick,
        splits: vec![0],
        seeds: vec![0],
        data_dir: PathBuf::from("nowhere"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_lab::compare::made_up::{baseline, regularised};

    #[test]
    fn eleven_levels_of_homophily_have_three_graphs_each() {
        let all = synthetic();
        assert_eq!(all.len(), 33);
        for level in 0..=10 {
            let homophily = f64::from(level) / 10.0;
            assert_eq!(all.iter().filter(|(_, h)| (h - homophily).abs() < 1e-9).count(), 3, "{homophily}");
        }
    }

    #[test]
    fn splits_that_the_data_lacks_are_left_out() {
        let scope = Scope { splits: (0..12).collect(), ..everything(true) };
        let counts = ["cora", "cornell", "syn-cora-h0.10-r1"].map(|data| scope.splits_of(data).len());
        assert_eq!(counts, [1, 10, 1]);
        assert_eq!(Scope { splits: vec![2, 5], ..scope }.splits_of("wisconsin"), [2, 5]);
    }

    #[test]
    fn a_missing_data_folder_has_no_datasets() {
        let scope = Scope::at(Path::new("nowhere"));
        assert!(scope.datasets.is_empty() && scope.synthetic.is_empty() && scope.graph_sets.is_empty());
    }

    #[test]
    fn the_scope_follows_from_the_runs() {
        let mut runs =
            vec![regularised("cornell", 25, 1.0, 1.0), baseline("cora", 100, 1.0), baseline("mine", 10, 1.0)];
        runs[0].config.data.split = 2;
        runs[2].config.seed = 9;
        runs[1].config.seed = 2024;
        let scope = Scope::of_runs(&runs, Path::new("nowhere"));
        assert_eq!(scope.datasets, ["cora", "cornell"]);
        assert_eq!((scope.quick, scope.splits, scope.seeds), (true, vec![0, 2], vec![0, 2024]));
        let replicate = Scope::of_runs(&[baseline("syn-cora-h0.10-r2", 100, 1.0)], Path::new("nowhere"));
        assert!(!replicate.quick && replicate.synthetic.len() == 1);
        let mut graphs = vec![baseline("MUTAG", 32, 1.0), regularised("MUTAG", 32, 1.0, 1.0)];
        graphs[0].config.data.split = 7;
        graphs[1].config.seed = 3;
        let scope = Scope::of_runs(&graphs, Path::new("nowhere"));
        assert_eq!((scope.graph_sets, scope.splits, scope.seeds), (vec!["MUTAG".into()], vec![0], vec![0, 3]));
        graphs[1].config.regulariser.arm = Arm::Constant;
        assert!(scope.quick && !Scope::of_runs(&graphs, Path::new("nowhere")).quick);
        runs.push(baseline("cora", 200, 1.0));
        assert!(!Scope::of_runs(&runs, Path::new("nowhere")).quick);
    }
}
