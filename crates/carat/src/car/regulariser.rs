//! The regulariser in one training step: from the forward pass with all edges to the targets that attention is pulled
//! to.
//!
//! ```text
//! L_c = (1/R) sum over rounds r of (1/|S_r|) sum over (n, i) in S_r of  w_n (1/L) sum_l BCE(abar^l_in, c_in)
//! ```
//!
//! With every edge used, or a distribution as target, it is the mean over entities instead. w_n is 1 for a training
//! node and the teacher's confidence for any other. Where graphs are classified, n is a graph and (i, j) any of its
//! edges. An edge whose effect is not known yet is left out.

use std::borrow::Cow;

use carat_graph::{Blocks, Graph};
use carat_nn::{Deletion, Keep, Pass, Real, loss};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::choice::{Independence, draw, edges_in_turn, every_edge};
use super::edge_prediction::EdgePrediction;
use super::effect::{distribution, exponent};
use super::folds::Folds;
use super::memory::Memory;
use super::strength::Strength;
use super::targets::{AttentionTargets, EdgeTarget, NodeTarget};
use super::teacher::Teacher;
use super::vote::{UNKNOWN, Vote};
use crate::settings::{Arm, EntityChoice, Interventions, RegulariserSettings, Rounds, Target};

/// The data that the regulariser reads: the training labels, and nothing else.
#[derive(Debug, Clone)]
pub struct Entities {
    labels: Vec<u32>,
    classes: usize,
    edges: usize,
}

impl Entities {
    /// Training labels as (entity, label), of data with so many entities, edges and classes.
    pub fn new([entities, edges]: [usize; 2], classes: usize, training: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut labels = vec![UNKNOWN; entities];
        for (entity, label) in training {
            labels[entity as usize] = label;
        }
        Self { labels, classes, edges }
    }
}

/// What a step needs besides its forward pass: the labels, and the position in the run.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Labels of the first entities of the pass.
    pub labels: &'a [u32],
    /// Epoch, counted from 1.
    pub epoch: usize,
    /// Seeds this step's draws.
    pub seed: u64,
}

/// An entity of the step.
#[derive(Debug, Clone, Copy)]
struct Entity {
    /// Its number in the blocks.
    number: u32,
    label: u32,
    weight: f64,
    /// d: its edges.
    edges: u32,
    /// False where its edges are not measured in this step, because the loss reads its label.
    is_measured: bool,
}

/// What a step is pulled towards.
enum Goal {
    Attention(AttentionTargets),
    Edges(EdgePrediction),
}

impl Goal {
    fn is_empty(&self) -> bool {
        match self {
            Self::Attention(targets) => targets.is_empty(),
            Self::Edges(edges) => edges.is_empty(),
        }
    }

    /// Its loss; leaves the gradient, each layer's times its lambda, in the pass.
    fn pull<T: Real>(&self, pass: &mut dyn Pass<T>, lambda: &[f64]) -> f64 {
        match self {
            Self::Attention(targets) => targets.pull(pass, lambda),
            Self::Edges(edges) => edges.pull(pass, lambda),
        }
    }
}

/// Whether an arm deletes edges and looks at what happens.
fn measures(arm: Arm) -> bool {
    matches!(arm, Arm::Causal | Arm::Vote)
}

/// Losses that one thread computes at a time.
const CHUNK: usize = 96;

/// Computes L_c step after step.
#[derive(Debug)]
pub struct Regulariser<T> {
    config: RegulariserSettings,
    training: Entities,
    teacher: Option<Teacher>,
    memory: Option<Memory>,
    folds: Option<Folds>,
    strength: Option<Strength>,
    independence: Independence,
    vote: Vote,
    scores: Vec<T>,
    probabilities: Vec<T>,
    /// The gradient of the prediction's loss, where the strength follows it.
    prediction: Vec<T>,
}

impl<T: Real> Regulariser<T> {
    /// A regulariser for one run; `seed` deals out the folds.
    pub fn new(config: RegulariserSettings, training: Entities, seed: u64) -> Self {
        let teacher = (config.arm.has_targets() && config.entities == EntityChoice::All)
            .then(|| Teacher::new(training.labels.len(), training.classes, config.teacher));
        let folds = Folds::new(config.cross_fit, seed);
        let remembers = measures(config.arm) && (config.memory > 0.0 || folds.is_some());
        Self {
            teacher,
            memory: remembers.then(|| Memory::new(training.edges, config.memory)),
            folds,
            strength: config.lambda.is_auto().then(|| Strength::new(config.gradient_share)),
            config,
            training,
            independence: Independence::default(),
            vote: Vote::default(),
            scores: Vec::new(),
            probabilities: Vec::new(),
            prediction: Vec::new(),
        }
    }

