//! syn-cora's `.npz`.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::samples::{self, Files};
use carat_fuzz::{Stage, archive, exercise, members};
use carat_graph::readers::syn_cora;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("syn_cora", Vec::new()));
static MEMBERS: LazyLock<Files> = LazyLock::new(|| members(&samples::syn_cora_arrays()));

fuzz_target!(|data: &[u8]| {
    STAGE.write("graph.npz", &archive(&MEMBERS, data));
    exercise(syn_cora::read(&STAGE.folder().join("graph.npz")));
});
