//! Training, and run folders that hold something else than a run.

use std::path::Path;

use super::{Case, case, nothing, put, put_all, succeed};
use crate::support::samples::{self, f32s, i64s};

fn graph(dir: &Path) {
    put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
}

/// `graph.npz` and a finished run on it.
pub fn finished(dir: &Path) {
    graph(dir);
    succeed(dir, "train --data graph.npz --hidden 2 --heads 1 --layers 1 --epochs 2 --out run");
}

/// A run that was killed after its first checkpoint, with other bytes in that checkpoint.
fn killed(dir: &Path, checkpoint: &[u8]) {
    finished(dir);
    put(dir, "run/checkpoint.safetensors", checkpoint);
    std::fs::remove_file(dir.join("run/summary.json")).unwrap();
}

fn masks(dir: &Path, train: [u8; 4], val: [u8; 4]) {
    let mut arrays = samples::own_arrays();
    arrays.retain(|array| !array.0.ends_with("_mask"));
    arrays.push(("train_mask", "|b1", &[4], train.to_vec()));
    arrays.push(("val_mask", "|b1", &[4], val.to_vec()));
    arrays.push(("test_mask", "|b1", &[4], vec![0; 4]));
    put(dir, "graph.npz", samples::npz(&arrays));
}

/// A finished run, and a graph with more features than it knows.
pub fn other_features(dir: &Path) {
    finished(dir);
    let mut arrays = samples::own_arrays();
    arrays.retain(|array| array.0 != "x");
    arrays.push(("x", "<f4", &[4, 3], f32s(&[1.0; 12])));
    put(dir, "other.npz", samples::npz(&arrays));
}

/// `set.npz`: a set of three graphs, of which the second has no nodes and the third is not in this mask of training
/// graphs.
fn set(dir: &Path, train: [u8; 3]) {
    let mut arrays = samples::own_arrays();
    arrays.retain(|array| array.0 != "y" && !array.0.ends_with("_mask"));
    arrays.push(("y", "<i8", &[3], i64s(&[0, 1, 1])));
    arrays.push(("graph_offsets", "<i8", &[4], i64s(&[0, 2, 2, 4])));
    arrays.push(("train_mask", "|b1", &[3], train.to_vec()));
    arrays.push(("val_mask", "|b1", &[3], vec![0, 0, 1]));
    arrays.push(("test_mask", "|b1", &[3], vec![0; 3]));
    put(dir, "set.npz", samples::npz(&arrays));
}

fn small_set(dir: &Path) {
    set(dir, [1, 1, 0]);
}

/// A finished run on one graph, and a set.
pub fn set_of_graphs(dir: &Path) {
    finished(dir);
    small_set(dir);
}

/// `graph.npz`, a set, and a finished run on the set.
fn finished_on_graphs(dir: &Path) {
    graph(dir);
    small_set(dir);
    succeed(dir, "train --data set.npz --hidden 2 --heads 1 --layers 1 --epochs 2 --out run");
}

/// A run on a graph that has training and validation nodes only.
fn without_test_nodes(dir: &Path) {
    masks(dir, [1, 0, 0, 0], [0, 1, 0, 0]);
    succeed(dir, "train --data graph.npz --hidden 2 --heads 1 --layers 1 --epochs 2 --out run");
}

/// `graph.npz` and a finished run of a graph convolution network on it.
fn finished_gcn(dir: &Path) {
    graph(dir);
    succeed(dir, "train --data graph.npz --model gcn --hidden 2 --layers 1 --epochs 2 --out run");
}

/// Two runs that do not pair.
fn two_splits(dir: &Path) {
    graph(dir);
    for split in ["0", "1"] {
        let sizes = "--hidden 2 --heads 1 --layers 1 --epochs 2";
        succeed(
            dir,
            &format!("train --data graph.npz --split-ratio 0.4,0.3,0.3 --split {split} {sizes} --out run{split}"),
        );
    }
}

