//! The regulariser against PyG's brute force (golden files of `tools/golden/make_car_golden.py`), against finite
//! differences, and against itself: rounds agree with exact interventions.

use crate::support::{Golden, data_dir, network, small_graph};
use carat::car::{AttentionTargets, Entities, Regulariser, Step, effect, log_ratio};
use carat::{
    Arm, EffectKind, EntityChoice, Exponent, Interventions, Lambda, RegulariserSettings, Rounds, Target, TrainConfig,
};
use carat_graph::{BlockBuilder, Blocks, Dataset, Graph};
use carat_nn::{
    AttentionKind, Deletion, Input, Keep, Network, NetworkConfig, NetworkPass, Pass, Real, Workspace, check, loss,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const LAMBDA: f64 = 0.7;

fn golden(name: &str) -> Golden {
    Golden::open_in(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"), name)
}

fn configurations() -> impl Iterator<Item = (AttentionKind, usize, usize)> {
    AttentionKind::ALL.into_iter().flat_map(|arch| [(1, 1), (1, 2), (3, 1), (3, 2)].map(|(k, l)| (arch, k, l)))
}

fn settings(layers: usize, change: impl Fn(&mut TrainConfig)) -> RegulariserSettings {
    let mut config = TrainConfig::default().lambda(Lambda::new(LAMBDA)).rounds(Rounds::All).layers(layers);
    change(&mut config);
    config.check().unwrap();
    config.car().unwrap()
}

/// A batch of the training nodes, and a network's forward pass over it.
struct Batch<T> {
    blocks: Blocks,
    input: Input<T>,
    labels: Vec<u32>,
    known: Entities,
}

impl<T: Real> Batch<T> {
    fn new(dataset: &Dataset, training: &[u32], layers: usize, others: &[u32]) -> Self {
        let blocks = BlockBuilder::new(dataset.graph()).build(&[training, others].concat(), layers);
        let input = Input::for_training(dataset.features(), blocks.nodes());
        let labels: Vec<u32> = training.iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
        let pairs = training.iter().copied().zip(labels.iter().copied());
        let known =
            Entities::new([dataset.num_nodes(), dataset.graph().num_edges()], dataset.labels().num_classes(), pairs);
        Self { blocks, input, labels, known }
    }

    fn step(&self) -> Step<'_> {
        Step { labels: &self.labels, epoch: 100, seed: 7 }
    }

    fn forward<'a>(&'a self, network: &'a Network<T>, work: &'a mut Workspace<T>) -> NetworkPass<'a, T> {
        network.forward(&self.blocks, &self.input, Keep::Deletions, work)
    }

    fn regulariser(&self, config: RegulariserSettings) -> Regulariser<T> {
        Regulariser::new(config, self.known.clone(), 0)
    }

    /// Every in-edge (source, target) as a deletion.
    fn deletion(&self, (source, target): (u32, u32)) -> Deletion {
        let block = self.blocks.layer(self.blocks.num_layers() - 1);
        let target = self.blocks.targets().iter().position(|&n| n == target).unwrap();
        let place = block.in_neighbours(target).iter().position(|&i| self.blocks.nodes()[i as usize] == source);
        Deletion { target: target as u32, edge: (block.offsets()[target] + place.unwrap()) as u32 }
    }

    /// ln CE with all edges and without each.
    fn log_losses(&self, network: &Network<T>, deletions: &[Deletion]) -> Vec<(f64, f64)> {
        let classes = network.config().classes;
        let (mut work, mut scores) = (Workspace::default(), Vec::new());
        let mut pass = self.forward(network, &mut work);
        pass.scores_without(deletions, &mut scores);
        let with = |d: &Deletion| &pass.scores()[d.target as usize * classes..(d.target as usize + 1) * classes];
        let log = |scores: &[T], d: &Deletion| {
            loss::log_cross_entropy(scores, self.labels[d.target as usize] as usize).to_f64()
        };
        deletions
            .iter()
            .zip(scores.chunks_exact(classes))
            .map(|(d, without)| (log(with(d), d), log(without, d)))
            .collect()
    }

    /// The gradient of L_p plus that of the loss that `targets` define, per parameter in PyG's order, with L_p and L_c.
    fn gradient(
        &self,
        network: &Network<T>,
        lambda: &[f64],
        targets: &AttentionTargets,
    ) -> (f64, f64, Vec<(String, Vec<T>)>) {
        let mut work = Workspace::default();
        let mut pass = self.forward(network, &mut work);
        let causal = targets.pull(&mut pass, lambda);
        let prediction = pass.loss_and_gradient(&self.labels);
        let layout = network.layout();
        let named = layout.iter().map(|(parameter, range)| {
            let mut values = vec![T::ZERO; parameter.len()];
            layout.export(parameter, &pass.gradient()[range], &mut values);
            (parameter.name.clone(), values)
        });
        (prediction, causal, named.collect())
    }
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (found - expected).abs() / expected.abs().max(1e-300);
    assert!(error <= tolerance, "{what}: {found} where PyG has {expected} (relative {error:e})");
}

