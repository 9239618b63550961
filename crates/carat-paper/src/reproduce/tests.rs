//! Every item on made-up runs: its grids are valid, its section says what is so, and nothing is invented.

use carat::TrainConfig;
use carat_lab::compare::made_up;
use carat_lab::sweep::Run;
use carat_report::{Block, Section};

use super::scope::everything;
use super::*;

/// Items that open datasets, which tests of made-up runs have not.
const NEEDS_DATA: &str = "datasets";

fn runs_of(item: &dyn Item, scope: &Scope) -> Vec<TrainConfig> {
    item.grids(scope).iter().flat_map(|grid| grid.runs().unwrap()).collect()
}

/// Every run of the item, better the stronger the regulariser, with some spread over sizes.
fn made_up_runs(item: &dyn Item, scope: &Scope) -> Vec<Run> {
    let loss = |config: &TrainConfig| {
        let spread = 0.01 * config.network.hidden as f64
            + 0.1 * config.network.heads as f64
            + 0.2 * config.network.layers as f64;
        let gain = config.regulariser.lambda.of_layers(1)[0] * (0.1 + 0.0001 * config.network.hidden as f64);
        2.0 + spread - gain
    };
    runs_of(item, scope).into_iter().map(|config| made_up::run(config.clone(), loss(&config))).collect()
}

/// The section of an item, drawn from these runs and the studies that they allow.
pub(super) fn section(item: &dyn Item, runs: &[Run], scope: &Scope) -> Section {
    let studies = Studies::of(&[item], runs, scope).unwrap();
    draft::section(item, &Basis::of(item, runs, scope, &studies).unwrap()).unwrap()
}

/// What became of an item's claims.
pub(super) fn findings(item: &dyn Item, runs: &[Run], scope: &Scope) -> Vec<Finding> {
    let studies = Studies::of(&[], runs, scope).unwrap();
    item.findings(&Basis::of(item, runs, scope, &studies).unwrap()).unwrap()
}

fn texts(section: &Section) -> String {
    let text = |block: &Block| match block {
        Block::Paragraph(text) | Block::Command(text) => text.clone(),
        Block::Points(points) => points.join("\n"),
        Block::Table(table) => table.caption.clone(),
        Block::Chart(chart) => chart.title.clone(),
    };
    section.blocks.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[test]
fn items_come_in_the_report_s_order() {
    let names: Vec<&str> = items().iter().map(|item| item.name()).collect();
    assert_eq!(
        names,
        [
            "datasets",
            "table1",
            "accuracy",
            "figure2",
            "lambda",
            "figure3",
            "ablation",
            "transductive",
            "rounds",
            "cal",
            "homophily",
            "graphs",
            "rewiring",
            "interpretation",
            "runtime"
        ]
    );
}

#[test]
fn every_grid_is_valid_in_full_and_quick() {
    // Runs, two per training. Seven datasets have the whole grid, arxiv-tape two trainings.
    let full = [
        ("datasets", 0),
        ("table1", 7 * 720 + 4),
        ("lambda", 7 * 720 + 4),
        // Per dataset 72 settings: a baseline, and four arms at two strengths; arxiv-tape: a baseline and four arms.
        ("ablation", 7 * 72 * 9 * 2 + 5 * 2),
        // Per dataset 24 settings: a baseline, and three methods at two strengths; Squirrel has 2 settings.
        ("transductive", (6 * 24 + 2) * 7 * 2),
        // Per dataset 12 settings: a baseline, and five numbers of rounds at two strengths; Squirrel has four of them.
        ("rounds", 6 * 12 * 11 * 2 + 12 * 9 * 2),
        // Per dataset F', K, L and two strengths; PubMed and Squirrel have a part of them.
        ("cal", (5 * 2 * 3 * 2 * 25 + 2 * 2 * 2 * 9) * 2),
        ("homophily", 33 * 18 * 3 * 2),
        // Per set 10 folds of three kinds: a baseline, and two arms at two strengths.
        ("graphs", 3 * 10 * 3 * 5 * 2),
        // A pair on two datasets.
        ("interpretation", 2 * 2 * 2),
        ("runtime", 7 * 720 + 4),
    ];
    let quick = [
        ("datasets", 0),
        // Five datasets with 12 settings, two with 6, a baseline and two strengths each.
        ("table1", (5 * 12 + 2 * 6) * 3 * 2 + 4),
        ("lambda", (5 * 12 + 2 * 6) * 4 * 2 + 4),
        ("ablation", (5 * 12 + 2 * 6) * 9 * 2),
        ("transductive", 4 * 6 * 7 * 2),
        ("rounds", 5 * 6 * 11 * 2),
        ("cal", 4 * 2 * 4 * 2),
        ("homophily", 11 * 6 * 3 * 2),
        // One set, a baseline and one strength.
        ("graphs", 10 * 3 * 2 * 2),
        ("interpretation", 2 * 2 * 2),
        ("runtime", (5 * 12 + 2 * 6) * 3 * 2 + 4),
    ];
    for (is_quick, expected) in [(false, full), (true, quick)] {
        let scope = everything(is_quick);
        for (name, count) in expected {
            let item = items().into_iter().find(|item| item.name() == name).unwrap();
            let mut runs: Vec<String> =
                runs_of(item, &scope).iter().map(|config| serde_json::to_string(config).unwrap()).collect();
            runs.sort();
            runs.dedup();
            assert_eq!(runs.len(), count, "{name}, quick: {is_quick}");
        }
    }
}

#[test]
fn splits_and_seeds_multiply_the_runs() {
    let scope = Scope { splits: vec![0, 1, 2], seeds: vec![0, 1], ..everything(true) };
    let item = &table1::ITEM;
    // Three splits on two datasets of 12 settings and two of 6, one split on the rest.
    assert_eq!(runs_of(item, &scope).len(), 2 * ((3 * 12 + 3 * (2 * 12 + 2 * 6)) * 3 * 2 + 4));
}

#[test]
fn an_item_without_runs_names_the_command() {
    for scope in [everything(false), Scope { seeds: vec![0, 1, 2], ..everything(true) }] {
        for item in items().into_iter().filter(|item| item.name() != NEEDS_DATA) {
            let name = item.name();
            let command = format!("carat reproduce {name}{}", if scope.quick { " --quick --seeds 3" } else { "" });
            assert!(findings(item, &[], &scope).iter().all(Finding::is_unknown), "{name}");
            let section = section(item, &[], &scope);
            assert_eq!(section.blocks.last(), Some(&Block::Command(command)), "{name}");
            assert!(texts(&section).contains("nothing yet"), "{}", texts(&section));
        }
    }
}

#[test]
fn every_section_says_what_the_paper_found_and_what_is_found_here() {
    let scope = everything(true);
    for item in items().into_iter().filter(|item| item.name() != NEEDS_DATA) {
        let (name, title, runs) = (item.name(), item.title(), made_up_runs(item, &scope));
        let section = section(item, &runs, &scope);
        let text = texts(&section);
        assert_eq!((section.id.as_str(), section.title.as_str()), (name, title));
        assert!(text.starts_with("The paper: ") && text.contains("Found here:"), "{text}");
        assert!(text.contains("under protocol paper") || text.contains("protocol paper,"), "{text}");
        assert!(text.contains("protocol best"), "{text}");
        assert!(!text.contains("left out, because"), "{name}: {text}");
        assert!(text.contains(&format!("{} of", carat_report::words::counted(runs.len(), "run"))), "{text}");
        let mut names = Vec::new();
        for block in &section.blocks {
            match block {
                Block::Table(table) => {
                    assert!(!table.rows.is_empty(), "{}", table.name);
                    assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.name);
                    names.push(table.name.clone());
                }
                Block::Chart(chart) => assert!(!chart.panels.is_empty(), "{}", chart.title),
                _ => {}
            }
        }
        assert!(
            names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
        );
        names.dedup();
        assert_eq!(names.len(), section.blocks.iter().filter(|block| matches!(block, Block::Table(_))).count());
    }
}

