//! The `.carat` file: its head and its table of sections. `docs/mapped-format.md` is its specification.
//!
//! ```text
//! 0     8 bytes   magic number: 89 43 41 52 41 54 0D 0A
//! 8     u32       version: 1
//! 12    u32       number of sections, at most 32
//! 16    u64       length of the file
//! 24    u32       CRC-32 of the table
//! 28    u32       CRC-32 of the 28 bytes before
//! 32    32 bytes  per section: u32 kind, u32 CRC-32 of its bytes, u64 offset, u64 length in bytes, u64 zero
//! 1088            the sections, each at a multiple of 64
//! ```
//!
//! All numbers are little-endian. Readers skip sections of unknown kind.

use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;

use bytemuck::Pod;

/// The first bytes of every file. Like PNG's, they reveal a transfer in text mode.
pub(crate) const MAGIC: [u8; 8] = *b"\x89CARAT\r\n";
const VERSION: u32 = 1;
const MAX_SECTIONS: usize = 32;
const ENTRY: usize = 32;
const HEAD: usize = 32;
/// Where the first section may begin: after a full table, at a multiple of [`ALIGNMENT`].
const DATA: u64 = 1088;
const ALIGNMENT: u64 = 64;

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// Sizes and the name.
    Sizes = 1,
    /// Row offsets of the in-edge CSR, u64.
    InOffsets = 2,
    /// Source of every edge, u32.
    Sources = 3,
    /// Dense features, f32, row by row.
    Dense = 4,
    /// Row offsets of sparse features, u64.
    SparseOffsets = 5,
    /// Their columns, u32.
    SparseColumns = 6,
    /// Their values, f32.
    SparseValues = 7,
    /// Class of every node or graph, i32, -1 where missing.
    Labels = 8,
    /// Lists of nodes by role.
    Splits = 9,
    /// Texts, one per node.
    NodeNames = 10,
    /// Texts, one per class.
    ClassNames = 11,
    /// Year of every node, i32.
    NodeYears = 12,
    /// A bit per edge, in words of u64.
    Spurious = 13,
    /// First node of every graph of a set, and the number of nodes, u32.
    GraphOffsets = 14,
    /// Authors of every node, as node names are stored.
    NodeAuthors = 15,
    /// One u64, 1: the graph was made undirected.
    Undirected = 16,
    /// The number of edge features, u64, and then their names as node names are stored.
    EdgeColumns = 17,
    /// Edge features, f32, row by row.
    EdgeFeatures = 18,
    /// Ids of the nodes, as node names are stored.
    NodeIds = 20,
    /// Names of the features, as node names are stored.
    FeatureNames = 21,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sizes => "sizes",
            Self::InOffsets => "edge offsets",
            Self::Sources => "edge sources",
            Self::Dense => "dense features",
            Self::SparseOffsets => "feature offsets",
            Self::SparseColumns => "feature columns",
            Self::SparseValues => "feature values",
            Self::Labels => "labels",
            Self::Splits => "splits",
            Self::NodeNames => "node names",
            Self::ClassNames => "class names",
            Self::NodeYears => "node years",
            Self::Spurious => "spurious edges",
            Self::GraphOffsets => "graph offsets",
            Self::NodeAuthors => "node authors",
            Self::Undirected => "undirected",
            Self::EdgeColumns => "edge feature names",
            Self::EdgeFeatures => "edge features",
            Self::NodeIds => "node ids",
            Self::FeatureNames => "feature names",
        })
    }
}

/// Where a section lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) kind: u32,
    pub(crate) checksum: u32,
    offset: u64,
    length: u64,
}

impl Section {
    /// Its bytes in the file. They exist, because the head was checked.
    pub(crate) fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.length) as usize
    }

    fn to_bytes(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[0..4].copy_from_slice(&self.kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.checksum.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }
}

