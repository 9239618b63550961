//! The appendix's study of rewiring: GCNs on graphs pruned by attention.
//!
//! For every split, attention networks are trained with and without CAR and score every edge. GCNs are trained on the
//! edges above each threshold, and on as many edges drawn at random. A GCN run's settings say how its graph was pruned,
//! so it is stored like any other run.

use std::collections::HashMap;

use carat::rewire::{Curve, CurvePoint, Curves, Pruning, THRESHOLDS};
use carat::{Error, Lambda, Protocol, TrainConfig};
use carat_lab::sweep::Grid;
use carat_nn::{AttentionKind, GcnNorm};
use carat_report::rewiring::{AREA_MEANING, areas, chart, p_larger, without_edges};
use carat_report::statistics::{SIGNIFICANT, Spread};
use carat_report::{Cell, Column, Table, format};
use toml::Value;

use super::draft::PROTOCOLS;
use super::finding::{Answer, Finding, Verdict};
use super::{About, Draft, Inputs, Item, ItemRuns, Scope, paper};

const DATA: &str = "chameleon";
/// Width of the paper's GCNs, and their layers. The paper's attention networks have one layer.
const HIDDEN: i64 = 100;
const LAYERS: i64 = 1;
/// The paper's authors used a plain sum.
const NORM: GcnNorm = GcnNorm::None;
/// Splits in full and in the quick subset.
const SPLITS: (usize, usize) = (10, 2);

/// The index of each curve of one kind.
const CAR: usize = 0;
const BASELINE: usize = 1;
const RANDOM: usize = 2;

/// Pruning by attention, with and without CAR, and at random.
pub(super) struct Rewiring;

/// The attention network of one kind.
#[derive(Debug, Clone, Copy)]
struct Network {
    kind: AttentionKind,
    hidden: usize,
    heads: usize,
    lambda: f64,
}

/// The paper takes "the hyperparameter settings that contributed to the highest validation accuracy for each of the
/// one-layer GAT, GATv2, and Transformer CAR-trained models". These are ours: of all one-layer settings of the paper's
/// grid on split 0.
fn networks(protocol: Protocol) -> [Network; 3] {
    let network = |kind, hidden, heads, lambda| Network { kind, hidden, heads, lambda };
    let [gat, gatv2, transformer] = paper::KINDS;
    match protocol {
        Protocol::Paper => [network(gat, 100, 1, 5.0), network(gatv2, 25, 1, 0.1), network(transformer, 10, 5, 1.0)],
        Protocol::Best => [network(gat, 100, 3, 1.0), network(gatv2, 100, 3, 5.0), network(transformer, 100, 5, 0.1)],
    }
}

impl Network {
    /// The pruning of a curve at a threshold.
    fn pruning(self, protocol: Protocol, curve: usize, threshold: f64) -> Pruning {
        let Self { kind, hidden, heads, lambda } = self;
        let lambda = if curve == BASELINE { 0.0 } else { lambda };
        let sizes = TrainConfig::default().arch(kind).hidden(hidden).heads(heads).layers(1);
        let guide = Box::new(sizes.lambda(Lambda::new(lambda)).protocol(protocol));
        Pruning { threshold, random: curve == RANDOM, guide }
    }

    /// The same, where it leaves anything out and anything in: without any edge all curves are one.
    fn distinct_pruning(self, protocol: Protocol, curve: usize, threshold: f64) -> Option<Pruning> {
        match threshold {
            0.0 => None,
            threshold if threshold > 1.0 => Some(networks(protocol)[0].pruning(protocol, BASELINE, threshold)),
            threshold => Some(self.pruning(protocol, curve, threshold)),
        }
    }
}

fn splits(scope: &Scope) -> Vec<i64> {
    let least = if scope.quick { SPLITS.1 } else { SPLITS.0 };
    (0..scope.splits.len().clamp(least, SPLITS.0) as i64).collect()
}

/// The grids of one protocol: the whole graph, and every pruned one.
fn grids(scope: &Scope, protocol: Protocol) -> [Grid; 2] {
    let whole = Grid::new()
        .with("data", [DATA])
        .with("split", splits(scope))
        .with("seed", scope.seeds.iter().map(|seed| *seed as i64))
        .with("model", ["gcn"])
        .with("gcn-norm", [NORM.name()])
        .with("hidden", [HIDDEN])
        .with("layers", [LAYERS])
        .with("protocol", [protocol.name()]);
    // Neighbours in the list have different guides, so that threads do not wait for one another.
    let prunings = THRESHOLDS.iter().flat_map(|&threshold| {
        let of_curve =
            move |curve| networks(protocol).map(|network| network.distinct_pruning(protocol, curve, threshold));
        [CAR, BASELINE, RANDOM].into_iter().flat_map(of_curve).flatten()
    });
    // The types of this crate always serialise.
    let prunings: Vec<Value> = prunings.filter_map(|pruning| Value::try_from(pruning).ok()).collect();
    [whole.clone(), whole.with("prune", prunings)]
}

