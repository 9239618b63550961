//! The regulariser in one training step: from the forward pass with all edges to L_c and its gradient with respect to
//! every layer's attention scores.
//!
//! ```text
//! L_c = (1/R) sum over rounds r of (1/|S_r|) sum over (n, i) in S_r of  w_n (1/L) sum_l BCE(abar^l_in, c_in)
//! ```
//!
//! With every edge used, or a distribution as target, it is the mean over entities instead. w_n is 1 for a training node
//! and the teacher's confidence for any other.

use carat_graph::Blocks;
use carat_nn::{Deletion, Input, Network, Real, Rerun, Workspace, loss};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::attention_loss::{bce, kl};
use super::choice::{Independence, draw, every_edge};
use super::effect::{distribution, effect, exponent, log_ratio};
use super::settings::{Arm, CarConfig, EntityChoice, Interventions, Rounds, Target};
use super::teacher::Teacher;
use super::vote::{UNKNOWN, Vote};

/// What the regulariser may know of the data: the training labels, and nothing else.
#[derive(Debug, Clone)]
pub struct Entities {
    labels: Vec<u32>,
    classes: usize,
}

impl Entities {
    /// Training labels as (node, label).
    pub fn new(nodes: usize, classes: usize, training: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut labels = vec![UNKNOWN; nodes];
        for (node, label) in training {
            labels[node as usize] = label;
        }
        Self { labels, classes }
    }
}

/// A step's inputs beyond the network: the batch, and where the run stands.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a, T> {
    /// The batch's receptive field; labelled targets come first.
    pub blocks: &'a Blocks,
    /// Its features.
    pub input: &'a Input<T>,
    /// Labels of the first targets.
    pub labels: &'a [u32],
    /// Epoch, counted from 1.
    pub epoch: usize,
    /// Seeds this step's draws.
    pub seed: u64,
}

/// An entity of the step.
#[derive(Debug, Clone, Copy)]
struct Entity {
    target: u32,
    label: u32,
    weight: f64,
}

/// A term of L_c: an edge, its target attention, and its share of the mean.
#[derive(Debug, Clone, Copy)]
struct Term {
    deletion: Deletion,
    c: f64,
    share: f64,
}

/// Computes L_c step after step.
#[derive(Debug)]
pub struct Regulariser<T> {
    config: CarConfig,
    known: Entities,
    teacher: Option<Teacher>,
    independence: Independence,
    vote: Vote,
    rerun: Rerun<T>,
    scores: Vec<T>,
    round_work: Workspace<T>,
    probabilities: Vec<T>,
}

impl<T: Real> Regulariser<T> {
    /// A regulariser for one run.
    pub fn new(config: CarConfig, known: Entities) -> Self {
        let teacher = (config.entities == EntityChoice::All)
            .then(|| Teacher::new(known.labels.len(), known.classes, config.teacher));
        Self {
            config,
            known,
            teacher,
            independence: Independence::default(),
            vote: Vote::default(),
            rerun: Rerun::default(),
            scores: Vec::new(),
            round_work: Workspace::default(),
            probabilities: Vec::new(),
        }
    }

    /// The teacher of unlabelled entities, where there are any.
    pub fn teacher(&mut self) -> Option<&mut Teacher> {
        self.teacher.as_mut()
    }

