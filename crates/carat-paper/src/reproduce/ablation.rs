//! The ablation: effects from deleting edges against effects from a neighbour vote, random ones and a constant.

use carat::{Arm, Error, Protocol};
use carat_lab::compare::{Comparison, Family, Measure, Method, Opponent, Pairing};
use carat_lab::sweep::Grid;
use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::statistics::SIGNIFICANT;
use carat_report::{Column, Table, format};

use super::draft::{HOW_TO_READ, PROTOCOLS, families, rows, short_name};
use super::finding::{Answer, Finding};
use super::{About, Draft, Inputs, Item, ItemRuns, Scope, grids, paper};

/// Arms that are compared with the baseline.
const ARMS: [Arm; 4] = [Arm::Causal, Arm::Vote, Arm::Random, Arm::Constant];
/// Arms that causal is compared with.
const OTHERS: [Arm; 3] = [Arm::Vote, Arm::Random, Arm::Constant];
const MEASURES: [Measure; 3] = [Measure::TEST_LOSS, Measure::TEST_ACCURACY, Measure::ATTENTION_AUC];

/// Four arms, which separate causal signal from smoothing.
pub(super) struct Ablation;

impl Item for Ablation {
    fn about(&self) -> About {
        About {
            name: "ablation",
            title: "Ablation: causal effects against vote, random and constant ones",
            paper_says: "regularising with the effects of a neighbour vote (homophily) improves the test loss too, \
                         but less clearly than CAR in 7 of the 8 datasets (-log10 p against the baseline, lambda 1 \
                         and 5). It has no random or constant control.",
        }
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        let datasets = scope.datasets.iter().filter(|data| !scope.quick || *data != grids::LARGE);
        datasets.map(|data| grids::strong(data, scope).with("regulariser", ARMS.map(Arm::name))).collect()
    }

    fn describe_grids(&self, scope: &Scope) -> String {
        let words = grids::description(scope);
        let without = if scope.quick { ", without arxiv-tape" } else { "" };
        format!("{words}; here with four arms at lambda 1 and 5{without}")
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let arms = Arms::of(found);
        draft.found(sentences(&arms, scope));
        draft.paragraph(
            "random and constant know nothing of the graph: what they gain is smoothing of attention. What causal \
             gains beyond them is the causal part. Smoothing alone has no reason to raise attention_auc.",
        );
        for measure in MEASURES {
            draft.table(table(&arms, scope, measure));
        }
        let against_baseline: Vec<(Arm, &Pairing<'_>)> = ARMS.into_iter().zip(&arms.against_baseline).collect();
        draft.chart(chart("Each arm against the baseline", &against_baseline, scope));
        let against_others: Vec<(Arm, &Pairing<'_>)> = OTHERS.into_iter().zip(&arms.against_others).collect();
        draft.chart(chart("Causal against each other arm", &against_others, scope));
        draft.paragraph(HOW_TO_READ);
        draft.unused(arms.unpaired());
        Ok(())
    }

    fn findings(&self, inputs: &Inputs<'_>) -> Result<Vec<Finding>, Error> {
        let Inputs { found, scope, .. } = inputs;
        let arms = Arms::of(found);
        let answer = |protocol| {
            let (above, datasets) = above_vote(&arms, scope, protocol);
            Answer::counted(protocol, above, datasets, paper::CAUSAL_ABOVE_VOTE)
        };
        let mut findings = vec![Finding {
            item: self.name(),
            claim: "CAR improves the test loss more clearly than a neighbour vote does".into(),
            paper: Some(format!("{} of {}", paper::CAUSAL_ABOVE_VOTE, paper::COUNTED)),
            answers: PROTOCOLS.map(answer).to_vec(),
        }];
        for (other, pairing) in OTHERS.iter().zip(&arms.against_others) {
            let claim = format!("causal effects have a lower test loss than {other} ones");
            findings.push(Finding::beyond(self.name(), &claim, &families(pairing, scope, Measure::TEST_LOSS)));
        }
        Ok(findings)
    }
}

/// Every pairing of the study.
struct Arms<'a> {
    /// In the order of [`ARMS`].
    against_baseline: Vec<Pairing<'a>>,
    /// In the order of [`OTHERS`].
    against_others: Vec<Pairing<'a>>,
}

impl<'a> Arms<'a> {
    fn of(found: &ItemRuns<'a>) -> Self {
        let baseline = |arm| Pairing::of(&found.runs, &Method::arm(arm), Opponent::Baseline);
        let other = |arm| Pairing::of(&found.runs, &Method::paper(), Opponent::Method(&Method::arm(arm)));
        Self { against_baseline: ARMS.map(baseline).to_vec(), against_others: OTHERS.map(other).to_vec() }
    }

