//! Figure 3: coherence of attention with label agreement.

use carat::Error;
use carat_lab::compare::{Comparison, Family, Measure, Pair, Pairing};
use carat_lab::sweep::{Grid, Run};
use carat_report::statistics::Spread;
use carat_report::{Cell, Table, format};

use super::draft::{HOW_TO_READ, PROTOCOLS, families};
use super::finding::Finding;
use super::{About, Draft, Inputs, Item, Scope, grids, paper, scatter};

/// KL divergence and attention_auc, baseline against CAR.
pub(super) struct Figure3;

impl Item for Figure3 {
    fn about(&self) -> About {
        About {
            name: "figure3",
            title: "Figure 3: coherence of attention with labels",
            paper_says: "with CAR, attention lies closer to label agreement: lower mean KL divergence in 6 of the 8 \
                         datasets (p < 0.05).",
        }
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        grids::bases(scope)
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        let families =
            [Measure::ATTENTION_KL, Measure::ATTENTION_AUC].map(|measure| families(&pairing, scope, measure));
        let mut sentences: Vec<String> = families.iter().flatten().map(Family::sentence).collect();
        sentences.push(uniform_sentence(&pairing, scope));
        sentences.extend(coarse_sentence(&found.runs, scope));
        draft.found(sentences);
        draft.paragraph(
            "The divergence is low for attention that is merely uniform: it charges for attention missing from \
             same-label edges, and uniform attention is never far from any of them. So a lower divergence need not \
             mean that attention knows anything. attention_auc is the probability that attention ranks a same-label \
             in-edge above a different-label one; uniform attention has 0.5 there, and smoothing alone has no reason \
             to raise it.",
        );
        draft.table(table(&pairing, &families));
        for protocol in PROTOCOLS {
            for measure in [Measure::ATTENTION_KL, Measure::ATTENTION_AUC] {
                draft.chart(scatter::chart(&pairing, &scope.datasets, protocol, measure, false));
            }
        }
        draft.paragraph(HOW_TO_READ);
        draft.unused(pairing.unpaired);
        Ok(())
    }

    fn findings(&self, inputs: &Inputs<'_>) -> Result<Vec<Finding>, Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        let [kl, auc] =
            [Measure::ATTENTION_KL, Measure::ATTENTION_AUC].map(|measure| families(&pairing, scope, measure));
        let claim = "CAR brings attention closer to label agreement (KL)";
        Ok(vec![
            Finding::counted(self.name(), claim, paper::KL_LOWER, &kl),
            Finding::beyond(self.name(), "CAR ranks same-label edges higher (attention_auc)", &auc),
        ])
    }
}

fn uniform(pairs: &[&Pair<'_>]) -> Option<Spread> {
    Spread::of(&pairs.iter().filter_map(|pair| pair.after.outcome.figures.uniform_kl).collect::<Vec<_>>())
}

/// In how many datasets uniform attention has a lower mean divergence than CAR.
fn uniform_sentence(pairing: &Pairing<'_>, scope: &Scope) -> String {
    let counts = PROTOCOLS.map(|protocol| {
        let both = scope.datasets.iter().filter(|data| grids::counts(data)).filter_map(|data| {
            let pairs = pairing.on(data, protocol);
            Some((uniform(&pairs)?.mean, Comparison::of(&pairs, Measure::ATTENTION_KL)?.after.mean))
        });
        let both: Vec<(f64, f64)> = both.collect();
        let lower = both.iter().filter(|(uniform, car)| uniform < car).count();
        format!("{lower} of {} under protocol {protocol}", format::counted(both.len(), "dataset"))
    });
    format!("uniform attention has a lower mean KL divergence than CAR in {}", counts.join(", "))
}

/// Where attention_auc takes so few values that its tests say nothing.
fn coarse_sentence(runs: &[&Run], scope: &Scope) -> Option<String> {
    let is_coarse = |data: &&String| {
        let of_data: Vec<&Run> = runs.iter().copied().filter(|run| run.config.data.name == **data).collect();
        Measure::ATTENTION_AUC.is_coarse(&of_data)
    };
    let names: Vec<String> = scope.datasets.iter().filter(is_coarse).map(|data| paper::title(data)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "attention_auc is too coarse to tell on {}: over all runs it takes fewer than five values, so it rests on \
             very few nodes",
            format::list(&names)
        )
    })
}

fn table(pairing: &Pairing<'_>, [kl, auc]: &[[Family; 2]; 2]) -> Table {
    let datasets = kl[0].rows.len();
    let row = |place: usize, (kl, auc): (&Family, &Family)| {
        let (kl_row, auc_row) = (kl.rows.get(place)?, auc.rows.get(place)?);
        let comparison = kl_row.comparison.as_ref()?;
        let ranked = auc_row.comparison.as_ref();
        let uniform = uniform(&pairing.on(&kl_row.data, kl.protocol));
        Some(vec![
            Cell::text(paper::title(&kl_row.data)),
            Cell::text(kl.protocol.name()),
            format::count_cell(comparison.pairs),
            format::number_cell(Some(comparison.before.mean), 3),
            format::number_cell(Some(comparison.after.mean), 3),
            format::number_cell(uniform.map(|spread| spread.mean), 3),
            format::probability_cell(comparison.p_better),
            format::probability_cell(kl_row.adjusted),
            format::number_cell(ranked.map(|ranked| ranked.before.mean), 3),
            format::number_cell(ranked.map(|ranked| ranked.after.mean), 3),
            format::probability_cell(ranked.and_then(|ranked| ranked.p_better)),
            format::probability_cell(auc_row.adjusted),
        ])
    };
    let rows = (0..datasets).flat_map(|place| kl.iter().zip(auc).filter_map(move |families| row(place, families)));
    let headings = [
        "pairs",
        "KL, baseline",
        "KL, CAR",
        "KL, uniform",
        "p (KL lower)",
        "by Holm",
        "auc, baseline",
        "auc, CAR",
        "p (auc higher)",
        "by Holm",
    ];
    Table::new(
        "figure3",
        "KL divergence of attention from label agreement (lower is closer), beside that of uniform attention, and \
                  attention_auc (higher is better)",
        ["dataset", "protocol"],
        headings,
        rows,
    )
}