/// Models without attention, and pruning by attention.
pub fn rewire_cases() -> Vec<Case> {
    vec![
        case("Unknown model", "train --data cora --model gat", nothing),
        case("Unknown norm", "train --data cora --model gcn --gcn-norm both", nothing),
        case("A norm without a GCN", "train --data cora --gcn-norm none", nothing),
        case("A GCN with CAR", "train --data cora --model gcn --lambda 1", nothing),
        case("A GCN with heads", "train --data cora --model gcn --heads 2", nothing),
        case("A GCN with a fan-out", "train --data cora --model gcn --fanout 5,5", nothing),
        case("A GCN with batches", "train --data cora --model gcn --batch-size 100", nothing),
        case("A GCN on a pruned graph, outside a sweep", "train --config settings.toml --out run", |dir| {
            graph(dir);
            let prune = "[prune]\nthreshold = 0.1\n[prune.guide]\nheads = 1\n";
            put(dir, "settings.toml", format!("data = \"graph.npz\"\nmodel = \"gcn\"\n{prune}"));
        }),
        case("A GCN, to time", "bench step --data graph.npz --model gcn", graph),
        case("The attention of a GCN", "attention --run run --out a.csv", finished_gcn),
        case("The effects in a GCN", "effects --run run --out e.csv", finished_gcn),
        case("A GCN and data with other features", "predict --run run --data other.npz --out p.csv", |dir| {
            other_features(dir);
            std::fs::remove_dir_all(dir.join("run")).unwrap();
            finished_gcn(dir);
        }),
        case("No run to prune by", "rewire", nothing),
        case("A run that does not exist", "rewire --car run", nothing),
        case("To prune by a GCN", "rewire --car run", finished_gcn),
        case("Runs of other splits", "rewire --base run0 --car run1", two_splits),
        case("Thresholds in another order", "rewire --car run --thresholds 0.5,0.1", finished),
        case("A threshold below 0", "rewire --car run --thresholds -1,0.5", finished),
        case("A threshold that is no number", "rewire --car run --thresholds low", nothing),
        case("No trials", "rewire --car run --trials 0", finished),
        case("Another seed than that of the run's folds", "rewire --car run --seed 3", |dir| {
            finished(dir);
            put(dir, "run/config.toml", "data = \"graph.npz\"\nfolds = 3\n");
        }),
        case("A split that does not exist", "rewire --car run --splits 3", finished),
        case("A split without test nodes", "rewire --car run", without_test_nodes),
        case("Data with other features", "rewire --car run --data other.npz", other_features),
        case("A folder that is a file", "rewire --car run --out notes.txt", |dir| {
            finished(dir);
            put(dir, "notes.txt", "hello");
        }),
        case("A threshold to apply and no run", "rewire --apply 0.1 --out g.npz", nothing),
        case("A threshold to apply and no place for the graph", "rewire --run run --apply 0.1", nothing),
        case("A run to apply and no threshold", "rewire --run run --out g.npz", nothing),
        case("A threshold to apply that is none", "rewire --run run --apply NaN --out g.npz", finished),
        case("A pruned graph as a single table", "rewire --run run --apply 0.1 --out g.csv", finished),
        case("A pruned graph where no folder is", "rewire --run run --apply 0.1 --out no/such/g.npz", finished),
    ]
}

pub fn effects_cases() -> Vec<Case> {
    const EFFECTS: &str = "effects --run run --out e.csv";
    vec![
        case("No run named", "effects --out e.csv", nothing),
        case("No output named", "effects --run run", nothing),
        case("A run that does not exist", EFFECTS, nothing),
        case("A folder that holds no run", EFFECTS, |dir| put(dir, "run/notes.txt", "hello")),
        case("A run that has not come to a model", EFFECTS, |dir| {
            finished(dir);
            std::fs::remove_file(dir.join("run/model.safetensors")).unwrap();
        }),
        case("Unknown choice of nodes", "effects --run run --nodes some --out e.csv", finished),
        case("Nodes that the split has none of", "effects --run run --nodes test --out e.csv", without_test_nodes),
        case(
            "A split that the other data has not",
            "effects --run run --nodes val --data other.npz --out e.csv",
            |dir| {
                finished(dir);
                put(dir, "run/config.toml", "data = \"graph.npz\"\nsplit = 7\n");
                graph(dir);
                std::fs::copy(dir.join("graph.npz"), dir.join("other.npz")).unwrap();
            },
        ),
        case("Data with other features", "effects --run run --data other.npz --out e.csv", other_features),
        case("A set of graphs", "effects --run run --data set.npz --out e.csv", set_of_graphs),
        case("Data that does not exist", "effects --run run --data coar --out e.csv", finished),
        case("A temperature in the run's settings that means nothing", EFFECTS, |dir| {
            finished(dir);
            put(dir, "run/config.toml", "data = \"graph.npz\"\ntemperature = 0\n");
        }),
        case("An output of an unknown kind", "effects --run run --out e.json", finished),
        case("An output that is a folder", "effects --run run --out e.csv", |dir| {
            finished(dir);
            put(dir, "e.csv/notes.txt", "hello");
        }),
        case("An output in a folder that does not exist", "effects --run run --out no/such/e.csv", finished),
        Case {
            code: 1,
            ..case("Weights so large that nothing can be computed with them", EFFECTS, |dir| {
                finished(dir);
                let mut model = std::fs::read(dir.join("run/model.safetensors")).unwrap();
                // The last tensors of the file; every score that passes through them overflows.
                let start = model.len() - 24;
                model[start..].as_chunks_mut::<4>().0.iter_mut().for_each(|w| *w = 3e38f32.to_le_bytes());
                put(dir, "run/model.safetensors", model);
            })
        },
    ]
}

