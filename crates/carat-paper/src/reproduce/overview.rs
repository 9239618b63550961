//! The top of a report: what was reproduced, what was not, under which protocol, from how many runs.

use std::collections::{BTreeMap, BTreeSet};

use carat::{Error, Protocol, TrainConfig};
use carat_lab::sections::sentences;
use carat_lab::sweep::{Merged, described};
use carat_report::{Block, Cell, Column, Table, words};

use super::{Basis, Finding, Scope, Studies, Verdict, items, paper};

const PROTOCOLS: [Protocol; 2] = [Protocol::Paper, Protocol::Best];
/// Distinct errors that are quoted; the rest is counted.
const ERRORS_SHOWN: usize = 5;

/// What a reader must know to make sense of any report, own graphs included.
const HOW_TO_READ: [&str; 8] = [
    "CAR is training with the paper's causal attention regulariser; the baseline is the same training without it. \
     lambda is the strength of the regulariser, 0 the baseline's.",
    "L, K and F are layers, attention heads and width of the network.",
    "Protocol paper stops ten epochs after the lowest validation loss and keeps the last weights, as the paper's \
     figures suggest it did; protocol best waits twenty and keeps the weights of the lowest, as practitioners do.",
    "A pair is two runs that differ in the regulariser alone: same data, split, attention kind, L, K, F, seed and \
     protocol.",
    "p is how often chance alone would show an improvement at least this clear (one-tailed paired Wilcoxon test): \
     small is good. Holm's correction makes it stricter, because among many datasets one may look good by chance.",
    "KL measures how far attention is from label agreement (lower is closer), but merely even attention scores low, \
     too. attention_auc is how often attention ranks a same-label in-edge above another: 0.5 is chance, higher is \
     better.",
    "Controls replace CAR's effects: constant by 0.5 for every edge, random by random ones, vote by those of a vote \
     among neighbours' labels.",
    "Controls matter because any regulariser of attention smooths it, which may help by itself: only what CAR gains \
     beyond constant and random is causal signal.",
];

/// What a reader must know first. The scope is that of the report's items.
pub(super) fn overview(merged: &Merged, scope: &Scope, studies: &Studies) -> Result<Vec<Block>, Error> {
    let mut findings = Vec::new();
    for item in items() {
        let title = item.title();
        let basis = Basis::of(item, &merged.runs, scope, studies)?;
        findings.extend(item.findings(&basis)?.into_iter().map(|finding| (title, finding)));
    }
    let mut blocks = vec![Block::Paragraph(basis(merged, scope))];
    blocks.extend(failures(merged));
    let says_nothing_of_paper = findings.iter().all(|(_, finding)| finding.is_unknown());
    blocks.extend(answers(merged, scope, says_nothing_of_paper));
    blocks.extend(claims(&findings, scope));
    blocks.push(Block::Paragraph("How to read this:".into()));
    blocks.push(Block::Points(HOW_TO_READ.map(String::from).to_vec()));
    Ok(blocks)
}

/// What the report rests on.
fn basis(merged: &Merged, scope: &Scope) -> String {
    let datasets: BTreeSet<&str> = merged.runs.iter().map(|run| run.config.data.name.as_str()).collect();
    let synthetic = datasets.iter().filter(|data| is_synthetic(data, scope)).count();
    let mut kinds = vec![words::counted(datasets.len() - synthetic, "dataset")];
    kinds.extend((synthetic > 0).then(|| words::counted(synthetic, "synthetic graph")));
    let mut text = format!(
        "This report rests on {} on {}, computed by carat {}",
        words::counted(merged.runs.len(), "finished run"),
        words::list(&kinds),
        merged.code
    );
    text.push_str(&format!("; {}. ", extent(merged, scope)));
    match merged.failures.len() {
        0 => text.push_str("No run failed; runs that have not been computed are left out."),
        count => text.push_str(&format!(
            "{} failed; they are left out, as are runs that have not been computed.",
            words::counted(count, "run")
        )),
    }
    if merged.left_out > 0 {
        let runs = words::counted(merged.left_out, "run");
        text.push_str(&format!(" {runs} of other versions of the code or the data are in the store and not shown."));
    }
    text
}