fn compare_gradient<T: Real>(found: &[(String, Vec<T>)], golden: &Golden, prefix: &str, tolerance: f64, what: &str) {
    for (name, found) in found {
        let expected = golden.floats(&format!("{prefix}.{name}"));
        let scale = expected.iter().fold(0.0f64, |m, g| m.max(f64::from(g.abs())));
        let floor = if name.ends_with("lin_key.bias") { 1.0 } else { scale };
        assert_eq!(found.len(), expected.len(), "{what} {name}");
        for (f, e) in found.iter().zip(expected) {
            let error = (f.to_f64() - f64::from(e)).abs();
            assert!(error <= tolerance * floor, "{what} {prefix} {name}: {f:?} where PyG has {e} (scale {scale})");
        }
    }
}

/// Everything in the golden files of the small graph. In 32 bits tiny cross-entropies lose some digits.
fn check_small<T: Real>(tolerance: f64, gradient_tolerance: f64) {
    let (dataset, _, _) = small_graph();
    let training = &dataset.splits()[0].train;
    for (arch, heads, layers) in configurations() {
        let what = format!("{arch} K={heads} L={layers}");
        let golden = golden(&format!("car_small_{arch}_k{heads}_l{layers}"));
        let config = NetworkConfig { arch, features: 12, hidden: 8, heads, layers, classes: 4, ..Default::default() };
        let network: Network<T> = network(config, &golden, None);
        let batch = Batch::new(&dataset, training, layers, &[]);
        let edges = golden.integers("edges");
        let (src, dst) = edges.split_at(edges.len() / 2);
        let deletions: Vec<Deletion> = src.iter().zip(dst).map(|(&s, &d)| batch.deletion((s, d))).collect();

        let losses = batch.log_losses(&network, &deletions);
        let [ce, without, rho, c, c_one] = ["ce", "ce_without", "rho", "c", "c_one"].map(|name| golden.doubles(name));
        for (at, (&(log_with, log_without), deletion)) in losses.iter().zip(&deletions).enumerate() {
            let degree = dataset.graph().in_degree(dst[at]) as f64;
            let log_rho = log_ratio(log_without, log_with);
            close(log_with.exp(), ce[deletion.target as usize], tolerance, &format!("{what} CE"));
            close(log_without.exp(), without[at], tolerance, &format!("{what} CE'"));
            close(log_rho.exp(), rho[at], tolerance, &format!("{what} rho"));
            // T divides the difference of rho^d, so an effect has up to d / T times rho's relative error.
            let steep = 10.0 * degree * tolerance;
            assert!((effect(log_rho, degree, 0.1) - c[at]).abs() <= steep, "{what} c {at}");
            assert!((effect(log_rho, 1.0, 0.1) - c_one[at]).abs() <= 10.0 * tolerance, "{what} c with exponent one");
        }

        let targets = |config: RegulariserSettings, rounds: Option<&[Vec<Deletion>]>| {
            let mut regulariser = batch.regulariser(config);
            let mut work = Workspace::default();
            let mut pass = batch.forward(&network, &mut work);
            match rounds {
                None => regulariser.targets(&mut pass, batch.step()),
                Some(rounds) => regulariser.targets_of_rounds(&mut pass, batch.step(), rounds),
            }
        };
        let compare = |targets: &AttentionTargets, lambda: &[f64], loss: &str, prefix: &str| {
            let (prediction, causal, gradient) = batch.gradient(&network, lambda, targets);
            close(prediction, golden.doubles("prediction_loss")[0], tolerance, &format!("{what} L_p"));
            close(causal, golden.doubles(loss)[0], tolerance, &format!("{what} {loss}"));
            compare_gradient(&gradient, &golden, prefix, gradient_tolerance, &what);
        };
        let lambda = vec![LAMBDA; layers];
        let all = targets(settings(layers, |_| {}), None);
        compare(&all, &lambda, "loss_all", "grad_all");
        if layers == 2 {
            compare(&all, &[0.3, 0.9], "loss_all", "grad_layers");
        }
        let distribution = targets(settings(layers, |c| c.regulariser.target = Target::Distribution), None);
        compare(&distribution, &lambda, "distribution", "grad_distribution");
        let rounds: Vec<Vec<Deletion>> = (0..3)
            .map(|r| golden.integers(&format!("rounds.{r}")).iter().map(|&at| deletions[at as usize]).collect())
            .collect();
        let drawn = targets(settings(layers, |c| c.regulariser.rounds = Rounds::Count(3)), Some(&rounds));
        compare(&drawn, &lambda, "loss_rounds", "grad_rounds");
        let reversed: Vec<Vec<Deletion>> = rounds.iter().map(|round| round.iter().rev().copied().collect()).collect();
        let drawn = targets(settings(layers, |c| c.regulariser.rounds = Rounds::Count(3)), Some(&reversed));
        compare(&drawn, &lambda, "loss_rounds", "grad_rounds");

        // The vote's effects show in its loss.
        let vote = targets(settings(layers, |c| c.regulariser.arm = Arm::Vote), None);
        let (_, causal, _) = batch.gradient(&network, &lambda, &vote);
        let expected = loss_by_hand(&golden, "vote_c", dst, layers);
        close(causal, expected, tolerance.max(1e-6), &format!("{what} vote"));
        let constant = targets(settings(layers, |c| c.regulariser.arm = Arm::Constant), None);
        let (_, causal, _) = batch.gradient(&network, &lambda, &constant);
        close(causal, loss_by_hand(&golden, "", dst, layers), tolerance.max(1e-6), &format!("{what} constant"));
    }
}

