//! The item on the small graph, with and without its data.

use std::path::PathBuf;

use carat_lab::compare::made_up;
use carat_lab::sweep::Run;
use carat_report::Block;

use super::super::scope::everything;
use super::super::tests::{findings, section};
use super::*;

/// Every run of the item. They are made up, because the item's figures come from networks that it trains itself.
fn runs(scope: &Scope) -> Vec<Run> {
    let configs = Interpretation.grids(scope).into_iter().flat_map(|grid| grid.runs().unwrap());
    configs.map(|config| made_up::run(config, 1.0)).collect()
}

#[test]
fn both_graphs_have_a_pair_per_protocol_and_missing_data_is_said() {
    let scope = everything(true);
    let runs = runs(&scope);
    assert_eq!(runs.len(), 8);
    let section = section(&Interpretation, &runs, &scope);
    let Some(Block::Points(points)) = section.blocks.get(2) else { panic!("{section:?}") };
    assert!(
        points[0].starts_with("Nothing on Cora, neither under protocol paper nor under protocol best: cora is not in")
    );
    assert_eq!(points.len(), 2);
    let findings = findings(&Interpretation, &runs, &scope);
    assert!(findings.len() == 2 && findings.iter().all(Finding::is_unknown));
}

#[test]
fn incomplete_runs_train_nothing() {
    let scope = everything(true);
    let runs = &runs(&scope)[1..];
    let section = section(&Interpretation, runs, &scope);
    assert_eq!(section.blocks.last(), Some(&Block::Command("carat reproduce interpretation --quick".into())));
    assert!(findings(&Interpretation, runs, &scope).iter().all(Finding::is_unknown));
}

#[test]
fn cora_s_edges_are_compared() {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let found =
        std::env::var_os("CARAT_DATA").map(PathBuf::from).into_iter().chain([beside]).find(|path| path.is_dir());
    let Some(data_dir) = found else {
        eprintln!("skipped: no data in CARAT_DATA or ../shared/data");
        return;
    };
    let scope = Scope { datasets: vec!["cora".into()], data_dir, ..everything(true) };
    let runs = runs(&scope);
    let section = section(&Interpretation, &runs, &scope);
    let tables: Vec<&carat_report::Table> = section.tables().collect();
    // Two protocols and two groups; all properties but the year gap.
    assert_eq!((tables.len(), tables[0].rows.len(), tables[1].rows.len()), (2, 4, 12));
    assert!(tables[0].rows.iter().all(|row| row[4].value == Some(5.0)), "five seeds");
    assert!(section.blocks.iter().any(|block| matches!(block, Block::Chart(chart) if chart.panels.len() == 1)));
    // Cora alone says nothing about ogbn-arxiv.
    assert!(findings(&Interpretation, &runs, &scope).iter().all(Finding::is_unknown));
}
