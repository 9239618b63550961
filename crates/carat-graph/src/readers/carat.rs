//! A dataset in one mapped `.carat` file; `docs/mapped-format.md` is its specification.
//!
//! Opening reads the small sections (head, sizes, splits, names) and compares them with their checksums. It scans
//! offsets, sources and labels once, because their values index other arrays. Features are not read: their rows are
//! checked when they are used ([`crate::Features::check_rows`]). [`verify`] reads everything and compares all
//! checksums.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;

use crate::carat_file::{Kind, MAGIC, Section, read_head, u64_at};
use crate::labels::MAX_CLASSES;
use crate::readers::layout::Layout;
use crate::storage::Map;
use crate::{
    CsrMatrix, DataError, Dataset, DatasetParts, EdgeFeatures, Features, Flags, Graph, Labels, Split, Storage,
};

pub(super) const LAYOUT: Layout = Layout {
    name: "carat",
    sign: "",
    find: |place| place.itself_if(is_one_or_was(place.path())),
    read: |path, _, _| read(path),
};

/// True where the file begins as a `.carat` file does, whatever its name.
pub(crate) fn is_one(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// By its first bytes, or by its ending, so that a damaged one is reported as what it was.
pub(crate) fn is_one_or_was(path: &Path) -> bool {
    path.is_file() && (is_one(path) || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("carat")))
}

/// Opens a dataset. Its graph, features and labels stay in the file.
///
/// The file must not be changed in place while it is open: numbers would change under the reader, and if it is cut
/// short the system ends the process. Writing a new file and renaming it, as `carat` does, is safe.
pub fn read(path: &Path) -> Result<Dataset, DataError> {
    let file = OpenFile::new(path)?;
    file.dataset().map_err(|e| e.in_file(path))
}

/// Opens a dataset and reads all of it once: every section's checksum, and every feature.
pub fn verify(path: &Path) -> Result<Dataset, DataError> {
    let file = OpenFile::new(path)?;
    file.check_all_checksums()?;
    let dataset = file.dataset().map_err(|e| e.in_file(path))?;
    dataset.features().check()?;
    dataset.edge_features().map_or(Ok(()), EdgeFeatures::check)?;
    Ok(dataset)
}

struct OpenFile {
    map: Arc<Map>,
    sections: Vec<Section>,
}

/// The section of sizes: four numbers, and then the name.
struct Sizes {
    nodes: usize,
    edges: usize,
    columns: usize,
    classes: usize,
    name: String,
}

impl OpenFile {
    fn new(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(|e| DataError::read(path, e))?;
        if file.metadata().map_err(|e| DataError::read(path, e))?.len() == 0 {
            return Err(DataError::malformed(path, "the file is empty"));
        }
        let map = Arc::new(Map::new(&file, path)?);
        let sections = read_head(map.bytes()).map_err(|problem| DataError::malformed(path, problem))?;
        Ok(Self { map, sections })
    }

