//! Runs the examples, which assert their own results.

#[path = "../examples/own_attention.rs"]
mod own_attention;
#[path = "../examples/own_graph.rs"]
mod own_graph;

#[test]
fn a_graph_of_ones_own() {
    own_graph::main().unwrap();
}

#[test]
fn an_attention_kind_of_ones_own() {
    own_attention::main().unwrap();
}
