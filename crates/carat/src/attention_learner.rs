//! Training of an attention network: mini-batches, with or without regularisation.

use std::time::Instant;

use carat_graph::{Dataset, Split};
use carat_nn::{Adam, Network, NetworkConfig, WeightsError};

use crate::batches::{Batches, Purpose};
use crate::car::Regulariser;
use crate::config::check_classes;
use crate::evaluation::{Coherence, Evaluator, Score, coherence};
use crate::inputs::check_inputs;
use crate::learner::{EpochLoss, Learner};
use crate::metrics::{Predictions, Subset};
use crate::selection::{Judge, Validation};
use crate::settings::{Arm, EntityChoice};
use crate::stepper::Stepper;
use crate::stopping::StepTimes;
use crate::trust::{Trust, of_run};
use crate::{Error, TrainConfig};

/// An attention network in training.
#[derive(Debug)]
pub struct AttentionLearner<'a> {
    dataset: &'a Dataset,
    /// What decides the learning rates, and the sizes of batches.
    config: TrainConfig,
    sizes: NetworkConfig,
    stepper: Stepper,
    batches: Batches<'a>,
    judge: Judge,
    train_entities: Vec<u32>,
    validation: Evaluator<'a>,
    val_entities: Vec<u32>,
    test_entities: Vec<u32>,
    /// Made on first use: its blocks may be as large as those of training.
    test: Option<Evaluator<'a>>,
}

/// The labels of those entities that have one.
pub(crate) fn labels_of(dataset: &Dataset, entities: &[u32]) -> Vec<u32> {
    entities.iter().filter_map(|&entity| dataset.labels().get(entity)).collect()
}

/// Batches of the training entities, and of every other node with in-edges where the regulariser uses those too.
pub(crate) fn training_batches<'a>(
    dataset: &'a Dataset,
    split: &Split,
    config: &TrainConfig,
    sizes: NetworkConfig,
) -> Batches<'a> {
    let purpose = Purpose::Training { fanout: config.optimiser.fanout.clone(), seed: config.seed };
    let batches = Batches::new(dataset, &split.train, config.optimiser.batch_size, sizes, purpose);
    if config.car().is_none_or(|car| car.entities == EntityChoice::Train) {
        return batches;
    }
    let mut training = vec![false; dataset.num_nodes()];
    split.train.iter().for_each(|&n| training[n as usize] = true);
    let entity = |n: &u32| !training[*n as usize] && dataset.graph().in_degree(*n) > 0;
    batches.with_unlabelled((0..dataset.num_nodes() as u32).filter(entity).collect())
}

/// Refuses an arm for which a given network has not what it takes.
fn check_arm(config: &TrainConfig, network: &Network<f32>) -> Result<(), Error> {
    let problem = match config.car().map(|car| (car.arm, car.drop_rate)) {
        Some((Arm::EdgePrediction, _)) if !network.scores_pairs() => {
            "regulariser edge-prediction scores any two nodes, which this attention kind cannot; implement \
             Attention::as_pair_scores, or choose another regulariser"
        }
        Some((Arm::DropMessage, rate)) if network.config().block.message_dropout != rate => {
            "regulariser drop-message needs a network that drops messages at drop-rate; make it with the sizes that \
             TrainConfig::network_for gives"
        }
        _ => return Ok(()),
    };
    Err(Error::Config(problem.into()))
}

impl<'a> AttentionLearner<'a> {
    /// Starts from `network`, whose sizes replace those of the configuration.
    pub(crate) fn new(
        dataset: &'a Dataset,
        split: &Split,
        config: &TrainConfig,
        network: Network<f32>,
    ) -> Result<Self, Error> {
        config.check()?;
        config.is_attention()?;
        config.task_for(dataset)?;
        config.check_edges(dataset)?;
        config.check_scaling(dataset)?;
        let (mut config, sizes) = (config.clone(), network.config());
        config.network.layers = sizes.layers;
        config.check()?;
        check_inputs(sizes, dataset)?;
        check_classes(sizes.classes, dataset)?;
        check_arm(&config, &network)?;
        let [train, validation] = [&split.train, &split.val].map(|entities| labels_of(dataset, entities));
        let judge = Judge::new(&config, sizes.classes, &train, &validation);
        Ok(Self {
            dataset,
            stepper: Stepper::new(dataset, split, &config, network, judge.class_weights().to_vec()),
            judge,
            batches: training_batches(dataset, split, &config, sizes),
            train_entities: split.train.clone(),
            validation: Evaluator::new(dataset, &split.val, sizes, config.optimiser.batch_size),
            val_entities: split.val.clone(),
            test_entities: split.test.clone(),
            test: None,
            config,
            sizes,
        })
    }

