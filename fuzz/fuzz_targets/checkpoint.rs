//! Checkpoints of runs: what is let through must be safe to go on from.
#![no_main]

use std::sync::LazyLock;

use carat::{Trainer, checkpoint};
use carat_fuzz::{Stage, check_message, samples, unlabelled_config};
use carat_graph::{Dataset, readers};
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("checkpoint", samples::folder()));
static DATASET: LazyLock<Dataset> = LazyLock::new(|| readers::folder::read(STAGE.folder(), "tiny").unwrap());

fuzz_target!(|data: &[u8]| {
    STAGE.write("checkpoint.safetensors", data);
    match checkpoint::load(&STAGE.folder().join("checkpoint.safetensors")) {
        Err(error) => check_message(&error.to_string()),
        Ok((_, progress)) => {
            let config = unlabelled_config();
            let split = config.choose_split(&DATASET).unwrap();
            let mut trainer = Trainer::new(&DATASET, &split, &config).unwrap();
            if trainer.restore(progress)
                && let Err(error) = trainer.epoch(&|| false)
            {
                check_message(&error.to_string());
            }
        }
    }
});