impl Item for Rewiring {
    fn about(&self) -> About {
        About {
            name: "rewiring",
            title: "Rewiring: GCNs on graphs pruned by attention",
            paper_says: "on Chameleon, GCNs trained and tested on the graph without the edges that attention passes \
                         over are more accurate than on the whole graph, and the area of that gain over all \
                         thresholds is larger with CAR's attention than with the baseline's, for all three kinds. It \
                         has no random control, and prints no numbers.",
        }
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        match scope.datasets.iter().any(|data| data == DATA) {
            true => PROTOCOLS.into_iter().flat_map(|protocol| grids(scope, protocol)).collect(),
            false => Vec::new(),
        }
    }

    fn describe_grids(&self, scope: &Scope) -> String {
        format!(
            "GCNs on Chameleon and on what {} thresholds leave of it, by CAR's attention, by the baseline's and at \
             random, for three attention kinds; {} and {}",
            THRESHOLDS.len() - 1,
            format::counted(splits(scope).len(), "split"),
            format::counted(scope.seeds.len(), "seed")
        )
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let studies = PROTOCOLS.map(|protocol| (protocol, studies(found, scope, protocol)));
        draft.found(studies.iter().flat_map(|(protocol, kinds)| sentences(*protocol, kinds)).collect());
        draft.table(area_table(&studies));
        for (protocol, kinds) in &studies {
            let panels: Vec<_> =
                kinds.iter().map(|(network, curves)| (network.kind.name().to_string(), curves)).collect();
            if !panels.is_empty() {
                draft.chart(chart(&format!("Accuracy on pruned graphs, protocol {protocol}"), &panels));
            }
        }
        draft.paragraph(format!(
            "{AREA_MEANING} p is of the signed areas, paired by split (one-tailed Wilcoxon signed-rank test). Random \
             pruning leaves as many edges as CAR's attention does at the same threshold; what attention adds is what \
             lies above it. A node's attention sums to 1 over its in-edges, of which Chameleon has 15.8 a node: at 0.1 \
             most edges are gone already, and what is left at high thresholds are the in-edges of nodes that have one \
             or two."
        ));
        draft.paragraph(
            "Attention networks have one layer and are trained anew for every split; their K, F and lambda are those \
             with the highest validation accuracy among all one-layer networks with CAR in the paper's grid (split 0), \
             the baseline's the same without CAR. GCNs have one layer, F 100, and sum over in-neighbours without \
             normalisation, as the paper's authors did. Networks and GCNs stop by the same protocol.",
        );
        Ok(())
    }

    fn findings(&self, inputs: &Inputs<'_>) -> Result<Vec<Finding>, Error> {
        let Inputs { found, scope, .. } = inputs;
        let studies = PROTOCOLS.map(|protocol| (protocol, studies(found, scope, protocol)));
        let finding = |claim: &str, paper: Option<&str>, holds: &dyn Fn(&Curves) -> bool| {
            let answer = |(protocol, kinds): &(Protocol, Vec<(Network, Curves)>)| {
                let count = kinds.iter().filter(|(_, curves)| holds(curves)).count();
                let text =
                    if kinds.is_empty() { "no runs".into() } else { format!("{count} of {} kinds", kinds.len()) };
                Answer { protocol: *protocol, text, verdict: Verdict::of_kinds(count, kinds.len()) }
            };
            let answers = studies.iter().map(answer).collect();
            Finding { item: self.name(), claim: claim.into(), paper: paper.map(String::from), answers }
        };
        let all = Some("3 of 3 kinds");
        Ok(vec![
            finding("GCNs gain on average from pruning by CAR's attention", all, &|curves| gains(curves)),
            finding("pruning by CAR's attention has a larger area than the baseline's", all, &|curves| {
                curves.area_above(CAR) > curves.area_above(BASELINE)
            }),
            finding("pruning by CAR's attention beats random pruning at p < 0.05", None, &|curves| {
                p_larger(curves, CAR, RANDOM).is_some_and(|p| p < SIGNIFICANT)
            }),
        ])
    }
}

/// True where the mean accuracy over all thresholds is above that of the whole graph.
fn gains(curves: &Curves) -> bool {
    Spread::of(&curves.signed_areas(CAR)).is_some_and(|spread| spread.mean > 0.0)
}

/// Accuracies on one split, one for each seed.
struct OfSplit {
    /// On the whole graph.
    whole: Vec<f64>,
    /// By curve, then by threshold.
    curves: Vec<Vec<Vec<f64>>>,
}

