//! An array read in pieces, for arrays larger than memory.

use std::io::{Read, Seek};

use super::archive::NpzReader;
use super::header::{Header, damaged};
use super::{Array, ElementType, Kind, byte_length};
use crate::DataError;

/// An array of an archive, of which the head has been read.
pub(crate) struct ArrayStream<'a> {
    shape: Vec<usize>,
    element: ElementType,
    column_major: bool,
    reader: Box<dyn Read + 'a>,
}

impl<'a> ArrayStream<'a> {
    /// Reads the head. An array whose size no machine could address is refused.
    pub(super) fn new(mut reader: Box<dyn Read + 'a>) -> Result<Self, DataError> {
        let Header { shape, element, column_major } = Header::read(&mut reader)?;
        byte_length(&shape, element)?;
        if element.kind == Kind::Text {
            // Their size is the file's to claim; numbers have at most eight bytes.
            return Err(DataError::Invalid("the array is text, but numbers are needed".into()));
        }
        Ok(Self { shape, element, column_major, reader })
    }

    /// The extent along each axis.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// True where the first axis varies fastest.
    pub(crate) fn is_column_major(&self) -> bool {
        self.column_major
    }

    /// The next `count` elements as they are stored. The caller asks for a bounded number at a time.
    pub(crate) fn next(&mut self, count: usize) -> Result<Array, DataError> {
        let mut bytes = vec![0; byte_length(&[count], self.element)?];
        self.reader.read_exact(&mut bytes).map_err(damaged)?;
        Array::new(vec![count], self.element, false, bytes)
    }

    /// Skips the next `count` elements.
    pub(crate) fn skip(&mut self, count: usize) -> Result<(), DataError> {
        let length = byte_length(&[count], self.element)? as u64;
        let passed = std::io::copy(&mut (&mut self.reader).take(length), &mut std::io::sink()).map_err(damaged)?;
        if passed == length { Ok(()) } else { Err(damaged(std::io::ErrorKind::UnexpectedEof.into())) }
    }

    /// Checks that nothing follows, and with it the checksum of all that came.
    pub(crate) fn finish(mut self) -> Result<(), DataError> {
        match self.reader.read(&mut [0]).map_err(damaged)? {
            0 => Ok(()),
            _ => Err(DataError::Invalid("there is more data than its header promises".into())),
        }
    }
}

impl<R: Read + Seek> NpzReader<R> {
    /// A required array, to be read in pieces.
    pub(crate) fn stream(&mut self, name: &str) -> Result<ArrayStream<'_>, DataError> {
        let path = self.path().to_path_buf();
        let failed = |e: DataError| DataError::malformed(&path, format!("array '{name}': {e}"));
        ArrayStream::new(self.entry(name)?).map_err(failed)
    }
}