/// Mean over entities of the mean over their in-edges of BCE, from the golden file's attention and these effects.
fn loss_by_hand(golden: &Golden, effects: &str, dst: &[u32], layers: usize) -> f64 {
    let c = if effects.is_empty() { vec![0.5; dst.len()] } else { golden.doubles(effects) };
    let mut total = 0.0;
    let entities = dst.chunk_by(|a, b| a == b).count();
    for l in 0..layers {
        let abar = golden.doubles(&format!("abar.{l}"));
        for at in 0..dst.len() {
            let row: Vec<usize> = (0..dst.len()).filter(|&m| dst[m] == dst[at]).collect();
            let rest: f64 = row.iter().filter(|&&m| m != at).map(|&m| abar[m]).sum();
            let log = |x: f64| x.ln().max(-100.0);
            let bce = -(c[at] * log(abar[at]) + (1.0 - c[at]) * log(rest));
            total += bce / (entities * row.len() * layers) as f64;
        }
    }
    total
}

#[test]
fn pyg_by_brute_force_in_64_bits() {
    check_small::<f64>(1e-7, 1e-5);
}

#[test]
fn pyg_by_brute_force_in_32_bits() {
    check_small::<f32>(2e-3, 2e-2);
}

#[test]
fn cora_by_brute_force() {
    let Some(folder) = data_dir() else { return };
    let dataset = carat_graph::readers::planetoid::read(&folder.join("planetoid"), "cora").unwrap();
    for arch in AttentionKind::ALL {
        let config =
            NetworkConfig { arch, features: 1433, hidden: 8, heads: 3, layers: 2, classes: 7, ..Default::default() };
        let weights = Golden::open(&format!("cora_{arch}_k3_l2"));
        let network: Network<f32> = network(config, &weights, Some(&Golden::open("cora_encoder")));
        let golden = golden(&format!("car_cora_{arch}"));
        let batch = Batch::new(&dataset, &golden.integers("nodes"), 2, &[]);
        let edges = golden.integers("edges");
        let (src, dst) = edges.split_at(edges.len() / 2);
        let deletions: Vec<Deletion> = src.iter().zip(dst).map(|(&s, &d)| batch.deletion((s, d))).collect();
        let (rho, c) = (golden.doubles("rho"), golden.doubles("c"));
        for (at, (with, without)) in batch.log_losses(&network, &deletions).into_iter().enumerate() {
            let log_rho = log_ratio(without, with);
            close(log_rho.exp(), rho[at], 1e-4, &format!("{arch} rho on Cora"));
            let degree = dataset.graph().in_degree(dst[at]) as f64;
            assert!((effect(log_rho, degree, 0.1) - c[at]).abs() < 1e-2, "{arch} c on Cora");
        }
    }
}

