//! Parquet files as the Parquet library should see them: with headers that end.
//!
//! The library skips header fields that it does not know. It believes the length of a list there: a list of two billion
//! booleans takes no byte each, and one of numbers beyond the end of the file reads as empty again and again, so that a
//! file of a few hundred bytes keeps it busy for billions of steps. It also makes room for as many bytes as a page claims to unpack
//! to. Here every header is walked before the library gets it: nothing in it may be longer than the file, and no page
//! may unpack to far more than any compression makes of it.

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

/// Pages are of a megabyte as a rule. A larger one than this must be made of at least a thousandth as many bytes.
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
            // A footer that is longer than the file is the library's to report.
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

    /// Called for the header of every page, and once for the last eight bytes, which are none.
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
        // A header of 1 GiB in 10 bytes, and room behind it.
        let header = [&[0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 0x08, 0x15, 20, 0][..], &[0; 20]].concat();
        io::Write::write_all(&mut file, &header).unwrap();
        let opened = ParquetFile { length: header.len() as u64, file };
        let error = opened.get_read(0).unwrap_err().to_string();
        assert!(error.contains("a page of 10 bytes claims to unpack to 1073741824"), "{error}");
    }
}
