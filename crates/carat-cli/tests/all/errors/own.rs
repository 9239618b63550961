//! A user's own graph, as a `.npz` file and as a folder of tables.

use std::path::Path;

use super::{Case, case, put, put_all, succeed};
use crate::support::samples::{self, Array, f32s, i64s};

/// `graph.npz` with some arrays replaced or added; one without bytes of type `-` is left out.
fn with(dir: &Path, changes: &[Array<'static>]) {
    let mut arrays = samples::own_arrays();
    for change in changes {
        arrays.retain(|array| array.0 != change.0);
        if change.1 != "-" {
            arrays.push(change.clone());
        }
    }
    put(dir, "graph.npz", samples::npz(&arrays));
}

const INFO: &str = "data info graph.npz";
const TRAIN: &str = "train --data graph.npz --out run";

pub fn npz_cases() -> Vec<Case> {
    vec![
        case("Cut short", INFO, |dir| {
            let whole = samples::npz(&samples::own_arrays());
            put(dir, "graph.npz", &whole[..whole.len() / 2]);
        }),
        case("Not an archive at all", INFO, |dir| put(dir, "graph.npz", "hello")),
        case("Empty file", INFO, |dir| put(dir, "graph.npz", "")),
        case("A damaged array", INFO, |dir| {
            let mut bytes = samples::npz(&samples::own_arrays());
            let at = bytes.windows(8).position(|w| w == f32s(&[0.5, 1.0])).unwrap();
            bytes[at] ^= 1;
            put(dir, "graph.npz", bytes);
        }),
        case("An array of Python objects", INFO, |dir| with(dir, &[("y", "|O", &[4], vec![0; 32])])),
        case("An array whose header promises more than there is", INFO, |dir| {
            with(dir, &[("x", "<f4", &[1_000_000_000, 1000], f32s(&[1.0]))]);
        }),
        case("An array larger than any memory", INFO, |dir| {
            with(dir, &[("x", "<f4", &[usize::MAX / 2, 8], f32s(&[1.0]))]);
        }),
        case("No edges array", INFO, |dir| with(dir, &[("edge_index", "-", &[], Vec::new())])),
        case("No features", INFO, |dir| with(dir, &[("x", "-", &[], Vec::new())])),
        case("No labels array, to train on", TRAIN, |dir| with(dir, &[("y", "-", &[], Vec::new())])),
        case("`edge_index` transposed", INFO, |dir| {
            with(dir, &[("edge_index", "<i8", &[3, 2], i64s(&[0, 1, 1, 0, 2, 3]))])
        }),
        case("An edge to a node that does not exist", INFO, |dir| {
            with(dir, &[("edge_index", "<i8", &[2, 1], i64s(&[0, 9]))])
        }),
        case("A negative node", INFO, |dir| with(dir, &[("edge_index", "<i8", &[2, 1], i64s(&[0, -1]))])),
        case("Edges as floats", INFO, |dir| with(dir, &[("edge_index", "<f4", &[2, 1], f32s(&[0.0, 1.0]))])),
        case("`x` of the wrong shape", INFO, |dir| with(dir, &[("x", "<f4", &[4], f32s(&[1.0; 4]))])),
        case("Too few rows of features", INFO, |dir| with(dir, &[("x", "<f4", &[3, 1], f32s(&[1.0; 3]))])),
        case("A NaN feature", INFO, |dir| {
            with(dir, &[("x", "<f4", &[4, 2], f32s(&[1.0, 0.0, 0.5, f32::NAN, 0.0, 1.0, 1.0, 1.0]))]);
        }),
        case("An infinite feature", INFO, |dir| {
            with(dir, &[("x", "<f4", &[4, 1], f32s(&[1.0, 0.0, f32::INFINITY, 1.0]))]);
        }),
        case("Sparse features whose arrays disagree", INFO, |dir| {
            with(
                dir,
                &[
                    ("x", "-", &[], Vec::new()),
                    ("x_data", "<f4", &[2], f32s(&[1.0, 1.0])),
                    ("x_indices", "<i8", &[1], i64s(&[0])),
                    ("x_indptr", "<i8", &[5], i64s(&[0, 1, 1, 1, 2])),
                    ("x_shape", "<i8", &[2], i64s(&[4, 2])),
                ],
            );
        }),
        case("A graph without nodes", INFO, |dir| {
            with(
                dir,
                &[
                    ("edge_index", "<i8", &[2, 0], Vec::new()),
                    ("x", "<f4", &[0, 2], Vec::new()),
                    ("y", "<i8", &[0], Vec::new()),
                    ("train_mask", "-", &[], Vec::new()),
                    ("val_mask", "-", &[], Vec::new()),
                    ("test_mask", "-", &[], Vec::new()),
                ],
            );
        }),
        case("Too few labels", INFO, |dir| with(dir, &[("y", "<i8", &[2], i64s(&[0, 1]))])),
        case("A label out of range", INFO, |dir| with(dir, &[("y", "<i8", &[4], i64s(&[0, 1, 2_000_000_000, 0]))])),
        case("A label beyond `num_classes`", INFO, |dir| with(dir, &[("num_classes", "<i8", &[1], i64s(&[1]))])),
        case("A label that is not a whole number", INFO, |dir| {
            with(dir, &[("y", "<f4", &[4], f32s(&[0.0, 0.5, 1.0, 0.0]))])
        }),
        case("No label at all, to train on", TRAIN, |dir| with(dir, &[("y", "<i8", &[4], i64s(&[-1; 4]))])),
        case("A mask of the wrong length", INFO, |dir| with(dir, &[("val_mask", "|b1", &[3], vec![0, 1, 0])])),
        case("Masks with different numbers of splits", INFO, |dir| {
            with(dir, &[("val_mask", "|b1", &[2, 4], vec![0; 8])])
        }),
        case("Two masks of three", INFO, |dir| with(dir, &[("test_mask", "-", &[], Vec::new())])),
        case("A node that both trains and tests", INFO, |dir| {
            with(dir, &[("test_mask", "|b1", &[4], vec![1, 0, 0, 0])])
        }),
    ]
}

/// The folder `graph` with one file replaced.
fn folder(dir: &Path, name: &str, text: &str) {
    put_all(&dir.join("graph"), samples::folder());
    put(dir, &format!("graph/{name}"), text);
}

/// The same with Parquet tables, one of them changed.
fn parquet(dir: &Path, name: &str, change: fn(&mut Vec<u8>)) {
    put_all(&dir.join("csv"), samples::folder());
    succeed(dir, "data convert csv graph --format parquet");
    let path = dir.join("graph").join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

pub fn folder_cases() -> Vec<Case> {
    const INFO: &str = "data info graph";
    vec![
        case("No table of nodes", INFO, |dir| put(dir, "graph/edges.csv", "src,dst\n")),
        case("Two tables of nodes", INFO, |dir| folder(dir, "nodes.parquet", "")),
        case("An empty table", INFO, |dir| folder(dir, "nodes.csv", "")),
        case("A header and no nodes", INFO, |dir| folder(dir, "nodes.csv", "id,label,f0\n")),
        case("No `id` column", INFO, |dir| folder(dir, "nodes.csv", "node,label,f0\na,cat,1\n")),
        case("No `label` column, to train on", "train --data graph --out run", |dir| {
            folder(dir, "nodes.csv", "id,class,f0\na,cat,1\nb,dog,2\nc,cat,3\nd,cat,4\n");
        }),
        case("No feature column", INFO, |dir| folder(dir, "nodes.csv", "id,label\na,cat\n")),
        case("Two columns of one name", INFO, |dir| folder(dir, "nodes.csv", "id,label,f0,f0\na,cat,1,2\n")),
        case("A row that is too short", INFO, |dir| folder(dir, "nodes.csv", "id,label,f0,f1\na,cat,1,2\nb,dog,1\n")),
        case("An id used twice", INFO, |dir| folder(dir, "nodes.csv", "id,label,f0\na,cat,1\na,dog,1\n")),
        case("An empty id", INFO, |dir| folder(dir, "nodes.csv", "id,label,f0\n,cat,1\n")),
        case("A feature that is not a number", INFO, |dir| {
            folder(dir, "nodes.csv", "id,label,f0\na,cat,1\nb,dog,red\n")
        }),
        case("A date that does not exist", INFO, |dir| {
            folder(dir, "nodes.csv", "id,label,since\na,cat,2024-02-29\nb,dog,2023-02-29\n")
        }),
        case("A number that 32 bits cannot hold", INFO, |dir| folder(dir, "nodes.csv", "id,label,f0\na,cat,1e99\n")),
        case("A kind of column that there is not", INFO, |dir| folder(dir, "columns.csv", "column,kind\nf0,colour\n")),
        case("A kind for no column", INFO, |dir| folder(dir, "columns.csv", "column,kind\nf7,text\n")),
        case("A label that `classes.csv` does not list", INFO, |dir| {
            folder(dir, "nodes.csv", "id,label,f0\na,cow,1\n")
        }),
        case("A word that is not a split", INFO, |dir| {
            folder(dir, "nodes.csv", "id,label,split,f0\na,cat,training,1\n")
        }),
        case("A gap in the numbered splits", INFO, |dir| {
            folder(dir, "nodes.csv", "id,label,split_0,split_2,f0\na,cat,train,train,1\n");
        }),
        case("No `dst` column", INFO, |dir| folder(dir, "edges.csv", "src,target\na,b\n")),
        case("An edge to a node that does not exist", INFO, |dir| {
            put(dir, "graph/nodes.csv", "id,label,f0\nalice,0,1\nbob,1,1\n");
            put(dir, "graph/edges.csv", "src,dst\nalice,bob\nalice,bobb\n");
        }),
        case("The same with numbered nodes", INFO, |dir| {
            put(dir, "graph/nodes.csv", "id,label,f0\n0,0,1\n1,1,1\n");
            put(dir, "graph/edges.csv", "src,dst\n0,1\n0,2\n");
        }),
        case("Text that is not UTF-8", INFO, |dir| {
            put_all(&dir.join("graph"), samples::folder());
            put(dir, "graph/edges.csv", b"src,dst\na,\xff\n");
        }),
        case("A gzip-compressed table cut short", INFO, |dir| {
            put_all(&dir.join("graph"), samples::folder());
            std::fs::remove_file(dir.join("graph/edges.csv")).unwrap();
            put(dir, "graph/edges.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x2b\x2e");
        }),
        case("A file that is not Parquet", INFO, |dir| {
            put(dir, "graph/nodes.csv", "id,label,f0\n0,0,1\n");
            put(dir, "graph/edges.parquet", "hello");
        }),
        case("A Parquet file cut short", INFO, |dir| {
            parquet(dir, "nodes.parquet", |bytes| bytes.truncate(bytes.len() / 2))
        }),
        case("A Parquet file with damaged pages", INFO, |dir| {
            parquet(dir, "nodes.parquet", |bytes| bytes[4..40].fill(0xff));
        }),
    ]
}