/// The curves of every kind, over the splits that have all their runs.
fn studies(found: &ItemRuns<'_>, scope: &Scope, protocol: Protocol) -> Vec<(Network, Curves)> {
    let key = |split: i64, seed: u64, pruning: Option<&Pruning>| {
        // Settings hold floats, which cannot be hashed, so their text is the key.
        (split, seed, pruning.and_then(|pruning| serde_json::to_string(pruning).ok()))
    };
    let runs = found.runs.iter().filter(|run| run.protocol() == protocol);
    let accuracies: HashMap<_, f64> = runs
        .filter_map(|run| {
            let config = &run.config;
            let key = key(config.data.split as i64, config.seed, config.prune.as_ref());
            Some((key, run.outcome.figures.test.accuracy?))
        })
        .collect();
    let study = |network: Network| {
        let of_split = |split: i64| {
            let of = |pruning: Option<&Pruning>| {
                scope.seeds.iter().map(|&seed| accuracies.get(&key(split, seed, pruning)).copied()).collect()
            };
            let of_curve = |curve: usize| {
                let at = |&threshold: &f64| of(network.distinct_pruning(protocol, curve, threshold).as_ref());
                THRESHOLDS.iter().map(at).collect::<Option<Vec<Vec<f64>>>>()
            };
            let curves = [CAR, BASELINE, RANDOM].into_iter().map(of_curve).collect::<Option<Vec<_>>>()?;
            Some(OfSplit { whole: of(None)?, curves })
        };
        let splits: Vec<OfSplit> = splits(scope).into_iter().filter_map(of_split).collect();
        let curve = |(place, (guide, random)): (usize, (&str, bool))| {
            let point = |(at, &threshold): (usize, &f64)| CurvePoint {
                threshold,
                edges: None,
                accuracies: splits.iter().map(|split| split.curves[place][at].clone()).collect(),
            };
            let points = THRESHOLDS.iter().enumerate().map(point).collect();
            Curve { guide: guide.into(), random, points }
        };
        let curves = [("CAR", false), ("baseline", false), ("CAR", true)].into_iter().enumerate().map(curve).collect();
        let unpruned: Vec<Vec<f64>> = splits.iter().map(|split| split.whole.clone()).collect();
        (!unpruned.is_empty()).then_some((network, Curves { unpruned, curves }))
    };
    networks(protocol).into_iter().filter_map(study).collect()
}

fn sentences(protocol: Protocol, kinds: &[(Network, Curves)]) -> Vec<String> {
    if kinds.is_empty() {
        return vec![format!("no split has all its runs under protocol {protocol} yet")];
    }
    let count = |holds: &dyn Fn(&Curves) -> bool| kinds.iter().filter(|(_, curves)| holds(curves)).count();
    let all = kinds.len();
    let below = |p: Option<f64>| p.is_some_and(|p| p < SIGNIFICANT);
    // The whole graph and the empty one are the same for all kinds.
    let ends = kinds.first().and_then(|(_, curves)| Some((curves.unpruned_mean(), without_edges(curves)?)));
    let (whole, empty) = ends.unwrap_or((f64::NAN, f64::NAN));
    vec![
        format!(
            "under protocol {protocol}, GCNs have a mean test accuracy of {whole:.3} on the whole graph and of \
             {empty:.3} without any edge"
        ),
        format!(
            "under protocol {protocol}, pruning by CAR's attention has a larger area than pruning by the baseline's in \
             {} of {all} kinds (signed areas larger at p < {SIGNIFICANT} in {}, smaller in {})",
            count(&|curves| curves.area_above(CAR) > curves.area_above(BASELINE)),
            count(&|curves| below(p_larger(curves, CAR, BASELINE))),
            count(&|curves| below(p_larger(curves, BASELINE, CAR))),
        ),
        format!(
            "under protocol {protocol}, pruning by CAR's attention beats random pruning at p < {SIGNIFICANT} in {} of \
             {all} kinds, and random pruning beats it in {}",
            count(&|curves| below(p_larger(curves, CAR, RANDOM))),
            count(&|curves| below(p_larger(curves, RANDOM, CAR))),
        ),
        format!(
            "under protocol {protocol}, the mean over all thresholds is above the whole graph's accuracy in {} of \
             {all} kinds with CAR's attention",
            count(&|curves| gains(curves))
        ),
    ]
}

