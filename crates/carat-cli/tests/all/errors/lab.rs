//! Sweeps, searches, stores and reports.

use std::path::Path;

use super::{Case, case, nothing, put, succeed};
use crate::support::samples;

fn graph(dir: &Path) {
    put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
}

/// `graph.npz` and a grid beside it.
fn grid(dir: &Path, text: &str) {
    graph(dir);
    put(dir, "grid.toml", text);
}

/// `graph.npz` and a space beside it.
fn space(dir: &Path, text: &str) {
    graph(dir);
    put(dir, "space.toml", text);
}

/// A store with one run in it.
fn store(dir: &Path) {
    grid(dir, "data = 'graph.npz'\nhidden = 2\nheads = 1\nlayers = 1\nepochs = 2");
    succeed(dir, "sweep --grid grid.toml --store store.db");
}

fn damaged_store(dir: &Path) {
    store(dir);
    let mut bytes = std::fs::read(dir.join("store.db")).unwrap();
    // The header stays; every page behind it is noise.
    bytes.iter_mut().enumerate().skip(100).for_each(|(at, byte)| *byte = (at * 31 % 251) as u8);
    put(dir, "store.db", bytes);
}

/// The cases.
pub fn cases() -> Vec<Case> {
    vec![
        case("A sweep of nothing", "sweep", nothing),
        case("A built-in grid that is none", "sweep --data graph.npz --grid papr", graph),
        case("A grid without data", "sweep --grid grid.toml", |dir| grid(dir, "hidden = 3")),
        case("A grid that is not TOML", "sweep --grid grid.toml", |dir| grid(dir, "data = 'graph.npz'\nhidden = [1,")),
        case("An unknown setting in a grid", "sweep --grid grid.toml", |dir| {
            grid(dir, "data = 'graph.npz'\nhiden = 3")
        }),
        case("A setting without values", "sweep --grid grid.toml", |dir| grid(dir, "data = 'graph.npz'\nlambda = []")),
        case("A value without meaning in a grid", "sweep --grid grid.toml", |dir| {
            grid(dir, "data = 'graph.npz'\nheads = [1, 0]");
        }),
        case("A word where a number belongs in a grid", "sweep --grid grid.toml", |dir| {
            grid(dir, "data = 'graph.npz'\nlr = 'fast'");
        }),
        case("Seeds in two ways", "sweep --grid grid.toml", |dir| grid(dir, "data = 'graph.npz'\nseeds = 2\nseed = 1")),
        case("No seeds", "sweep --grid grid.toml", |dir| grid(dir, "data = 'graph.npz'\nseeds = 0")),
        case("More runs than anybody wants", "sweep --grid grid.toml", |dir| {
            grid(dir, "data = 'graph.npz'\nseeds = 100000\nsplits = 100000");
        }),
        case("A grid over data that is not there", "sweep --data cora --grid paper", nothing),
        case("A share of a sweep that does not exist", "sweep --data graph.npz --shard 3/2", graph),
        case("`--seeds 0`", "sweep --data graph.npz --seeds 0", graph),
        case("A store in a folder that does not exist", "sweep --data graph.npz --store no/such/store.db", graph),
        case("A store that is a folder", "sweep --data graph.npz --store .", graph),
        case("A store that is something else", "sweep --data graph.npz --store grid.toml", |dir| {
            grid(dir, "# a text that is long enough to be taken for a database by a careless program\n");
        }),
        case("A report on nothing", "report", nothing),
        case("A report on a store that is not there", "report store.db", nothing),
        case("A report on something else", "report graph.npz", graph),
        case("A report on an empty file", "report empty.db", |dir| put(dir, "empty.db", "")),
        case("A report on a damaged store", "report store.db", damaged_store),
        case("A report on a folder that is no run", "report .", nothing),
        case("A report with a figure that is none", "report store.db --figures auc", nothing),
        case("A report into a file", "report store.db --out graph.npz", store),
        case("An item that the paper does not have", "reproduce tabel1", nothing),
        case("The paper without its data", "reproduce table1", nothing),
        case("The paper on data that it does not have", "reproduce table1 --data mine", nothing),
        case("`--splits 11`", "reproduce table1 --splits 11", nothing),
    ]
}

/// The cases of searches for settings.
pub fn tune_cases() -> Vec<Case> {
    vec![
        case("A search on nothing", "tune", nothing),
        case("A space that is not there", "tune --data graph.npz --space space.toml", graph),
        case("A space that is not TOML", "tune --data graph.npz --space space.toml", |dir| space(dir, "hidden = [")),
        case("A space of nothing", "tune --data graph.npz --space space.toml", |dir| space(dir, "")),
        case("An unknown setting to search", "tune --data graph.npz --space space.toml", |dir| {
            space(dir, "hiden = [3]");
        }),
        case("A search for seeds", "tune --data graph.npz --space space.toml", |dir| space(dir, "seed = [1, 2]")),
        case("One value to search", "tune --data graph.npz --space space.toml", |dir| space(dir, "hidden = 64")),
        case("A value without meaning to search", "tune --data graph.npz --space space.toml", |dir| {
            space(dir, "dropout = [0.5, 1]");
        }),
        case("A range without a scale", "tune --data graph.npz --space space.toml", |dir| {
            space(dir, "lr = { from = 0.01, to = 0.1 }");
        }),
        case("A range that ends before it begins", "tune --data graph.npz --space space.toml", |dir| {
            space(dir, "lr = { from = 0.1, to = 0.01, scale = 'log' }");
        }),
        case("A range from 0 in orders of magnitude", "tune --data graph.npz --space space.toml", |dir| {
            space(dir, "lr = { from = 0, to = 0.1, scale = 'log' }");
        }),
        case("All that is searched is given", "tune --data graph.npz --space space.toml --hidden 8", |dir| {
            space(dir, "hidden = [4, 8]");
        }),
        case(
            "Heads that do not divide the preset's width",
            "tune --data graph.npz --space space.toml --heads 5",
            |dir| {
                space(dir, "hidden = [4, 8]");
            },
        ),
        case("No time to search", "tune --data graph.npz --minutes 0", graph),
        case("Two ends of a search", "tune --data graph.npz --minutes 1 --candidates 9", graph),
        case("A figure that cannot decide", "tune --data graph.npz --figure speed", graph),
        case("Best settings into a folder that does not exist", "tune --data graph.npz --out no/such.toml", graph),
    ]
}
