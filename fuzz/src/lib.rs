//! What the fuzz targets share: a folder in memory with a valid dataset, of which one file is the fuzzer's.

#[path = "../../crates/carat-cli/tests/support/samples.rs"]
pub mod samples;

use std::path::{Path, PathBuf};

use carat::{EntityChoice, Lambda, Target, TrainConfig};
use carat_graph::{DataError, Dataset, Split, SplitRatio};
use samples::Files;

/// A per-process folder of valid files.
pub struct Stage {
    folder: PathBuf,
    files: Files,
}

impl Stage {
    /// Writes the files into a new folder, in memory where the system has a place for that.
    pub fn new(target: &str, files: Files) -> Self {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let prefix = format!("carat-fuzz-{target}-");
        remove_left_over(&root, &prefix);
        let stage = Self { folder: root.join(format!("{prefix}{}", std::process::id())), files };
        for (name, bytes) in &stage.files {
            stage.write(name, bytes);
        }
        stage
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Replaces the file that the first byte picks by the bytes behind it, calls `read`, and puts the file back.
    pub fn with(&self, data: &[u8], read: impl FnOnce(&Path)) {
        let Some((&pick, bytes)) = data.split_first() else { return };
        let (name, valid) = &self.files[usize::from(pick) % self.files.len()];
        self.write(name, bytes);
        read(&self.folder);
        self.write(name, valid);
    }

    /// Writes one file.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// libFuzzer ends without cleaning up; the next process of the same target does it.
fn remove_left_over(root: &Path, prefix: &str) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(prefix).filter(|owner| owner.bytes().all(|b| b.is_ascii_digit()));
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A `.npz` file from the fuzzer's bytes. The first byte picks one member of a valid archive, to be replaced by the
/// rest and given its right checksum; beyond the members it means that the rest is the whole file.
pub fn archive(members: &Files, data: &[u8]) -> Vec<u8> {
    let Some((&pick, bytes)) = data.split_first() else { return Vec::new() };
    let pick = usize::from(pick) % (members.len() + 1);
    if pick == members.len() {
        return bytes.to_vec();
    }
    let replaced = members.iter().enumerate().map(|(at, (name, valid))| {
        let content = if at == pick { bytes } else { valid.as_slice() };
        (name.as_str(), content)
    });
    samples::archive(replaced)
}

/// The members of an archive of these arrays.
pub fn members(arrays: &[samples::Array<'_>]) -> Files {
    arrays
        .iter()
        .map(|(name, descr, shape, bytes)| (format!("{name}.npy"), samples::npy(descr, shape, bytes)))
        .collect()
}

/// A dataset that a reader let through must be safe to use.
pub fn exercise(read: Result<Dataset, DataError>) {
    match read {
        Ok(dataset) => {
            let _ = (dataset.homophily(), dataset.mean_degree(), dataset.features().num_columns());
            let split = Split::stratified(dataset.labels(), SplitRatio::default(), 0);
            assert!(split.train.len() <= dataset.labels().len());
            for node in 0..dataset.num_nodes().min(100) as u32 {
                for &neighbour in dataset.graph().in_neighbours(node) {
                    assert!((neighbour as usize) < dataset.num_nodes());
                }
            }
        }
        Err(error) => check_message(&error.to_string()),
    }
}

/// A `.carat` file from the fuzzer's bytes. Where the first byte is even, head, table and sections get the length and
/// the checksums that fit them, so that lies are met and not only damage.
pub fn sealed(data: &[u8]) -> Vec<u8> {
    let Some((&mend, bytes)) = data.split_first() else { return Vec::new() };
    let mut file = bytes.to_vec();
    if mend % 2 == 1 || file.len() < 1088 {
        return file;
    }
    let length = file.len() as u64;
    file[16..24].copy_from_slice(&length.to_le_bytes());
    let count = (file[12] as usize).min(32);
    for entry in (0..count).map(|k| 32 + 32 * k) {
        let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        let (start, size) = (number(entry + 8) as usize, number(entry + 16) as usize);
        let section = start.checked_add(size).and_then(|end| file.get(start..end));
        let checksum = section.map_or(0, crc32fast::hash);
        file[entry + 4..entry + 8].copy_from_slice(&checksum.to_le_bytes());
    }
    let table = crc32fast::hash(&file[32..32 + 32 * count]);
    file[24..28].copy_from_slice(&table.to_le_bytes());
    let head = crc32fast::hash(&file[..28]);
    file[28..32].copy_from_slice(&head.to_le_bytes());
    file
}

/// A mapped dataset whose features nobody has looked at yet must be safe to use too: blocks, rows, the other direction.
pub fn exercise_mapped(dataset: &Dataset) {
    let _ = (dataset.homophily(), dataset.spurious().map(carat_graph::Flags::count), dataset.graph().out_neighbours(0));
    let targets: Vec<u32> = (0..dataset.num_nodes().min(3) as u32).collect();
    let blocks = carat_graph::BlockBuilder::new(dataset.graph()).build(&targets, 2);
    match dataset.features().check_rows(blocks.nodes()) {
        Ok(()) => drop(carat_nn::Input::<f32>::new(dataset.features(), blocks.nodes())),
        Err(error) => check_message(&error.to_string()),
    }
}

/// The sample folder as a `.carat` file.
pub fn mapped() -> Vec<u8> {
    let stage = Stage::new("carat-source", samples::folder());
    let dataset = carat_graph::readers::folder::read(stage.folder(), "tiny").unwrap();
    let path = stage.folder().join("tiny.carat");
    carat_graph::writers::carat::write(&dataset, &path).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let _ = std::fs::remove_dir_all(stage.folder());
    bytes
}

/// Settings of a run on the sample folder whose checkpoint has everything that one can have: unlabelled nodes are
/// entities, judged by averages that are part of it.
pub fn unlabelled_config() -> TrainConfig {
    TrainConfig::default()
        .hidden(2)
        .heads(1)
        .layers(1)
        .lambda(Lambda::new(1.0))
        .entities(EntityChoice::All)
        .target(Target::Distribution)
        .warm_up(1)
}

/// An error is one or two lines, and short enough to be read.
pub fn check_message(message: &str) {
    assert!(message.lines().count() <= 2 && message.len() < 4_000, "a long error: {message:?}");
}

/// The sample folder as Parquet tables.
pub fn parquet() -> Files {
    let stage = Stage::new("parquet-source", samples::folder());
    let dataset = carat_graph::readers::folder::read(stage.folder(), "tiny").unwrap();
    let out = stage.folder().join("out");
    carat_graph::writers::folder::write(&dataset, &out, carat_graph::table::TableFormat::Parquet).unwrap();
    let files = ["nodes", "edges", "classes"].map(|stem| {
        let name = format!("{stem}.parquet");
        let bytes = std::fs::read(out.join(&name)).unwrap();
        (name, bytes)
    });
    let _ = std::fs::remove_dir_all(stage.folder());
    files.into()
}
