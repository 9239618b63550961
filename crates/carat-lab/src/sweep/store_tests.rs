//! Reads a store that an older version wrote (commit 8046d23, before the tree of settings), from its SQL dump.

use std::collections::BTreeSet;
use std::path::Path;

use carat::ModelKind;
use rusqlite::Connection;

use super::plan::key;
use super::{CODE, Grid, Store, merge};

/// The grids in the store.
const GRID: &str = "data = 'wisconsin'\nhidden = 4\nepochs = 2\nlambda = [0, 1]\nregulariser = ['causal', 'constant']\n\
                    model = ['attention', 'gcn']";
const PRUNED: &str = "data = 'wisconsin'\nhidden = 4\nepochs = 2\nmodel = 'gcn'\n\
                      prune = [{ threshold = 0.2, guide = { hidden = 4, heads = 1, epochs = 2, lambda = 1 } }]";

fn connection(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("before.db")).unwrap();
    connection.execute_batch(include_str!("../../tests/fixtures/store-before.sql")).unwrap();
    connection
}

#[test]
fn an_older_store_opens_and_its_settings_round_trip_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let connection = connection(folder.path());
    let records = Store::open_existing(&folder.path().join("before.db")).unwrap().records().unwrap();
    assert_eq!(records.len(), 5);
    for record in &records {
        let query = "SELECT config FROM runs WHERE key = ?1";
        let text: String = connection.query_row(query, [&record.key], |row| row.get(0)).unwrap();
        assert_eq!(serde_json::to_string(&record.config).unwrap(), text);
        assert_eq!(key(&record.code, &record.config, &record.data_sum).unwrap(), record.key);
    }
}

#[test]
fn an_older_store_gets_the_figures_that_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let connection = connection(folder.path());
    let path = folder.path().join("before.db");
    let lacking = Store::open_existing(&path).unwrap().records().unwrap();
    let records = Store::open(&path).unwrap().records().unwrap();
    assert_eq!(records, lacking);
    // A graph convolution network has no attention.
    let with_attention = |record: &&super::Record| record.config.model == ModelKind::Attention;
    let figures = records.iter().find(with_attention).unwrap().result.as_ref().unwrap().figures;
    assert!(figures.test.loss.is_some() && figures.test.roc_auc.is_none() && figures.attention_kl.is_some());
    connection.execute("UPDATE runs SET test_roc_auc = 0.75 WHERE key = ?1", [&records[0].key]).unwrap();
    let query = "SELECT count(*), sum(test_roc_auc) FROM results";
    let found: (i64, f64) = connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(found, (5, 0.75));
    let figures = Store::open(&path).unwrap().records().unwrap()[0].result.as_ref().unwrap().figures;
    assert_eq!(figures.test.roc_auc, Some(0.75));
}

#[test]
fn the_keys_of_a_grid_s_runs_have_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    drop(connection(folder.path()));
    let records = Store::open(&folder.path().join("before.db")).unwrap().records().unwrap();
    let (code, data_sum) = (&records[0].code, &records[0].data_sum);
    let runs =
        [GRID, PRUNED].map(|text| Grid::from_toml(text, Path::new("grid.toml")).unwrap().runs().unwrap()).concat();
    let keys: BTreeSet<String> = runs.iter().map(|run| key(code, run, data_sum).unwrap()).collect();
    assert_eq!(keys, records.iter().map(|record| record.key.clone()).collect());
}

#[test]
fn results_of_other_code_are_shown_only_without_our_own() {
    let folder = tempfile::tempdir().unwrap();
    let connection = connection(folder.path());
    let path = folder.path().join("before.db");
    let found = || merge(&[Store::open_existing(&path).unwrap()]).unwrap();
    assert_eq!((found().runs.len(), found().curves.len(), found().left_out), (5, 5, 0));
    let copy =
        "INSERT INTO runs SELECT 'ours', training, ?1, data_sum, config, error, test_loss, test_accuracy, val_loss,
        val_accuracy, attention_kl, uniform_kl, attention_auc, epochs, kept_epoch, train_seconds, finished
        FROM runs WHERE key LIKE '1cea%'";
    assert_eq!(connection.execute(copy, [CODE]).unwrap(), 1);
    assert_eq!((found().runs.len(), found().left_out), (1, 5));
}
