//! A user's folder of CSV tables.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::{Stage, exercise, samples};
use carat_graph::readers::folder;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("folder_csv", samples::folder()));

fuzz_target!(|data: &[u8]| STAGE.with(data, |folder| exercise(folder::read(folder, "tiny"))));
