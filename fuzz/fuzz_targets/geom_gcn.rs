//! Geom-GCN's text files and split masks.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::{Stage, exercise, samples};
use carat_graph::readers::geom_gcn;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("geom_gcn", samples::geom_gcn()));

fuzz_target!(|data: &[u8]| STAGE.with(data, |folder| exercise(geom_gcn::read(folder, "tiny"))));