    fn unpaired(&self) -> usize {
        self.against_baseline.iter().map(|pairing| pairing.unpaired).sum()
    }
}

fn p_of(pairing: Option<&Pairing<'_>>, data: &str, protocol: Protocol, measure: Measure) -> Option<f64> {
    Comparison::of(&pairing?.on(data, protocol), measure)?.p_better
}

/// The paper's criterion: the number of datasets in which causal's p against the baseline is below the vote's, and the
/// number of datasets compared.
fn above_vote(arms: &Arms<'_>, scope: &Scope, protocol: Protocol) -> (usize, usize) {
    let both = scope.datasets.iter().filter(|data| grids::counts(data)).filter_map(|data| {
        let p = |arm: usize| p_of(arms.against_baseline.get(arm), data, protocol, Measure::TEST_LOSS);
        Some((p(0)?, p(1)?))
    });
    // With few pairs p has a lower bound. Two arms that both reach it cannot be ranked.
    let both: Vec<(f64, f64)> = both.filter(|(causal, vote)| causal != vote).collect();
    (both.iter().filter(|(causal, vote)| causal < vote).count(), both.len())
}

fn sentences(arms: &Arms<'_>, scope: &Scope) -> Vec<String> {
    let mut sentences = Vec::new();
    for protocol in PROTOCOLS {
        let (above, datasets) = above_vote(arms, scope, protocol);
        if datasets > 0 {
            let datasets = format::counted(datasets, "dataset");
            sentences.push(format!(
                "by the paper's criterion (test loss, p against the baseline), causal is ahead of vote in {above} of \
                 {datasets} under protocol {protocol}"
            ));
        }
    }
    for measure in MEASURES {
        for protocol in PROTOCOLS {
            let parts = OTHERS.iter().zip(&arms.against_others).map(|(other, pairing)| {
                let family = Family::of(pairing, &scope.datasets, protocol, measure, grids::counts);
                let (better, worse, all) = (family.better(), family.worse(), family.datasets());
                format!("than {other} in {better} of {all} ({} in {worse})", measure.worse())
            });
            let parts: Vec<String> = parts.collect();
            let (name, better) = (measure.name(), measure.better());
            sentences.push(format!(
                "causal has a {better} {name} at p < {SIGNIFICANT}, protocol {protocol}, {}",
                format::list(&parts)
            ));
        }
    }
    sentences
}

fn table(arms: &Arms<'_>, scope: &Scope, measure: Measure) -> Table {
    let with_paper = measure == Measure::TEST_LOSS;
    let rows = rows(&scope.datasets, |data, protocol| {
        let pairs = arms.against_baseline.first().map_or(0, |pairing| pairing.on(data, protocol).len());
        let p: Vec<Option<f64>> = arms
            .against_baseline
            .iter()
            .chain(&arms.against_others)
            .map(|pairing| p_of(Some(pairing), data, protocol, measure))
            .collect();
        if p.iter().all(Option::is_none) {
            return None;
        }
        let mut row = vec![format::count_cell(pairs)];
        row.extend(p.into_iter().map(format::evidence_cell));
        if with_paper {
            let printed = |figures: [f64; 8]| paper::place(data).and_then(|place| figures.get(place).copied());
            row.push(format::number_cell(printed(paper::CAUSAL_EVIDENCE), 2));
            row.push(format::number_cell(printed(paper::VOTE_EVIDENCE), 2));
        }
        Some(row)
    });
    let mut columns = vec![Column::text("dataset"), Column::text("protocol"), Column::numbers("pairs")];
    columns.extend(ARMS.map(|arm| Column::numbers(arm.name())));
    columns.extend(OTHERS.map(|arm| Column::numbers(format!("causal against {arm}"))));
    if with_paper {
        columns.extend(["the paper's CAR", "the paper's vote"].map(Column::numbers));
    }
    let caption = format!(
        "-log10 p of a {1} {0}: each arm against the baseline, then causal against each (above 1.3: p < 0.05)",
        measure.name(),
        measure.better()
    );
    Table { name: format!("ablation-{}", short_name(measure)), caption, columns, rows }
}

/// One panel per measure and protocol, bars of -log10 p.
fn chart(title: &str, series: &[(Arm, &Pairing<'_>)], scope: &Scope) -> Chart {
    let datasets: Vec<&String> = scope.datasets.iter().filter(|data| grids::counts(data)).collect();
    let panel = |measure: Measure, protocol: Protocol| {
        let mut marks = Vec::new();
        for (place, data) in datasets.iter().enumerate() {
            for (number, (arm, pairing)) in series.iter().enumerate() {
                let Some(p) = p_of(Some(pairing), data, protocol, measure) else { continue };
                let tip = format!("{}, {arm}: p {}", paper::title(data), format::probability(p));
                marks.push(Mark::Bar { at: (place as f64, format::evidence(p)), series: number, tip });
            }
        }
        marks.push(Mark::Level(format::evidence(SIGNIFICANT), "p 0.05".into()));
        ChartPanel {
            title: format!("{}, protocol {protocol}", measure.name()),
            note: String::new(),
            x: Axis::of_categories(datasets.iter().map(|data| paper::title(data)).collect()),
            y: Axis::new("-log10 p"),
            marks,
        }
    };
    Chart {
        title: format!("{title}: -log10 p of an improvement"),
        caption: "The higher a bar, the clearer the improvement; below the dashed line it may be chance.".into(),
        series: series.iter().map(|(arm, _)| arm.name().to_string()).collect(),
        panels: MEASURES.into_iter().flat_map(|measure| PROTOCOLS.map(|protocol| panel(measure, protocol))).collect(),
    }
}
