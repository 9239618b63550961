//! Parquet files as the Parquet library should see them: with headers that end.
//!
//! The library skips header fields that it does not know. It believes the length of a list there: a list of two billion
//! booleans takes no byte each, and one of numbers beyond the end of the file reads as empty again and again, so that a
//! file of a few hundred bytes keeps it busy for hours. It also makes room for as many bytes as a page claims to unpack
//! to. Here every header is walked before the library gets it: nothing in it may be longer than the file, and no page
//! may unpack to far more than any compression makes of it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// As deep as the library goes.
const MAX_DEPTH: u32 = 64;

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
                opened.walk(start, end)?.skip(STRUCT, MAX_DEPTH).map_err(damaged)?;
            }
        }
        Ok(opened)
    }

    fn reader(&self, start: u64) -> io::Result<BufReader<File>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn walk(&self, start: u64, end: u64) -> io::Result<Walk<BufReader<File>>> {
        Ok(Walk { reader: self.reader(start)?, left: end.saturating_sub(start) })
    }
}

fn damaged(error: io::Error) -> ParquetError {
    ParquetError::General(format!("a header is damaged: {error}"))
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
            let [unpacked, packed] = self.walk(start, self.length)?.page_sizes().map_err(damaged)?;
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

const BOOLEANS: [u8; 2] = [1, 2];
const STRUCT: u8 = 12;

/// Goes through a value in Thrift's compact form without keeping anything of it.
struct Walk<R> {
    reader: R,
    /// Bytes that there are.
    left: u64,
}

/// Thrift keeps the sign of a number in its lowest bit.
fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn endless() -> io::Error {
    io::Error::other("it claims to be longer than the file")
}

impl<R: Read> Walk<R> {
    fn skip(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        let Some(deeper) = depth.checked_sub(1) else {
            return Err(io::Error::other("its parts lie too deep within each other"));
        };
        match kind {
            kind if BOOLEANS.contains(&kind) => Ok(()),
            3 => self.bytes(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.bytes(8),
            8 => {
                let length = self.number()?;
                self.bytes(length)
            }
            // Lists and sets.
            9 | 10 => {
                let head = self.byte()?;
                let size = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                self.elements(size, &[head & 15], deeper)
            }
            // Maps.
            11 => match self.number()? {
                0 => Ok(()),
                size => {
                    let kinds = self.byte()?;
                    self.elements(size, &[kinds >> 4, kinds & 15], deeper)
                }
            },
            STRUCT => loop {
                let head = self.byte()?;
                if head & 15 == 0 {
                    return Ok(());
                }
                // A field's number, where it is not told as the distance to the one before.
                if head >> 4 == 0 {
                    self.number()?;
                }
                self.skip(head & 15, deeper)?;
            },
            13 => self.bytes(16),
            _ => Err(io::Error::other(format!("it has a field of the unknown type {kind}"))),
        }
    }

    /// Goes through the header of a page; gives the sizes of the page as it is used and as it is stored.
    fn page_sizes(&mut self) -> io::Result<[i64; 2]> {
        let (mut sizes, mut field) = ([0; 2], 0i64);
        loop {
            let head = self.byte()?;
            if head & 15 == 0 {
                return Ok(sizes);
            }
            field = match head >> 4 {
                0 => signed(self.number()?),
                distance => field.saturating_add(distance.into()),
            };
            match (field, head & 15) {
                (2, 4..=6) => sizes[0] = signed(self.number()?),
                (3, 4..=6) => sizes[1] = signed(self.number()?),
                (_, kind) => self.skip(kind, MAX_DEPTH)?,
            }
        }
    }

    fn elements(&mut self, size: u64, kinds: &[u8], depth: u32) -> io::Result<()> {
        // Booleans take no room here, so there would be no end to them. No header of Parquet's has a list of them.
        if size > self.left || (size > 0 && kinds.iter().all(|kind| BOOLEANS.contains(kind))) {
            return Err(endless());
        }
        for _ in 0..size {
            for &kind in kinds {
                self.skip(kind, depth)?;
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.left = self.left.checked_sub(1).ok_or_else(endless)?;
        let mut byte = [0];
        self.reader.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn bytes(&mut self, count: u64) -> io::Result<()> {
        self.left = self.left.checked_sub(count).ok_or_else(endless)?;
        match io::copy(&mut self.reader.by_ref().take(count), &mut io::sink())? {
            copied if copied == count => Ok(()),
            _ => Err(endless()),
        }
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(io::Error::other("it has a number of more than 64 bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8]) -> io::Result<()> {
        Walk { reader: bytes, left: bytes.len() as u64 }.skip(STRUCT, MAX_DEPTH)
    }

    #[test]
    fn ordinary_values_end() {
        // Fields: i32 7, text "ab", a list of two i32, a map of one byte to one text, a double.
        let fields = [
            &[0x15, 14][..],
            &[0x18, 2, b'a', b'b'],
            &[0x19, 0x25, 2, 4],
            &[0x1b, 1, 0x38, 9, 1, b'x'],
            &[0x17, 0, 0, 0, 0, 0, 0, 0, 0],
        ];
        let mut bytes = fields.concat();
        assert!(walk(&bytes).is_err());
        bytes.push(0);
        walk(&bytes).unwrap();
    }

    #[test]
    fn the_sizes_of_a_page_are_found() {
        let sizes = |bytes: &[u8]| Walk { reader: bytes, left: bytes.len() as u64 }.page_sizes();
        assert_eq!(sizes(&[0x15, 0, 0x15, 0x80, 0x02, 0x15, 20, 0]).unwrap(), [128, 10]);
        // Numbers of fields written out, and in another order.
        assert_eq!(sizes(&[0x05, 6, 20, 0x05, 4, 3, 0x18, 1, b'x', 0]).unwrap(), [-2, 10]);
        assert!(sizes(&[0x15, 0, 0x15]).is_err());
    }

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

    #[test]
    fn what_does_not_end_is_refused() {
        let billions = [0xff, 0xff, 0xff, 0xff, 0x07];
        let list = |kind: u8| [&[0x19, 0xf0 | kind][..], &billions, &[0]].concat();
        for kind in 1..=13 {
            assert!(walk(&list(kind)).is_err(), "{kind}");
        }
        // Three booleans, and a map of a boolean to a boolean: small, but nothing that Parquet has.
        assert!(walk(&[0x19, 0x31, 0]).is_err());
        assert!(walk(&[0x1b, 1, 0x11, 0]).is_err());
        assert!(walk(&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]).is_err());
        assert!(walk(&[0x15; 1]).is_err());
        assert!(walk(&[0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]).is_err());
        assert!(walk(&[0x1c; 1000]).unwrap_err().to_string().contains("too deep"));
    }
}
