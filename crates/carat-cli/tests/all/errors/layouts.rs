//! Damaged files of the public layouts.

use std::path::Path;

use super::{Case, case, put, put_all};
use crate::support::samples::{self, Files, i64s};

fn replaced(dir: &Path, folder: &str, files: Files, name: &str, bytes: impl AsRef<[u8]>) {
    put_all(&dir.join(folder), files);
    put(&dir.join(folder), name, bytes);
}

fn half(files: &Files, name: &str) -> Vec<u8> {
    let bytes = &files.iter().find(|(file, _)| file == name).unwrap().1;
    bytes[..bytes.len() / 2].to_vec()
}

fn planetoid(dir: &Path, part: &str, bytes: impl AsRef<[u8]>) {
    replaced(dir, "planet", samples::planetoid(), &format!("ind.tiny.{part}"), bytes);
}

fn geom_gcn(dir: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    replaced(dir, "geom", samples::geom_gcn(), name, bytes);
}

fn ogb(dir: &Path, name: &str, text: &str) {
    replaced(dir, "ogb", samples::ogb(), name, text);
}

fn tudataset(dir: &Path, name: &str, text: &str) {
    replaced(dir, "set", samples::tudataset(), name, text);
}

fn syn_cora(dir: &Path, name: &str, shape: &'static [usize], values: &[i64]) {
    let mut arrays = samples::syn_cora_arrays();
    let array = arrays.iter_mut().find(|array| array.0 == name).unwrap();
    (array.2, array.3) = (shape, i64s(values));
    put(dir, "syn.npz", samples::npz(&arrays));
}

fn heterophilous(dir: &Path, name: &str, shape: &'static [usize], values: &[i64]) {
    let mut arrays = samples::heterophilous_arrays();
    let array = arrays.iter_mut().find(|array| array.0 == name).unwrap();
    (array.1, array.2, array.3) = ("<i8", shape, i64s(values));
    put(dir, "het.npz", samples::npz(&arrays));
}

pub fn cases() -> Vec<Case> {
    vec![
        case("Planetoid: a pickle that runs a command", "data info planet", |dir| {
            planetoid(dir, "graph", b"cos\nsystem\n(S'touch owned'\ntR.");
        }),
        case("Planetoid: a pickle cut short", "data info planet", |dir| {
            planetoid(dir, "allx", half(&samples::planetoid(), "ind.tiny.allx"));
        }),
        case("Planetoid: not a pickle", "data info planet", |dir| planetoid(dir, "ally", "hello")),
        case("Planetoid: a pickle of something else", "data info planet", |dir| planetoid(dir, "ty", "I1\n.")),
        case("Planetoid: an edge to a node that does not exist", "data info planet", |dir| {
            planetoid(dir, "graph", "(dI0\n(lI9\nas.");
        }),
        case("Planetoid: a file is missing", "data info planet", |dir| {
            put_all(&dir.join("planet"), samples::planetoid());
            std::fs::remove_file(dir.join("planet/ind.tiny.ty")).unwrap();
        }),
        case("Planetoid: a test node that does not exist", "data info planet", |dir| {
            planetoid(dir, "test.index", "3\n4000000000\n");
        }),
        case("Geom-GCN: no heading", "data info geom/tiny", |dir| {
            geom_gcn(dir, "tiny/out1_graph_edges.txt", "0\t1\n");
        }),
        case("Geom-GCN: an edge to a node that does not exist", "data info geom/tiny", |dir| {
            geom_gcn(dir, "tiny/out1_graph_edges.txt", "node_id\tnode_id\n0\t9\n");
        }),
        case("Geom-GCN: a line cut short", "data info geom/tiny", |dir| {
            geom_gcn(dir, "tiny/out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t1,0\t0\n1\t0");
        }),
        case("Geom-GCN: rows of different lengths", "data info geom/tiny", |dir| {
            geom_gcn(dir, "tiny/out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t1,0\t0\n1\t0\t1\n");
        }),
        case("Geom-GCN: an infinite feature", "data info geom/tiny", |dir| {
            geom_gcn(dir, "tiny/out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t1,inf\t0\n");
        }),
        case("Geom-GCN: a mask cut short", "data info geom/tiny", |dir| {
            let name = "splits/tiny_split_0.6_0.2_0.npz";
            geom_gcn(dir, name, half(&samples::geom_gcn(), name));
        }),
        case("OGB: an edge to a node that does not exist", "data info ogb", |dir| ogb(dir, "raw/edge.csv", "0,9\n")),
        case("OGB: fewer edges than announced", "data info ogb", |dir| ogb(dir, "raw/edge.csv", "0,1\n")),
        case("OGB: a ragged table", "data info ogb", |dir| ogb(dir, "raw/node-feat.csv", "1,2\n3\n")),
        case("OGB: a feature that is not a number", "data info ogb", |dir| ogb(dir, "raw/node-feat.csv", "1,x\n")),
        case("OGB: a label out of range", "data info ogb", |dir| ogb(dir, "raw/node-label.csv", "0\n1\n2\n9\n")),
        case("TUDataset: an edge between two graphs", "data info set", |dir| tudataset(dir, "S_A.txt", "1,2\n")),
        case("TUDataset: a graph that does not exist", "data info set", |dir| {
            tudataset(dir, "S_graph_indicator.txt", "1\n9\n");
        }),
        case("TUDataset: too few node labels", "data info set", |dir| tudataset(dir, "S_node_labels.txt", "1\n2\n")),
        case("syn-cora: cut short", "data info syn.npz", |dir| {
            let whole = samples::npz(&samples::syn_cora_arrays());
            put(dir, "syn.npz", &whole[..whole.len() / 2]);
        }),
        case("syn-cora: an adjacency that is not square", "data info syn.npz", |dir| {
            syn_cora(dir, "adj_shape", &[2], &[4, 9]);
        }),
        case("syn-cora: offsets that go back", "data info syn.npz", |dir| {
            syn_cora(dir, "adj_indptr", &[5], &[0, 3, 2, 3, 4]);
        }),
        case("Platonov et al.: edges the wrong way round", "data info het.npz", |dir| {
            heterophilous(dir, "edges", &[2, 3], &[0, 1, 2, 3, 2, 0]);
        }),
        case("Platonov et al.: an edge to a node that does not exist", "data info het.npz", |dir| {
            heterophilous(dir, "edges", &[1, 2], &[0, 9]);
        }),
        case("Platonov et al.: too few labels", "data info het.npz", |dir| {
            heterophilous(dir, "node_labels", &[2], &[0, 1]);
        }),
        case("Platonov et al.: masks of another graph", "data info het.npz", |dir| {
            heterophilous(dir, "test_masks", &[2, 3], &[0; 6]);
        }),
        case("syn-cora: too few labels", "data info syn.npz", |dir| syn_cora(dir, "labels", &[2], &[0, 1])),
    ]
}
