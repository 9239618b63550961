//! OGB's CSV files, plain or gzip-compressed.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::{Stage, exercise, samples};
use carat_graph::readers::ogb;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("ogb", samples::ogb()));

fuzz_target!(|data: &[u8]| STAGE.with(data, |folder| exercise(ogb::read(folder, "tiny"))));
