//! Training of models of the whole graph: graph convolution networks, and what holds for every such model.

use std::cell::Cell;
use std::time::Duration;

use carat::{
    Dataset, EpochMetrics, Error, ModelKind, Protocol, RunFolder, RunOptions, Task, TrainConfig, Trainer, tables,
    training, with_threads,
};
use carat_graph::generators::{PlantedConfig, planted};
use carat_graph::table::Column;
use carat_nn::{GcnNetwork, Init, Labelled, Layout, Parameter, WholeGraph, WholeGraphModel};

fn dataset() -> Dataset {
    planted(&PlantedConfig { nodes: 300, ..PlantedConfig::default() }).unwrap()
}

fn settings() -> TrainConfig {
    TrainConfig::default().data("planted".into()).model(ModelKind::Gcn).hidden(16).epochs(30)
}

fn options<'a>(interrupted: &'a dyn Fn() -> bool, on_epoch: &'a mut dyn FnMut(&EpochMetrics)) -> RunOptions<'a> {
    RunOptions { resume: true, checkpoint_every: Duration::ZERO, interrupted, on_epoch }
}

#[test]
fn a_graph_convolution_network_learns_and_is_the_same_on_any_number_of_threads() {
    let dataset = dataset();
    let config = settings();
    let split = config.choose_split(&dataset).unwrap();
    let trained = |threads| {
        with_threads(Some(threads), || {
            let model = GcnNetwork::new(config.gcn_for(&dataset), 0).unwrap();
            let mut trainer = Trainer::of_model(&dataset, &split, &config, model.boxed()).unwrap();
            trainer.train(&|| false).unwrap();
            let validation = trainer.keep();
            (trainer.test().unwrap().unwrap(), trainer.finish().0, validation)
        })
        .unwrap()
    };
    let ((test, one, validation), (_, three, _)) = (trained(1), trained(3));
    assert_eq!(one.parameters(), three.parameters());
    assert!(test.accuracy > 0.5, "{test:?}");
    assert!(validation.loss < 1.0, "{validation:?}");
    let model = GcnNetwork::new(config.gcn_for(&dataset), 0).unwrap();
    let mut trainer = Trainer::of_model(&dataset, &split, &config, model.boxed()).unwrap();
    assert!(matches!(trainer.train(&|| true), Err(Error::Interrupted)));
}

#[test]
fn a_run_that_is_stopped_goes_on_to_the_same_bits_and_predicts() {
    let dataset = dataset();
    let config = settings();
    let folder = tempfile::tempdir().unwrap();
    let (calm, stopped) = (RunFolder::new(folder.path().join("calm")), RunFolder::new(folder.path().join("stopped")));
    let whole = carat::run(&dataset, &config, &calm, options(&|| false, &mut |_| {})).unwrap();
    for stop_after in [4, 9] {
        let done = Cell::new(0);
        let interrupted = || done.get() >= stop_after;
        let mut count = |epoch: &EpochMetrics| done.set(epoch.epoch);
        let summary = carat::run(&dataset, &config, &stopped, options(&interrupted, &mut count)).unwrap();
        assert!(summary.interrupted && summary.epochs == stop_after, "{summary:?}");
    }
    let summary = carat::run(&dataset, &config, &stopped, options(&|| false, &mut |_| {})).unwrap();
    assert_eq!((summary.figures.test.loss, summary.epochs), (whole.figures.test.loss, whole.epochs));
    assert_eq!((summary.figures.attention_kl, summary.figures.attention_auc), (None, None));
    let bytes = |folder: &RunFolder| std::fs::read(folder.path().join("model.safetensors")).unwrap();
    assert_eq!(bytes(&stopped), bytes(&calm));

    let (opened, mut model) = stopped.open_model().unwrap();
    assert_eq!(opened, config.clone().task(Some(Task::Node)));
    let table = tables::predictions_of(&mut model, &dataset, 10).unwrap();
    let column =
        |name: &str| table.columns().iter().find(|(found, _)| found == name).map(|(_, column)| column).unwrap();
    let (Column::U32(predicted), Column::I64(labels)) = (column("predicted"), column("label")) else {
        panic!("not the columns of predictions")
    };
    let test = &config.choose_split(&dataset).unwrap().test;
    let right = test.iter().filter(|&&n| i64::from(predicted[n as usize]) == labels[n as usize]).count();
    assert_eq!(Some(right as f64 / test.len() as f64), summary.figures.test.accuracy);
    let refused = stopped.open().unwrap_err().to_string();
    assert!(refused.contains("the run's model is a gcn, which has no attention"), "{refused}");
}

