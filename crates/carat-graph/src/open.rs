//! Opens what a user gave as `--data`: a name in the catalogue, or a path.

use std::path::Path;

use crate::catalogue::{self, Entry};
use crate::files::plain_or_gz;
use crate::readers::layout::Place;
use crate::readers::{EdgePlace, carat};
use crate::{DataError, Dataset};

/// Opens a catalogue dataset from `data_dir`, or the dataset at a path. A name in the catalogue takes precedence;
/// `./cora` is always a path.
pub fn open(data: &str, data_dir: &Path) -> Result<Dataset, DataError> {
    open_to(data, data_dir, EdgePlace::Memory)
}

/// True where `data` is the path of a user's folder of tables.
pub fn is_folder_of_tables(data: &str) -> bool {
    catalogue::find(data).is_none() && crate::readers::folder::is_one(Path::new(data))
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
    if catalogue::find(data).is_none() && carat::is_one_or_was(path) {
        return carat::verify(path);
    }
    open(data, data_dir)
}

fn open_to(data: &str, data_dir: &Path, edges: EdgePlace<'_>) -> Result<Dataset, DataError> {
    if let Some(entry) = catalogue::find(data) {
        return open_entry(&entry, data_dir);
    }
    let path = Path::new(data);
    if path.is_dir() || path.is_file() {
        let (layout, name) = Place::new(path)?.recognise()?;
        layout.read(path, &name, edges)
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
    if entry.files.iter().all(|file| plain_or_gz(&data_dir.join(&file.path)).is_none()) {
        return Err(not_downloaded());
    }
    let read = entry.layout.read(&data_dir.join(&entry.at), &entry.name, EdgePlace::Memory);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
