//! The JSON documents that the page reads.

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

/// A run without its results.
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

/// A node without its edges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeSummary {
    /// Its number.
    pub id: u32,
    /// Its name, or `node 12`.
    pub name: String,
    /// Its class, if known.
    pub class: Option<u32>,
    /// Its year, if the data has years.
    pub year: Option<i32>,
    /// Train, val or test, by the first run's split.
    pub role: Option<&'static str>,
    /// Its in-edges.
    pub degree: usize,
}

/// The result of a search.
#[derive(Debug, Clone, Serialize)]
pub struct SearchView {
    /// The best matches, best first.
    pub nodes: Vec<NodeSummary>,
    /// Whether there are more.
    pub more: bool,
}

/// A node and its in-edges.
#[derive(Debug, Clone, Serialize)]
pub struct NodeView {
    /// The node.
    pub node: NodeSummary,
    /// Each run's prediction for it.
    pub runs: Vec<Prediction>,
    /// Its in-edges by descending attention, at most as many as requested.
    pub edges: Vec<EdgeView>,
    /// The first of the nodes that have it among their in-neighbours.
    pub readers: Vec<NodeSummary>,
    /// How many there are.
    pub num_readers: usize,
}

/// A run's prediction for a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
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
    pub source: NodeSummary,
    /// Its values in each run.
    pub runs: Vec<EdgeOfRun>,
    /// Whether a generator planted it as spurious.
    pub spurious: Option<bool>,
}

/// The values of an in-edge in one run.
#[derive(Debug, Clone, Serialize)]
pub struct EdgeOfRun {
    /// Attention per layer and head.
    pub attention: Vec<Vec<f32>>,
    /// The log-likelihood that it gives to the class that the loss is about.
    pub delta: f64,
    /// Whether another class is predicted without it.
    pub flips: bool,
    /// The paper's effect.
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
    pub source: NodeSummary,
    /// The node.
    pub node: NodeSummary,
    /// The prediction of each run.
    pub runs: Vec<PredictionChange>,
}

/// A prediction of a run with and without an edge.
#[derive(Debug, Clone, Serialize)]
pub struct PredictionChange {
    /// With all edges.
    pub before: Prediction,
    /// Without the edge.
    pub after: Prediction,
    /// The log-likelihood that the edge gives to the class that the loss is about.
    pub delta: f64,
    /// Loss without it over loss with it.
    pub rho: f64,
    /// The paper's effect.
    pub effect: f64,
}