    fn find(&self, kind: Kind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind as u32)
    }

    fn require(&self, kind: Kind) -> Result<&Section, DataError> {
        self.find(kind).ok_or_else(|| DataError::Invalid(format!("there is no section of {kind}")))
    }

    /// A section of `count` numbers that stay in the file.
    fn mapped<T: Pod>(&self, kind: Kind, count: Option<usize>) -> Result<Storage<T>, DataError> {
        let range = self.require(kind)?.range();
        let bytes = range.len();
        Storage::mapped(&self.map, range).filter(|values| count.is_none_or(|count| values.len() == count)).ok_or_else(
            || {
                let needed = count.map_or_else(String::new, |count| format!(", where {count} numbers are needed"));
                DataError::Invalid(format!("the section of {kind} has {bytes} bytes{needed}"))
            },
        )
    }

    /// All bytes of a section, read into memory and compared with its checksum.
    fn bytes(&self, kind: Kind) -> Result<&[u8], DataError> {
        let section = self.require(kind)?;
        let bytes = &self.map.bytes()[section.range()];
        if crc32fast::hash(bytes) != section.checksum {
            return Err(damaged(kind));
        }
        Ok(bytes)
    }

    /// The same for a section that may be missing.
    fn optional<'a, T>(
        &'a self,
        kind: Kind,
        convert: impl FnOnce(&'a [u8]) -> Option<T>,
    ) -> Result<Option<T>, DataError> {
        if self.find(kind).is_none() {
            return Ok(None);
        }
        convert(self.bytes(kind)?)
            .map(Some)
            .ok_or_else(|| DataError::Invalid(format!("the section of {kind} is wrong")))
    }

    fn sizes(&self) -> Result<Sizes, DataError> {
        let bytes = self.bytes(Kind::Sizes)?;
        let wrong = || DataError::Invalid("the section of sizes is wrong".into());
        let size = |k: usize| u64_at(bytes, 8 * k).and_then(|size| usize::try_from(size).ok()).ok_or_else(wrong);
        let name = bytes.get(32..).and_then(|name| String::from_utf8(name.to_vec()).ok()).ok_or_else(wrong)?;
        let sizes = Sizes { nodes: size(0)?, edges: size(1)?, columns: size(2)?, classes: size(3)?, name };
        if sizes.nodes > u32::MAX as usize || sizes.columns > u32::MAX as usize {
            return Err(DataError::Invalid("more than 4,294,967,295 nodes or features".into()));
        }
        if sizes.classes > MAX_CLASSES {
            return Err(DataError::Invalid(format!("{} classes are more than {MAX_CLASSES}", sizes.classes)));
        }
        Ok(sizes)
    }

    fn dataset(&self) -> Result<Dataset, DataError> {
        let sizes = self.sizes()?;
        let offsets = self.mapped(Kind::InOffsets, Some(sizes.nodes + 1))?;
        let graph = Graph::from_unchecked_csr(offsets, self.mapped(Kind::Sources, Some(sizes.edges))?)?;
        let is_undirected = self.optional(Kind::Undirected, |bytes| Some(u64_at(bytes, 0)? == 1))?.unwrap_or(false);
        let graph = if is_undirected { graph.marked_undirected() } else { graph };
        let features = self.features(&sizes)?;
        let labels = Labels::mapped(self.mapped(Kind::Labels, None)?, sizes.classes)?;
        let mut parts = DatasetParts::new(sizes.name, graph, features, labels);
        parts.splits = self.optional(Kind::Splits, splits)?.unwrap_or_default();
        parts.node_names = self.optional(Kind::NodeNames, |bytes| texts(bytes, sizes.nodes))?;
        parts.node_ids = self.optional(Kind::NodeIds, |bytes| texts(bytes, sizes.nodes))?;
        parts.feature_names = self.optional(Kind::FeatureNames, |bytes| texts(bytes, sizes.columns))?;
        parts.class_names = self.optional(Kind::ClassNames, |bytes| texts(bytes, sizes.classes))?;
        if self.find(Kind::NodeYears).is_some() {
            parts.node_years = Some(self.mapped(Kind::NodeYears, Some(sizes.nodes))?);
        }
        parts.node_authors = self.optional(Kind::NodeAuthors, |bytes| texts(bytes, sizes.nodes))?;
        if self.find(Kind::Spurious).is_some() {
            parts.spurious = Some(Flags::from_words(self.mapped(Kind::Spurious, None)?, sizes.edges)?);
        }
        if let Some(names) = self.optional(Kind::EdgeColumns, counted_texts)? {
            let count = sizes.edges.checked_mul(names.len());
            let count = count.ok_or_else(|| DataError::Invalid("too many edge features to exist".into()))?;
            parts.edge_features = Some(EdgeFeatures::new(names, self.mapped(Kind::EdgeFeatures, Some(count))?)?);
        }
        parts.graph_offsets = self.optional(Kind::GraphOffsets, u32s)?;
        Dataset::new(parts)
    }

    fn features(&self, sizes: &Sizes) -> Result<Features, DataError> {
        match (self.find(Kind::Dense), self.find(Kind::SparseOffsets)) {
            (Some(_), None) => {
                let count = sizes.nodes.checked_mul(sizes.columns);
                let count = count.ok_or_else(|| DataError::Invalid("too many features to exist".into()))?;
                let values = self.mapped(Kind::Dense, Some(count))?;
                Ok(Features::Dense { num_rows: sizes.nodes, num_columns: sizes.columns, values })
            }
            (None, Some(_)) => {
                let offsets = self.mapped(Kind::SparseOffsets, Some(sizes.nodes + 1))?;
                let (columns, values) =
                    (self.mapped(Kind::SparseColumns, None)?, self.mapped(Kind::SparseValues, None)?);
                CsrMatrix::mapped(sizes.columns, offsets, columns, values).map(Features::Sparse)
            }
            _ => Err(DataError::Invalid("there must be dense or sparse features, and not both".into())),
        }
    }

    /// Reads the file from front to back without the map, so that checking a file larger than memory does not evict
    /// mapped pages.
    fn check_all_checksums(&self) -> Result<(), DataError> {
        let path = self.map.path();
        let failed = |e: std::io::Error| DataError::read(path, e);
        let mut file = File::open(path).map_err(failed)?;
        let mut buffer = vec![0; 1 << 20];
        for section in &self.sections {
            let range = section.range();
            file.seek(SeekFrom::Start(range.start as u64)).map_err(failed)?;
            let (mut hasher, mut left) = (crc32fast::Hasher::new(), range.len());
            while left > 0 {
                let piece = left.min(buffer.len());
                file.read_exact(&mut buffer[..piece]).map_err(failed)?;
                hasher.update(&buffer[..piece]);
                left -= piece;
            }
            if hasher.finalize() != section.checksum {
                let problem = format!("the section at byte {} is damaged: its checksum does not fit", range.start);
                return Err(DataError::malformed(path, problem));
            }
        }
        Ok(())
    }
}

