//! Checkpoints of runs.
#![no_main]

use std::sync::LazyLock;

use carat::checkpoint;
use carat_fuzz::{Stage, check_message};
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("checkpoint", Vec::new()));

fuzz_target!(|data: &[u8]| {
    STAGE.write("checkpoint.safetensors", data);
    if let Err(error) = checkpoint::load(&STAGE.folder().join("checkpoint.safetensors")) {
        check_message(&error.to_string());
    }
});
