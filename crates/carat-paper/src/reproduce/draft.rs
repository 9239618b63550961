//! How a section is drawn: what the paper found, what is found here, from which runs.

use carat::{Error, Protocol};
use carat_lab::compare::{Family, Measure, Pairing};
use carat_report::{Block, Section, words};

use super::basis::{Basis, Found};
use super::{Item, Scope, grids};

/// Both protocols, the paper's first.
pub(super) const PROTOCOLS: [Protocol; 2] = [Protocol::Paper, Protocol::Best];

/// How probabilities are to be read.
pub(super) const HOW_TO_READ: &str = "Pairs are runs with the same data, split, kind, L, K, F, seed and protocol. p is \
     how often chance alone would show an improvement at least this clear (one-tailed paired Wilcoxon signed-rank \
     test, as in the paper); small is good. Changes in percent are of the baseline's mean over the same pairs, unless \
     a table says otherwise. The pairs of one setting at several lambdas share their baseline and are not independent, \
     so p and intervals look surer than they are, here as in the paper. arxiv-tape is shown but not counted: it has \
     ogbn-arxiv's graph and labels, but other features, and only a few runs.";

/// A comparison on every dataset in scope, under both protocols.
pub(super) fn families(pairing: &Pairing<'_>, scope: &Scope, measure: Measure) -> [Family; 2] {
    PROTOCOLS.map(|protocol| Family::of(pairing, &scope.datasets, protocol, measure, grids::counts))
}

/// The blocks of a section that is being drawn.
#[derive(Debug)]
pub struct Draft {
    blocks: Vec<Block>,
    /// Regularised runs that had nothing to be compared with.
    unused: usize,
}

impl Draft {
    pub(super) fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    /// What is found here, one point per sentence.
    pub(super) fn found(&mut self, sentences: Vec<String>) {
        self.paragraph("Found here:");
        let points = sentences.iter().map(|sentence| format!("{}.", words::capitalised(sentence)));
        self.blocks.push(Block::Points(points.collect()));
    }

    pub(super) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Counts regularised runs that had nothing to be compared with.
    pub(super) fn unused(&mut self, runs: usize) {
        self.unused += runs;
    }

    /// Says which runs the section rests on.
    fn runs(&mut self, grid: &str, found: &Found<'_>) {
        let present = words::counted(found.runs.len(), "run");
        let expected = words::thousands(found.expected);
        let mut text = format!("From {grid}; protocols paper and best. {present} of {expected} are here");
        text.push_str(match found.missing() {
            0 => ".",
            _ => "; the others are left out, because they have not been computed or have failed.",
        });
        if self.unused > 0 {
            let runs = words::counted(self.unused, "regularised run");
            text.push_str(&format!(" {runs} had nothing to be compared with and went unused."));
        }
        self.paragraph(text);
    }

    fn nothing_yet(&mut self, grid: &str, found: &Found<'_>) {
        self.paragraph(match found.expected {
            0 => "Found here: nothing, because none of the graphs it needs is in the data folder or in the store. \
                  'carat data get' fetches them."
                .to_string(),
            _ => format!("Found here: nothing yet. This computes it, from {grid}:"),
        });
    }
}

/// The section of an item. It draws what the basis holds, and computes nothing.
pub(super) fn section(item: &dyn Item, basis: &Basis<'_>) -> Result<Section, Error> {
    let Basis { found, scope, .. } = basis;
    let mut draft = Draft { blocks: Vec::new(), unused: 0 };
    draft.paragraph(format!("The paper: {}", item.said()));
    let grid = item.grid_words(scope);
    if item.is_ready(found) {
        item.draw(basis, &mut draft)?;
        if found.expected > 0 {
            draft.runs(&grid, found);
        }
    } else {
        draft.nothing_yet(&grid, found);
    }
    if found.missing() > 0 {
        draft.push(Block::Command(command(item, scope)));
    }
    Ok(Section { id: item.name().to_string(), title: item.title().to_string(), blocks: draft.blocks })
}

/// Computes the runs that are missing.
fn command(item: &dyn Item, scope: &Scope) -> String {
    let (splits, seeds) = (scope.splits.iter().max(), scope.seeds.iter().max());
    let flags = [
        scope.quick.then(|| " --quick".to_string()),
        splits.filter(|last| **last > 0).map(|last| format!(" --splits {}", last + 1)),
        seeds.filter(|last| **last > 0).map(|last| format!(" --seeds {}", last + 1)),
    ];
    format!("carat reproduce {}{}", item.name(), flags.into_iter().flatten().collect::<String>())
}
