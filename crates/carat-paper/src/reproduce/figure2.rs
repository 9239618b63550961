//! Figure 2: every pair of runs, accuracy and negative loss.

use carat::Error;
use carat_lab::compare::{Family, Measure};
use carat_lab::sweep::Grid;

use super::draft::{HOW_TO_READ, PROTOCOLS};
use super::{About, Draft, Inputs, Item, Scope, grids, scatter};

/// Scatter of paired runs.
pub(super) struct Figure2;

impl Item for Figure2 {
    fn about(&self) -> About {
        About {
            name: "figure2",
            title: "Figure 2: paired runs, accuracy and loss",
            paper_says: "run by run, CAR has the higher accuracy in 7 of the 8 datasets and the lower loss in all 8 \
                (p < 0.05).",
        }
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        grids::bases(scope)
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        let measures = [Measure::TEST_ACCURACY, Measure::TEST_LOSS];
        let family =
            |protocol| measures.map(|measure| Family::of(&pairing, &scope.datasets, protocol, measure, grids::counts));
        draft.found(PROTOCOLS.into_iter().flat_map(family).map(|family| family.sentence()).collect());
        for protocol in PROTOCOLS {
            for measure in measures {
                let negate = measure.lower_is_better();
                draft.chart(scatter::chart(&pairing, &scope.datasets, protocol, measure, negate));
            }
        }
        draft.paragraph(HOW_TO_READ);
        draft.unused(pairing.unpaired);
        Ok(())
    }
}
