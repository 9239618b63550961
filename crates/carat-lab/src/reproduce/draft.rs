//! What the sections of all items have in common.

use carat::Protocol;

use super::found::Found;
use super::{Item, Scope};
use crate::compare::words;
use crate::report::{Block, Section};

/// Both protocols, the paper's first.
pub(super) const PROTOCOLS: [Protocol; 2] = [Protocol::Paper, Protocol::Best];

/// How probabilities are to be read.
pub(super) const HOW_TO_READ: &str = "Pairs are runs with the same data, split, kind, L, K, F, seed and protocol. p is \
     how often chance alone would show an improvement at least this clear (one-tailed paired Wilcoxon signed-rank \
     test, as in the paper); small is good. Changes in percent are of the baseline's mean over the same pairs, unless \
     a table says otherwise. The pairs of one setting at several lambdas share their baseline and are not independent, \
     so p and intervals look surer than they are, here as in the paper. arxiv-tape is shown but not counted: it has \
     ogbn-arxiv's graph and labels, but other features, and only a few runs.";

/// A section with its opening: what the paper found, what is found here, from which runs.
pub(super) struct Draft<'a> {
    item: &'a dyn Item,
    scope: &'a Scope,
    blocks: Vec<Block>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(item: &'a dyn Item, scope: &'a Scope, paper: impl Into<String>) -> Self {
        Self { item, scope, blocks: vec![Block::Paragraph(format!("The paper: {}", paper.into()))] }
    }

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

    /// Says which runs the section rests on, and how the others are computed.
    pub(super) fn runs(&mut self, grid: &str, found: &Found<'_>, alone: usize) {
        let present = words::counted(found.runs.len(), "run");
        let mut text = format!(
            "From {grid}; protocols paper and best. {present} of {} are here",
            words::thousands(found.expected)
        );
        if found.missing() == 0 {
            text.push('.');
        } else {
            text.push_str("; the others are left out, because they have not been computed or have failed.");
        }
        if alone > 0 {
            let runs = words::counted(alone, "regularised run");
            text.push_str(&format!(" {runs} had nothing to be compared with and went unused."));
        }
        self.paragraph(text);
        if found.missing() > 0 {
            self.push(Block::Command(self.command()));
        }
    }

    /// The section of an item without any run.
    pub(super) fn nothing_yet(mut self, grid: &str, found: &Found<'_>) -> Section {
        self.paragraph(if found.expected == 0 {
            "Found here: nothing, because none of the graphs it needs is in the data folder or in the store. 'carat \
             data get' fetches them."
                .to_string()
        } else {
            format!("Found here: nothing yet. This computes it, from {grid}:")
        });
        if found.expected > 0 {
            self.push(Block::Command(self.command()));
        }
        self.finish()
    }

    pub(super) fn finish(self) -> Section {
        Section { id: self.item.name().to_string(), title: self.item.title().to_string(), blocks: self.blocks }
    }

    fn command(&self) -> String {
        let Scope { quick, .. } = self.scope;
        let (splits, seeds) = (self.scope.splits.iter().max(), self.scope.seeds.iter().max());
        let flags = [
            quick.then(|| " --quick".to_string()),
            splits.filter(|last| **last > 0).map(|last| format!(" --splits {}", last + 1)),
            seeds.filter(|last| **last > 0).map(|last| format!(" --seeds {}", last + 1)),
        ];
        format!("carat reproduce {}{}", self.item.name(), flags.into_iter().flatten().collect::<String>())
    }
}
