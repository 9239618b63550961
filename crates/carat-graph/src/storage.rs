//! Numbers that lie in memory or in a file.
//!
//! A graph larger than memory is read from a file that the operating system maps: pages are loaded when they are read
//! and dropped when memory is short. [`Storage`] is a slice that hides where its numbers are, so that graphs, features
//! and labels have the same types in both cases.

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;

use crate::DataError;

/// Whether numbers have the same layout in files and in memory: little-endian, with offsets of 64 bits.
const SUPPORTED: bool = cfg!(all(target_endian = "little", target_pointer_width = "64"));

/// Refuses a machine whose memory layout differs from the files'.
pub(crate) fn check_machine(path: &Path) -> Result<(), DataError> {
    if SUPPORTED {
        return Ok(());
    }
    let problem = "mapped graphs need a 64-bit little-endian machine, which this is not; use a .npz file here";
    Err(DataError::malformed(path, problem))
}

/// A file mapped for reading.
pub(crate) struct Map {
    path: PathBuf,
    bytes: Mmap,
}

impl Map {
    /// Maps a whole file, which has at least one byte; `path` is its name in errors.
    pub(crate) fn new(file: &File, path: &Path) -> Result<Self, DataError> {
        check_machine(path)?;
        // SAFETY: The map is read-only and private to this type, which hands it out as shared slices of plain numbers
        // (`Pod`: every pattern of bits is a value), so no reference of ours can write to it and no content is invalid.
        // What remains is that another process changes the file in place. This program never does: it writes files
        // under another name and renames them, which leaves a mapped file as it was. No program can keep others from
        // doing it (PyArrow and safetensors map files on the same terms); then numbers change under the reader, whose
        // indexing is checked like any other, or, if the file was cut short, the system ends the process (SIGBUS). The
        // documentation of the format says so to users.
        let bytes = unsafe { Mmap::map(file) }.map_err(|e| DataError::read(path, e))?;
        Ok(Self { path: path.to_path_buf(), bytes })
    }

    /// Every byte of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Map({}, {} bytes)", self.path.display(), self.bytes.len())
    }
}

/// A read-only slice, owned or part of a mapped file. Clones share the numbers.
#[derive(Clone)]
pub struct Storage<T: Pod> {
    place: Place<T>,
}

#[derive(Clone)]
enum Place<T> {
    Owned(Arc<Vec<T>>),
    Mapped { map: Arc<Map>, bytes: Range<usize>, of: PhantomData<T> },
}

impl<T: Pod> Storage<T> {
    /// The numbers at `bytes` of a file. `None` if the range exceeds the file, is not a whole number of numbers, or is
    /// not aligned for them.
    pub(crate) fn mapped(map: &Arc<Map>, bytes: Range<usize>) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(map.bytes().get(bytes.clone())?).ok()?;
        Some(Self { place: Place::Mapped { map: map.clone(), bytes, of: PhantomData } })
    }

    /// The mapped file that holds the numbers; `None` if they are in memory.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::Owned(_) => None,
            Place::Mapped { map, .. } => Some(map.path()),
        }
    }
}

impl<T: Pod> Deref for Storage<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.place {
            Place::Owned(values) => values,
            // The same cast succeeded when this was made.
            Place::Mapped { map, bytes, .. } => bytemuck::cast_slice(&map.bytes()[bytes.clone()]),
        }
    }
}

impl<T: Pod> From<Vec<T>> for Storage<T> {
    fn from(values: Vec<T>) -> Self {
        Self { place: Place::Owned(Arc::new(values)) }
    }
}

impl<T: Pod> FromIterator<T> for Storage<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        values.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T: Pod> Default for Storage<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Storage<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

impl<T: Pod + PartialEq> PartialEq for Storage<T> {
    fn eq(&self, other: &Self) -> bool {
        self.deref() == other.deref()
    }
}

impl<T: Pod + Eq> Eq for Storage<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn map(bytes: &[u8]) -> Arc<Map> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Arc::new(Map::new(&file, Path::new("numbers")).unwrap())
    }

    #[test]
    fn owned_and_mapped_numbers_are_equal() {
        let numbers = [7u32, 0, u32::MAX, 1];
        let map = map(bytemuck::cast_slice(&numbers));
        let mapped = Storage::<u32>::mapped(&map, 4..16).unwrap();
        drop(map);
        let owned = Storage::from(numbers[1..].to_vec());
        assert_eq!((&mapped, mapped.file()), (&owned, Some(Path::new("numbers"))));
        assert_eq!((&mapped.clone()[1..], owned.file()), (&numbers[2..], None));
        assert_eq!(format!("{mapped:?}"), format!("{:?}", &numbers[1..]));
        assert_ne!(owned, Storage::from(vec![0]));
    }

    #[test]
    fn a_range_that_holds_no_such_numbers_is_refused() {
        let map = map(&[0; 32]);
        for range in [1..9, 0..7, 24..40, 40..48, Range { start: 8, end: 0 }] {
            assert!(Storage::<u64>::mapped(&map, range.clone()).is_none(), "{range:?}");
        }
        assert_eq!(Storage::<u64>::mapped(&map, 8..8).map(|none| none.len()), Some(0));
    }
}
