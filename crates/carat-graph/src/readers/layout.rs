//! What a layout is: a name, how it is recognised, and how it is read.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::{EdgePlace, carat};
use crate::files::plain_or_gz;
use crate::npy::no_archive;
use crate::{DataError, Dataset};

/// A way in which files hold a dataset. Every reader declares one, and [`super::LAYOUTS`] lists them.
pub struct Layout {
    pub(super) name: &'static str,
    /// What a folder in this layout holds, for the error about folders in no layout. Empty for single files.
    pub(super) sign: &'static str,
    /// The names of the datasets that a place holds in this layout.
    pub(super) find: fn(&Place) -> Vec<String>,
    /// Reads the dataset of this name.
    pub(super) read: fn(&Path, &str, EdgePlace<'_>) -> Result<Dataset, DataError>,
}

impl Layout {
    /// The layout's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn read(&self, path: &Path, name: &str, edges: EdgePlace<'_>) -> Result<Dataset, DataError> {
        (self.read)(path, name, edges)
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Layout {}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a user's path leads to.
pub(crate) struct Place {
    path: PathBuf,
    name: String,
    contents: Contents,
}

/// What is inside.
enum Contents {
    /// The names of the files in a folder.
    Folder(Vec<String>),
    /// The names of the files in a `.npz` archive.
    Archive(Vec<String>),
    /// A file of another kind.
    File,
}

impl Place {
    pub(crate) fn new(path: &Path) -> Result<Self, DataError> {
        let contents = if path.is_dir() {
            let files = fs::read_dir(path).map_err(|e| DataError::read(path, e))?;
            Contents::Folder(files.filter_map(|file| file.ok()?.file_name().into_string().ok()).collect())
        } else if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz")) && !carat::is_one(path) {
            let file = File::open(path).map_err(|e| DataError::read(path, e))?;
            let archive = ZipArchive::new(BufReader::new(file)).map_err(|e| no_archive(path, e))?;
            Contents::Archive(archive.file_names_raw().filter_map(|n| String::from_utf8(n.to_vec()).ok()).collect())
        } else {
            Contents::File
        };
        // The folder's own name, also for `.` and `data/..`.
        let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let name = absolute.file_name().and_then(OsStr::to_str).unwrap_or("dataset").to_string();
        Ok(Self { path: path.to_path_buf(), name, contents })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The place's own name as the only dataset, or none.
    pub(super) fn itself_if(&self, recognised: bool) -> Vec<String> {
        if recognised { vec![self.name.clone()] } else { Vec::new() }
    }

    /// True for a folder with this file, plain or gzip-compressed.
    pub(super) fn has_file(&self, file: &str) -> bool {
        matches!(self.contents, Contents::Folder(_)) && plain_or_gz(&self.path.join(file)).is_some()
    }

    /// True for a `.npz`.
    pub(super) fn is_archive(&self) -> bool {
        matches!(self.contents, Contents::Archive(_))
    }

    /// True for a `.npz` with this array.
    pub(super) fn has_array(&self, array: &str) -> bool {
        let Contents::Archive(files) = &self.contents else { return false };
        files.iter().any(|file| file.strip_suffix(".npy") == Some(array))
    }

    /// What stands between `prefix` and `suffix` in the names of a folder's files, which may end in `.gz`.
    pub(super) fn files_between(&self, prefix: &str, suffix: &str) -> Vec<String> {
        let Contents::Folder(files) = &self.contents else { return Vec::new() };
        let cut = |file: &String| {
            Some(file.strip_suffix(".gz").unwrap_or(file).strip_prefix(prefix)?.strip_suffix(suffix)?.to_string())
        };
        files.iter().filter_map(cut).collect()
    }

    /// The layout of what is here, and the name of the dataset. The first layout that knows the place has it.
    pub(crate) fn recognise(&self) -> Result<(&'static Layout, String), DataError> {
        for layout in super::LAYOUTS {
            let mut found = (layout.find)(self);
            match (found.pop(), found.is_empty()) {
                (None, _) => {}
                (Some(name), true) => return Ok((layout, name)),
                (Some(_), false) => {
                    let problem = "several datasets in one folder; give each a folder of its own";
                    return Err(DataError::malformed(&self.path, problem));
                }
            }
        }
        if !matches!(self.contents, Contents::Folder(_)) {
            let advice = "give a .npz or .carat file, or a folder with edges.csv and nodes.csv (or .parquet)";
            return Err(DataError::malformed(&self.path, format!("this kind of file is not a dataset; {advice}")));
        }
        let mut signs: Vec<&str> = super::LAYOUTS.iter().map(|layout| layout.sign).filter(|s| !s.is_empty()).collect();
        let last = signs.pop().unwrap_or_default();
        let problem = format!("no dataset found: a folder needs {}, or {last}", signs.join(", "));
        Err(DataError::malformed(&self.path, problem))
    }
}
