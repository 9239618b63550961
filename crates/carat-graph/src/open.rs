//! Opens what a user gave as `--data`: a name in the catalogue, or a path.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;

use crate::catalogue::{self, Entry, Layout};
use crate::files::plain_or_gz;
use crate::npy::no_archive;
use crate::readers::{EdgePlace, carat, folder, geom_gcn, npz, ogb, planetoid, syn_cora, tudataset};
use crate::{DataError, Dataset};

/// Opens a catalogue dataset from `data_dir`, or the dataset at a path. A name in the catalogue takes precedence;
/// `./cora` is always a path.
pub fn open(data: &str, data_dir: &Path) -> Result<Dataset, DataError> {
    open_to(data, data_dir, EdgePlace::Memory)
}

/// True where `data` is the path of a user's folder of tables.
pub fn is_folder_of_tables(data: &str) -> bool {
    catalogue::find(data).is_none() && folder::is_one(Path::new(data))
}

/// As [`open`], for edge lists larger than memory: if `data` is a user's folder of tables or `.npz`, the edges are
/// sorted in temporary files in the folder `scratch`, and the graph stays in one of them.
pub fn open_on_disk(data: &str, data_dir: &Path, scratch: &Path) -> Result<Dataset, DataError> {
    open_to(data, data_dir, EdgePlace::Disk(scratch))
}

/// As [`open`], but a `.carat` file, most of which opening does not read, is read whole and compared with its
/// checksums.
pub fn open_verified(data: &str, data_dir: &Path) -> Result<Dataset, DataError> {
    let path = Path::new(data);
    if catalogue::find(data).is_none() && path.is_file() && is_carat(path) {
        return carat::verify(path);
    }
    open(data, data_dir)
}

/// By its first bytes, or by its ending, so that a damaged one is reported as what it was.
fn is_carat(path: &Path) -> bool {
    carat::is_one(path) || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("carat"))
}

fn open_to(data: &str, data_dir: &Path, edges: EdgePlace<'_>) -> Result<Dataset, DataError> {
    if let Some(entry) = catalogue::find(data) {
        return open_entry(&entry, data_dir);
    }
    let path = Path::new(data);
    if path.is_dir() {
        open_folder(path, edges)
    } else if path.is_file() {
        open_file(path, edges)
    } else if path.components().count() > 1
        || path.extension().is_some_and(|ending| ending == "npz" || ending == "carat")
    {
        Err(DataError::malformed(path, "there is no such file or folder"))
    } else {
        Err(DataError::Unknown { name: data.to_string(), suggestion: catalogue::nearest(data).map(str::to_string) })
    }
}

/// Opens a dataset of the catalogue, or a member of one of its families.
pub fn open_entry(entry: &Entry, data_dir: &Path) -> Result<Dataset, DataError> {
    if let Some(example) = entry.variants.first() {
        return Err(DataError::Invalid(format!(
            "{} is a family of {} graphs; name one of them, such as {example}",
            entry.name,
            entry.variants.len()
        )));
    }
    let not_downloaded = || DataError::NotDownloaded { name: entry.name.clone(), data_dir: data_dir.to_path_buf() };
    let first = entry.files.first().ok_or_else(not_downloaded)?;
    if entry.files.iter().all(|file| plain_or_gz(&data_dir.join(&file.path)).is_none()) {
        return Err(not_downloaded());
    }
    let shared = data_dir.join(entry.layout.name());
    let read = match entry.layout {
        Layout::Planetoid => planetoid::read(&shared, &entry.name),
        Layout::GeomGcn => geom_gcn::read(&shared, &entry.name),
        Layout::SynCora => syn_cora::read(&data_dir.join(&first.path)),
        Layout::Ogb => ogb::read(&data_dir.join(&entry.name), &entry.name),
        Layout::TuDataset => tudataset::read(&shared.join(&entry.name), &entry.name),
    };
    match read {
        // A file is missing: downloading the rest will help.
        Err(_) if !entry.is_present(data_dir) => Err(not_downloaded()),
        Ok(dataset) if dataset.name() != entry.name => {
            let mut parts = dataset.into_parts();
            parts.name.clone_from(&entry.name);
            Dataset::new(parts)
        }
        other => other,
    }
}