pub fn explainers_cases() -> Vec<Case> {
    vec![
        case("No run named", "explainers", nothing),
        case("An unknown method", "explainers attention,lime --run run", nothing),
        case("A run that does not exist", "explainers --run run", nothing),
        case("Explanations of a GCN", "explainers --run run", finished_gcn),
        case("No steps", "explainers --run run --steps 0", finished),
        case("No epochs", "explainers --run run --epochs 0", finished),
        case("No node", "explainers --run run --nodes all --limit 0", finished),
        case("Nodes that the split has none of", "explainers --run run", without_test_nodes),
        case("An output of an unknown kind", "explainers --run run --out scores.json", finished),
        case("An output in a folder that does not exist", "explainers --run run --out no/such/s.csv", finished),
    ]
}

pub fn graph_cases() -> Vec<Case> {
    vec![
        case("One graph, to classify graphs", "train --data graph.npz --task graph --out run", graph),
        case("A set of graphs, to classify nodes", "train --data set.npz --task node --out run", small_set),
        case("A set of graphs, to time classifying nodes", "bench step --data set.npz --task node", small_set),
        case("An unknown task", "train --data set.npz --task edge --out run", small_set),
        case("No training graph", "train --data set.npz --out run", |dir| set(dir, [0; 3])),
        case("A set too small to validate", "train --data set --out run", |dir| {
            put_all(&dir.join("set"), samples::tudataset());
        }),
        case("Graph offsets that go back", "train --data set.npz --out run", |dir| {
            let mut arrays = samples::own_arrays();
            arrays.retain(|array| array.0 != "y" && !array.0.ends_with("_mask"));
            arrays.push(("y", "<i8", &[2], i64s(&[0, 1])));
            arrays.push(("graph_offsets", "<i8", &[3], i64s(&[0, 5, 4])));
            put(dir, "set.npz", samples::npz(&arrays));
        }),
        case("An edge between two graphs of a set", "train --data set.npz --out run", |dir| {
            let mut arrays = samples::own_arrays();
            arrays.retain(|array| array.0 != "y" && !array.0.ends_with("_mask"));
            arrays.push(("y", "<i8", &[2], i64s(&[0, 1])));
            arrays.push(("graph_offsets", "<i8", &[3], i64s(&[0, 1, 4])));
            put(dir, "set.npz", samples::npz(&arrays));
        }),
        case("Drawn neighbours of graphs", "train --data set.npz --fanout 3,3 --out run", small_set),
        case("Unlabelled graphs as entities", "train --data set.npz --lambda 1 --entities all --out run", small_set),
        case(
            "Distributions over a graph",
            "train --data set.npz --lambda 1 --target distribution --out run",
            small_set,
        ),
        case("A vote among graphs", "train --data set.npz --lambda 1 --regulariser vote --out run", small_set),
        case("`--folds 2`", "train --data graph.npz --folds 2 --out run", graph),
        case("A fold that does not exist", "train --data graph.npz --folds 3 --split 3 --out run", graph),
        case("More folds than graphs", "train --data set.npz --folds 10 --out run", small_set),
        case("Folds and shares", "train --data graph.npz --folds 3 --split-ratio 0.6,0.2,0.2 --out run", graph),
        case(
            "A network for graphs, on one graph",
            "predict --run run --data graph.npz --out p.csv",
            finished_on_graphs,
        ),
        case("Its attention there", "attention --run run --data graph.npz --out a.csv", finished_on_graphs),
        case("A part of the split without graphs", "effects --run run --graphs test --out e.csv", finished_on_graphs),
        case("Other folds for a resumed run", "train --out run --resume --folds 3", finished_on_graphs),
    ]
}

