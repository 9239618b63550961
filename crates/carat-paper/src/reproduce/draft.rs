//! The form of a section: what the paper says, what was found here, and from which runs.

use carat::{Error, Protocol};
use carat_lab::compare::{Family, Measure, Pairing};
use carat_report::figures::Chart;
use carat_report::{Block, Cell, Section, Table, format};

use super::inputs::{Inputs, ItemRuns};
use super::{Item, Scope, grids, paper};

/// Both protocols, the paper's first.
pub(super) const PROTOCOLS: [Protocol; 2] = [Protocol::Paper, Protocol::Best];

/// How to read probabilities.
pub(super) const HOW_TO_READ: &str = "Pairs are runs with the same data, split, kind, L, K, F, seed and protocol. p \
     is how often chance alone would show an improvement at least this clear (one-tailed paired Wilcoxon signed-rank \
     test, as in the paper); small is good. Changes in percent are of the baseline's mean over the same pairs, unless \
     a table says otherwise. The pairs of one setting at several lambdas share their baseline and are not \
     independent, so p and intervals look surer than they are, here as in the paper. arxiv-tape is shown but not \
     counted: it has ogbn-arxiv's graph and labels, but other features, and only a few runs.";

/// A comparison on every dataset in scope, under both protocols.
pub(super) fn families(pairing: &Pairing<'_>, scope: &Scope, measure: Measure) -> [Family; 2] {
    PROTOCOLS.map(|protocol| Family::of(pairing, &scope.datasets, protocol, measure, grids::counts))
}

/// The rows of a table, one per dataset and protocol: `cells` follow the names of both, and `None` leaves a row out.
pub(super) fn rows<'d>(
    datasets: impl IntoIterator<Item = &'d String>,
    cells: impl Fn(&str, Protocol) -> Option<Vec<Cell>>,
) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for data in datasets {
        for protocol in PROTOCOLS {
            let names = [Cell::text(paper::title(data)), Cell::text(protocol.name())];
            rows.extend(cells(data, protocol).map(|cells| names.into_iter().chain(cells).collect()));
        }
    }
    rows
}

/// A measure's name within the name of a table.
pub(super) fn short_name(measure: Measure) -> &'static str {
    match measure {
        Measure::TEST_LOSS => "loss",
        Measure::TEST_ACCURACY => "accuracy",
        _ => "auc",
    }
}

/// The blocks of a section that is being drawn.
#[derive(Debug)]
pub struct Draft {
    blocks: Vec<Block>,
    /// Regularised runs without an opponent.
    unused: usize,
}

impl Draft {
    pub(super) fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    /// Lists the results, one point per sentence.
    pub(super) fn found(&mut self, sentences: Vec<String>) {
        self.paragraph("Found here:");
        let points = sentences.iter().map(|sentence| format!("{}.", format::capitalised(sentence)));
        self.blocks.push(Block::Points(points.collect()));
    }

    pub(super) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    pub(super) fn chart(&mut self, chart: Chart) {
        self.blocks.push(Block::Chart(chart));
    }

    /// Counts regularised runs without an opponent.
    pub(super) fn unused(&mut self, runs: usize) {
        self.unused += runs;
    }

    /// Says which runs the section uses.
    fn runs(&mut self, grid: &str, found: &ItemRuns<'_>) {
        let present = format::counted(found.runs.len(), "run");
        let expected = format::thousands(found.expected);
        let mut text = format!("From {grid}; protocols paper and best. {present} of {expected} are here");
        text.push_str(match found.missing() {
            0 => ".",
            _ => "; the others are left out, because they have not been computed or have failed.",
        });
        if self.unused > 0 {
            let runs = format::counted(self.unused, "regularised run");
            text.push_str(&format!(" {runs} had nothing to be compared with and went unused."));
        }
        self.paragraph(text);
    }

    fn nothing_yet(&mut self, grid: &str, found: &ItemRuns<'_>) {
        self.paragraph(match found.expected {
            0 => "Found here: nothing, because none of the graphs it needs is in the data folder or in the store. \
                  'carat data get' fetches them."
                .to_string(),
            _ => format!("Found here: nothing yet. This computes it, from {grid}:"),
        });
    }
}

/// The section of an item. It draws the inputs, and computes nothing else.
pub(super) fn section(item: &dyn Item, inputs: &Inputs<'_>) -> Result<Section, Error> {
    let Inputs { found, scope, .. } = inputs;
    let mut draft = Draft { blocks: Vec::new(), unused: 0 };
    draft.paragraph(format!("The paper: {}", item.about().paper_says));
    let grid = item.describe_grids(scope);
    if item.is_ready(found) {
        item.draw(inputs, &mut draft)?;
        if found.expected > 0 {
            draft.runs(&grid, found);
        }
    } else {
        draft.nothing_yet(&grid, found);
    }
    if found.missing() > 0 {
        draft.blocks.push(Block::Command(command(item, scope)));
    }
    Ok(Section::new(item.name(), item.about().title, draft.blocks))
}

/// The command that computes the missing runs.
fn command(item: &dyn Item, scope: &Scope) -> String {
    let (splits, seeds) = (scope.splits.iter().max(), scope.seeds.iter().max());
    let flags = [
        scope.quick.then(|| " --quick".to_string()),
        splits.filter(|last| **last > 0).map(|last| format!(" --splits {}", last + 1)),
        seeds.filter(|last| **last > 0).map(|last| format!(" --seeds {}", last + 1)),
    ];
    format!("carat reproduce {}{}", item.name(), flags.into_iter().flatten().collect::<String>())
}
