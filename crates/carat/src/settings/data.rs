//! The data and the split.

use super::checks::{adds_own_loops, folds, never, self_loops, split_ratio, with_own_attention};
use super::macros::settings;
use crate::{Normalise, Task};

settings! {
    /// The data, the task and the split.
    pub struct DataSettings at data, unused never {
        /// Dataset: a name from 'carat data list', or a path to a .npz or .carat file or a folder.
        name as data: String = String::new(), "data" "NAME|PATH";
        /// What to classify: node (the nodes of a graph) or graph (the graphs of a set).
        task: Option<Task> = None, "task" "WHAT", default "what the data has labels of";
        /// Use every edge both ways. The reverse of an edge has the edge's features; edges that are there both ways
        /// stay.
        undirected: bool = false, "undirected" "true|false", late true;
        /// Let every node attend to itself. Self-loops are no edges of the data then: none is deleted or listed in a
        /// table.
        self_loops: bool = false, "self-loops" "true|false", check self_loops, unused adds_own_loops, late true;
        /// Let attention read the features of edges, where the data has some: the columns of edges.csv besides src and
        /// dst, edge_attr in a .npz file, edge labels of graphs.
        edge_features: bool = false, "edge-features" "true|false", unused with_own_attention, late true;
        /// Which of the data's splits, or which seeded one where it has none.
        split: usize = 0, "split" "N";
        /// Make seeded stratified splits with these shares instead of the data's own.
        split_ratio: Option<String> = None, "split-ratio" "TRAIN,VAL,TEST", default "0.6,0.2,0.2 where it has none",
            check split_ratio;
        /// Cross-validation: --split K tests fold K, stops by the next and trains on the others; folds are stratified
        /// and dealt out by --seed.
        folds: Option<usize> = None, "folds" "N", check folds;
        /// Scale of the features: none, row (each row divided by its sum), standard (each column to mean 0 and
        /// deviation 1 over the training nodes) or auto (standard for tables and for dense features other than 0 and 1,
        /// else none).
        normalise: Normalise = Normalise::None, "normalise" "HOW", late true;
    }
}