/// On a trained network, where many cross-entropies are tiny: 32 bits against deleting and rerunning in 64.
#[test]
fn cora_trained_in_32_bits_against_delete_and_rerun() {
    let Some(folder) = data_dir() else { return };
    let dataset = carat_graph::readers::planetoid::read(&folder.join("planetoid"), "cora").unwrap();
    let graph = dataset.graph();
    for arch in AttentionKind::ALL {
        let config = TrainConfig::default().arch(arch).hidden(16).heads(3).epochs(15);
        let split = config.choose_split(&dataset).unwrap();
        let mut trainer = carat::Trainer::new(&dataset, &split, &config).unwrap();
        while trainer.epoch(&|| false).unwrap().is_some() {}
        let (trained, _) = trainer.finish();
        let mut exact = Network::<f64>::new(trained.config(), 0).unwrap();
        exact.parameters_mut().iter_mut().zip(trained.parameters()).for_each(|(to, from)| *to = f64::from(*from));

        let nodes = &split.train[..12];
        let batch = Batch::<f32>::new(&dataset, nodes, 2, &[]);
        let pairs: Vec<(u32, u32)> =
            nodes.iter().flat_map(|&n| graph.in_neighbours(n).iter().map(move |&i| (i, n))).collect();
        let deletions: Vec<Deletion> = pairs.iter().map(|&pair| batch.deletion(pair)).collect();
        let mut compared = 0;
        for ((with, without), edge) in batch.log_losses(&trained, &deletions).into_iter().zip(pairs) {
            let label = dataset.labels().get(edge.1).unwrap() as usize;
            let ce = |graph: &Graph| {
                let blocks = BlockBuilder::new(graph).build(&[edge.1], 2);
                let mut work = Workspace::default();
                let input = Input::new(dataset.features(), blocks.nodes());
                loss::cross_entropy(exact.forward(&blocks, &input, Keep::Deletions, &mut work).scores(), label)
            };
            let (src, dst): (Vec<u32>, Vec<u32>) = graph.edges().filter(|e| *e != edge).unzip();
            let cut = Graph::from_edges(graph.num_nodes(), &src, &dst).unwrap();
            if ce(graph) > 1e-6 {
                close((without - with).exp(), ce(&cut) / ce(graph), 1e-3, &format!("{arch} rho of {edge:?}"));
                compared += 1;
            }
        }
        assert!(compared > 10, "{arch}: only {compared} edges to compare");
    }
}

