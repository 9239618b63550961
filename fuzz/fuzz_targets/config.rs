//! A run folder's `config.toml` and `summary.json`, and what the settings choose on a small dataset.
#![no_main]

use std::sync::LazyLock;

use carat::RunFolder;
use carat_fuzz::{Stage, check_message, samples};
use carat_graph::{Dataset, readers};
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("config", samples::folder()));
static DATASET: LazyLock<Dataset> = LazyLock::new(|| readers::folder::read(STAGE.folder(), "tiny").unwrap());

fuzz_target!(|data: &[u8]| {
    let Some((&pick, bytes)) = data.split_first() else { return };
    let run = RunFolder::new(STAGE.folder());
    if pick % 2 == 1 {
        STAGE.write("summary.json", bytes);
        if let Err(error) = run.summary() {
            check_message(&error.to_string());
        }
        return;
    }
    STAGE.write("config.toml", bytes);
    match run.config() {
        Ok(None) => unreachable!("the file is there"),
        Err(error) => check_message(&error.to_string()),
        Ok(Some(config)) => {
            let checked = config.check().and_then(|()| config.choose_split(&DATASET));
            if let Err(error) = checked {
                check_message(&error.to_string());
            }
            // A run folder's settings have been checked, so there is a strength for every layer.
            if let Some(car) = config.car() {
                let strengths = car.lambda.values();
                assert!(strengths.len() == config.network.layers && strengths.iter().all(|value| value.is_finite()));
            }
        }
    }
});