    /// What the regulariser carries from step to step: the teacher's averages, the edges', and the strength.
    pub fn state(&self) -> Vec<f32> {
        let teacher = self.teacher.iter().flat_map(Teacher::average);
        let memory = self.memory.iter().flat_map(Memory::averages);
        let strength = self.strength.map_or_else(Vec::new, |strength| strength.state().to_vec());
        teacher.chain(memory).copied().chain(strength).collect()
    }

    /// Restores that. Returns false, and changes nothing, where it is another regulariser's.
    pub fn restore(&mut self, state: &[f32]) -> bool {
        let [of_teacher, of_memory] = [
            self.teacher.as_ref().map_or(0, |teacher| teacher.average().len()),
            self.memory.as_ref().map_or(0, |memory| memory.averages().len()),
        ];
        let of_strength = self.strength.map_or(0, |strength| strength.state().len());
        if state.len() != of_teacher + of_memory + of_strength {
            return false;
        }
        let (teacher, rest) = state.split_at(of_teacher);
        let (memory, strength) = rest.split_at(of_memory);
        if let Some(known) = &mut self.teacher {
            known.restore(teacher);
        }
        if let Some(known) = &mut self.memory {
            known.averages_mut().copy_from_slice(memory);
        }
        if let (Some(known), &[ratio, wait]) = (&mut self.strength, strength) {
            known.restore([ratio, wait]);
        }
        true
    }

