//! The top of a report: what was reproduced, what was not, under which protocol, from how many runs.

use std::collections::{BTreeMap, BTreeSet};

use carat::{Error, Protocol};

use super::verdict::sentences;
use super::{Block, Cell, Column, Table};
use crate::compare::words;
use crate::reproduce::{Finding, Scope, Verdict, items, paper};
use crate::sweep::Merged;

const PROTOCOLS: [Protocol; 2] = [Protocol::Paper, Protocol::Best];
/// Distinct errors that are quoted; the rest is counted.
const ERRORS_SHOWN: usize = 5;

/// What a reader must know first. The scope is that of the report's items.
pub fn overview(merged: &Merged, scope: &Scope) -> Result<Vec<Block>, Error> {
    let mut findings = Vec::new();
    for item in items() {
        findings.extend(item.findings(&merged.runs, scope)?);
    }
    let mut blocks = vec![Block::Paragraph(basis(merged))];
    blocks.extend(failures(merged));
    blocks.extend(claims(&findings));
    blocks.extend(own_data(merged, scope));
    Ok(blocks)
}

/// What the report rests on.
fn basis(merged: &Merged) -> String {
    let datasets: BTreeSet<&str> = merged.runs.iter().map(|run| run.config.data.as_str()).collect();
    let mut text = format!(
        "This report rests on {} on {}, computed by carat {}.",
        words::counted(merged.runs.len(), "finished run"),
        words::counted(datasets.len(), "dataset"),
        merged.code
    );
    match merged.failures.len() {
        0 => text.push_str(" No run failed."),
        count => text.push_str(&format!(" {} failed and are left out.", words::counted(count, "run"))),
    }
    if merged.left_out > 0 {
        let runs = words::counted(merged.left_out, "run");
        text.push_str(&format!(" {runs} of other versions of the code or the data are in the store and not shown."));
    }
    text
}

/// Why runs failed, the most frequent reasons first.
fn failures(merged: &Merged) -> Option<Block> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, error) in &merged.failures {
        *reasons.entry(error).or_default() += 1;
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut points: Vec<String> = reasons
        .iter()
        .take(ERRORS_SHOWN)
        .map(|(error, count)| format!("{}: {error}", words::counted(*count, "failed run")))
        .collect();
    if let Some(more) = reasons.len().checked_sub(ERRORS_SHOWN).filter(|more| *more > 0) {
        points.push(format!("and {}", words::counted(more, "other reason")));
    }
    (!points.is_empty()).then_some(Block::Points(points))
}

/// What became of the paper's claims, and of the questions beyond them.
fn claims(findings: &[Finding]) -> Vec<Block> {
    let known: Vec<&Finding> = findings.iter().filter(|finding| !finding.is_unknown()).collect();
    if known.is_empty() {
        let text = "It holds no runs of the paper's datasets, so it says nothing about the paper.";
        return vec![Block::Paragraph(text.into())];
    }
    let of_paper: Vec<&Finding> = known.iter().copied().filter(|finding| finding.paper.is_some()).collect();
    let mut points: Vec<String> = PROTOCOLS.into_iter().map(|protocol| summary(&of_paper, protocol)).collect();
    let beyond: Vec<String> =
        known.iter().filter(|finding| finding.paper.is_none()).map(|finding| plain(finding)).collect();
    if !beyond.is_empty() {
        points.push(format!("Beyond the paper, in how many datasets: {}.", beyond.join("; ")));
    }
    let unknown: Vec<String> =
        findings.iter().filter(|finding| finding.is_unknown()).map(|finding| finding.claim.clone()).collect();
    if !unknown.is_empty() {
        points.push(format!("Not looked at, for want of runs: {}.", unknown.join("; ")));
    }
    vec![
        Block::Points(points),
        Block::Table(table(&known)),
        Block::Paragraph(
            "Counts are of datasets at p < 0.05 (one-tailed, paired), in brackets those that stay below it after Holm's correction; \
             arxiv-tape is not counted. A claim counts as reproduced where it holds in at least the paper's share of the datasets \
             here, as partly where it holds in at least half of them; fewer than four datasets are too few to tell. Protocol paper \
             stops ten epochs after the lowest validation loss and keeps the last weights, as the paper's figures suggest it did; \
             protocol best keeps the weights of the lowest, as practitioners do."
                .into(),
        ),
    ]
}

/// `Under protocol paper. Reproduced: a (7 of 7). Partly: b (4 of 7). Not reproduced: c (1 of 7).`
fn summary(findings: &[&Finding], protocol: Protocol) -> String {
    let with = |verdict: Verdict| {
        let claim = |finding: &&Finding| {
            let answers = finding.answers.iter();
            let answer =
                answers.filter(|answer| answer.protocol == protocol).find(|answer| answer.verdict == verdict)?;
            Some(format!("{} ({})", finding.claim, answer.text.replace(" (", ", ").replace(')', "")))
        };
        let claims: Vec<String> = findings.iter().filter_map(claim).collect();
        (!claims.is_empty()).then(|| format!("{}: {}.", words::capitalised(verdict.name()), claims.join("; ")))
    };
    let verdicts =
        [Verdict::Reproduced, Verdict::Partly, Verdict::NotReproduced, Verdict::TooFew].into_iter().filter_map(with);
    let verdicts: Vec<String> = verdicts.collect();
    format!("Under protocol {protocol}. {}", if verdicts.is_empty() { "No runs.".into() } else { verdicts.join(" ") })
}

