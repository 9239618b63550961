//! The report on an explanation: edges that changed, properties that separate them, and the paper's groups.

use super::tables::{group_table, listed_table, separation_table};
use super::{Explanation, charts, sentences};
use crate::format::capitalised;
use crate::{Block, Report, Section};

const HOW_TO_READ: [&str; 7] = [
    "Attention is the mean over layers and heads of what the target pays to the source; over the in-edges of a target \
     it sums to 1. Edges are ranked by the difference, CAR's less the baseline's. The paper's change, in percent of \
     the baseline's, is in the table of groups: from 0.2 to 0.3 is +50 %.",
    "Messages flow from source to target. In a citation graph the source is the cited paper and the target the citing \
     one. Where every edge has its reverse, each citation is two edges.",
    "Similarity is the cosine of the features of both ends; the year gap is how much older the source is than the \
     target.",
    "The source's degree counts the edges that leave it: how many nodes attend to it, hence its citations. The \
     target's counts those that share its attention.",
    "The effect is measured in the CAR network by deleting the edge: the log-likelihood that the edge gives to the \
     target's class. Above 0.05 the target is predicted noticeably better with it, below -0.05 it misleads. It is \
     judged by the label, also at test nodes.",
    "AUC is the probability that an edge of the first kind has more of a property than one of the second: 0.5 says \
     nothing. Its interval counts the edges into one target as one cluster; edges that share a source count as \
     independent, so it is a little too narrow.",
    "One pair of runs is one pair: another seed ranks other edges first. Any smoothing of attention lifts what was \
     low, so compare with a control run (--regulariser constant) before crediting causality.",
];

/// The report. `runs` are sentences about the compared networks.
pub fn report(found: &Explanation, runs: &[String]) -> Report {
    let sentences = runs.iter().cloned().chain(sentences::counts(found));
    let mut lead: Vec<Block> = sentences.map(Block::Paragraph).collect();
    let mut points = sentences::separation_sentences(found);
    points.extend(sentences::group_sentences(found));
    lead.push(Block::Points(points));
    let mut sections = Vec::new();
    if !found.up.is_empty() {
        let listed = |name: &str, caption: &str, edges| Block::Table(listed_table(name, caption, edges));
        sections.push(Section::new(
            "edges",
            "Edges that changed most",
            vec![
                listed("up", "Most up-weighted edges", &found.up),
                listed("down", "Most down-weighted edges", &found.down),
                Block::Chart(charts::scatter(found)),
            ],
        ));
    }
    if !found.separates.is_empty() {
        let charts = [charts::separation(found), charts::ends(found), charts::tenths(found)];
        let mut blocks = vec![Block::Table(separation_table(found))];
        blocks.extend(charts.into_iter().filter(|chart| !chart.panels.is_empty()).map(Block::Chart));
        sections.push(Section::new("separation", "What separates them", blocks));
    }
    sections.push(Section::new("groups", "The paper's groups", groups(found)));
    if !found.needed.is_empty() {
        sections.push(Section::new(
            "effects",
            "Edges by causal effect",
            vec![
                Block::Table(listed_table("needed", "Edges that the predictions need most", &found.needed)),
                Block::Table(listed_table("misleading", "Edges that mislead most", &found.misleading)),
            ],
        ));
    }
    sections.push(Section::new(
        "reading",
        "How to read this",
        vec![Block::Points(HOW_TO_READ.map(String::from).to_vec())],
    ));
    Report { title: format!("Which edges changed on {}?", super::listed::plain(&found.data)), lead, sections }
}

fn groups(found: &Explanation) -> Vec<Block> {
    let rule = |group: &super::GroupSummary| format!("{}: {}.", capitalised(group.group.title()), group.rule);
    let mut blocks = vec![
        Block::Paragraph(
            "On ogbn-arxiv the paper found by hand that CAR weighs down self-citations and popular anchor papers, and \
             weighs up little-noticed papers of the same topic. Here these are rules:"
                .into(),
        ),
        Block::Points(found.groups.iter().map(rule).collect()),
        Block::Points(sentences::group_sentences(found)),
    ];
    let table = group_table(found);
    if !table.rows.is_empty() && !found.unchanged {
        blocks.push(Block::Table(table));
    }
    if found.unchanged {
        return blocks;
    }
    for group in found.groups.iter().filter(|group| !group.examples.is_empty()) {
        let way = if group.group == carat::explain::Group::Narrow { "up" } else { "down" };
        let caption = format!("{} that went {way} most", capitalised(group.group.title()));
        let name = format!("{}-examples", group.group.name().replace('_', "-"));
        blocks.push(Block::Table(listed_table(&name, &caption, &group.examples)));
    }
    blocks
}
