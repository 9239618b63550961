//! A mapped `.carat` file.
#![no_main]

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use carat_fuzz::{Stage, exercise, exercise_mapped, sealed};
use carat_graph::readers::carat;
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("carat_file", Vec::new()));
static NUMBER: AtomicUsize = AtomicUsize::new(0);

fuzz_target!(|data: &[u8]| {
    // A new file each time: one that is mapped must not be written to.
    let name = format!("{}.carat", NUMBER.fetch_add(1, Ordering::Relaxed));
    STAGE.write(&name, &sealed(data));
    let path = STAGE.folder().join(&name);
    if let Ok(dataset) = carat::read(&path) {
        exercise_mapped(&dataset);
    }
    exercise(carat::verify(&path));
    let _ = std::fs::remove_file(path);
});
