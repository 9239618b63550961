//! Table 1 and the appendix's table of accuracy: means over the grid by dataset and kind, beside the paper's.

use carat::{Error, Protocol};
use carat_lab::compare::{Comparison, Family, Measure, Pair, Pairing};
use carat_lab::sweep::Grid;
use carat_report::statistics::Spread;
use carat_report::{Cell, Table, format};

use super::draft::{HOW_TO_READ, PROTOCOLS, families};
use super::finding::Finding;
use super::paper::{self, ByKind};
use super::{About, Draft, Inputs, Item, Scope, grids};

/// A table of one measure.
pub(super) struct GridTable {
    about: About,
    measure: Measure,
    /// The paper's means without and with CAR.
    paper: (&'static ByKind<Spread>, &'static ByKind<Spread>),
    /// The paper's claim, in short.
    claim: &'static str,
    /// Datasets in which the paper has an improvement at p < 0.05.
    claimed: usize,
}

/// Table 1.
pub(super) static LOSS: GridTable = GridTable {
    about: About {
        name: "table1",
        title: "Table 1: test loss",
        paper_says: "CAR has a lower test loss in all 8 datasets (p < 0.05, one-tailed paired Wilcoxon over the grid).",
    },
    measure: Measure::TEST_LOSS,
    paper: (&paper::LOSS_BASELINE, &paper::LOSS_CAR),
    claim: "CAR lowers the test loss",
    claimed: paper::LOSS_LOWER,
};

/// The appendix's table of test accuracy.
pub(super) static ACCURACY: GridTable = GridTable {
    about: About {
        name: "accuracy",
        title: "Test accuracy",
        paper_says: "CAR has a higher test accuracy in 7 of the 8 datasets (p < 0.05, one-tailed paired Wilcoxon over \
                     the grid).",
    },
    measure: Measure::TEST_ACCURACY,
    paper: (&paper::ACCURACY_BASELINE, &paper::ACCURACY_CAR),
    claim: "CAR raises the test accuracy",
    claimed: paper::ACCURACY_HIGHER,
};

impl Item for GridTable {
    fn about(&self) -> About {
        self.about
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        grids::bases(scope)
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        let families = families(&pairing, scope, self.measure);
        draft.found(families.iter().map(Family::sentence).collect());
        draft.table(self.tests(&families));
        for protocol in PROTOCOLS {
            draft.table(self.means(&pairing, scope, protocol));
        }
        draft.paragraph(HOW_TO_READ);
        draft.unused(pairing.unpaired);
        Ok(())
    }

    fn findings(&self, inputs: &Inputs<'_>) -> Result<Vec<Finding>, Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        Ok(vec![Finding::counted(self.name(), self.claim, self.claimed, &families(&pairing, scope, self.measure))])
    }
}

impl GridTable {
    /// One row per dataset and protocol: the tests.
    fn tests(&self, families: &[Family]) -> Table {
        let row = |family: &Family, row: usize| {
            let row = family.rows.get(row)?;
            let comparison = row.comparison.as_ref()?;
            Some(vec![
                Cell::text(paper::title(&row.data)),
                Cell::text(family.protocol.name()),
                format::count_cell(comparison.pairs),
                format::number_cell(Some(comparison.before.mean), 3),
                format::number_cell(Some(comparison.after.mean), 3),
                format::effect_cell(comparison.change(), 3),
                format::percent_cell(comparison.percent().map(|effect| effect.mean)),
                format::probability_cell(comparison.p_better),
                format::probability_cell(row.adjusted),
                format::number_cell(comparison.change().and_then(|effect| effect.cohens_d), 2),
            ])
        };
        let datasets = families.first().map_or(0, |family| family.rows.len());
        let rows = (0..datasets).flat_map(|place| families.iter().filter_map(move |family| row(family, place)));
        let headings = [
            "pairs",
            "baseline",
            "+ CAR",
            "change (95 % interval)",
            "change, % of baseline",
            "p",
            "p by Holm",
            "Cohen's d",
        ];
        Table::new(
            format!("{}-tests", self.about.name),
            format!(
                "{} of all kinds together, {} is better. {}",
                format::capitalised(self.measure.name()),
                self.measure.better(),
                format::P_MEANING
            ),
            ["dataset", "protocol"],
            headings,
            rows,
        )
    }

    /// One row per dataset and kind: ours beside the paper's.
    fn means(&self, pairing: &Pairing<'_>, scope: &Scope, protocol: Protocol) -> Table {
        let cells = scope.datasets.iter().flat_map(|data| paper::KINDS.map(|kind| (data, kind.name())));
        let rows = cells.filter_map(|(data, kind)| {
            let pairs = pairing.on(data, protocol);
            let pairs: Vec<&Pair<'_>> = pairs.into_iter().filter(|pair| pair.key.arch == kind).collect();
            let comparison = Comparison::of(&pairs, self.measure)?;
            Some(vec![
                Cell::text(paper::title(data)),
                Cell::text(kind),
                format::count_cell(comparison.pairs),
                format::spread_cell(Some(comparison.before), 3),
                format::spread_cell(Some(comparison.after), 3).strong_if(comparison.is_better()),
                format::probability_cell(comparison.p_better),
                format::spread_cell(paper::at(self.paper.0, kind, data), 2),
                format::spread_cell(paper::at(self.paper.1, kind, data), 2),
            ])
        });
        let headings = ["pairs", "baseline", "+ CAR", "p", "the paper's baseline", "the paper's + CAR"];
        Table::new(
            format!("{}-{protocol}", self.about.name),
            format!(
                "{} under protocol {protocol}, mean ± deviation over the grid, beside the paper's",
                format::capitalised(self.measure.name())
            ),
            ["dataset", "attention"],
            headings,
            rows,
        )
    }
}