#[test]
fn attention_is_asked_of_attention_networks_alone() {
    let dataset = dataset();
    let config = settings();
    let split = config.choose_split(&dataset).unwrap();
    let error = carat::Trainer::new(&dataset, &split, &config).unwrap_err();
    assert_eq!(error.to_string(), "a gcn has no attention, and this needs it; use model attention");
    let mut both = training(&dataset, &split, &config).unwrap();
    both.epoch(&|| false).unwrap();
    assert!(both.results(Protocol::Best).unwrap().figures.attention_kl.is_none());
}

/// A model with one parameter per class and one buffer, which counts the training passes.
#[derive(Debug)]
struct Counting {
    classes: usize,
    layout: Layout,
    buffer_layout: Layout,
    parameters: Vec<f32>,
    passes: Vec<f32>,
}

impl Counting {
    fn new(classes: usize) -> Self {
        let (mut layout, mut buffer_layout) = (Layout::default(), Layout::default());
        layout.push(Parameter::new("bias", &[classes], Init::Zeros));
        buffer_layout.push(Parameter::new("passes", &[1], Init::Zeros));
        Self { classes, layout, buffer_layout, parameters: vec![0.0; classes], passes: vec![0.0] }
    }
}

impl WholeGraphModel<f32> for Counting {
    fn features(&self) -> usize {
        dataset().features().num_columns()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    fn buffer_layout(&self) -> &Layout {
        &self.buffer_layout
    }

    fn buffers(&self) -> &[f32] {
        &self.passes
    }

    fn buffers_mut(&mut self) -> &mut [f32] {
        &mut self.passes
    }

    /// Better until the fifth pass, worse from then on.
    fn predict(&mut self, graph: &WholeGraph<f32>, scores: &mut Vec<f32>) {
        scores.clear();
        let away = (self.passes[0] - 5.0).abs();
        scores.extend((0..graph.num_nodes() * self.classes).map(|at| away * (at % self.classes) as f32));
    }

    fn loss_and_gradient(&mut self, _: &WholeGraph<f32>, _: Labelled<'_>, _: u64, gradient: &mut [f32]) -> f64 {
        self.passes[0] += 1.0;
        gradient.fill(1.0);
        1.0
    }

    fn description(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.classes)
    }
}

#[test]
fn what_a_model_keeps_beside_parameters_comes_back_with_them() {
    let dataset = dataset();
    let config = settings().epochs(8);
    let split = config.choose_split(&dataset).unwrap();
    let classes = dataset.labels().num_classes();
    let new = || Trainer::of_model(&dataset, &split, &config, Box::new(Counting::new(classes))).unwrap();
    let mut trainer = new();
    for _ in 0..6 {
        trainer.epoch(&|| false).unwrap();
    }
    let progress = trainer.progress().unwrap();
    assert_eq!(progress.parameters.last(), Some(&6.0));
    let mut resumed = new();
    assert!(resumed.restore(progress.clone()));
    assert_eq!((resumed.model().buffers(), resumed.stopping().epochs()), (&[6.0][..], 6));
    while resumed.epoch(&|| false).unwrap().is_some() {}
    assert_eq!((resumed.stopping().epochs(), resumed.stopping().best().epoch), (8, 5));
    resumed.keep();
    assert_eq!(resumed.model().buffers(), [5.0]);
    let short = carat::Progress { parameters: vec![0.0; classes], ..progress };
    assert!(!new().restore(short));
}
