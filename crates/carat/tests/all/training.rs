//! How networks are trained: schedules, class weights, the choice of the best epoch, and patience that waits.

use carat::settings::{ClassWeights, OptimiserKind, PatienceFrom, Schedule, Select};
use carat::{
    Arm, Dataset, EffectKind, EntityChoice, Lambda, ModelKind, Rounds, Target, TrainConfig, checkpoint, training,
};
use carat_graph::{DatasetParts, Features, Graph, Labels, SplitRatio};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::Golden;

#[test]
fn the_cosine_is_torch_s() {
    let config = TrainConfig::default().lr(0.05).epochs(10);
    assert!((1..=20).all(|epoch| config.learning_rate(epoch) == 0.05));
    let config = config.schedule(Schedule::Cosine);
    for (epoch, expected) in Golden::open("optimisers").doubles("rates").into_iter().enumerate() {
        let found = config.learning_rate(epoch + 1);
        assert!((found - expected).abs() < 1e-15, "epoch {epoch}: {found} where torch has {expected}");
    }
}

/// Nodes of which one in 50 is of class 1. Two features tell the classes apart, through noise.
fn imbalanced(nodes: usize, seed: u64) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let labels: Vec<usize> = (0..nodes).map(|node| usize::from(node % 50 == 7)).collect();
    let mut noise = || (0..4).map(|_| rng.random_range(-1.0..1.0f32)).sum::<f32>();
    let mut features = Vec::new();
    for &label in &labels {
        let own = if label == 1 { 1.0 } else { 0.0 };
        features.extend((0..10).map(|column| noise() + if column < 2 { own } else { 0.0 }));
    }
    // An edge in two comes from a node of the same class.
    let (mut src, mut dst) = (Vec::new(), Vec::new());
    for (node, &label) in labels.iter().enumerate() {
        for _ in 0..4 {
            let other = rng.random_range(0..nodes);
            let same = (other..nodes).chain(0..other).find(|&other| labels[other] == label);
            src.push(if rng.random_bool(0.5) { same.unwrap() } else { other } as u32);
            dst.push(node as u32);
        }
    }
    let graph = Graph::from_edges(nodes, &src, &dst).unwrap();
    let features = Features::dense(nodes, 10, features).unwrap();
    let labels = Labels::new(labels.into_iter().map(|label| Some(label as u32)).collect(), 2).unwrap();
    let mut parts = DatasetParts::new("imbalanced", graph, features, labels.clone());
    parts.splits = vec![carat_graph::Split::stratified(&labels, SplitRatio::default(), seed)];
    Dataset::new(parts).unwrap()
}

/// Epochs trained, and the test loss of the weights that are kept.
fn trained(dataset: &Dataset, config: &TrainConfig) -> (usize, f64) {
    let split = config.choose_split(dataset).unwrap();
    let mut trainer = training(dataset, &split, config).unwrap();
    trainer.train(&|| false).unwrap();
    trainer.keep();
    (trainer.epochs(), trainer.test().unwrap().unwrap().loss)
}

/// With the classes' shares alone the loss is 0.098.
#[test]
fn rare_classes_are_learned_before_patience_counts() {
    let dataset = imbalanced(2000, 1);
    let plain = TrainConfig::default().hidden(16).heads(2).patience(Some(5));
    for (patience, lambda, at_most) in [(5, 0.0, 0.08), (20, 5.0, 0.09)] {
        let config = plain.clone().patience(Some(patience)).lambda(Lambda::new(lambda));
        let (epochs, loss) = trained(&dataset, &config);
        assert!(epochs < 40 && loss > 0.095, "{epochs} epochs to {loss}");
        let waits = config.clone().patience_from(PatienceFrom::Learning);
        let (epochs, loss) = trained(&dataset, &waits);
        assert!(epochs < 200 && loss < at_most, "{epochs} epochs to {loss}");
        // Under the paper's protocol nothing waits.
        let paper = |config: TrainConfig| trained(&dataset, &config.protocol(carat::Protocol::Paper));
        assert_eq!(paper(waits), paper(config));
    }
}