    /// The labels that a step's loss reads: those that are given, or with cross-fitting only some of them.
    pub(crate) fn labels_in_loss<'a>(&self, blocks: &Blocks, labels: &'a [u32], epoch: usize) -> Cow<'a, [u32]> {
        match self.folds {
            None => Cow::Borrowed(labels),
            Some(folds) => Cow::Owned(folds.labels_in_loss(blocks, labels, epoch)),
        }
    }

    /// What a forward pass must keep: more where edges are deleted one by one.
    pub(crate) fn keep(&self) -> Keep {
        match (self.config.arm, self.config.interventions) {
            (Arm::Causal, Interventions::Exact) => Keep::Deletions,
            (Arm::EdgePrediction, _) => Keep::Layers,
            _ => Keep::Gradients,
        }
    }

    /// L_c of a forward pass over blocks of `graph`; leaves its gradient (times lambda) in the pass. `prediction`
    /// computes the gradient of the pass's other loss together with what is there; a strength that follows the
    /// gradients needs it.
    pub(crate) fn apply(
        &mut self,
        pass: &mut dyn Pass<T>,
        graph: &Graph,
        step: Step<'_>,
        mut prediction: impl FnMut(&mut dyn Pass<T>),
    ) -> f64 {
        let goal = match self.config.arm {
            Arm::EdgePrediction => {
                let mut rng = ChaCha8Rng::seed_from_u64(step.seed);
                Goal::Edges(EdgePrediction::draw(pass.blocks(), graph, &self.config, &mut rng))
            }
            _ => Goal::Attention(self.targets(pass, step)),
        };
        let lambda = self.config.lambda.values();
        let Some(strength) = &mut self.strength else { return goal.pull(pass, lambda) };
        if !goal.is_empty() && strength.is_due() {
            prediction(pass);
            self.prediction.clear();
            self.prediction.extend_from_slice(pass.gradient());
            goal.pull(pass, lambda);
            prediction(pass);
            strength.observe(&self.prediction, pass.gradient());
        }
        let current = strength.lambda();
        goal.pull(pass, &lambda.iter().map(|lambda| lambda * current).collect::<Vec<f64>>())
    }

    /// What the attention of a forward pass is pulled towards. Empty for an arm without targets and during the warm-up.
    pub fn targets(&mut self, pass: &mut dyn Pass<T>, step: Step<'_>) -> AttentionTargets {
        let entities = self.entities(pass, step);
        let warming_up = self.config.entities == EntityChoice::All && step.epoch <= self.config.warm_up;
        if entities.is_empty() || !self.config.arm.has_targets() || warming_up {
            return AttentionTargets::default();
        }
        let mut rng = ChaCha8Rng::seed_from_u64(step.seed);
        let rounds = self.choose(pass.blocks(), &entities, &mut rng);
        self.targets_of(pass, &entities, &rounds, &mut rng)
    }

    /// As [`Regulariser::targets`], with the deletions of every round given instead of drawn.
    pub fn targets_of_rounds(
        &mut self,
        pass: &mut dyn Pass<T>,
        step: Step<'_>,
        rounds: &[Vec<Deletion>],
    ) -> AttentionTargets {
        let entities = self.entities(pass, step);
        let mut rng = ChaCha8Rng::seed_from_u64(step.seed);
        self.targets_of(pass, &entities, rounds, &mut rng)
    }

    fn targets_of(
        &mut self,
        pass: &mut dyn Pass<T>,
        entities: &[Entity],
        rounds: &[Vec<Deletion>],
        rng: &mut ChaCha8Rng,
    ) -> AttentionTargets {
        let entities = EntityIndex::new(pass.blocks(), entities);
        let chosen = self.shares(&entities, rounds);
        let deletions: Vec<Deletion> = chosen.iter().map(|(deletion, _)| *deletion).collect();
        let mut differences = match (self.config.arm, self.config.interventions) {
            (Arm::Causal, Interventions::Exact) => self.exact(pass, &entities, &deletions),
            (Arm::Causal, Interventions::Rounds) => self.in_rounds(pass, &entities, rounds),
            (Arm::Vote, _) => self.by_vote(pass.blocks(), &entities, &deletions),
            _ => vec![0.0; deletions.len()],
        };
        if let Some(memory) = &mut self.memory {
            let ids = pass.blocks().edge_ids();
            for (deletion, difference) in deletions.iter().zip(&mut differences) {
                let edge = ids[deletion.edge as usize];
                *difference = match entities.of(deletion).is_measured {
                    true => memory.observe(edge, *difference),
                    false => memory.recall(edge).unwrap_or(f64::NAN),
                };
            }
        }
        let mut rest = &mut differences[..];
        for some in deletions.chunk_by(|one, next| entities.at(one) == entities.at(next)) {
            let (of_entity, others) = rest.split_at_mut(some.len());
            self.config.effect.compare(of_entity);
            rest = others;
        }
        match self.config.target {
            Target::Bce => self.edge_targets(&entities, &chosen, &differences, rng),
            Target::Distribution => self.node_targets(pass.blocks(), &entities, &deletions, &differences, rng),
        }
    }

    /// The edges to delete, round by round.
    fn choose(&mut self, blocks: &Blocks, entities: &[Entity], rng: &mut ChaCha8Rng) -> Vec<Vec<Deletion>> {
        let numbers = || entities.iter().map(|entity| entity.number);
        let by_rounds = self.config.interventions == Interventions::Rounds;
        let of_graphs = blocks.graphs().is_some();
        match (self.config.rounds, self.config.target) {
            (Rounds::Count(count), Target::Bce) => (0..count)
                .map(|_| {
                    let drawn = draw(blocks, numbers(), rng);
                    let may_interfere = by_rounds && !of_graphs;
                    if may_interfere { self.independence.independent(blocks, &drawn) } else { drawn }
                })
                .collect(),
            _ if by_rounds && of_graphs => edges_in_turn(blocks, numbers()),
            // A distribution is over all in-edges of an entity.
            _ if by_rounds => self.independence.share_out(blocks, &every_edge(blocks, numbers())),
            _ => vec![every_edge(blocks, numbers())],
        }
    }

    /// Entities whose attention is regularised: training entities, and with a teacher all other nodes, if they have
    /// edges.
    fn entities(&mut self, pass: &dyn Pass<T>, step: Step<'_>) -> Vec<Entity> {
        let (blocks, classes) = (pass.blocks(), pass.config().classes);
        let mut entities = Vec::with_capacity(blocks.num_entities());
        for (number, scores) in pass.scores().chunks_exact(classes).enumerate() {
            let node = blocks.targets().get(blocks.entity(number).start);
            let (label, weight) = match (step.labels.get(number), &mut self.teacher, node) {
                (Some(&label), ..) => (label, 1.0),
                (None, Some(teacher), Some(&node)) => teacher.observe(node, scores, &mut self.probabilities),
                (None, ..) => continue,
            };
            let is_in_loss = match (step.labels.get(number), self.folds, node) {
                (Some(_), Some(folds), Some(&node)) => !folds.leave_out(node, step.epoch),
                _ => false,
            };
            let edges = blocks.num_own_edges(number) as u32;
            if edges > 0 && weight >= self.config.confidence {
                entities.push(Entity { number: number as u32, label, weight, edges, is_measured: !is_in_loss });
            }
        }
        entities
    }

    /// Every chosen edge with its share of the mean, in the order of edges. An edge that several rounds chose is listed
    /// once with the sum of its shares, unless its target is drawn again each time.
    fn shares(&self, entities: &EntityIndex<'_>, rounds: &[Vec<Deletion>]) -> Vec<(Deletion, f64)> {
        let share = |round: &[Deletion], deletion: &Deletion| {
            let entity = entities.of(deletion);
            let mean = match self.config.rounds {
                Rounds::All => entities.list.len() * entity.edges as usize,
                Rounds::Count(_) => rounds.len() * round.len(),
            };
            entity.weight / mean as f64
        };
        let mut chosen: Vec<(Deletion, f64)> = Vec::with_capacity(rounds.iter().map(Vec::len).sum());
        if rounds.iter().all(|round| round.len() == entities.list.len()) {
            // Usually every round has one edge of every entity, in their order.
            for at in 0..entities.list.len() {
                let start = chosen.len();
                chosen.extend(rounds.iter().map(|round| (round[at], share(round, &round[at]))));
                chosen[start..].sort_unstable_by_key(|(deletion, _)| *deletion);
            }
        } else {
            chosen.extend(rounds.iter().flat_map(|round| round.iter().map(move |d| (*d, share(round, d)))));
        }
        if !chosen.is_sorted_by_key(|(deletion, _)| *deletion) {
            chosen.sort_unstable_by_key(|(deletion, _)| *deletion);
        }
        if self.config.arm != Arm::Random {
            chosen.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                kept.1 += if same { later.1 } else { 0.0 };
                same
            });
        }
        chosen
    }

    /// An effect for each deleted edge.
    fn edge_targets(
        &self,
        entities: &EntityIndex<'_>,
        chosen: &[(Deletion, f64)],
        differences: &[f64],
        rng: &mut ChaCha8Rng,
    ) -> AttentionTargets {
        let mut edges: Vec<EdgeTarget> = Vec::new();
        if self.config.arm == Arm::Random {
            let draw = |&(deletion, share)| EdgeTarget { deletion, c: rng.random_range(0.0..1.0), share };
            edges.extend(chosen.iter().map(draw));
            return AttentionTargets { edges, nodes: Vec::new() };
        }
        let RegulariserSettings { effect, temperature, .. } = self.config;
        let effects = chosen.par_iter().zip(differences).with_min_len(64).map(|(&(deletion, share), &difference)| {
            let degree = entities.of(&deletion).edges as usize;
            let c = match self.config.arm {
                Arm::Causal | Arm::Vote => effect.target(difference, exponent(&self.config, degree), temperature),
                _ => 0.5,
            };
            EdgeTarget { deletion, c, share }
        });
        effects.collect_into_vec(&mut edges);
        edges.retain(|edge| !edge.c.is_nan());
        AttentionTargets { edges, nodes: Vec::new() }
    }

    /// A distribution for each entity.
    fn node_targets(
        &self,
        blocks: &Blocks,
        entities: &EntityIndex<'_>,
        deletions: &[Deletion],
        differences: &[f64],
        rng: &mut ChaCha8Rng,
    ) -> AttentionTargets {
        let block = blocks.layer(blocks.num_layers() - 1);
        let clamp = self.config.clamp;
        // By edge; entries of edges whose target is no entity stay unused.
        let mut exponents = vec![0.0; block.num_edges()];
        for (deletion, &difference) in deletions.iter().zip(differences) {
            let degree = block.in_neighbours(deletion.target as usize).len();
            exponents[deletion.edge as usize] = match self.config.arm {
                Arm::Random => rng.random_range(-clamp..=clamp),
                Arm::Causal | Arm::Vote => exponent(&self.config, degree) * difference,
                _ => 0.0,
            };
        }
        let nodes = entities.list.iter().filter_map(|entity| {
            let row = blocks.entity_edges(entity.number as usize);
            let first_edge = row.start as u32;
            let mut q = exponents[row].to_vec();
            if q.iter().any(|exponent| exponent.is_nan()) {
                return None;
            }
            distribution(&mut q, clamp);
            let share = entity.weight / entities.list.len() as f64;
            Some(NodeTarget { target: entity.number, first_edge, q, share })
        });
        AttentionTargets { edges: Vec::new(), nodes: nodes.collect() }
    }

    /// The difference that each deletion makes by itself.
    fn exact(&mut self, pass: &mut dyn Pass<T>, entities: &EntityIndex<'_>, deletions: &[Deletion]) -> Vec<f64> {
        pass.scores_without(deletions, &mut self.scores);
        let classes = pass.config().classes;
        let RegulariserSettings { effect, loss_floor, .. } = self.config;
        let floor = loss_floor.ln();
        let with = log_losses(classes, pass.scores(), entities);
        let some = |(deletions, scores): (&[Deletion], &mut [T])| {
            let labels: Vec<u32> = deletions.iter().map(|deletion| entities.of(deletion).label).collect();
            let mut without = vec![T::ZERO; deletions.len()];
            loss::log_cross_entropies(scores, &labels, &mut without);
            let ratio = |(deletion, without): (&Deletion, T)| {
                effect.difference(without.to_f64().max(floor), with[entities.at(deletion)].max(floor))
            };
            deletions.iter().zip(without).map(ratio).collect::<Vec<f64>>()
        };
        let rows = self.scores.par_chunks_mut(CHUNK * classes);
        deletions.par_chunks(CHUNK).zip(rows).map(some).collect::<Vec<_>>().concat()
    }

    /// The difference that every deletion makes, in the order of edges: one pass over the graph without a round's edges
    /// gives every loss of that round.
    fn in_rounds(&mut self, pass: &mut dyn Pass<T>, entities: &EntityIndex<'_>, rounds: &[Vec<Deletion>]) -> Vec<f64> {
        let classes = pass.config().classes;
        let with = log_losses(classes, pass.scores(), entities);
        let RegulariserSettings { effect, loss_floor, .. } = self.config;
        let floor = loss_floor.ln();
        let mut ratios: Vec<(Deletion, f64)> = Vec::new();
        for round in rounds {
            let mut edges: Vec<u32> = round.iter().map(|deletion| deletion.edge).collect();
            edges.sort_unstable();
            pass.scores_without_all(&edges, &mut self.scores);
            for deletion in round {
                let entity = entities.of(deletion);
                let row = &self.scores[entity.number as usize * classes..(entity.number as usize + 1) * classes];
                let without = loss::log_cross_entropy(row, entity.label as usize);
                let difference = effect.difference(without.to_f64().max(floor), with[entities.at(deletion)].max(floor));
                ratios.push((*deletion, difference));
            }
        }
        ratios.sort_by_key(|(deletion, _)| *deletion);
        ratios.dedup_by_key(|(deletion, _)| *deletion);
        ratios.into_iter().map(|(_, ratio)| ratio).collect()
    }

    /// The difference that every deletion makes to the vote of the in-neighbours' training labels.
    fn by_vote(&mut self, blocks: &Blocks, entities: &EntityIndex<'_>, deletions: &[Deletion]) -> Vec<f64> {
        let block = blocks.layer(blocks.num_layers() - 1);
        let Self { vote, training, config, .. } = self;
        let label_of = |source: u32| training.labels[blocks.nodes()[source as usize] as usize];
        let mut counted = None;
        let ratio = |deletion: &Deletion| {
            if counted != Some(deletion.target) {
                let edges = blocks.own_edges(deletion.target as usize);
                vote.count(training.classes, edges.map(|e| label_of(block.sources()[e])));
                counted = Some(deletion.target);
            }
            let label = entities.of(deletion).label;
            let without = vote.log_loss(label, label_of(block.sources()[deletion.edge as usize]));
            config.effect.difference(without, vote.log_loss(label, UNKNOWN))
        };
        deletions.iter().map(ratio).collect()
    }
}

