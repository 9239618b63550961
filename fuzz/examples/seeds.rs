//! Writes a small valid input of every kind to `corpus/<target>/`, for the fuzzer to start from.

use std::io::Write;
use std::path::{Path, PathBuf};

use carat::{Trainer, checkpoint};
use carat_fuzz::samples::{self, Files};
use carat_fuzz::{Stage, archive, mapped, members, parquet, unlabelled_config};
use carat_nn::{AttentionKind, Network, NetworkConfig};

fn folder(target: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn seed(target: &str, name: &str, parts: &[&[u8]]) {
    std::fs::write(folder(target).join(format!("seed-{name}")), parts.concat()).unwrap();
}

/// One seed per file, with the number that picks it in front; text also gzip-compressed.
fn seed_files(target: &str, files: &Files) {
    for (at, (_, bytes)) in files.iter().enumerate() {
        seed(target, &at.to_string(), &[&[at as u8], bytes]);
        if bytes.is_ascii() {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            gzip.write_all(bytes).unwrap();
            seed(target, &format!("{at}-gz"), &[&[at as u8], &gzip.finish().unwrap()]);
        }
    }
}

fn main() {
    seed_files("planetoid", &samples::planetoid());
    seed_files("geom_gcn", &samples::geom_gcn());
    seed_files("ogb", &samples::ogb());
    seed_files("tudataset", &samples::tudataset());
    seed_files("folder_csv", &samples::folder());
    seed_files("folder_parquet", &parquet());
    let archives = [
        ("npz", samples::own_arrays()),
        ("syn_cora", samples::syn_cora_arrays()),
        ("heterophilous", samples::heterophilous_arrays()),
    ];
    for (target, arrays) in archives {
        let members = members(&arrays);
        seed_files(target, &members);
        let whole = archive(&members, &[0]);
        seed(target, "whole", &[&[members.len() as u8], &whole]);
    }
    seed("carat_file", "whole", &[&[1], &mapped()]);
    seed("carat_file", "sealed", &[&[0], &mapped()]);
    // The small fixtures of the reader's own tests, written by Python.
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/carat-graph/tests/files");
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let (target, pick) = match name.split('-').next() {
            Some("csr") => ("planetoid", 4),
            Some("array") => ("planetoid", 5),
            Some("dict") => ("planetoid", 6),
            _ => ("npz", samples::own_arrays().len() as u8),
        };
        seed(target, &name, &[&[pick], &bytes]);
    }
    for arch in AttentionKind::ALL {
        let sizes = NetworkConfig { arch, features: 2, hidden: 2, heads: 1, layers: 1, classes: 2 };
        let network = Network::<f32>::new(sizes, 1).unwrap();
        seed("model", &format!("{arch:?}"), &[&network.to_safetensors().unwrap()]);
    }
    // A run with a teacher, two epochs old.
    let stage = Stage::new("seeds", samples::folder());
    let dataset = carat_graph::readers::folder::read(stage.folder(), "tiny").unwrap();
    let config = unlabelled_config();
    let split = config.choose_split(&dataset).unwrap();
    let mut trainer = Trainer::new(&dataset, &split, &config).unwrap();
    for _ in 0..2 {
        trainer.epoch(&|| false).unwrap();
    }
    let progress = trainer.progress().unwrap();
    assert!(!progress.teacher.is_empty());
    checkpoint::save(&folder("checkpoint").join("seed-0"), &config, &progress).unwrap();
    let _ = std::fs::remove_dir_all(stage.folder());
    seed(
        "config",
        "toml",
        &[
            &[0],
            b"data = \"cora\"\nsplit = 0\nsplit-ratio = \"0.6,0.2,0.2\"\narch = \"gat\"\n\
        hidden = 8\nheads = 2\nlayers = 2\nlr = 0.01\nbatch-size = 100\nfanout = [10, 5]\nepochs = 4\n\
        protocol = \"best\"\npatience = 3\nseed = 1\n",
        ],
    );
    let one = "lambda = 0.5\nrounds = 5\nregulariser = \"causal\"\ninterventions = \"exact\"\ntemperature = 0.1\n\
        exponent = \"degree\"\nloss-floor = 0.01\nentities = \"train\"\ntarget = \"bce\"\nclamp = 2.0\nwarm-up = \
        8\nteacher = 0.8\n";
    seed("config", "car", &[&[0], one.as_bytes()]);
    let other = "lambda = [0.5, 1]\nrounds = \"all\"\nregulariser = \"vote\"\ninterventions = \"rounds\"\n\
        exponent = \"one\"\nentities = \"all\"\ntarget = \"distribution\"\n";
    seed("config", "car-all", &[&[0], other.as_bytes()]);
    seed(
        "config",
        "json",
        &[
            &[1],
            b"{\"test_loss\": null, \"test_accuracy\": 0.5, \"val_loss\": 1.0, \
        \"val_accuracy\": 0.5, \"attention_kl\": null, \"uniform_kl\": null, \"attention_auc\": null, \"epochs\": 3, \
        \"best_epoch\": 1, \"train_seconds\": 0.1, \"step_ms\": 1.0, \"peak_memory_mb\": null, \
        \"interrupted\": false}",
        ],
    );
}