fn damaged(kind: Kind) -> DataError {
    DataError::Invalid(format!("the section of {kind} is damaged: its checksum does not fit"))
}

/// Numbers of a section whose length is a multiple of theirs.
fn u32s(bytes: &[u8]) -> Option<Vec<u32>> {
    bytemuck::try_cast_slice(bytes).ok().map(<[u32]>::to_vec)
}

/// The number of splits, the lengths of their lists, the lists.
fn splits(bytes: &[u8]) -> Option<Vec<Split>> {
    let count = usize::try_from(u64_at(bytes, 0)?).ok()?;
    let lengths = bytes.get(8..8usize.checked_add(count.checked_mul(24)?)?)?;
    let mut rest = &bytes[8 + lengths.len()..];
    let mut list = |k: usize| {
        let length = usize::try_from(u64_at(lengths, 8 * k)?).ok()?;
        let (own, behind) = rest.split_at_checked(length.checked_mul(4)?)?;
        rest = behind;
        u32s(own)
    };
    let splits: Option<Vec<Split>> = (0..count)
        .map(|k| Some(Split { train: list(3 * k)?, val: list(3 * k + 1)?, test: list(3 * k + 2)? }))
        .collect();
    splits.filter(|_| rest.is_empty())
}

/// A number of texts, and then they.
fn counted_texts(bytes: &[u8]) -> Option<Vec<String>> {
    texts(bytes.get(8..)?, usize::try_from(u64_at(bytes, 0)?).ok()?)
}

/// Where every text ends, and the texts.
fn texts(bytes: &[u8], count: usize) -> Option<Vec<String>> {
    let (ends, texts) = bytes.split_at_checked(count.checked_mul(8)?)?;
    let mut start = 0;
    let text = |k: usize| {
        let end = usize::try_from(u64_at(ends, 8 * k)?).ok()?;
        let text = texts.get(start..end)?;
        start = end;
        String::from_utf8(text.to_vec()).ok()
    };
    let read: Option<Vec<String>> = (0..count).map(text).collect();
    read.filter(|_| start == texts.len())
}
