//! `.npz` archives: arrays by name in a zip file, stored or deflated.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::Array;
use super::header::Header;
use crate::DataError;

/// The largest padded text array. One long text among many short ones must not make a file of terabytes.
const MAX_TEXT_BYTES: u64 = 1 << 34;

/// What is wrong with a file that cannot be opened as an archive.
pub(crate) fn no_archive(path: &Path, error: ZipError) -> DataError {
    let problem = match error {
        ZipError::Io(error) => return DataError::read(path, error),
        ZipError::InvalidArchive(_) => {
            "this is no .npz archive, or one that was cut short; save or fetch it again".into()
        }
        other => format!("this is no .npz archive that can be read: {other}"),
    };
    DataError::malformed(path, problem)
}

/// An open archive. Arrays are read on request, so unused arrays may hold anything.
pub(crate) struct NpzReader<R = BufReader<File>> {
    path: PathBuf,
    archive: ZipArchive<R>,
}

impl NpzReader {
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(|e| DataError::read(path, e))?;
        Self::new(path, BufReader::new(file))
    }
}

impl<R: Read + Seek> NpzReader<R> {
    /// An archive that was opened already; `path` is its name in errors.
    fn new(path: &Path, reader: R) -> Result<Self, DataError> {
        let archive = ZipArchive::new(reader).map_err(|e| no_archive(path, e))?;
        Ok(Self { path: path.to_path_buf(), archive })
    }

    /// The file that was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The array of this name, or `None` where the archive has none.
    ///
    /// Deflate expands at most about a thousandfold, and an array is read no further than its shape promises, so the
    /// memory it takes is bounded by the size of the file.
    pub(crate) fn array(&mut self, name: &str) -> Result<Option<Array>, DataError> {
        let Some(index) = self.archive.index_for_name(&format!("{name}.npy")) else {
            return Ok(None);
        };
        let failed = |problem: String| DataError::malformed(&self.path, format!("array '{name}': {problem}"));
        let mut entry = self.archive.by_index(index).map_err(|e| failed(format!("cannot be unpacked: {e}")))?;
        let array = Array::read_npy(&mut entry).map_err(|e| failed(e.to_string()))?;
        // Reading to the end is what checks the checksum.
        match entry.read(&mut [0]) {
            Ok(0) => Ok(Some(array)),
            Ok(_) => Err(failed("there is more data than its header promises".into())),
            Err(e) => Err(failed(format!("the array is damaged: {e}"))),
        }
    }

    /// The array of this name; an error where the archive has none.
    pub(crate) fn required(&mut self, name: &str) -> Result<Array, DataError> {
        self.array(name)?.ok_or_else(|| self.missing(name))
    }

    /// True where there is an array of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// The unpacked bytes of a required array.
    pub(super) fn entry(&mut self, name: &str) -> Result<Box<dyn Read + '_>, DataError> {
        let index = self.archive.index_for_name(&format!("{name}.npy")).ok_or_else(|| self.missing(name))?;
        let failed = |problem: String| DataError::malformed(&self.path, format!("array '{name}': {problem}"));
        let entry = self.archive.by_index(index).map_err(|e| failed(format!("cannot be unpacked: {e}")))?;
        Ok(Box::new(BufReader::with_capacity(1 << 16, entry)))
    }

    fn missing(&self, name: &str) -> DataError {
        let mut found: Vec<&str> =
            self.archive.file_names_raw().filter_map(|raw| std::str::from_utf8(raw).ok()).collect();
        found.sort_unstable();
        found.truncate(20);
        let found: Vec<&str> = found.iter().map(|file| file.strip_suffix(".npy").unwrap_or(file)).collect();
        DataError::malformed(&self.path, format!("there is no array '{name}' (there are: {})", found.join(", ")))
    }

    /// An error about one array.
    pub(crate) fn error(&self, name: &str, problem: impl std::fmt::Display) -> DataError {
        DataError::malformed(&self.path, format!("array '{name}': {problem}"))
    }

    /// A required array converted by `convert`, whose errors come back with the name of the array.
    pub(crate) fn converted<T>(
        &mut self,
        name: &str,
        convert: impl FnOnce(&Array) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        let array = self.required(name)?;
        convert(&array).map_err(|e| self.error(name, e))
    }

    /// The same for an array that may be absent.
    pub(crate) fn optional<T>(
        &mut self,
        name: &str,
        convert: impl FnOnce(&Array) -> Result<T, DataError>,
    ) -> Result<Option<T>, DataError> {
        match self.array(name)? {
            Some(array) => convert(&array).map(Some).map_err(|e| self.error(name, e)),
            None => Ok(None),
        }
    }
}

/// Writes an archive array by array. The same arrays always give the same bytes: the file holds no time and no user.
pub(crate) struct NpzWriter<W: Write + Seek> {
    archive: ZipWriter<GivesUp<W>>,
}

/// Accepts and ignores all writes after the first failure. Otherwise the archive writer would try to finish the archive
/// when it is dropped, and print an error to stderr.
struct GivesUp<W> {
    inner: W,
    failed: bool,
    /// Where the next byte would go, had nothing failed.
    position: u64,
}

impl<W: Write> Write for GivesUp<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = if self.failed { Ok(bytes.len()) } else { self.inner.write(bytes) };
        self.failed |= written.is_err();
        self.position += *written.as_ref().unwrap_or(&0) as u64;
        written
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let flushed = if self.failed { Ok(()) } else { self.inner.flush() };
        self.failed |= flushed.is_err();
        flushed
    }
}

