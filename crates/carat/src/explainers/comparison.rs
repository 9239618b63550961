//! Explainers judged on the scale of trust: what their explanations are worth, and what they cost.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carat_graph::Dataset;
use carat_graph::table::{Column, Table};
use carat_nn::Network;
use serde::Serialize;

use super::{ExplainerSettings, Method, scores};
use crate::trust::{
    ComparedCurves, Faithfulness, Fidelity, Observed, Of, Planted, ScoreCurves, TrustSettings, share_of_best,
};
use crate::{Error, Task};

/// One method and its measures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// The method.
    pub method: Method,
    /// Agreement of scores with what edges do to the true class.
    pub faithfulness: Faithfulness,
    /// Agreement with what edges do to the predicted class.
    pub self_faithfulness: Faithfulness,
    /// Whether scores find planted edges, where the data has some.
    pub planted: Option<Planted>,
    /// The area between the deletion curves of a random order and of the highest scores first.
    pub deletion_area: f64,
    /// The same as a share of the best order's; `None` where no order changes much.
    pub share_of_best: Option<f64>,
    /// How needed and how sufficient the edges with the highest scores are.
    pub fidelity: Fidelity,
    /// Wall-clock time per node, or graph, on all threads together.
    pub milliseconds: f64,
}

/// Methods, judged on the same edges of the same nodes or graphs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What is classified.
    #[serde(serialize_with = "crate::trust::as_text")]
    pub task: Task,
    /// Nodes, or graphs, that have edges.
    pub entities: usize,
    /// Their edges.
    pub edges: usize,
    /// The deletion area of the best order.
    pub best_area: f64,
    /// The methods, as they were asked for.
    pub methods: Vec<Explained>,
}

/// What is behind the measures: every edge, what it does, and the scores that each method gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanations {
    /// The edges and what they do.
    pub observed: Observed,
    /// Scores by method, one per edge.
    pub scores: Vec<(Method, Vec<f64>)>,
}

impl Explanations {
    /// A row per method and edge: the edge, the method and its score.
    pub fn table(&self) -> Result<Table, Error> {
        let effects = &self.observed.effects;
        let times = self.scores.len();
        let graph = effects.graph.as_ref().map(|graph| ("graph", Column::U32(graph.repeat(times))));
        let names = self.scores.iter().map(|(method, _)| method.to_string()).collect();
        let codes = (0..times as u32).flat_map(|code| std::iter::repeat_n(code, effects.len())).collect();
        let scores = self.scores.iter().flat_map(|(_, scores)| scores).copied().collect();
        Ok(Table::new(graph.into_iter().chain([
            ("src", Column::U32(effects.src.repeat(times))),
            ("dst", Column::U32(effects.dst.repeat(times))),
            ("method", Column::Coded(codes, Arc::new(names))),
            ("score", Column::F64(scores)),
        ]))?)
    }
}

/// Explains some nodes, or graphs of a set, by several methods, and judges all of them by the exact effects of the same
/// edges.
///
/// `progress` gets what is computed (a method, `effects` or `curves`), and how much of it is done and in all; if it
/// breaks, the work ends with [`Error::Interrupted`].
pub fn compare(
    network: &Network<f32>,
    dataset: &Dataset,
    entities: &[u32],
    methods: &[Method],
    settings: &ExplainerSettings,
    progress: &mut dyn FnMut(&str, usize, usize) -> ControlFlow<()>,
) -> Result<(Comparison, Explanations), Error> {
    let mut explained = Vec::new();
    for &method in methods {
        let start = Instant::now();
        let mut of_method = |done, total| progress(method.name(), done, total);
        let scores = scores(network, dataset, entities, method, settings, &mut of_method)?;
        explained.push((method, scores, start.elapsed()));
    }
    let mut of_effects = |done, total| progress("effects", done, total);
    let observed = Observed::of(network, dataset, entities, &settings.effects, &mut of_effects)?;
    let judged =
        TrustSettings { effects: settings.effects, curve_entities: observed.entities.len(), seed: settings.seed };
    let all: Vec<&[f64]> = explained.iter().map(|(_, scores, _)| &scores[..]).collect();
    let mut of_curves = |done, total| progress("curves", done, total);
    let curves = ComparedCurves::of(network, dataset, &observed, &all, &judged, &mut of_curves)?;
    let (matters, best_area) = (observed.planted(dataset), curves.best_area);
    let judge = |((method, scores, time), curves): (&(Method, Vec<f64>, Duration), &ScoreCurves)| Explained {
        method: *method,
        faithfulness: observed.faithfulness(scores, Of::Label),
        self_faithfulness: observed.faithfulness(scores, Of::Prediction),
        planted: matters.as_ref().and_then(|matters| observed.planted_auc(scores, matters)),
        deletion_area: curves.area,
        share_of_best: share_of_best(curves.area, best_area),
        fidelity: curves.fidelity,
        milliseconds: 1e3 * time.as_secs_f64() / observed.entities.len().max(1) as f64,
    };
    let methods = explained.iter().zip(&curves.scores).map(judge).collect();
    let found = Comparison {
        task: observed.task,
        entities: observed.entities.len(),
        edges: observed.num_edges(),
        best_area,
        methods,
    };
    let scores = explained.into_iter().map(|(method, scores, _)| (method, scores)).collect();
    Ok((found, Explanations { observed, scores }))
}