#[test]
fn runs_with_every_new_setting_resume_with_the_same_bits() {
    let dataset = imbalanced(400, 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let plain = TrainConfig::default().hidden(9).epochs(14).lr(0.05);
    let plain = plain.optimiser(OptimiserKind::AdamW).weight_decay(0.05).schedule(Schedule::Cosine);
    let plain = plain.class_weights(ClassWeights::Balanced).patience_from(PatienceFrom::Learning);
    let batches = plain.clone().lambda(Lambda::new(1.0)).rounds(Rounds::Count(2)).batch_size(50);
    // Averages of edges and of predictions, turns of folds and the strength go on, too.
    let carrying = |entities: EntityChoice| {
        let mut config = batches.clone().lambda(Lambda::auto());
        let car = &mut config.regulariser;
        (car.entities, car.warm_up, car.confidence) = (entities, 3, 0.5);
        (car.target, car.effect) = (Target::Distribution, EffectKind::Relative);
        (car.memory, car.cross_fit) = (0.7, 2);
        config
    };
    let [on_training, on_all] = [EntityChoice::Train, EntityChoice::All].map(carrying);
    let drop_edge = batches.clone().arm(Arm::DropEdge);
    let drop_message = batches.clone().arm(Arm::DropMessage);
    let edge_prediction = batches.clone().arm(Arm::EdgePrediction).lambda(Lambda::auto());
    let gcn = plain.clone().model(ModelKind::Gcn).select(Select::F1);
    let carrying = [on_training, on_all, drop_edge, drop_message, edge_prediction];
    for config in [gcn, batches.select(Select::Auc), plain].into_iter().chain(carrying) {
        let split = config.choose_split(&dataset).unwrap();
        let new = || training(&dataset, &split, &config).unwrap();
        let mut calm = new();
        calm.train(&|| false).unwrap();
        for stop in [1, 6, 13] {
            let mut stopped = new();
            for _ in 0..stop {
                stopped.epoch(&|| false).unwrap();
            }
            checkpoint::save(&path, &config, &stopped.progress().unwrap()).unwrap();
            let (saved, progress) = checkpoint::load(&path).unwrap();
            assert_eq!(saved, config);
            let mut resumed = new();
            assert!(resumed.restore(progress));
            resumed.train(&|| false).unwrap();
            let [mut found, mut expected] = [resumed.progress().unwrap(), calm.progress().unwrap()];
            (found.seconds, expected.seconds) = (0.0, 0.0);
            // What has not been measured is not a number, which equals nothing.
            let bits = [&mut found, &mut expected].map(|progress| {
                let state = std::mem::take(&mut progress.regulariser);
                state.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            });
            assert_eq!(bits[0], bits[1]);
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn the_best_epoch_is_that_of_the_selected_figure() {
    let dataset = imbalanced(1000, 3);
    let config = TrainConfig::default().hidden(8).heads(2).epochs(40).patience(Some(40)).lr(0.02);
    let config = config.class_weights(ClassWeights::Balanced);
    let split = config.choose_split(&dataset).unwrap();
    for select in Select::ALL {
        let config = config.clone().select(select);
        let mut trainer = training(&dataset, &split, &config).unwrap();
        let mut epochs = Vec::new();
        while let Some(epoch) = trainer.epoch(&|| false).unwrap() {
            epochs.push((epoch.val_accuracy, epoch.val_loss));
        }
        let best = trainer.best();
        assert_eq!((best.score.accuracy, best.score.loss), epochs[best.epoch - 1]);
        let is_best = |other: &(f64, f64)| match select {
            Select::Loss => best.score.loss <= other.1,
            Select::Accuracy => {
                best.score.accuracy > other.0 || best.score.accuracy == other.0 && best.score.loss <= other.1
            }
            // Others are shares that a network without any skill does not have.
            Select::Auc | Select::Auto => best.figure > 0.6,
            Select::F1 => best.figure > 0.55,
        };
        assert!(epochs.iter().all(is_best), "{select}: {} at {} of {epochs:?}", best.figure, best.epoch);
    }
}

#[test]
fn balanced_classes_find_more_of_the_rare_one() {
    let dataset = imbalanced(1000, 4);
    let found = |weights: ClassWeights| {
        let config = TrainConfig::default().hidden(8).heads(2).epochs(60).patience(Some(60)).class_weights(weights);
        let split = config.choose_split(&dataset).unwrap();
        let trainer = carat::Trainer::new(&dataset, &split, &config).unwrap();
        let (network, _) = trainer.run().unwrap();
        let rare: Vec<u32> = split.test.iter().copied().filter(|&n| dataset.labels().get(n) == Some(1)).collect();
        carat::score(&network, &dataset, &rare).unwrap().accuracy
    };
    assert!(found(ClassWeights::Balanced) >= 0.5);
    assert!(found(ClassWeights::Balanced) > found(ClassWeights::None));
}