    /// The current network.
    pub(crate) fn network(&self) -> &Network<f32> {
        self.stepper.engine.network()
    }

    /// The current network, by value.
    pub(crate) fn into_network(self) -> Network<f32> {
        self.stepper.engine.into_network()
    }
}

impl Learner for AttentionLearner<'_> {
    fn epoch(
        &mut self,
        epoch: usize,
        steps: &mut StepTimes,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Option<EpochLoss>, Error> {
        let (mut total, mut in_loss) = (0.0, 0usize);
        let (mut causal, mut targets) = (0.0, 0usize);
        let Self { dataset, batches, stepper, config, .. } = self;
        stepper.engine.set_learning_rate(config.learning_rate(epoch));
        batches.for_each(epoch, |batch| {
            let step = Instant::now();
            let loss = stepper.step(dataset.graph(), batch, epoch)?;
            total += loss.prediction * loss.in_loss as f64;
            in_loss += loss.in_loss;
            causal += loss.causal * batch.labels.len() as f64;
            targets += batch.labels.len();
            steps.push(step);
            Ok::<bool, Error>(!interrupted())
        })?;
        let is_whole = targets >= self.batches.num_entities();
        Ok(is_whole.then(|| EpochLoss { train: total / in_loss.max(1) as f64, causal: causal / targets as f64 }))
    }

    fn validate(&mut self) -> Result<Option<Validation>, Error> {
        let mut epoch = self.judge.epoch();
        self.validation.rows_on(&mut *self.stepper.engine, |scores, label| epoch.add(scores, label))?;
        Ok(epoch.finish())
    }

    fn test(&mut self) -> Result<Option<Score>, Error> {
        let Self { dataset, test_entities, sizes, config, .. } = self;
        let new = || Evaluator::new(dataset, test_entities, *sizes, config.optimiser.batch_size);
        self.test.get_or_insert_with(new).score_on(&mut *self.stepper.engine)
    }

    fn predictions(&mut self, subset: Subset) -> Result<Predictions, Error> {
        let Self { dataset, sizes, config, .. } = self;
        let new = |entities| Evaluator::new(dataset, entities, *sizes, config.optimiser.batch_size);
        let engine = &mut *self.stepper.engine;
        match subset {
            Subset::Train => new(&self.train_entities).predictions_on(engine),
            Subset::Validation => self.validation.predictions_on(engine),
            Subset::Test => self.test.get_or_insert_with(|| new(&self.test_entities)).predictions_on(engine),
        }
    }

    fn coherence(&self) -> Result<Option<Coherence>, Error> {
        coherence(self.network(), self.dataset, &self.test_entities, self.config.optimiser.batch_size)
    }

    fn trust(&self, subset: Subset) -> Result<Option<Trust>, Error> {
        let entities = match subset {
            Subset::Train => &self.train_entities,
            Subset::Validation => &self.val_entities,
            Subset::Test => &self.test_entities,
        };
        of_run(self.network(), self.dataset, entities, &self.config, subset == Subset::Test)
    }

    fn values(&self) -> [&[f32]; 2] {
        [self.network().parameters(), self.network().buffers()]
    }

    fn place(&mut self, values: &[f32]) {
        let (parameters, buffers) = values.split_at(self.network().parameters().len());
        self.stepper.engine.set_values(parameters, buffers);
    }

    fn optimiser(&self) -> &Adam<f32> {
        self.stepper.engine.optimiser()
    }

    fn set_optimiser(&mut self, first: &[f32], second: &[f32], steps: u64) {
        self.stepper.engine.set_optimiser(first, second, steps);
    }

    fn regulariser(&mut self) -> Option<&mut Regulariser<f32>> {
        self.stepper.regulariser.as_mut()
    }

    fn to_safetensors(&self) -> Result<Vec<u8>, WeightsError> {
        self.network().to_safetensors()
    }
}