fn random_network(arch: AttentionKind, heads: usize, layers: usize) -> Network<f64> {
    let config = NetworkConfig { arch, features: 12, hidden: 4, heads, layers, classes: 4, ..Default::default() };
    let mut network = Network::<f64>::new(config, 3).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    network.parameters_mut().iter_mut().for_each(|p| *p = 1.5 * *p + rng.random_range(-0.2..0.2));
    network
}

/// Targets are constants, so the backward pass gives the gradient of the total loss with the targets held fixed.
#[test]
fn the_total_loss_has_the_gradient_of_its_finite_differences() {
    let (dataset, _, _) = small_graph();
    let training = &dataset.splits()[0].train;
    let others: Vec<u32> = (0..40).filter(|n| !training.contains(n)).collect();
    for (arch, heads, layers) in configurations() {
        for arm in Arm::ALL {
            for target in Target::ALL {
                for entities in EntityChoice::ALL {
                    let config = settings(layers, |c| {
                        (c.regulariser.arm, c.regulariser.target, c.regulariser.entities) =
                            (if arm.has_targets() { arm } else { Arm::Causal }, target, entities);
                        c.regulariser.rounds = if arm == Arm::Random { Rounds::Count(3) } else { Rounds::All };
                        c.regulariser.interventions =
                            if arm == Arm::Vote { Interventions::Rounds } else { Interventions::Exact };
                    });
                    let config = RegulariserSettings { arm, ..config };
                    let mut network = random_network(arch, heads, layers);
                    let extra: &[u32] = if entities == EntityChoice::All { &others } else { &[] };
                    let batch = Batch::<f64>::new(&dataset, training, layers, extra);
                    let lambda: Vec<f64> = (0..layers).map(|l| 0.5 + l as f64).collect();
                    let mut work = Workspace::default();
                    let mut pass = batch.forward(&network, &mut work);
                    let targets = batch.regulariser(config).targets(&mut pass, batch.step());
                    let (_, causal, _) = batch.gradient(&network, &lambda, &targets);
                    assert_eq!(causal == 0.0, !arm.has_targets(), "{arm} {target} {entities}");

                    // The loss whose gradient `pull` leaves: each layer's part weighted by its own lambda.
                    let on_attention = |pass: &mut dyn Pass<f64>| {
                        let part = |l: usize| lambda[l] * targets.loss_of_layer(pass, l);
                        let total = (0..layers).map(part).sum::<f64>() / layers as f64;
                        targets.pull(pass, &lambda);
                        total
                    };
                    let checked =
                        check::gradient_with(&mut network, &batch.blocks, &batch.input, &batch.labels, on_attention);
                    for parameter in checked {
                        let what = format!("{arch} K={heads} L={layers} {arm} {target} {entities}");
                        assert!(parameter.error < 1e-6, "{what}: {parameter:?}");
                    }
                }
            }
        }
    }
}

/// The two strategies give the same effects on the same edges, and so the same loss and gradient.
#[test]
fn rounds_agree_with_exact_interventions() {
    let (dataset, _, _) = small_graph();
    let training = &dataset.splits()[0].train;
    for arch in AttentionKind::ALL {
        for (heads, layers) in [(1, 1), (3, 2), (1, 3)] {
            let network = random_network(arch, heads, layers);
            let batch = Batch::<f64>::new(&dataset, training, layers, &[]);
            for (rounds, target) in
                [(Rounds::All, Target::Bce), (Rounds::All, Target::Distribution), (Rounds::Count(4), Target::Bce)]
            {
                let config = |interventions: Interventions| {
                    settings(layers, |c| {
                        (c.regulariser.rounds, c.regulariser.target, c.regulariser.interventions) =
                            (rounds, target, interventions)
                    })
                };
                let mut work = Workspace::default();
                let mut pass = batch.forward(&network, &mut work);
                let mut by_rounds = batch.regulariser(config(Interventions::Rounds));
                let found = by_rounds.targets(&mut pass, batch.step());
                let mut exact = batch.regulariser(config(Interventions::Exact));
                let expected = exact.targets(&mut pass, batch.step());
                let (effects, expected_effects) = (found.effects(), expected.effects());
                assert!(!effects.is_empty());
                for (edge, c) in &effects {
                    let (_, other) = expected_effects.iter().find(|(other, _)| other == edge).unwrap();
                    assert!((c - other).abs() < 1e-9, "{arch} {edge:?}: {c} by rounds, {other} exactly");
                }
                if rounds == Rounds::All {
                    assert_eq!(effects.len(), expected_effects.len());
                }
            }
        }
    }
}

