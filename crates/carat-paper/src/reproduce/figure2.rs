//! Figure 2: every pair of runs, accuracy and negative loss.

use carat::Error;
use carat_lab::compare::{Family, Measure};
use carat_lab::sweep::Grid;
use carat_report::Block;

use super::draft::{HOW_TO_READ, PROTOCOLS};
use super::{Draft, Inputs, Item, Scope, grids, scatter};

/// Scatter of paired runs.
pub(super) struct Figure2;

impl Item for Figure2 {
    fn name(&self) -> &'static str {
        "figure2"
    }

    fn title(&self) -> &'static str {
        "Figure 2: paired runs, accuracy and loss"
    }

    fn paper_says(&self) -> &'static str {
        "run by run, CAR has the higher accuracy in 7 of the 8 datasets and the lower loss in all 8 (p < 0.05)."
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        grids::bases(scope)
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
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
        draft.unused(pairing.unpaired);
        Ok(())
    }
}
