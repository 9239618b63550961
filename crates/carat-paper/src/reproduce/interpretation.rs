//! The paper's reading of attention: which citations CAR weighs up and down.
//!
//! A store keeps no weights, and the same settings give the same weights, bit for bit. So the networks are trained
//! again, by `study`: on Cora for several seeds, on arxiv-tape for one. That takes less than a minute.

mod study;
mod tables;

use carat::Error;
use carat::explain::{ExplainSettings, Group, Property};
use carat_lab::sweep::Grid;
use carat_report::statistics::Direction;
use carat_report::{Block, words};

pub(super) use self::study::{Studied, studied};
use super::draft::PROTOCOLS;
use super::finding::{Answer, Finding, Verdict};
use super::{Basis, Draft, Found, Item, Scope, grids, paper};

/// Self-citations, anchors and narrow papers.
pub(super) struct Interpretation;

/// The small graph beside the paper's.
const SMALL: &str = "cora";

impl Item for Interpretation {
    fn name(&self) -> &'static str {
        "interpretation"
    }

    fn title(&self) -> &'static str {
        "Interpretation: which edges change"
    }

    fn said(&self) -> &'static str {
        "on ogbn-arxiv, reviewed by hand, CAR weighs down self-citations and citations of popular anchor papers \
         (Adam, ResNet, ImageNet), and weighs up citations of deeply related, little-noticed papers."
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        let seed = scope.seeds.first().copied().unwrap_or_default() as i64;
        let grid = |data: &str| Grid::paper(data).with("arch", ["gat"]).with("hidden", [25]).with("lambda", [0.0, 1.0]);
        let small = grid(SMALL).with("layers", [2]).with("heads", [3]);
        let large = grid(grids::LARGE).with("layers", [1]).with("heads", [1]).with("epochs", [40]);
        let known = [(SMALL, small), (grids::LARGE, large)];
        let at_hand = known.into_iter().filter(|(data, _)| scope.datasets.iter().any(|own| own == data));
        at_hand.map(|(_, grid)| grid.with("seed", [seed])).collect()
    }

    fn grid_words(&self, _: &Scope) -> String {
        "pairs of gat networks with lambda 0 and 1, trained again for this section: on Cora L 2, K 3, F 25, seeds 0 to \
         4; on arxiv-tape L 1, K 1, F 25, at most 40 epochs, one seed"
            .into()
    }

    /// All runs: the networks of a part would be trained in vain by every report on other items' runs.
    fn is_ready(&self, found: &Found<'_>) -> bool {
        found.expected > 0 && found.missing() == 0
    }

    fn draw(&self, basis: &Basis<'_>, draft: &mut Draft) -> Result<(), Error> {
        let studied = &basis.studies.interpretation;
        draft.found(sentences(studied));
        draft.paragraph(format!(
            "Here the paper's kinds of edges are rules. {} The paper's self-citations need the papers' authors, which \
             neither dataset has. Changes are of the mean attention over layers and heads, in percent of the \
             baseline's. AUC is the probability that an edge of the group changed more than one outside: below 0.5 the \
             group went down relative to other edges.",
            rules()
        ));
        for table in [tables::groups(studied), tables::properties(studied)] {
            if !table.rows.is_empty() {
                draft.push(Block::Table(table));
            }
        }
        let chart = tables::chart(studied);
        if !chart.panels.is_empty() {
            draft.push(Block::Chart(chart));
        }
        draft.paragraph(
            "A claim counts as reproduced where on arxiv-tape the group's AUC lies clearly (95 % interval) on the \
             paper's side of 0.5 and its median change has the paper's sign, as partly reproduced where only the first \
             holds. It rests on one pair of networks, on other features than the paper's; 'carat explain' shows any \
             other pair edge by edge.",
        );
        Ok(())
    }

    fn findings(&self, basis: &Basis<'_>) -> Result<Vec<Finding>, Error> {
        let studied = &basis.studies.interpretation;
        let finding = |claim: &str, group, direction| Finding {
            item: self.name(),
            claim: claim.into(),
            paper: Some("seen by hand, ogbn-arxiv".into()),
            answers: PROTOCOLS.map(|protocol| answer(studied, protocol, group, direction)).to_vec(),
        };
        Ok(vec![
            finding("CAR weighs citations of anchors down (arxiv-tape)", Group::Anchor, Direction::Below),
            finding("CAR weighs citations of narrow papers up (arxiv-tape)", Group::Narrow, Direction::Above),
        ])
    }
}