#[test]
fn the_exponent_and_the_arms_change_what_they_should() {
    let (dataset, _, _) = small_graph();
    let training = &dataset.splits()[0].train;
    let network = random_network(AttentionKind::Gat, 2, 2);
    let batch = Batch::<f64>::new(&dataset, training, 2, &[]);
    let effects = |change: &dyn Fn(&mut TrainConfig)| {
        let mut work = Workspace::default();
        let mut pass = batch.forward(&network, &mut work);
        batch.regulariser(settings(2, change)).targets(&mut pass, batch.step()).effects()
    };
    let causal = effects(&|_| {});
    let one = effects(&|c| c.regulariser.exponent = Exponent::One);
    assert!(causal.iter().zip(&one).any(|((_, a), (_, b))| (a - b).abs() > 0.01));
    assert!(effects(&|c| c.regulariser.arm = Arm::Constant).iter().all(|(_, c)| *c == 0.5));
    let random = effects(&|c| c.regulariser.arm = Arm::Random);
    let mean = random.iter().map(|(_, c)| c).sum::<f64>() / random.len() as f64;
    assert!((mean - 0.5).abs() < 0.2 && random.iter().any(|(_, c)| (c - mean).abs() > 0.2));
    let vote = effects(&|c| c.regulariser.arm = Arm::Vote);
    assert!(vote.iter().any(|(_, c)| *c != 0.5) && vote != causal);
}

/// Two entities in five are left out.
fn without_some(labels: &[u32]) -> Vec<u32> {
    labels.iter().enumerate().map(|(at, &label)| if at % 5 < 2 { loss::LEFT_OUT } else { label }).collect()
}

#[test]
fn entities_that_are_left_out_take_no_part_in_the_loss() {
    let (dataset, _, _) = small_graph();
    let training = &dataset.splits()[0].train;
    let network = random_network(AttentionKind::Gat, 2, 2);
    let batch = Batch::<f64>::new(&dataset, training, 2, &[]);
    let labels = without_some(&batch.labels);
    for weights in [vec![], vec![0.5, 2.0, 1.0, 3.0]] {
        let weight = |label: u32| weights.get(label as usize).copied().unwrap_or(1.0);
        let mut work = Workspace::default();
        let mut pass = batch.forward(&network, &mut work);
        let rows = pass.scores().chunks_exact(4).zip(&labels).filter(|(_, label)| **label != loss::LEFT_OUT);
        let of_rows: Vec<(f64, f64)> = rows
            .map(|(scores, &label)| (weight(label), weight(label) * loss::cross_entropy(scores, label as usize)))
            .collect();
        let expected = of_rows.iter().map(|row| row.1).sum::<f64>() / of_rows.iter().map(|row| row.0).sum::<f64>();
        let found = pass.weighted_loss_and_gradient(&labels, &weights);
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
        let nobody = vec![loss::LEFT_OUT; labels.len()];
        assert_eq!(pass.weighted_loss_and_gradient(&nobody, &weights), 0.0);
        assert!(pass.gradient().iter().all(|gradient| *gradient == 0.0));
    }
    // The gradient is that of a batch in which the others have no label.
    let gradient = |batch: &Batch<f64>, labels: &[u32]| {
        let mut work = Workspace::default();
        let mut pass = batch.forward(&network, &mut work);
        pass.loss_and_gradient(labels);
        pass.gradient().to_vec()
    };
    let (kept, others): (Vec<u32>, Vec<u32>) = training
        .iter()
        .partition(|&&n| labels[training.iter().position(|&other| other == n).unwrap()] != loss::LEFT_OUT);
    let only_kept = Batch::<f64>::new(&dataset, &kept, 2, &others);
    for (found, expected) in gradient(&batch, &labels).iter().zip(gradient(&only_kept, &only_kept.labels)) {
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }
}

