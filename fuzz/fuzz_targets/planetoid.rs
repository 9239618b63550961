//! Planetoid's pickles and its test index.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::{Stage, exercise, samples};
use carat_graph::readers::planetoid;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("planetoid", samples::planetoid()));

fuzz_target!(|data: &[u8]| STAGE.with(data, |folder| exercise(planetoid::read(folder, "tiny"))));
