//! The `.npz` of Platonov et al.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::samples::{self, Files};
use carat_fuzz::{Stage, archive, exercise, members};
use carat_graph::readers::heterophilous;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("heterophilous", Vec::new()));
static MEMBERS: LazyLock<Files> = LazyLock::new(|| members(&samples::heterophilous_arrays()));

fuzz_target!(|data: &[u8]| {
    STAGE.write("graph.npz", &archive(&MEMBERS, data));
    exercise(heterophilous::read(&STAGE.folder().join("graph.npz")));
});
