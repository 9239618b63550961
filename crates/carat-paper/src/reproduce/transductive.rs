//! Beyond the paper: every node an entity, distributions as targets, against the paper's method and against its
//! control.

use carat::{Arm, Error, Protocol};
use carat_lab::compare::{Comparison, Measure, Method, Opponent, Pairing};
use carat_lab::sweep::Grid;
use carat_report::statistics::SIGNIFICANT;
use carat_report::{Block, Cell, Column, Table, words};

use super::draft::{HOW_TO_READ, PROTOCOLS, families};
use super::finding::Finding;
use super::{Basis, Draft, Found, Item, Scope, grids, paper};

/// Bound of d ln rho: chosen on Cora's validation loss, see `docs/results.md`.
const CLAMP: f64 = 1.0;
const MEASURES: [Measure; 3] = [Measure::TestLoss, Measure::TestAccuracy, Measure::AttentionAuc];

/// Unlabelled entities with distribution targets.
pub(super) struct Transductive;

impl Item for Transductive {
    fn name(&self) -> &'static str {
        "transductive"
    }

    fn title(&self) -> &'static str {
        "Unlabelled entities with distribution targets"
    }

    fn said(&self) -> &'static str {
        "it regularises at training nodes only and has no such variant. Here every node is an entity: training nodes \
         with their labels, the others with the network's own averaged predictions; and attention is compared with a \
         distribution made of all effects of a node. Labels of validation and test nodes are never read."
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

    fn grid_words(&self, scope: &Scope) -> String {
        let grid = if scope.quick {
            "a quick subset: three attention kinds, L 1 and 2, K 3, F 25, lambda 1 and 5, on the small datasets (not \
             PubMed, Chameleon, Squirrel, arxiv-tape)"
        } else {
            "a part of the paper's grid: three attention kinds, L 1 and 2, K 1 and 3, F 10 and 100 (Chameleon: 10 and \
             25), lambda 1 and 5; Squirrel: gat, L 1, K 1, F 10 and 25; not on arxiv-tape"
        };
        format!("{grid}; {}", grids::repetitions(scope))
    }

    fn draw(&self, basis: &Basis<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Basis { found, scope, .. } = basis;
        let opponents = Opponents::of(found);
        draft.found(opponents.sentences(scope));
        for measure in MEASURES {
            draft.push(Block::Table(opponents.table(scope, measure)));
        }
        draft.paragraph(HOW_TO_READ);
        draft.unused(opponents.baseline.alone);
        Ok(())
    }

    fn findings(&self, basis: &Basis<'_>) -> Result<Vec<Finding>, Error> {
        let Basis { found, scope, .. } = basis;
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
        // Every node of a large graph, all of its edges, at every step.
        (grids::LARGE, _) | ("pubmed" | "chameleon" | "squirrel", true) => None,
        (_, true) => Some(grid.with("heads", [3]).with("hidden", [25])),
        ("squirrel", false) => {
            Some(grid.with("arch", ["gat"]).with("layers", [1]).with("heads", [1]).with("hidden", [10, 25]))
        }
        ("chameleon", false) => Some(grid.with("heads", [1, 3]).with("hidden", [10, 25])),
        (_, false) => Some(grid.with("heads", [1, 3]).with("hidden", [10, 100])),
    }
}

/// The variant against everything it must be held against.
struct Opponents<'a> {
    control: Pairing<'a>,
    paper: Pairing<'a>,
    baseline: Pairing<'a>,
}

impl<'a> Opponents<'a> {
    fn of(found: &Found<'a>) -> Self {
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
                    format!("against {name}, {what} at p < {SIGNIFICANT} in {}", words::list(&counts))
                });
            }
        }
        sentences
    }

    fn table(&self, scope: &Scope, measure: Measure) -> Table {
        let cells = scope.datasets.iter().flat_map(|data| PROTOCOLS.map(|protocol| (data, protocol)));
        let rows = cells.filter_map(|(data, protocol)| self.row(data, protocol, measure));
        let mut columns = vec![Column::words("dataset"), Column::words("protocol")];
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
        columns.extend(headings.map(Column::numbers));
        let name = match measure {
            Measure::TestLoss => "transductive-loss",
            Measure::TestAccuracy => "transductive-accuracy",
            _ => "transductive-auc",
        };
        let caption = format!(
            "Mean {} at lambda 1 and 5, {} is better. {}; here of every node with distributions",
            measure.name(),
            measure.better(),
            words::P_MEANING
        );
        Table { name: name.into(), caption, columns, rows: rows.collect() }
    }

    fn row(&self, data: &str, protocol: Protocol, measure: Measure) -> Option<Vec<Cell>> {
        let [control, paper, baseline] = [&self.control, &self.paper, &self.baseline]
            .map(|pairing| Comparison::of(&pairing.on(data, protocol), measure));
        let any = control.as_ref().or(paper.as_ref()).or(baseline.as_ref())?;
        let before =
            |comparison: &Option<Comparison>| words::number_cell(comparison.as_ref().map(|c| c.before.mean), 3);
        let p = |comparison: &Option<Comparison>| words::probability_cell(comparison.as_ref().and_then(|c| c.p_better));
        Some(vec![
            Cell::words(paper::title(data)),
            Cell::words(protocol.name()),
            words::count_cell(any.pairs),
            before(&baseline),
            before(&paper),
            before(&control),
            words::number_cell(Some(any.after.mean), 3),
            p(&control),
            p(&paper),
            p(&baseline),
        ])
    }
}
