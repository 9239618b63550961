//! Exploring runs that do not belong together, nodes that are not there, ports that are taken.

use std::path::Path;

use super::runs::{finished, other_features, set_of_graphs};
use super::{Case, case, nothing, put, succeed};

/// A finished run, and another on other data.
fn other_data(dir: &Path) {
    finished(dir);
    succeed(dir, "data generate planted --nodes 100 --out planted.npz");
    succeed(dir, "train --data planted.npz --hidden 2 --heads 1 --epochs 1 --out other");
}

/// A run on a graph in which two nodes are called alike.
fn namesakes(dir: &Path) {
    put(dir, "graph/nodes.csv", "id,label,name,f0\na,x,twin,1\nb,y,twin,0\nc,x,Paper One,1\nd,y,,0\n");
    put(dir, "graph/edges.csv", "src,dst\na,b\nb,c\nc,a\nd,a\n");
    succeed(dir, "train --data graph --split-ratio 0.5,0.5,0 --hidden 2 --heads 1 --epochs 1 --out run");
}

/// The cases.
pub fn cases() -> Vec<Case> {
    vec![
        case("No run named", "explore", nothing),
        case("A run that does not exist", "explore run", nothing),
        case("A second run that does not exist", "explore run other", finished),
        case("Three runs", "explore run run run", finished),
        case("A folder that holds no run", "explore run", |dir| put(dir, "run/notes.txt", "hello")),
        case("A run that has not come to a model", "explore run", |dir| {
            finished(dir);
            std::fs::remove_file(dir.join("run/model.safetensors")).unwrap();
        }),
        case("Runs on different data", "explore run other", other_data),
        case("Runs on different data, shown on one", "explore run other --data graph.npz", other_data),
        case("Data with other features", "explore run --data other.npz", other_features),
        case("A set of graphs", "explore run --data set.npz", set_of_graphs),
        case("A node that does not exist", "explore run --node 4", finished),
        case("A name that no node has", "explore run --node paper", namesakes),
        case("A name that two nodes have", "explore run --node twin", namesakes),
        case("A port that is taken", "explore run --port PORT", finished),
        case("A port that is none", "explore run --port 70000", finished),
        case("An export without a node", "explore run --export node.html", finished),
        case(
            "An export into a folder that does not exist",
            "explore run --node 0 --export no/such/node.html",
            finished,
        ),
        case("An export and a port", "explore run --node 0 --export node.html --port 8000", finished),
        case("An export of no hops", "explore run --node 0 --export node.html --hops 0", finished),
        case("An export of too many edges", "explore run --node 0 --export node.html --edges 1000", finished),
    ]
}
