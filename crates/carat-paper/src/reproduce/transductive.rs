//! Beyond the paper: every node is an entity and targets are distributions, compared with the paper's method and with
//! the control.

use carat::{Arm, Error, Protocol};
use carat_lab::compare::{Comparison, Measure, Method, Opponent, Pairing};
use carat_lab::sweep::Grid;
use carat_report::statistics::SIGNIFICANT;
use carat_report::{Cell, Table, format};

use super::draft::{HOW_TO_READ, families, rows, short_name};
use super::finding::Finding;
use super::{About, Draft, Inputs, Item, ItemRuns, Scope, grids};

/// Bound of d ln rho: chosen on Cora's validation loss, see `docs/results.md`.
const CLAMP: f64 = 1.0;
const MEASURES: [Measure; 3] = [Measure::TEST_LOSS, Measure::TEST_ACCURACY, Measure::ATTENTION_AUC];

/// Unlabelled entities with distribution targets.
pub(super) struct Transductive;

impl Item for Transductive {
    fn about(&self) -> About {
        About {
            name: "transductive",
            title: "Unlabelled entities with distribution targets",
            paper_says: "it regularises at training nodes only and has no such variant. Here every node is an entity: \
                         training nodes with their labels, the others with the network's own averaged predictions; \
                         and attention is compared with a distribution made of all effects of a node. Labels of \
                         validation and test nodes are never read.",
        }
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        let of_data = |data: &String| {
            let grid = grid(data, scope)?;
            let ours = grid.clone().with("lambda", [1.0, 5.0]).with("regulariser", ["causal", "constant"]);
            let ours = ours.with("entities", ["all"]).with("target", ["distribution"]).with("clamp", [CLAMP]);
            Some([grid, ours])
        };
        scope.datasets.iter().filter_map(of_data).flatten().collect()
    }

    fn describe_grids(&self, scope: &Scope) -> String {
        let grid = if scope.quick {
            "a quick subset: three attention kinds, L 1 and 2, K 3, F 25, lambda 1 and 5, on the small datasets (not \
             PubMed, Chameleon, Squirrel, arxiv-tape)"
        } else {
            "a part of the paper's grid: three attention kinds, L 1 and 2, K 1 and 3, F 10 and 100 (Chameleon: 10 and \
             25), lambda 1 and 5; Squirrel: gat, L 1, K 1, F 10 and 25; not on arxiv-tape"
        };
        format!("{grid}; {}", grids::repetitions(scope))
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let opponents = Opponents::of(found);
        draft.found(opponents.sentences(scope));
        for measure in MEASURES {
            draft.table(opponents.table(scope, measure));
        }
        draft.paragraph(HOW_TO_READ);
        draft.unused(opponents.baseline.unpaired);
        Ok(())
    }

    fn findings(&self, inputs: &Inputs<'_>) -> Result<Vec<Finding>, Error> {
        let Inputs { found, scope, .. } = inputs;
        let control = Opponents::of(found).control;
        let finding = |measure: Measure| {
            let (better, name) = (measure.better(), measure.name());
            let claim = format!("unlabelled entities: {better} {name} than the constant control");
            Finding::beyond(self.name(), &claim, &families(&control, scope, measure))
        };
        Ok(MEASURES.map(finding).to_vec())
    }
}

/// Baselines and the paper's method; `None` where the dataset is left out.
fn grid(data: &str, scope: &Scope) -> Option<Grid> {
    let grid = grids::strong(data, scope);
    match (data, scope.quick) {
        // Deleting edges at every node of a large graph takes too long.
        (grids::LARGE, _) | ("pubmed" | "chameleon" | "squirrel", true) => None,
        (_, true) => Some(grid.with("heads", [3]).with("hidden", [25])),
        ("squirrel", false) => {
            Some(grid.with("arch", ["gat"]).with("layers", [1]).with("heads", [1]).with("hidden", [10, 25]))
        }
        ("chameleon", false) => Some(grid.with("heads", [1, 3]).with("hidden", [10, 25])),
        (_, false) => Some(grid.with("heads", [1, 3]).with("hidden", [10, 100])),
    }
}

/// The variant compared with each of its opponents.
struct Opponents<'a> {
    control: Pairing<'a>,
    paper: Pairing<'a>,
    baseline: Pairing<'a>,
}

impl<'a> Opponents<'a> {
    fn of(found: &ItemRuns<'a>) -> Self {
        let ours = Method::transductive(Arm::Causal, CLAMP);
        let against = |opponent| Pairing::of(&found.runs, &ours, opponent);
        Self {
            control: against(Opponent::Method(&ours.control())),
            paper: against(Opponent::Method(&Method::paper())),
            baseline: against(Opponent::Baseline),
        }
    }

    fn named(&self) -> [(&'static str, &Pairing<'a>); 3] {
        [("its constant control", &self.control), ("the paper's method", &self.paper), ("the baseline", &self.baseline)]
    }

    fn sentences(&self, scope: &Scope) -> Vec<String> {
        let mut sentences = Vec::new();
        for (name, pairing) in self.named() {
            for measure in MEASURES {
                let known = families(pairing, scope, measure).into_iter().filter(|family| family.datasets() > 0);
                let counts: Vec<String> = known.map(|family| family.counts()).collect();
                let what = format!("{} {}", measure.better(), measure.name());
                sentences.push(if counts.is_empty() {
                    format!("against {name}, no pairs to compare in {} yet", measure.name())
                } else {
                    format!("against {name}, {what} at p < {SIGNIFICANT} in {}", format::list(&counts))
                });
            }
        }
        sentences
    }

    fn table(&self, scope: &Scope, measure: Measure) -> Table {
        let rows = rows(&scope.datasets, |data, protocol| self.row(data, protocol, measure));
        let headings = [
            "pairs",
            "baseline",
            "the paper's method",
            "constant control",
            "every node, distribution",
            "p against control",
            "p against the paper's method",
            "p against baseline",
        ];
        let name = format!("transductive-{}", short_name(measure));
        let caption = format!(
            "Mean {} at lambda 1 and 5, {} is better. {}; here of every node with distributions",
            measure.name(),
            measure.better(),
            format::P_MEANING
        );
        Table::new(name, caption, ["dataset", "protocol"], headings, rows)
    }

    fn row(&self, data: &str, protocol: Protocol, measure: Measure) -> Option<Vec<Cell>> {
        let [control, paper, baseline] = [&self.control, &self.paper, &self.baseline]
            .map(|pairing| Comparison::of(&pairing.on(data, protocol), measure));
        let any = control.as_ref().or(paper.as_ref()).or(baseline.as_ref())?;
        let before =
            |comparison: &Option<Comparison>| format::number_cell(comparison.as_ref().map(|c| c.before.mean), 3);
        let p =
            |comparison: &Option<Comparison>| format::probability_cell(comparison.as_ref().and_then(|c| c.p_better));
        Some(vec![
            format::count_cell(any.pairs),
            before(&baseline),
            before(&paper),
            before(&control),
            format::number_cell(Some(any.after.mean), 3),
            p(&control),
            p(&paper),
            p(&baseline),
        ])
    }
}