fn rules() -> String {
    let settings = ExplainSettings::default();
    let rule = |group: Group| format!("{}: {}.", words::capitalised(group.title()), group.rule(&settings));
    [Group::Anchor, Group::Narrow].map(rule).join(" ")
}

/// What became of every group, and what separates the edges best, on every dataset under both protocols.
fn sentences(studied: &[Studied]) -> Vec<String> {
    let mut sentences = Vec::new();
    for study in studied {
        let title = paper::title(&study.data);
        if let Some(problem) = &study.problem {
            sentences
                .push(format!("nothing on {title}, neither under protocol paper nor under protocol best: {problem}"));
            continue;
        }
        for protocol in PROTOCOLS {
            let pairs = study.pairs(protocol).count();
            let went = [Group::Anchor, Group::Narrow].map(|group| {
                let directions: Vec<Option<Direction>> =
                    study.pairs(protocol).filter_map(|pair| pair.group(group)).map(|group| group.direction()).collect();
                let count = |way| directions.iter().filter(|direction| **direction == Some(way)).count();
                let (down, up) = (count(Direction::Below), count(Direction::Above));
                match pairs {
                    1 if down == 1 => format!("{} went down", group.title()),
                    1 if up == 1 => format!("{} went up", group.title()),
                    1 => format!("{} did not clearly move", group.title()),
                    _ => format!("{} went down in {down} and up in {up}", group.title()),
                }
            });
            let of = words::counted(pairs, "pair");
            sentences.push(format!(
                "on {title}, protocol {protocol}, relative to other edges and over {of}, {}",
                went.join(", and ")
            ));
        }
        sentences.extend(causal_sentence(study));
    }
    sentences
}

/// Whether the edges that went up are those that predictions need.
fn causal_sentence(study: &Studied) -> Option<String> {
    let areas = PROTOCOLS.map(|protocol| {
        let areas = study.pairs(protocol).filter_map(|pair| pair.contrast(Property::Effect)).map(|c| c.separation.auc);
        let areas: Vec<f64> = areas.collect();
        carat_report::statistics::Spread::of(&areas)
            .map(|spread| format!("{} under protocol {protocol}", spread.text(2)))
    });
    let areas: Vec<String> = areas.into_iter().flatten().collect();
    (!areas.is_empty()).then(|| {
        format!(
            "on {}, an up-weighted edge has a larger causal effect than a down-weighted one with probability {}",
            paper::title(&study.data),
            words::list(&areas)
        )
    })
}

/// What became of a claim on the paper's graph.
fn answer(studied: &[Studied], protocol: carat::Protocol, group: Group, claimed: Direction) -> Answer {
    let study = studied.iter().find(|study| study.data == grids::LARGE);
    let summary = study.and_then(|study| study.pairs(protocol).next()).and_then(|pair| pair.group(group));
    let measured = summary.and_then(|summary| Some((summary, summary.all.median_change?, summary.separation?)));
    let Some((summary, median, separation)) = measured else {
        return Answer { protocol, text: "no runs".into(), verdict: Verdict::Unknown };
    };
    let sign = if claimed == Direction::Below { median < 0.0 } else { median > 0.0 };
    let verdict = match summary.direction() == Some(claimed) {
        true if sign => Verdict::Reproduced,
        true => Verdict::Partly,
        false => Verdict::NotReproduced,
    };
    let text = format!("median change {} %, AUC {:.2}", words::signed(median, 1), separation.auc);
    Answer { protocol, text, verdict }
}

#[cfg(test)]
mod tests;
