//! A user's folder of CSV tables.
#![no_main]

use std::sync::LazyLock;

use carat_fuzz::{Stage, exercise, samples};
use carat_graph::readers::folder;
use carat_graph::{Encoding, Normalise};
use libfuzzer_sys::fuzz_target;

static STAGE: LazyLock<Stage> = LazyLock::new(|| Stage::new("folder_csv", samples::folder()));

fuzz_target!(|data: &[u8]| STAGE.with(data, |folder| {
    let dataset = folder::read(folder, "tiny");
    if let Ok(dataset) = &dataset {
        // What is learnt from a table survives its file and applies to the table.
        let encoding = Encoding::fit(dataset, &[0], Normalise::Standard).unwrap();
        let again = Encoding::from_toml(&encoding.to_toml().unwrap(), folder).unwrap();
        assert_eq!(again, encoding);
        if let Ok((encoded, _)) = encoding.apply(dataset) {
            assert!(encoded.features().to_dense().iter().all(|value| value.is_finite()));
        }
    }
    exercise(dataset);
}));
