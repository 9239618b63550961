//! A user's folder of Parquet tables.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::{Stage, exercise, parquet};
use carat_graph::readers::folder;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("folder_parquet", parquet()));

fuzz_target!(|data: &[u8]| STAGE.with(data, |path| exercise(folder::read(path, "tiny"))));