fn area_table(studies: &[(Protocol, Vec<(Network, Curves)>)]) -> Table {
    let row = |protocol: Protocol, network: &Network, curves: &Curves| {
        let figures = areas(curves);
        let area = |curve: usize| format::number_cell(figures.get(curve).map(|figures| figures.area), 4);
        let signed = |curve: usize| format::spread_cell(figures.get(curve).and_then(|figures| figures.signed_area), 4);
        let best = figures.get(CAR).and_then(|figures| figures.best);
        let best =
            best.map_or_else(|| format::UNDEFINED.to_string(), |(at, accuracy)| format!("{accuracy:.3} at {at}"));
        let Network { kind, hidden, heads, lambda } = network;
        vec![
            Cell::text(protocol.name()),
            Cell::text(format!("{kind}, K {heads}, F {hidden}, lambda {lambda}")),
            format::count_cell(curves.unpruned.len()),
            format::number_cell(Some(curves.unpruned_mean()), 3),
            format::number_cell(without_edges(curves), 3),
            Cell::text(best),
            area(CAR),
            area(BASELINE),
            area(RANDOM),
            signed(CAR),
            signed(BASELINE),
            signed(RANDOM),
            format::probability_cell(p_larger(curves, CAR, BASELINE)),
            format::probability_cell(p_larger(curves, CAR, RANDOM)),
        ]
    };
    let rows = studies.iter().flat_map(|(protocol, kinds)| {
        kinds.iter().map(move |(network, curves)| row(*protocol, network, curves)).collect::<Vec<_>>()
    });
    let mut columns = vec![Column::text("protocol"), Column::text("attention network")];
    columns.extend(["splits", "whole graph", "no edges"].map(Column::numbers));
    columns.push(Column::text("highest with CAR"));
    let headings = [
        "area, CAR",
        "area, baseline",
        "area, random",
        "signed, CAR",
        "signed, baseline",
        "signed, random",
        "p, CAR above baseline",
        "p, CAR above random",
    ];
    columns.extend(headings.map(Column::numbers));
    let caption = "Accuracy of GCNs on the whole graph and without edges, and areas of pruning, Chameleon".to_string();
    Table { name: "rewiring".into(), caption, columns, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::scope::everything;
    use super::super::tests::findings;
    use super::*;
    use carat_lab::compare::made_up;
    use carat_lab::sweep::Run;

    /// Pruned graphs are better by `gain(curve)` at every threshold between the ends.
    fn runs(scope: &Scope, gain: impl Fn(&Pruning) -> f64) -> Vec<Run> {
        let configs = Rewiring.grids(scope).into_iter().flat_map(|grid| grid.runs().unwrap());
        let run = |config: TrainConfig| {
            let split = 0.01 * config.data.split as f64;
            let gain = config.prune.as_ref().filter(|prune| prune.threshold < 1.0).map_or(0.0, &gain);
            let mut run = made_up::run(config, 1.0);
            run.outcome.figures.test.accuracy = Some(0.4 + split + gain * (1.0 + split));
            run
        };
        configs.map(run).collect()
    }

    #[test]
    fn ten_splits_and_83_graphs_each_under_both_protocols() {
        let count = |scope: &Scope| runs(scope, |_| 0.0).len();
        // The whole graph, the empty one, and three curves of three kinds at nine thresholds.
        assert_eq!(count(&everything(false)), 2 * 10 * (2 + 3 * 3 * 9));
        assert_eq!(count(&everything(true)), 2 * 2 * (2 + 3 * 3 * 9));
        assert!(Rewiring.grids(&Scope { datasets: vec!["cora".into()], ..everything(true) }).is_empty());
    }

    #[test]
    fn gains_of_causal_attention_reproduce_the_paper_and_their_absence_does_not() {
        let scope = everything(false);
        let verdicts = |gain: &dyn Fn(&Pruning) -> f64| {
            let findings = findings(&Rewiring, &runs(&scope, gain), &scope);
            findings
                .into_iter()
                .map(|finding| (finding.answers[0].text.clone(), finding.answers[0].verdict))
                .collect::<Vec<_>>()
        };
        let is_car = |prune: &Pruning| !prune.random && !prune.guide.regulariser.lambda.is_zero();
        let better = verdicts(&|prune| if is_car(prune) { 0.05 } else { 0.01 });
        assert_eq!(better, vec![("3 of 3 kinds".to_string(), Verdict::Reproduced); 3]);
        let worse = verdicts(&|prune| if is_car(prune) { -0.05 } else { 0.01 });
        assert_eq!(worse, vec![("0 of 3 kinds".to_string(), Verdict::NotReproduced); 3]);
    }

    #[test]
    fn a_split_that_lacks_a_run_is_left_out() {
        let scope = everything(true);
        let mut runs = runs(&scope, |_| 0.02);
        let gone = runs.iter().position(|run| run.config.data.split == 1 && run.config.prune.is_none()).unwrap();
        let protocol = runs[gone].protocol();
        runs.remove(gone);
        let found = ItemRuns::of(&runs, &Rewiring.grids(&scope)).unwrap();
        for other in PROTOCOLS {
            let studies = studies(&found, &scope, other);
            assert_eq!(studies.len(), 3);
            assert!(studies.iter().all(|(_, curves)| curves.unpruned.len() == if other == protocol { 1 } else { 2 }));
        }
    }
}