/// Which part of the paper's grid, or of one's own, how often.
fn extent(merged: &Merged, scope: &Scope) -> String {
    if scope.datasets.is_empty() {
        let seeds: BTreeSet<u64> = merged.runs.iter().map(|run| run.config.seed).collect();
        let splits: BTreeSet<usize> = merged.runs.iter().map(|run| run.config.data.split).collect();
        return format!("{} and {}", words::counted(seeds.len(), "seed"), words::counted(splits.len(), "split"));
    }
    let grid = if scope.quick { "a quick subset of the paper's grid, not all of it" } else { "the paper's whole grid" };
    let splits = match scope.splits.len() {
        0 | 1 => "1 split of every dataset".to_string(),
        splits => format!("up to {splits} splits of a dataset"),
    };
    format!("it covers {grid}, with {} and {splits}", words::counted(scope.seeds.len(), "seed"))
}

/// Why runs failed, the most frequent reasons first.
fn failures(merged: &Merged) -> Option<Block> {
    let mut reasons: BTreeMap<&str, Vec<&TrainConfig>> = BTreeMap::new();
    for (config, error) in &merged.failures {
        reasons.entry(error).or_default().push(config);
    }
    let mut reasons: Vec<(&str, Vec<&TrainConfig>)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, configs)| std::cmp::Reverse(configs.len()));
    let mut points: Vec<String> = reasons
        .iter()
        .take(ERRORS_SHOWN)
        .map(|(error, configs)| {
            let example = configs.first().map_or(String::new(), |config| described(config));
            format!("{}: {error} (one of them: {example})", words::counted(configs.len(), "failed run"))
        })
        .collect();
    if let Some(more) = reasons.len().checked_sub(ERRORS_SHOWN).filter(|more| *more > 0) {
        points.push(format!("and {}", words::counted(more, "other reason")));
    }
    (!points.is_empty()).then_some(Block::Points(points))
}

/// What became of the paper's claims, and of the questions beyond them. Findings come with the titles of their
/// sections.
fn claims(findings: &[(&str, Finding)], scope: &Scope) -> Vec<Block> {
    let known: Vec<&(&str, Finding)> = findings.iter().filter(|(_, finding)| !finding.is_unknown()).collect();
    if known.is_empty() {
        let text = "This report holds no runs of the paper's grid, so it says nothing about the paper.";
        return vec![Block::Paragraph(text.into())];
    }
    let of_paper: Vec<&Finding> =
        findings.iter().map(|(_, finding)| finding).filter(|finding| finding.paper.is_some()).collect();
    let mut points: Vec<String> = PROTOCOLS.into_iter().map(|protocol| summary(&of_paper, protocol)).collect();
    let unknown = findings.len() - known.len();
    if unknown > 0 {
        let quick = if scope.quick { " --quick" } else { "" };
        points.push(format!(
            "No runs yet for {unknown} of {} claims and questions; 'carat reproduce all{quick}' computes them.",
            findings.len()
        ));
    }
    vec![
        Block::Points(points),
        Block::Table(table(&known)),
        Block::Paragraph(
            "Counts are of datasets with p < 0.05, in brackets those that stay below it after Holm's correction; \
             arxiv-tape is not counted. \"Worse\" counts datasets in which the opposite has p < 0.05. The comparison \
             of p values with a neighbour vote's is the paper's own criterion; datasets in which both are equal are \
             left out of it. A claim is reproduced where it holds in at least the paper's share of the datasets, \
             rounded down to whole ones, partly where it holds in at least half of them; fewer than four datasets are \
             too few to tell."
                .into(),
        ),
    ]
}