pub fn cases() -> Vec<Case> {
    const TRAIN: &str = "train --data graph.npz --out run";
    const RESUME: &str = "train --out run --resume";
    const PREDICT: &str = "predict --run run --out p.csv";
    vec![
        case("No training node", TRAIN, |dir| masks(dir, [0; 4], [0, 1, 0, 0])),
        case("Training nodes without labels", TRAIN, |dir| masks(dir, [0, 0, 0, 1], [0, 1, 0, 0])),
        case("No validation node", TRAIN, |dir| masks(dir, [1, 0, 0, 0], [0; 4])),
        case("A split that does not exist", "train --data graph.npz --split 3 --out run", graph),
        case("Shares that leave nothing to validate", "train --data graph.npz --split-ratio 1,0,0 --out run", graph),
        case("A folder that holds a run", TRAIN, finished),
        case("Other settings for a resumed run", "train --out run --resume --heads 7", finished),
        case("A damaged checkpoint", RESUME, |dir| killed(dir, b"hello")),
        case("An empty checkpoint", RESUME, |dir| killed(dir, b"")),
        case("A model where the checkpoint should be", RESUME, |dir| {
            killed(dir, b"");
            std::fs::copy(dir.join("run/model.safetensors"), dir.join("run/checkpoint.safetensors")).unwrap();
        }),
        case("Settings of a run with an unknown name", RESUME, |dir| put(dir, "run/config.toml", "hiden = 3\n")),
        case("Settings of a run that mean nothing", PREDICT, |dir| {
            finished(dir);
            put(dir, "run/config.toml", "data = \"graph.npz\"\nbatch-size = 0\n");
        }),
        case("Not a run folder", PREDICT, |dir| put(dir, "run/notes.txt", "hello")),
        case("A run without a model", PREDICT, |dir| {
            finished(dir);
            std::fs::remove_file(dir.join("run/model.safetensors")).unwrap();
        }),
        case("A model cut short", PREDICT, |dir| {
            finished(dir);
            let model = std::fs::read(dir.join("run/model.safetensors")).unwrap();
            put(dir, "run/model.safetensors", &model[..model.len() - 4]);
        }),
        case("A file that is not a model", "attention --run run --out a.csv", |dir| {
            finished(dir);
            put(dir, "run/model.safetensors", "hello, this is no model");
        }),
        case("A model with a NaN weight", PREDICT, |dir| {
            finished(dir);
            let mut model = std::fs::read(dir.join("run/model.safetensors")).unwrap();
            let at = model.len() - 4;
            model[at..].copy_from_slice(&f32::NAN.to_le_bytes());
            put(dir, "run/model.safetensors", model);
        }),
        case("A model for other features", "predict --run run --data other.npz --out p.csv", other_features),
        case("A set of graphs, to predict", "predict --run run --data set.npz --out p.csv", set_of_graphs),
        case("The data of a run is gone", PREDICT, |dir| {
            finished(dir);
            std::fs::remove_file(dir.join("graph.npz")).unwrap();
        }),
        case("An output of an unknown kind", "predict --run run --out p.xlsx", finished),
        case("A column that the training data had", "predict --run run --data other --out p.csv", |dir| {
            on_tables(dir, "id,f1,g0\na,1,2\nb,1,2\nc,1,2\nd,1,2\n");
        }),
        case("A column that it did not have", "predict --run run --data other --out p.csv", |dir| {
            on_tables(dir, "id,f1,f0,f2\na,1,2,1\nb,1,2,1\nc,1,2,1\nd,1,2,1\n");
        }),
        case("Text where there were numbers", "predict --run run --data other --out p.csv", |dir| {
            on_tables(dir, "id,f1,f0\na,1,x\nb,1,y\nc,1,z\nd,1,x\n");
        }),
        case("A damaged encoding", PREDICT, |dir| {
            finished(dir);
            put(dir, "run/encoding.toml", "features = -1\n");
        }),
    ]
}

/// A run on a folder of tables, and another folder with these nodes.
fn on_tables(dir: &Path, nodes: &str) {
    put_all(&dir.join("graph"), samples::folder());
    succeed(dir, "train --data graph --hidden 2 --heads 1 --epochs 1 --out run");
    put(dir, "other/nodes.csv", nodes);
    put(dir, "other/edges.csv", "src,dst\na,b\n");
}