    /// L_c after a forward pass of `network`, whose gradient (times lambda) is left in `work` for the backward pass.
    pub fn apply(&mut self, network: &Network<T>, step: Step<'_, T>, work: &mut Workspace<T>) -> f64 {
        let entities = self.entities(network, step, work);
        if entities.is_empty() || self.config.arm == Arm::None {
            return 0.0;
        }
        if self.config.entities == EntityChoice::All && step.epoch <= self.config.warm_up {
            return 0.0;
        }
        let layers = network.config().layers;
        let block = step.blocks.layer(layers - 1);
        let edges = block.offsets()[entities[entities.len() - 1].target as usize + 1];
        for l in 0..layers {
            let gradient = work.attention_gradient(l);
            gradient.clear();
            gradient.resize(edges * network.config().heads, T::ZERO);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(step.seed);
        match self.config.target {
            Target::Bce => self.pull_edges(network, step, work, &entities, &mut rng),
            Target::Distribution => self.pull_distributions(network, step, work, &entities, &mut rng),
        }
    }

    /// The targets whose attention is regularised: training nodes, and with a teacher all others, if they have in-edges.
    fn entities(&mut self, network: &Network<T>, step: Step<'_, T>, work: &Workspace<T>) -> Vec<Entity> {
        let classes = network.config().classes;
        let block = step.blocks.layer(step.blocks.num_layers() - 1);
        let mut entities = Vec::with_capacity(step.blocks.targets().len());
        for (j, (&node, scores)) in step.blocks.targets().iter().zip(work.scores().chunks_exact(classes)).enumerate() {
            let (label, weight) = match (step.labels.get(j), &mut self.teacher) {
                (Some(&label), _) => (label, 1.0),
                (None, Some(teacher)) => teacher.observe(node, scores, &mut self.probabilities),
                (None, None) => continue,
            };
            if !block.in_neighbours(j).is_empty() {
                entities.push(Entity { target: j as u32, label, weight });
            }
        }
        entities
    }

    /// BCE of single edges.
    fn pull_edges(
        &mut self,
        network: &Network<T>,
        step: Step<'_, T>,
        work: &mut Workspace<T>,
        entities: &[Entity],
        rng: &mut ChaCha8Rng,
    ) -> f64 {
        let targets = || entities.iter().map(|e| e.target);
        let by_rounds = self.config.interventions == Interventions::Rounds;
        let rounds: Vec<Vec<Deletion>> = match self.config.rounds {
            Rounds::All if by_rounds => self.independence.share_out(step.blocks, &every_edge(step.blocks, targets())),
            Rounds::All => vec![every_edge(step.blocks, targets())],
            Rounds::Count(count) => (0..count)
                .map(|_| {
                    let drawn = draw(step.blocks, targets(), rng);
                    if by_rounds { self.independence.independent(step.blocks, &drawn) } else { drawn }
                })
                .collect(),
        };
        let log_rho = self.log_ratios(network, step, work, entities, &rounds);
        let block = step.blocks.layer(step.blocks.num_layers() - 1);
        let entity_of = entity_index(entities);
        let mut terms = Vec::with_capacity(log_rho.len());
        for (round, log_rho) in rounds.iter().zip(&log_rho) {
            for (deletion, &log_rho) in round.iter().zip(log_rho) {
                let degree = block.in_neighbours(deletion.target as usize).len();
                let c = match self.config.arm {
                    Arm::Random => rng.random_range(0.0..1.0),
                    Arm::Constant | Arm::None => 0.5,
                    Arm::Causal | Arm::Vote => effect(log_rho, exponent(&self.config, degree), self.config.temperature),
                };
                let share = match self.config.rounds {
                    Rounds::All => 1.0 / (entities.len() * degree) as f64,
                    Rounds::Count(count) => 1.0 / (count * round.len()) as f64,
                };
                let weight = entities[entity_of[deletion.target as usize] as usize].weight;
                terms.push(Term { deletion: *deletion, c, share: share * weight });
            }
        }
        if self.config.arm != Arm::Random {
            merge(&mut terms);
        }
        let heads = network.config().heads;
        self.over_layers(work, |lambda, alpha, d_scores| {
            let mut total = 0.0;
            for Term { deletion, c, share } in &terms {
                let j = deletion.target as usize;
                let (start, end) = (block.offsets()[j], block.offsets()[j + 1]);
                let row = start * heads..end * heads;
                let at = deletion.edge as usize - start;
                total += share * bce(&alpha[row.clone()], heads, at, *c, lambda * share, &mut d_scores[row]);
            }
            total
        })
    }

    /// KL of whole neighbourhoods.
    fn pull_distributions(
        &mut self,
        network: &Network<T>,
        step: Step<'_, T>,
        work: &mut Workspace<T>,
        entities: &[Entity],
        rng: &mut ChaCha8Rng,
    ) -> f64 {
        let all = every_edge(step.blocks, entities.iter().map(|e| e.target));
        let rounds = match self.config.interventions {
            Interventions::Exact => vec![all],
            Interventions::Rounds => self.independence.share_out(step.blocks, &all),
        };
        let log_rho = self.log_ratios(network, step, work, entities, &rounds);
        let block = step.blocks.layer(step.blocks.num_layers() - 1);
        let clamp = self.config.clamp;
        // By edge; edges of targets that are no entities stay unused.
        let mut q = vec![0.0; block.num_edges()];
        for (deletion, &log_rho) in rounds.iter().flatten().zip(log_rho.iter().flatten()) {
            let degree = block.in_neighbours(deletion.target as usize).len();
            q[deletion.edge as usize] = match self.config.arm {
                Arm::Random => rng.random_range(-clamp..=clamp),
                Arm::Constant | Arm::None => 0.0,
                Arm::Causal | Arm::Vote => exponent(&self.config, degree) * log_rho,
            };
        }
        let row =
            |entity: &Entity| block.offsets()[entity.target as usize]..block.offsets()[entity.target as usize + 1];
        entities.iter().for_each(|entity| distribution(&mut q[row(entity)], clamp));
        let heads = network.config().heads;
        let count = entities.len() as f64;
        self.over_layers(work, |lambda, alpha, d_scores| {
            let mut total = 0.0;
            for entity in entities {
                let (edges, share) = (row(entity), entity.weight / count);
                let values = edges.start * heads..edges.end * heads;
                total += share * kl(&alpha[values.clone()], heads, &q[edges], lambda * share, &mut d_scores[values]);
            }
            total
        })
    }

    /// Mean over layers of `loss`, which gets each layer's weight, attention and gradient.
    fn over_layers(&self, work: &mut Workspace<T>, loss: impl Fn(f64, &[T], &mut [T]) -> f64) -> f64 {
        let layers = self.config.lambda.len();
        let mut total = 0.0;
        for (l, lambda) in self.config.lambda.iter().enumerate() {
            let mut gradient = std::mem::take(work.attention_gradient(l));
            total += loss(lambda / layers as f64, work.attention(l), &mut gradient);
            *work.attention_gradient(l) = gradient;
        }
        total / layers as f64
    }

    /// ln rho of every deletion of every round; zeros where the arm does not ask.
    fn log_ratios(
        &mut self,
        network: &Network<T>,
        step: Step<'_, T>,
        work: &mut Workspace<T>,
        entities: &[Entity],
        rounds: &[Vec<Deletion>],
    ) -> Vec<Vec<f64>> {
        match (self.config.arm, self.config.interventions) {
            (Arm::Causal, Interventions::Exact) => self.exact(network, step, work, entities, rounds),
            (Arm::Causal, Interventions::Rounds) => self.in_rounds(network, step, work, entities, rounds),
            (Arm::Vote, _) => self.by_vote(step, entities, rounds),
            _ => rounds.iter().map(|round| vec![0.0; round.len()]).collect(),
        }
    }

    /// Each deletion on its own; one that several rounds drew is computed once.
    fn exact(
        &mut self,
        network: &Network<T>,
        step: Step<'_, T>,
        work: &mut Workspace<T>,
        entities: &[Entity],
        rounds: &[Vec<Deletion>],
    ) -> Vec<Vec<f64>> {
        let mut distinct: Vec<Deletion> = rounds.concat();
        distinct.sort_unstable();
        distinct.dedup();
        network.scores_without(step.blocks, &distinct, work, &mut self.rerun, &mut self.scores);
        let with = log_losses(network, work.scores(), entities);
        let classes = network.config().classes;
        let entity_of = entity_index(entities);
        let ratios: Vec<f64> = distinct
            .iter()
            .zip(self.scores.chunks_exact(classes))
            .map(|(deletion, scores)| {
                let entity = entity_of[deletion.target as usize] as usize;
                let without = loss::log_cross_entropy(scores, entities[entity].label as usize);
                log_ratio(without.to_f64(), with[entity])
            })
            .collect();
        let find = |deletion: &Deletion| distinct.binary_search(deletion).map_or(0.0, |at| ratios[at]);
        rounds.iter().map(|round| round.iter().map(find).collect()).collect()
    }

    /// One pass over the graph without a round's edges gives every loss of that round.
    fn in_rounds(
        &mut self,
        network: &Network<T>,
        step: Step<'_, T>,
        work: &Workspace<T>,
        entities: &[Entity],
        rounds: &[Vec<Deletion>],
    ) -> Vec<Vec<f64>> {
        let with = log_losses(network, work.scores(), entities);
        let entity_of = entity_index(entities);
        let classes = network.config().classes;
        let mut ratios = Vec::with_capacity(rounds.len());
        for round in rounds {
            let mut edges: Vec<u32> = round.iter().map(|deletion| deletion.edge).collect();
            edges.sort_unstable();
            let blocks = step.blocks.without(&edges);
            network.forward(&blocks, step.input, &mut self.round_work);
            let scores = self.round_work.scores();
            let ratio = |deletion: &Deletion| {
                let (target, entity) = (deletion.target as usize, entity_of[deletion.target as usize] as usize);
                let row = &scores[target * classes..(target + 1) * classes];
                let without = loss::log_cross_entropy(row, entities[entity].label as usize);
                log_ratio(without.to_f64(), with[entity])
            };
            ratios.push(round.iter().map(ratio).collect());
        }
        ratios
    }

    /// From the vote of the in-neighbours' training labels.
    fn by_vote(&mut self, step: Step<'_, T>, entities: &[Entity], rounds: &[Vec<Deletion>]) -> Vec<Vec<f64>> {
        let block = step.blocks.layer(step.blocks.num_layers() - 1);
        let entity_of = entity_index(entities);
        let Self { vote, known, .. } = self;
        let label_of = |source: u32| known.labels[step.blocks.nodes()[source as usize] as usize];
        let mut ratios = Vec::with_capacity(rounds.len());
        for round in rounds {
            let ratio = |deletion: &Deletion| {
                let j = deletion.target as usize;
                let label = entities[entity_of[j] as usize].label;
                vote.count(known.classes, block.in_neighbours(j).iter().map(|&i| label_of(i)));
                let with = vote.log_loss(label, UNKNOWN);
                let without = vote.log_loss(label, label_of(block.sources()[deletion.edge as usize]));
                log_ratio(without, with)
            };
            ratios.push(round.iter().map(ratio).collect());
        }
        ratios
    }
}

/// ln CE of every entity in the pass with all edges.
fn log_losses<T: Real>(network: &Network<T>, scores: &[T], entities: &[Entity]) -> Vec<f64> {
    let classes = network.config().classes;
    let row = |target: u32| &scores[target as usize * classes..(target as usize + 1) * classes];
    entities.iter().map(|e| loss::log_cross_entropy(row(e.target), e.label as usize).to_f64()).collect()
}

/// Which entity a target is.
fn entity_index(entities: &[Entity]) -> Vec<u32> {
    let mut index = vec![0; entities.last().map_or(0, |e| e.target as usize + 1)];
    for (at, entity) in entities.iter().enumerate() {
        index[entity.target as usize] = at as u32;
    }
    index
}

/// Joins terms of the same edge, which have the same target.
fn merge(terms: &mut Vec<Term>) {
    terms.sort_by_key(|term| term.deletion);
    terms.dedup_by(|later, kept| {
        let same = later.deletion == kept.deletion;
        if same {
            kept.share += later.share;
        }
        same
    });
}