#[test]
fn gains_everywhere_reproduce_the_paper() {
    let scope = everything(true);
    let item = &table1::ITEM;
    let runs = made_up_runs(item, &scope);
    let text = texts(&section(item, &runs, &scope));
    let expected = "Lower test loss in 7 of 7 datasets at p < 0.05 under protocol paper (7 after Holm's correction; \
        higher in none).";
    assert!(text.contains(expected), "{text}");
    let findings = findings(&table1::ITEM, &runs, &scope);
    assert_eq!(findings[0].paper.as_deref(), Some("8 of 8"));
    assert!(findings[0].answers.iter().all(|answer| answer.verdict == Verdict::Reproduced), "{findings:?}");
    assert_eq!(findings[0].answers[0].text, "7 of 7 (7 by Holm)");
}

#[test]
fn missing_runs_are_counted_and_missing_baselines_leave_runs_unused() {
    let scope = Scope { datasets: vec!["cora".into()], ..everything(true) };
    let item = &table1::ITEM;
    let mut runs = made_up_runs(item, &scope);
    // One baseline under protocol paper goes, and with it the use of its two regularised runs.
    let gone = runs.iter().position(|run| run.is_baseline() && run.protocol() == carat::Protocol::Paper).unwrap();
    runs.remove(gone);
    let text = texts(&section(item, &runs, &scope));
    assert!(text.contains("71 runs of 72 are here; the others are left out"), "{text}");
    assert!(text.contains("2 regularised runs had nothing to be compared with"), "{text}");
    assert!(text.ends_with("carat reproduce table1 --quick"), "{text}");
}

#[test]
fn arms_without_an_edge_are_not_called_better() {
    let scope = Scope { datasets: vec!["cora".into(), "wisconsin".into()], ..everything(true) };
    let item = &ablation::Ablation;
    // All arms have the same outcome.
    let runs = made_up_runs(item, &scope);
    let text = texts(&section(item, &runs, &scope));
    let none = "Causal has a lower test loss at p < 0.05, protocol best, than vote in 0 of 2 (higher in 0), than \
                random in 0 of 2 (higher in 0) and than constant in 0 of 2 (higher in 0).";
    assert!(text.contains(none), "{text}");
    // Equal p values say nothing about who is ahead.
    assert!(!text.contains("ahead of vote in"), "{text}");
}