/// `Under protocol paper, 3 of the paper's 7 claims are reproduced, 1 partly, 3 not.`
fn summary(findings: &[&Finding], protocol: Protocol) -> String {
    let count = |verdict: Verdict| {
        let is = |finding: &&&Finding| {
            let mut answers = finding.answers.iter().filter(|answer| answer.protocol == protocol);
            answers.any(|answer| answer.verdict == verdict)
        };
        findings.iter().filter(is).count()
    };
    let (reproduced, few, without) = (count(Verdict::Reproduced), count(Verdict::TooFew), count(Verdict::Unknown));
    let are = if reproduced == 1 { "is" } else { "are" };
    let mut text = format!(
        "Under protocol {protocol}, {reproduced} of the paper's {} {are} reproduced, {} partly, {} not",
        words::counted(findings.len(), "claim"),
        count(Verdict::Partly),
        count(Verdict::NotReproduced)
    );
    if few > 0 {
        text.push_str(&format!("; too few datasets to tell for {few}"));
    }
    if without > 0 {
        text.push_str(&format!("; no runs for {without}"));
    }
    text.push('.');
    text
}

fn table(findings: &[&(&str, Finding)]) -> Table {
    let row = |(title, finding): &&(&str, Finding)| {
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
        row.push(Cell::words(*title));
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

/// Whether CAR helps, on data that is not the paper's or on all.
fn answers(merged: &Merged, scope: &Scope, of_all: bool) -> Option<Block> {
    let of_paper = |data: &str| paper::place(data).is_some() || is_synthetic(data, scope);
    let datasets: BTreeSet<&str> =
        merged.runs.iter().map(|run| run.config.data.name.as_str()).filter(|data| of_all || !of_paper(data)).collect();
    let points: Vec<String> = datasets.into_iter().flat_map(|data| sentences(&merged.runs, data)).collect();
    (!points.is_empty()).then_some(Block::Points(points))
}

fn is_synthetic(data: &str, scope: &Scope) -> bool {
    scope.synthetic.iter().any(|(name, _)| name == data)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::findings;
    use super::*;
    use carat_lab::compare::made_up::{self, baseline, both_protocols, regularised};
    use carat_lab::sweep::{Grid, Run};

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
            let change = config.regulariser.lambda.of_layers(1)[0] * (0.1 + 0.001 * config.network.hidden as f64);
            if config.stopping.protocol == Protocol::Paper { 2.0 - change } else { 2.0 + change }
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
        let text = texts(&overview(&merged, &scope, &Studies::default()).unwrap());
        let start = "This report rests on 288 finished runs on 4 datasets, computed by carat 1.0; it covers a quick \
                     subset of the paper's grid, not all of it, with 1 seed and 1 split of every dataset. 2 runs \
                     failed; they are left out, as are runs that have not been computed. 3 runs of other";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("2 failed runs: the run diverged"), "{text}");
        // Under protocol paper loss, accuracy, KL; strength, vote, homophily and rewiring have no runs. Time is 1 +
        // loss.
        assert!(text.contains("Under protocol paper, "), "{text}");
        let of_paper: usize = items()
            .into_iter()
            .map(|item| findings(item, &[], &scope).iter().filter(|finding| finding.paper.is_some()).count())
            .sum();
        assert!(text.contains(&format!(" of the paper's {of_paper} claims are reproduced, 0 partly, ")), "{text}");
        assert!(
            text.contains(
                "8 of 8 | 4 of 4 (4 by Holm): reproduced | 0 of 4 (0 by Holm, worse in 4): not reproduced | Table 1: \
                 test loss"
            ),
            "{text}"
        );
        assert!(text.contains(" claims and questions; 'carat reproduce all --quick' computes"), "{text}");
        assert!(text.contains("How to read this:\nCAR is training with"), "{text}");
    }

    #[test]
    fn claims_and_rules_are_short() {
        let scope = Scope::of_runs(&[], Path::new("nowhere"));
        for item in items() {
            for finding in findings(item, &[], &scope) {
                assert!(finding.claim.chars().count() <= 70, "{}", finding.claim);
            }
        }
        assert!(HOW_TO_READ.iter().all(|point| point.len() < 280), "{HOW_TO_READ:?}");
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
        let text = texts(&overview(&merged, &scope, &Studies::default()).unwrap());
        assert!(text.contains("; 1 seed and 1 split. No run failed;") && text.contains("How to read this:"), "{text}");
        assert!(text.contains("says nothing about the paper"), "{text}");
        assert!(text.contains("On mine.npz, CAR lowers the test loss by 48.2 %"), "{text}");
    }
}