/// The entities of a step, by the target of a deletion.
struct EntityIndex<'a> {
    list: &'a [Entity],
    index: Vec<u32>,
}

impl<'a> EntityIndex<'a> {
    fn new(blocks: &Blocks, list: &'a [Entity]) -> Self {
        let mut index = vec![0; list.last().map_or(0, |entity| blocks.entity(entity.number as usize).end)];
        for (at, entity) in list.iter().enumerate() {
            index[blocks.entity(entity.number as usize)].fill(at as u32);
        }
        Self { list, index }
    }

    fn at(&self, deletion: &Deletion) -> usize {
        self.index[deletion.target as usize] as usize
    }

    fn of(&self, deletion: &Deletion) -> &Entity {
        &self.list[self.at(deletion)]
    }
}

/// ln CE of every entity in the pass with all edges.
fn log_losses<T: Real>(classes: usize, scores: &[T], entities: &EntityIndex<'_>) -> Vec<f64> {
    let some = |entities: &[Entity]| {
        let row = |entity: &Entity| &scores[entity.number as usize * classes..(entity.number as usize + 1) * classes];
        let mut rows: Vec<T> = entities.iter().flat_map(row).copied().collect();
        let labels: Vec<u32> = entities.iter().map(|entity| entity.label).collect();
        let mut logs = vec![T::ZERO; entities.len()];
        loss::log_cross_entropies(&mut rows, &labels, &mut logs);
        logs.into_iter().map(T::to_f64).collect::<Vec<f64>>()
    };
    entities.list.par_chunks(CHUNK).map(some).collect::<Vec<_>>().concat()
}
