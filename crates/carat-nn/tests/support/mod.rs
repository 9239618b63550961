//! Golden files and real data, for the tests of more than one crate.

#![allow(dead_code)]

use std::path::{Path, PathBuf};

use carat_graph::{Dataset, DatasetParts, Features, Graph, Labels, Split};
use carat_nn::{Layout, Network, NetworkConfig, Real};
use safetensors::SafeTensors;

/// A file that `tools/golden` made.
pub struct Golden(Vec<u8>);

impl Golden {
    /// A file of this crate's `tests/golden`.
    pub fn open(name: &str) -> Self {
        Self::open_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../carat-nn/tests/golden"), name)
    }

    pub fn open_in(folder: &str, name: &str) -> Self {
        let path = Path::new(folder).join(format!("{name}.safetensors"));
        Self(std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.0).unwrap()
    }

    pub fn has(&self, name: &str) -> bool {
        self.tensors().tensor(name).is_ok()
    }

    pub fn floats(&self, name: &str) -> Vec<f32> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap();
        tensor.data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    }

    pub fn doubles(&self, name: &str) -> Vec<f64> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap();
        tensor.data().as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
    }

    pub fn integers(&self, name: &str) -> Vec<u32> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap();
        tensor.data().as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b) as u32).collect()
    }
}

/// The small graph with every awkward shape, and its (sources, targets) in the order of PyG's edges.
pub fn small_graph() -> (Dataset, Vec<u32>, Vec<u32>) {
    let file = Golden::open("small");
    let (edges, labels) = (file.integers("edge_index"), file.integers("y"));
    let (src, dst) = edges.split_at(edges.len() / 2);
    let graph = Graph::from_edges(40, src, dst).unwrap();
    assert_eq!(graph.num_edges(), src.len());
    let features = Features::dense(40, 12, file.floats("x")).unwrap();
    let labels = Labels::new(labels.into_iter().map(Some).collect(), 4).unwrap();
    let mut parts = DatasetParts::new("small", graph, features, labels);
    parts.splits = vec![Split { train: file.integers("train"), ..Split::default() }];
    (Dataset::new(parts).unwrap(), src.to_vec(), dst.to_vec())
}

/// The small set of graphs: single nodes, no nodes and no edges among them.
pub fn small_set() -> Dataset {
    let file = Golden::open("set");
    let (edges, labels, batch) = (file.integers("edge_index"), file.integers("y"), file.integers("batch"));
    let (src, dst) = edges.split_at(edges.len() / 2);
    let graph = Graph::from_edges(batch.len(), src, dst).unwrap();
    let features = Features::dense(batch.len(), 12, file.floats("x")).unwrap();
    let first_of = |g: usize| batch.partition_point(|&of| (of as usize) < g) as u32;
    let offsets = (0..=labels.len()).map(first_of).collect();
    let labels = Labels::new(labels.into_iter().map(Some).collect(), 3).unwrap();
    let mut parts = DatasetParts::new("set", graph, features, labels);
    parts.graph_offsets = Some(offsets);
    Dataset::new(parts).unwrap()
}

/// A network with PyG's weights; parameters missing from `golden` come from `fallback`.
pub fn network<T: Real>(config: NetworkConfig, golden: &Golden, fallback: Option<&Golden>) -> Network<T> {
    let mut network = Network::<T>::new(config, 0).unwrap();
    let layout = network.layout().clone();
    let files: Vec<&Golden> = [golden].into_iter().chain(fallback).collect();
    fill(&layout, network.parameters_mut(), &files);
    network
}

/// Takes every parameter from the first of the files that has it.
pub fn fill<T: Real>(layout: &Layout, parameters: &mut [T], files: &[&Golden]) {
    for (parameter, range) in layout.iter() {
        let name = format!("param.{}", parameter.name);
        let file = files.iter().find(|file| file.has(&name)).unwrap_or_else(|| panic!("no file has {name}"));
        let values: Vec<T> = file.floats(&name).into_iter().map(T::from_f32).collect();
        layout.store(parameter, &values, &mut parameters[range]);
    }
}

/// Fails where two values are further apart than the tolerance.
pub fn close(found: f32, expected: f32, tolerance: f64, what: &str) {
    let difference = (f64::from(found) - f64::from(expected)).abs();
    assert!(difference <= tolerance, "{what}: {found} where PyG has {expected}");
}

/// Relative to the largest entry of the tensor, as one judges a gradient.
pub fn compare_gradient(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0f32, |m, g| m.max(g.abs()));
    // A key bias shifts every score of a target alike; its gradient is 0 up to PyG's rounding.
    let floor = if what.ends_with("lin_key.bias") { 1.0 } else { f64::from(scale) };
    assert!(floor > 0.0, "{what}: no gradient to compare");
    for (f, e) in found.iter().zip(expected) {
        close(*f, *e, 1e-4 * floor, what);
    }
}

/// The folder of real datasets; prints a note and returns `None` where there is none.
pub fn data_dir() -> Option<PathBuf> {
    let candidates = [
        std::env::var_os("CARAT_DATA").map(PathBuf::from),
        Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"))),
    ];
    let found = candidates.into_iter().flatten().find(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: no data in CARAT_DATA or ../shared/data");
    }
    found
}
