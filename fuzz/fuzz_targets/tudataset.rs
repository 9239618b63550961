//! TUDataset's text files.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::{Stage, exercise, samples};
use carat_graph::readers::tudataset;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("tudataset", samples::tudataset()));

fuzz_target!(|data: &[u8]| STAGE.with(data, |folder| exercise(tudataset::read(folder, "tiny"))));