/// Opens a single file: a `.carat` by its first bytes; a `.npz` in the user's own layout or in syn-cora's, told apart
/// by the arrays inside.
fn open_file(path: &Path, edges: EdgePlace<'_>) -> Result<Dataset, DataError> {
    if is_carat(path) {
        return carat::read(path);
    }
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz")) {
        let advice = "give a .npz or .carat file, or a folder with edges.csv and nodes.csv (or .parquet)";
        return Err(DataError::malformed(path, format!("this kind of file is not a dataset; {advice}")));
    }
    let file = File::open(path).map_err(|e| DataError::read(path, e))?;
    let zip = zip::ZipArchive::new(std::io::BufReader::new(file)).map_err(|e| no_archive(path, e))?;
    let is_syn_cora = zip.index_for_name("adj_indptr.npy").is_some();
    drop(zip);
    if is_syn_cora { syn_cora::read(path) } else { npz::read_to(path, edges) }
}

/// Opens a folder in whichever layout its files show.
fn open_folder(path: &Path, edges: EdgePlace<'_>) -> Result<Dataset, DataError> {
    let name = folder_name(path);
    let has = |file: &str| plain_or_gz(&path.join(file)).is_some();
    if folder::is_one(path) {
        return folder::read_to(path, &name, edges);
    }
    if has("raw/edge.csv") {
        return ogb::read(path, &name);
    }
    if has("out1_graph_edges.txt") {
        let absolute = fs::canonicalize(path).map_err(|e| DataError::read(path, e))?;
        return match absolute.parent() {
            Some(parent) => geom_gcn::read(parent, &name),
            None => Err(DataError::malformed(path, "a Geom-GCN dataset must be a folder of its own")),
        };
    }
    let files: Vec<String> = fs::read_dir(path)
        .map_err(|e| DataError::read(path, e))?
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .collect();
    let between = |prefix: &str, suffix: &str| -> Vec<String> {
        let cut = |file: &String| {
            Some(file.strip_suffix(".gz").unwrap_or(file).strip_prefix(prefix)?.strip_suffix(suffix)?.to_string())
        };
        files.iter().filter_map(cut).collect()
    };
    match (&between("", "_A.txt")[..], &between("ind.", ".graph")[..]) {
        ([set], _) => tudataset::read(path, set),
        ([], [dataset]) => planetoid::read(path, dataset),
        ([], []) => Err(DataError::malformed(
            path,
            "no dataset found: a folder needs edges.csv and nodes.csv (or .parquet), OGB's raw/edge.csv.gz, \
             Geom-GCN's out1_*.txt, Planetoid's ind.*, or TUDataset's *_A.txt",
        )),
        _ => Err(DataError::malformed(path, "several datasets in one folder; give each a folder of its own")),
    }
}

/// The folder's own name, also for `.` and `data/..`.
fn folder_name(path: &Path) -> String {
    let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    absolute.file_name().and_then(OsStr::to_str).unwrap_or("dataset").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let said = |data: &str| open(data, folder.path()).unwrap_err().to_string();
        assert!(said("cora").contains("cora is not in the data folder"), "{}", said("cora"));
        assert!(said("coar").contains("did you mean 'cora'?"), "{}", said("coar"));
        assert!(said("reddit").contains("carat data list"), "{}", said("reddit"));
        assert!(said("syn-cora").contains("syn-cora-h0.00-r1"), "{}", said("syn-cora"));
        assert!(said("my/graph.npz").contains("no such file"), "{}", said("my/graph.npz"));
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        assert!(said(empty.to_str().unwrap()).contains("no dataset found"));
        let text = folder.path().join("graph.txt");
        fs::write(&text, "0 1").unwrap();
        assert!(said(text.to_str().unwrap()).contains("not a dataset"));
        let fake = folder.path().join("fake.npz");
        fs::write(&fake, "not a zip").unwrap();
        assert!(said(fake.to_str().unwrap()).contains("no .npz archive"));
    }

    #[test]
    fn a_download_that_stopped_half_way_is_not_a_broken_dataset() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("planetoid")).unwrap();
        fs::write(folder.path().join("planetoid/ind.cora.x"), "half").unwrap();
        let error = open("cora", folder.path()).unwrap_err();
        assert!(matches!(error, DataError::NotDownloaded { .. }), "{error}");
    }
}
