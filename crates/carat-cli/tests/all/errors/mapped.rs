//! A `.carat` file: cut, damaged, of another version, and lying.

use std::path::Path;

use super::{Case, Under, case, nothing, put, succeed};
use crate::support::samples;

const INFO: &str = "data info graph.carat";

/// The sections that cases damage, by their numbers in the format.
const SIZES: u32 = 1;
const IN_OFFSETS: u32 = 2;
const SOURCES: u32 = 3;
const DENSE: u32 = 4;
const LABELS: u32 = 8;
const SPLITS: u32 = 9;

fn graph(dir: &Path) {
    put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
    succeed(dir, "data convert graph.npz graph.carat");
}

fn changed(dir: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    graph(dir);
    let mut bytes = std::fs::read(dir.join("graph.carat")).unwrap();
    change(&mut bytes);
    put(dir, "graph.carat", bytes);
}

/// Writes `new` at byte `at` of a section, whose checksum then does not fit.
fn in_section(dir: &Path, kind: u32, at: usize, new: &[u8]) {
    changed(dir, |bytes| {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let entry = (0..).map(|k| 32 + 32 * k).find(|&entry| number(entry) == kind).unwrap();
        let start = number(entry + 8) as usize + at;
        bytes[start..start + new.len()].copy_from_slice(new);
    });
}

pub fn cases() -> Vec<Case> {
    vec![
        case("Cut short", INFO, |dir| changed(dir, |bytes| bytes.truncate(1_200))),
        case("Cut short within its head", INFO, |dir| changed(dir, |bytes| bytes.truncate(20))),
        case("Empty file", INFO, |dir| put(dir, "graph.carat", "")),
        case("Another kind of file", INFO, |dir| put(dir, "graph.carat", "hello")),
        case("No file of that name", INFO, nothing),
        case("A newer version", INFO, |dir| changed(dir, |bytes| bytes[8] = 9)),
        case("A damaged head", INFO, |dir| changed(dir, |bytes| bytes[17] ^= 1)),
        case("A damaged table of sections", INFO, |dir| changed(dir, |bytes| bytes[40] ^= 1)),
        case("Damaged sizes", INFO, |dir| in_section(dir, SIZES, 0, &[9])),
        case("Damaged splits", INFO, |dir| in_section(dir, SPLITS, 0, &[9])),
        case("Offsets that fall", INFO, |dir| in_section(dir, IN_OFFSETS, 8, &[9])),
        case("An edge from a node that does not exist", INFO, |dir| in_section(dir, SOURCES, 0, &[77])),
        case("A label that is not a class", INFO, |dir| in_section(dir, LABELS, 0, &[77])),
        case("A NaN feature, met by a network", "predict --run run --data graph.carat --out p.csv", |dir| {
            in_section(dir, DENSE, 0, &f32::NAN.to_le_bytes());
            succeed(dir, "train --data graph.npz --hidden 2 --heads 1 --layers 1 --epochs 1 --out run");
        }),
        case("A NaN feature, met by conversion", "data convert graph.carat out.npz", |dir| {
            in_section(dir, DENSE, 0, &f32::NAN.to_le_bytes())
        }),
        case("A damaged feature, found by --verify", "data info graph.carat --verify", |dir| {
            in_section(dir, DENSE, 0, &[1])
        }),
        case("`--to mmap` with another ending", "data convert graph.npz out.npz --to mmap", graph),
        case("`--format` with a `.carat` file", "data convert graph.npz out.carat --format csv", graph),
        Case { code: 1, ..case("A folder that does not exist", "data convert graph.npz no/such/out.carat", graph) },
        Case {
            code: 1,
            under: Under::FullDisk(2),
            ..case("The disk fills up", "data convert graph.npz out.carat", |dir| {
                succeed(dir, "data generate planted --nodes 300 --mean-degree 4 --out graph.npz");
            })
        },
    ]
}