/// `CAR ranks edges higher: 3 of 4 under protocol paper, 1 of 4 under protocol best`.
fn plain(finding: &Finding) -> String {
    let answers = finding.answers.iter().map(|answer| {
        let count = answer.text.split(" (").next().unwrap_or_default();
        format!("{count} under protocol {}", answer.protocol)
    });
    format!("{}: {}", finding.claim, answers.collect::<Vec<_>>().join(", "))
}

fn table(findings: &[&Finding]) -> Table {
    let row = |finding: &&Finding| {
        let mut row = vec![
            Cell::words(finding.claim.clone()),
            Cell::words(finding.paper.clone().unwrap_or_else(|| "not asked".into())),
        ];
        for protocol in PROTOCOLS {
            let answer = finding.answers.iter().find(|answer| answer.protocol == protocol);
            row.push(answer.map_or(Cell::words(words::UNDEFINED), |answer| {
                match (&finding.paper, answer.verdict) {
                    (None, _) | (_, Verdict::Unknown) => Cell::words(answer.text.clone()),
                    (_, verdict) => Cell::words(format!("{}: {}", answer.text, verdict.name()))
                        .strong_if(verdict == Verdict::Reproduced),
                }
            }));
        }
        row.push(Cell::words(finding.item));
        row
    };
    let headings = ["claim", "the paper", "here, protocol paper", "here, protocol best", "section"];
    Table {
        name: "overview".into(),
        caption: "The paper's claims, and questions beyond them".into(),
        columns: headings.map(Column::words).to_vec(),
        rows: findings.iter().map(row).collect(),
    }
}

/// Whether CAR helps on data that is not the paper's.
fn own_data(merged: &Merged, scope: &Scope) -> Option<Block> {
    let of_paper = |data: &str| paper::place(data).is_some() || scope.synthetic.iter().any(|(name, _)| name == data);
    let datasets: BTreeSet<&str> =
        merged.runs.iter().map(|run| run.config.data.as_str()).filter(|data| !of_paper(data)).collect();
    let points: Vec<String> = datasets.into_iter().flat_map(|data| sentences(&merged.runs, data)).collect();
    (!points.is_empty()).then_some(Block::Points(points))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use carat::TrainConfig;

    use super::*;
    use crate::compare::made_up::{self, baseline, both_protocols, regularised};
    use crate::sweep::{Grid, Run};

    fn texts(blocks: &[Block]) -> String {
        let text = |block: &Block| match block {
            Block::Paragraph(text) | Block::Command(text) => text.clone(),
            Block::Points(points) => points.join("\n"),
            Block::Table(table) => {
                table.rows.iter().flatten().map(|cell| cell.text.clone()).collect::<Vec<_>>().join(" | ")
            }
            Block::Chart(chart) => chart.title.clone(),
        };
        blocks.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_is_and_is_not_reproduced_stands_at_the_top() {
        // Loss falls under protocol paper and rises under protocol best.
        let datasets = ["cora", "citeseer", "cornell", "wisconsin"];
        let grid = Grid::paper("")
            .with("data", datasets)
            .with("heads", [3])
            .with("hidden", [25, 100])
            .with("lambda", [0.0, 1.0, 5.0]);
        let loss = |config: &TrainConfig| {
            let change = config.lambda.of_layers(1)[0] * (0.1 + 0.001 * config.hidden as f64);
            if config.protocol == Protocol::Paper { 2.0 - change } else { 2.0 + change }
        };
        let runs: Vec<Run> =
            grid.runs().unwrap().into_iter().map(|config| made_up::run(config.clone(), loss(&config))).collect();
        let scope = Scope::of_runs(&runs, Path::new("nowhere"));
        let merged = Merged {
            curves: Vec::new(),
            failures: vec![(TrainConfig::default(), "the run diverged".into()); 2],
            runs,
            code: "1.0".into(),
            left_out: 3,
        };
        let text = texts(&overview(&merged, &scope).unwrap());
        assert!(text.starts_with(
            "This report rests on 288 finished runs on 4 datasets, computed by carat 1.0. 2 runs failed and are left out. 3 runs of other"
        ), "{text}");
        assert!(text.contains("2 failed runs: the run diverged"), "{text}");
        assert!(
            text.contains("Under protocol paper. Reproduced: CAR lowers the test loss (4 of 4, 4 by Holm); CAR raises the test accuracy (4 of"),
            "{text}"
        );
        assert!(text.contains("Not reproduced: CAR lowers the test loss (0 of 4, 0 by Holm);"), "{text}");
        assert!(
            text.contains("8 of 8 | 4 of 4 (4 by Holm): reproduced | 0 of 4 (0 by Holm): not reproduced | table1"),
            "{text}"
        );
        assert!(text.contains("Not looked at, for want of runs: "), "{text}");
        assert!(text.contains("(attention_auc): 4 of 4 under protocol paper, 0 of 4 under protocol best."), "{text}");
    }

    #[test]
    fn a_user_s_own_graph_gets_its_answer_at_the_top() {
        let mut runs = Vec::new();
        for hidden in 1..=6 {
            runs.push(baseline("mine.npz", hidden, 2.0));
            runs.push(regularised("mine.npz", hidden, 1.0, 1.0 + 0.01 * hidden as f64));
        }
        let merged = Merged { runs: both_protocols(&runs), ..Merged::default() };
        let scope = Scope::of_runs(&merged.runs, Path::new("nowhere"));
        let text = texts(&overview(&merged, &scope).unwrap());
        assert!(text.contains("No run failed.") && text.contains("says nothing about the paper"), "{text}");
        assert!(text.contains("On mine.npz, CAR lowers the test loss by 48.2 %"), "{text}");
    }
}