/// An effect is measured where the loss leaves its entity out, and is remembered while the loss reads it.
#[test]
fn cross_fitting_measures_where_the_loss_does_not_look() {
    let (dataset, _, _) = small_graph();
    let training = &dataset.splits()[0].train;
    let [first, second] = [3, 4].map(|heads| random_network(AttentionKind::GatV2, heads, 2));
    let batch = Batch::<f64>::new(&dataset, training, 2, &[]);
    let effects = |regulariser: &mut Regulariser<f64>, network: &Network<f64>, epoch: usize| {
        let mut work = Workspace::default();
        let mut pass = batch.forward(network, &mut work);
        regulariser.targets(&mut pass, Step { epoch, ..batch.step() }).effects()
    };
    let of_both = [&first, &second].map(|network| effects(&mut batch.regulariser(settings(2, |_| {})), network, 1));
    let mut folds = batch.regulariser(settings(2, |c| c.regulariser.cross_fit = 2));
    let early = effects(&mut folds, &first, 1);
    let known = |effect: &(Deletion, f64)| early.iter().any(|(deletion, _)| *deletion == effect.0);
    assert!(!early.is_empty() && early.len() < of_both[0].len());
    // The memory has 32 bits.
    let agrees = |a: &(Deletion, f64), b: &(Deletion, f64)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-4;
    assert!(early.iter().all(|effect| of_both[0].iter().any(|other| agrees(effect, other))));
    // In the second turn the other fold is left out, and the network has changed.
    let late = effects(&mut folds, &second, 11);
    assert_eq!(late.len(), of_both[0].len());
    for (effect, [of_first, of_second]) in late.iter().zip(of_both[0].iter().zip(&of_both[1]).map(|(a, b)| [a, b])) {
        let expected = if known(effect) { of_first } else { of_second };
        assert!(agrees(effect, expected), "{effect:?} instead of {expected:?}");
    }
    assert!(of_both[0].iter().zip(&of_both[1]).any(|(a, b)| (a.1 - b.1).abs() > 1e-3));
}

#[test]
fn effects_are_averaged_over_steps() {
    let (dataset, _, _) = small_graph();
    let training = &dataset.splits()[0].train;
    let networks = [1, 2].map(|heads| random_network(AttentionKind::Transformer, heads, 2));
    let batch = Batch::<f64>::new(&dataset, training, 2, &[]);
    let config = settings(2, |c| {
        (c.regulariser.effect, c.regulariser.temperature, c.regulariser.memory) = (EffectKind::Likelihood, 1.0, 0.75);
    });
    let effects = |regulariser: &mut Regulariser<f64>, network: &Network<f64>| {
        let mut work = Workspace::default();
        let mut pass = batch.forward(network, &mut work);
        regulariser.targets(&mut pass, batch.step()).effects()
    };
    let forgetful = RegulariserSettings { memory: 0.0, ..config.clone() };
    let [one, other] = [0, 1].map(|which| effects(&mut batch.regulariser(forgetful.clone()), &networks[which]));
    let mut averaging = batch.regulariser(config);
    effects(&mut averaging, &networks[0]);
    let log_odds = |c: f64| (c / (1.0 - c)).ln();
    for (((_, c), one), other) in effects(&mut averaging, &networks[1]).iter().zip(&one).zip(&other) {
        let expected = 0.75 * log_odds(one.1) + 0.25 * log_odds(other.1);
        assert!((log_odds(*c) - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{} or {expected}", log_odds(*c));
    }
}