impl<W: Seek> Seek for GivesUp<W> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let place = match to {
            _ if !self.failed => self.inner.seek(to),
            SeekFrom::Start(place) => Ok(place),
            SeekFrom::Current(by) | SeekFrom::End(by) => Ok(self.position.saturating_add_signed(by)),
        };
        self.failed |= place.is_err();
        self.position = *place.as_ref().unwrap_or(&self.position);
        place
    }
}

/// The system's own reason, without the archive writer's words around it.
fn plain(error: ZipError) -> std::io::Error {
    match error {
        ZipError::Io(error) => error,
        other => other.into(),
    }
}

impl<W: Write + Seek> NpzWriter<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self { archive: ZipWriter::new(GivesUp { inner: writer, failed: false, position: 0 }) }
    }

    /// Writes one array from the little-endian bytes of its elements, row by row. `descr` is NumPy's short name for
    /// the element type.
    pub(crate) fn array<const SIZE: usize>(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        elements: impl Iterator<Item = [u8; SIZE]>,
    ) -> std::io::Result<()> {
        self.start(name, shape.iter().product::<usize>().saturating_mul(SIZE))?;
        Header::write(&mut self.archive, descr, shape)?;
        let mut buffer = Vec::with_capacity(1 << 16);
        for element in elements {
            buffer.extend(element);
            if buffer.len() >= (1 << 16) - SIZE {
                self.archive.write_all(&buffer)?;
                buffer.clear();
            }
        }
        self.archive.write_all(&buffer)
    }

    /// Writes a list of texts as UCS-4, each padded to the longest; refuses when padding would make them too large.
    pub(crate) fn text(&mut self, name: &str, texts: &[String]) -> std::io::Result<()> {
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
        let bytes = texts.len().saturating_mul(width).saturating_mul(4);
        if bytes as u64 > MAX_TEXT_BYTES {
            return Err(std::io::Error::other(format!(
                "'{name}' has a value of {width} characters, and NPZ pads every value to the longest; \
                 write CSV or Parquet instead"
            )));
        }
        self.start(name, bytes)?;
        Header::write(&mut self.archive, &format!("<U{width}"), &[texts.len()])?;
        let mut padded = Vec::with_capacity(width * 4);
        for text in texts {
            padded.clear();
            padded.extend(text.chars().flat_map(|character| u32::from(character).to_le_bytes()));
            padded.resize(width * 4, 0);
            self.archive.write_all(&padded)?;
        }
        Ok(())
    }

    fn start(&mut self, name: &str, bytes: usize) -> std::io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644)
            // Deflate can grow what it cannot shrink, so the switch to 64-bit sizes comes well before 4 GiB.
            .large_file(bytes as u64 >= 0xf000_0000);
        self.archive.start_file(format!("{name}.npy"), options).map_err(plain)
    }

    /// Writes the archive's directory.
    pub(crate) fn finish(self) -> std::io::Result<()> {
        self.archive.finish().map_err(plain)?.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn sample() -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = NpzWriter::new(&mut bytes);
        writer.array("numbers", "<i4", &[2, 3], (0..6i32).map(i32::to_le_bytes)).unwrap();
        writer.text("names", &["a".into(), String::new(), "\u{e9}t\u{e9}".into()]).unwrap();
        writer.finish().unwrap();
        bytes.into_inner()
    }

    fn open(bytes: &[u8]) -> Result<NpzReader<Cursor<&[u8]>>, DataError> {
        NpzReader::new(Path::new("sample.npz"), Cursor::new(bytes))
    }

    #[test]
    fn arrays_come_back_by_name() {
        assert_eq!(sample(), sample());
        let bytes = sample();
        let mut reader = open(&bytes).unwrap();
        let numbers = reader.required("numbers").unwrap();
        assert_eq!((numbers.shape(), numbers.to_i64().unwrap()), (&[2, 3][..], vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(reader.converted("names", Array::to_text).unwrap(), ["a", "", "\u{e9}t\u{e9}"]);
        assert!(reader.array("missing").unwrap().is_none());
        let error = reader.required("missing").unwrap_err().to_string();
        assert!(error.ends_with("there is no array 'missing' (there are: names, numbers)"), "{error}");
        let error = reader.converted("names", Array::to_i64).unwrap_err().to_string();
        assert!(error.ends_with("array 'names': the array is text, but numbers are needed"), "{error}");
    }

    #[test]
    fn a_damaged_array_fails_its_checksum() {
        let mut bytes = Cursor::new(Vec::new());
        let mut archive = ZipWriter::new(&mut bytes);
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        archive.start_file("a.npy", stored).unwrap();
        Header::write(&mut archive, "|u1", &[4]).unwrap();
        archive.write_all(b"data").unwrap();
        archive.finish().unwrap();
        let mut bytes = bytes.into_inner();
        let at = bytes.windows(4).position(|w| w == b"data").unwrap();
        bytes[at] ^= 1;
        let error = open(&bytes).unwrap().required("a").unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
    }

    #[test]
    fn truncation_and_flipped_bits_never_panic() {
        let whole = sample();
        for length in 0..whole.len() {
            assert!(open(&whole[..length]).is_err(), "{length}");
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(mut reader) = open(&flipped) {
                for name in ["numbers", "names"] {
                    let _ = reader.array(name);
                }
            }
        }
    }
}
