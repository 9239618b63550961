//! What the page is told, as it stands in its JSON.

use serde::Serialize;

/// The graph and the runs.
#[derive(Debug, Clone, Serialize)]
pub struct Info {
    /// The dataset's name.
    pub dataset: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges.
    pub edges: usize,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// The runs, in the order in which everything else lists them.
    pub runs: Vec<RunInfo>,
    /// The node to begin with.
    pub start: u32,
    /// The most in-edges that a view can have.
    pub most_edges: usize,
}

/// A run in a few words.
#[derive(Debug, Clone, Serialize)]
pub struct RunInfo {
    /// The name of its folder.
    pub name: String,
    /// Baseline, or how it was regularised.
    pub treatment: String,
    /// Attention kind.
    pub arch: String,
    /// Attention layers.
    pub layers: usize,
    /// Heads per layer.
    pub heads: usize,
}

/// A node in a few words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Card {
    /// Its number.
    pub id: u32,
    /// Its name, or `node 12`.
    pub name: String,
    /// Its class, where it is known.
    pub class: Option<u32>,
    /// Its year, where the data tells.
    pub year: Option<i32>,
    /// Train, val or test, by the first run's split.
    pub role: Option<&'static str>,
    /// Its in-edges.
    pub degree: usize,
}

/// What was found for a query.
#[derive(Debug, Clone, Serialize)]
pub struct SearchView {
    /// The best matches, best first.
    pub nodes: Vec<Card>,
    /// Whether there are more.
    pub more: bool,
}

/// A node and its in-edges.
#[derive(Debug, Clone, Serialize)]
pub struct NodeView {
    /// The node.
    pub node: Card,
    /// What each run says of it.
    pub runs: Vec<Said>,
    /// Its in-edges by descending attention, at most as many as were asked for.
    pub edges: Vec<EdgeView>,
    /// Nodes that have it among their in-neighbours, the first of them.
    pub readers: Vec<Card>,
    /// How many there are.
    pub num_readers: usize,
}

/// What a run says of a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// The predicted class.
    pub predicted: usize,
    /// The class that the loss is about: the node's own, or the predicted one.
    pub judged_by: usize,
    /// Cross-entropy.
    pub loss: f64,
    /// Probability of every class.
    pub probabilities: Vec<f32>,
}

/// An in-edge.
#[derive(Debug, Clone, Serialize)]
pub struct EdgeView {
    /// Where it comes from.
    pub source: Card,
    /// What it is to each run.
    pub runs: Vec<EdgeSaid>,
    /// Whether a generator planted it as spurious.
    pub spurious: Option<bool>,
}

/// An in-edge as a run has it.
#[derive(Debug, Clone, Serialize)]
pub struct EdgeSaid {
    /// Attention per layer and head.
    pub attention: Vec<Vec<f32>>,
    /// Its causal effect.
    pub effect: f64,
    /// Loss without it over loss with it.
    pub rho: f64,
    /// Loss without it.
    pub loss_without: f64,
    /// The class predicted for its source, and how probable.
    pub source_predicted: (usize, f32),
}

/// A node's prediction with and without an edge.
#[derive(Debug, Clone, Serialize)]
pub struct WithoutView {
    /// Where the edge comes from.
    pub source: Card,
    /// The node.
    pub node: Card,
    /// What each run says.
    pub runs: Vec<WithoutSaid>,
}

/// A prediction of a run with and without an edge.
#[derive(Debug, Clone, Serialize)]
pub struct WithoutSaid {
    /// With all edges.
    pub before: Said,
    /// Without the edge.
    pub after: Said,
    /// Loss without it over loss with it.
    pub rho: f64,
    /// Its causal effect.
    pub effect: f64,
}
