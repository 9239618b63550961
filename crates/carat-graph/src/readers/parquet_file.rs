//! Checks the headers of Parquet files before the Parquet library reads them.
//!
//! The library skips header fields that it does not know, and trusts the lengths of lists in them. The elements of a
//! list of booleans take no bytes, and numbers past the end of the file are skipped without an error. A header of 7
//! bytes can therefore keep the library busy for billions of steps, which no limit on sizes prevents: without the walk,
//! neither of the files `tests/files/endless-*.parquet` ends within a minute. The library also allocates whatever size
//! a page claims to unpack to.
//!
//! Here every header is walked first. Nothing in it may be longer than the file, and no page may unpack to more than a
//! compression can achieve.

mod columns;
mod schema;
mod walk;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

pub(crate) use columns::{Column, Values};
use schema::{FOOTER, Fields, PAGE};

/// The length of the footer and the magic number, at the end of every file.
const TAIL: u64 = 8;

/// Pages usually have a megabyte. One that unpacks to more than this must have at least a thousandth as many bytes.
const LARGE_PAGE: i64 = 1 << 26;
const MAX_RATIO: i64 = 1024;

/// An open Parquet file.
pub(crate) struct ParquetFile {
    file: File,
    length: u64,
}

impl ParquetFile {
    /// Checks the footer.
    pub(crate) fn new(file: File) -> Result<Self> {
        let length = file.metadata()?.len();
        let opened = Self { file, length };
        if let Some(end) = length.checked_sub(TAIL) {
            let mut tail = [0; 4];
            opened.reader(end)?.read_exact(&mut tail)?;
            // The library reports a footer that is longer than the file.
            if let Some(start) = end.checked_sub(u32::from_le_bytes(tail).into()) {
                opened.check_header(start, end, FOOTER)?;
            }
        }
        Ok(opened)
    }

    fn reader(&self, start: u64) -> io::Result<BufReader<File>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn check_header(&self, start: u64, end: u64, fields: Fields) -> Result<[i64; 2]> {
        walk::walk(self.reader(start)?, end.saturating_sub(start), fields)
            .map_err(|e| ParquetError::General(format!("a header is damaged: {e}")))
    }
}

impl Length for ParquetFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for ParquetFile {
    type T = BufReader<File>;

    /// Called for the header of every page, and once for the last eight bytes, which are not a header.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        if start.checked_add(TAIL) != Some(self.length) {
            let [unpacked, packed] = self.check_header(start, self.length, PAGE)?;
            if unpacked > LARGE_PAGE.max(packed.saturating_mul(MAX_RATIO)) {
                let problem = format!("a page of {packed} bytes claims to unpack to {unpacked}");
                return Err(ParquetError::General(problem));
            }
        }
        Ok(self.reader(start)?)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are beyond the end of the file")));
        }
        let mut bytes = vec![0; length];
        self.reader(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_unpacks_to_too_much_is_refused() {
        let mut file = tempfile::tempfile().unwrap();
        // A page of 10 bytes that claims 1 GiB, and 20 bytes after its header.
        let header = [&[0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 0x08, 0x15, 20, 0][..], &[0; 20]].concat();
        io::Write::write_all(&mut file, &header).unwrap();
        let opened = ParquetFile { length: header.len() as u64, file };
        let error = opened.get_read(0).unwrap_err().to_string();
        assert!(error.contains("a page of 10 bytes claims to unpack to 1073741824"), "{error}");
    }
}
