//! Figure 2: every pair of runs, accuracy and negative loss.

use carat::Error;
use carat_lab::compare::{Family, Measure, Method, Opponent, Pairing};
use carat_lab::sweep::{Grid, Run};
use carat_report::{Block, Section};

use super::draft::{Draft, HOW_TO_READ, PROTOCOLS};
use super::found::Found;
use super::{Item, Scope, grids, scatter};

/// Scatter of paired runs.
pub(super) struct Figure2;

impl Item for Figure2 {
    fn name(&self) -> &'static str {
        "figure2"
    }

    fn title(&self) -> &'static str {
        "Figure 2: paired runs, accuracy and loss"
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        grids::bases(scope)
    }

    fn section(&self, runs: &[Run], scope: &Scope) -> Result<Section, Error> {
        let found = Found::of(runs, &self.grids(scope))?;
        let said =
            "run by run, CAR has the higher accuracy in 7 of the 8 datasets and the lower loss in all 8 (p < 0.05).";
        let mut draft = Draft::new(self, scope, said);
        if found.runs.is_empty() {
            return Ok(draft.nothing_yet(&grids::words(scope), &found));
        }
        let pairing = Pairing::of(&found.runs, &Method::paper(), Opponent::Baseline);
        let measures = [Measure::TestAccuracy, Measure::TestLoss];
        let family =
            |protocol| measures.map(|measure| Family::of(&pairing, &scope.datasets, protocol, measure, grids::counts));
        draft.found(PROTOCOLS.into_iter().flat_map(family).map(|family| family.sentence()).collect());
        for protocol in PROTOCOLS {
            for measure in measures {
                let negate = measure.lower_is_better();
                draft.push(Block::Chart(scatter::chart(&pairing, &scope.datasets, protocol, measure, negate)));
            }
        }
        draft.paragraph(HOW_TO_READ);
        draft.runs(&grids::words(scope), &found, pairing.alone);
        Ok(draft.finish())
    }
}
