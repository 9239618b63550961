//! Two runs that cannot be compared, and settings that mean nothing.

use std::path::Path;

use super::{Case, case, nothing, put, succeed};
use crate::support::samples::{self, f32s, i64s};

fn train(dir: &Path, data: &str, run: &str) {
    succeed(dir, &format!("train --data {data} --hidden 2 --heads 1 --layers 1 --epochs 2 --out {run}"));
}

/// `graph.npz` and two runs on it.
fn pair(dir: &Path) {
    put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
    train(dir, "graph.npz", "base");
    train(dir, "graph.npz", "car");
}

/// The same with the baseline trained on another graph, which has one array changed.
fn other_base(dir: &Path, array: samples::Array<'static>) {
    pair(dir);
    let mut arrays = samples::own_arrays();
    arrays.retain(|own| own.0 != array.0);
    arrays.push(array);
    put(dir, "other.npz", samples::npz(&arrays));
    std::fs::remove_dir_all(dir.join("base")).unwrap();
    train(dir, "other.npz", "base");
}

fn set_of_graphs(dir: &Path) {
    pair(dir);
    let mut arrays = samples::own_arrays();
    arrays.retain(|array| array.0 != "y" && !array.0.ends_with("_mask"));
    arrays.push(("y", "<i8", &[2], i64s(&[0, 1])));
    arrays.push(("graph_offsets", "<i8", &[3], i64s(&[0, 2, 4])));
    put(dir, "set.npz", samples::npz(&arrays));
}

pub fn cases() -> Vec<Case> {
    const EXPLAIN: &str = "explain --base base --car car";
    vec![
        case("No baseline named", "explain --car car", nothing),
        case("A run that does not exist", EXPLAIN, nothing),
        case("A folder that holds no run", EXPLAIN, |dir| {
            pair(dir);
            std::fs::remove_file(dir.join("car/config.toml")).unwrap();
        }),
        case("A run that has not come to a model", EXPLAIN, |dir| {
            pair(dir);
            std::fs::remove_file(dir.join("base/model.safetensors")).unwrap();
        }),
        case("Runs on different data", EXPLAIN, |dir| {
            other_base(dir, ("y", "<i8", &[4], i64s(&[1, 0, 0, -1])));
        }),
        case("Runs with other features", "explain --base base --car car --data graph.npz", |dir| {
            other_base(dir, ("x", "<f4", &[4, 3], f32s(&[1.0; 12])));
        }),
        case("Runs with other classes", "explain --base base --car car --data graph.npz", |dir| {
            other_base(dir, ("y", "<i8", &[4], i64s(&[0, 1, 2, -1])));
        }),
        case("Data that does not exist", "explain --base base --car car --data coar", pair),
        case("A set of graphs", "explain --base base --car car --data set.npz", set_of_graphs),
        case("No edge to name", "explain --base base --car car --top 0", pair),
        case("A share of more than half", "explain --base base --car car --share 0.6", pair),
        case("A share below 0", "explain --base base --car car --share -1", pair),
        case("Anchors that everybody is", "explain --base base --car car --anchor-factor 0", pair),
        case("Narrow papers that everybody is", "explain --base base --car car --narrow-share 1", pair),
        case("Tables of an unknown kind", "explain --base base --car car --format xlsx", pair),
        case("An output folder that is a file", "explain --base base --car car --out graph.npz.d", |dir| {
            pair(dir);
            put(dir, "graph.npz.d", "hello");
        }),
        case("An output file in no folder", "explain --base base --car car --out no/such/edges.csv", pair),
        case("A page that is a folder", "explain --base base --car car --out page.html", |dir| {
            pair(dir);
            put(dir, "page.html/notes.txt", "hello");
        }),
        Case {
            code: 1,
            ..case("Weights so large that nothing can be computed with them", EXPLAIN, |dir| {
                pair(dir);
                let mut model = std::fs::read(dir.join("car/model.safetensors")).unwrap();
                let start = model.len() - 24;
                model[start..].as_chunks_mut::<4>().0.iter_mut().for_each(|w| *w = 3e38f32.to_le_bytes());
                put(dir, "car/model.safetensors", model);
            })
        },
    ]
}