/// The little-endian number at an offset of a slice that is long enough.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Reads and checks head and table: every section lies within the file, aligned, and overlaps no other.
pub(crate) fn read_head(file: &[u8]) -> Result<Vec<Section>, String> {
    const CUT: &str = "the file is cut short; copy or make it again";
    if !file.starts_with(&MAGIC) {
        return Err("this is no .carat file: the first bytes are not those of one".into());
    }
    let word = |at: usize| u32_at(file, at).ok_or(CUT);
    let version = word(8)?;
    if version != VERSION {
        let advice = if version > VERSION { "; a newer carat reads it" } else { "" };
        return Err(format!(
            "the file has version {version} of the .carat format, and only {VERSION} is known{advice}"
        ));
    }
    let head = file.get(..HEAD - 4).ok_or(CUT)?;
    if crc32fast::hash(head) != word(HEAD - 4)? {
        return Err("the head of the file is damaged: its checksum does not fit".into());
    }
    let length = u64_at(file, 16).ok_or(CUT)?;
    if length != file.len() as u64 {
        return Err(format!(
            "the file has {} bytes where its head promises {length}; copy or make it again",
            file.len()
        ));
    }
    let count = word(12)? as usize;
    if count > MAX_SECTIONS {
        return Err(format!("the file claims {count} sections, and {MAX_SECTIONS} are the most"));
    }
    let table = file.get(HEAD..HEAD + count * ENTRY).ok_or(CUT)?;
    if crc32fast::hash(table) != word(24)? {
        return Err("the table of sections is damaged: its checksum does not fit".into());
    }
    let mut sections = Vec::with_capacity(count);
    for entry in table.chunks_exact(ENTRY) {
        let small = |at| u32_at(entry, at).ok_or(CUT);
        let large = |at| u64_at(entry, at).ok_or(CUT);
        let section = Section { kind: small(0)?, checksum: small(4)?, offset: large(8)?, length: large(16)? };
        let end = section.offset.checked_add(section.length);
        if section.offset < DATA || !section.offset.is_multiple_of(ALIGNMENT) || end.is_none_or(|end| end > length) {
            return Err(format!("section {} does not lie within the file", sections.len()));
        }
        sections.push(section);
    }
    let mut by_offset = sections.clone();
    by_offset.sort_by_key(|section| (section.offset, section.length));
    if by_offset.windows(2).any(|pair| pair[0].offset + pair[0].length > pair[1].offset) {
        return Err("two sections overlap".into());
    }
    let mut kinds: Vec<u32> = sections.iter().map(|section| section.kind).collect();
    kinds.sort_unstable();
    if kinds.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("two sections are of one kind".into());
    }
    Ok(sections)
}

/// Writes a file section by section, and its head last.
pub(crate) struct FileWriter<W: Write + Seek> {
    writer: W,
    sections: Vec<Section>,
    position: u64,
}

impl<W: Write + Seek> FileWriter<W> {
    /// Leaves room for the head.
    pub(crate) fn new(mut writer: W) -> std::io::Result<Self> {
        writer.write_all(&[0; DATA as usize])?;
        Ok(Self { writer, sections: Vec::new(), position: DATA })
    }

    /// Begins a section. Later calls of [`FileWriter::append`] add to it.
    pub(crate) fn begin(&mut self, kind: Kind) -> std::io::Result<()> {
        let padding = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.writer.write_all(&[0; ALIGNMENT as usize][..padding as usize])?;
        self.position += padding;
        self.sections.push(Section { kind: kind as u32, checksum: 0, offset: self.position, length: 0 });
        Ok(())
    }

    /// Adds numbers to the current section.
    pub(crate) fn append<T: Pod>(&mut self, values: &[T]) -> std::io::Result<()> {
        let Some(section) = self.sections.last_mut() else { return Ok(()) };
        for bytes in bytemuck::cast_slice::<T, u8>(values).chunks(1 << 20) {
            // Checksums of consecutive pieces combine, so no other state is needed.
            let mut hasher = crc32fast::Hasher::new_with_initial_len(section.checksum, section.length);
            hasher.update(bytes);
            section.checksum = hasher.finalize();
            section.length += bytes.len() as u64;
            self.writer.write_all(bytes)?;
            self.position += bytes.len() as u64;
        }
        Ok(())
    }

    /// Writes a whole section.
    pub(crate) fn section<T: Pod>(&mut self, kind: Kind, values: &[T]) -> std::io::Result<()> {
        self.begin(kind)?;
        self.append(values)
    }

    /// Writes the head.
    pub(crate) fn finish(mut self) -> std::io::Result<()> {
        let table: Vec<u8> = self.sections.iter().flat_map(|section| section.to_bytes()).collect();
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[12..16].copy_from_slice(&(self.sections.len() as u32).to_le_bytes());
        head[16..24].copy_from_slice(&self.position.to_le_bytes());
        head[24..28].copy_from_slice(&crc32fast::hash(&table).to_le_bytes());
        let checksum = crc32fast::hash(&head[..HEAD - 4]);
        head[HEAD - 4..].copy_from_slice(&checksum.to_le_bytes());
        self.writer.seek(SeekFrom::Start(0))?;
        self.writer.write_all(&head)?;
        self.writer.write_all(&table)?;
        self.writer.seek(SeekFrom::Start(self.position))?;
        self.writer.flush()
    }
}

#[cfg(test)]
#[path = "carat_file_tests.rs"]
mod tests;
