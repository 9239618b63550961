//! Reading and writing files: text that may be gzip-compressed, and output that appears whole or not at all.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::DataError;

/// The longest line, and the longest text after decompression that is read whole. A small hostile gzip file must not
/// fill the memory.
pub(crate) const MAX_LINE_BYTES: u64 = 1 << 26;

/// Finds `path`, or the same with `.gz` behind it.
pub fn plain_or_gz(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_path_buf());
    }
    let mut gz = path.as_os_str().to_owned();
    gz.push(".gz");
    let gz = PathBuf::from(gz);
    gz.is_file().then_some(gz)
}

/// Opens a file that may be gzip-compressed. Its first bytes decide, not its name.
pub(crate) fn open_text(path: &Path) -> Result<Box<dyn BufRead>, DataError> {
    let file = File::open(path).map_err(|e| DataError::read(path, e))?;
    let mut reader = BufReader::with_capacity(1 << 17, file);
    let head = reader.fill_buf().map_err(|e| DataError::read(path, e))?;
    Ok(if head.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::with_capacity(1 << 17, MultiGzDecoder::new(reader)))
    } else {
        Box::new(reader)
    })
}

/// A text file read line by line, gzip-compressed or not; it knows its path and line for errors.
pub(crate) struct TextFile {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    line: u64,
    buffer: Vec<u8>,
}

impl TextFile {
    /// Opens `path`, or `path.gz` where only that exists.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let path = plain_or_gz(path).unwrap_or_else(|| path.to_path_buf());
        let reader = open_text(&path)?;
        Ok(Self { path, reader, line: 0, buffer: Vec::new() })
    }

    /// The next line without its line ending, or `None` at the end.
    pub(crate) fn next_line(&mut self) -> Result<Option<&str>, DataError> {
        self.buffer.clear();
        let read = (&mut self.reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.buffer);
        match read {
            Err(e) => return Err(DataError::malformed(&self.path, format!("the file is damaged or cut short: {e}"))),
            Ok(0) => return Ok(None),
            Ok(_) => self.line += 1,
        }
        if self.buffer.len() as u64 == MAX_LINE_BYTES {
            return Err(self.error("the line is longer than 64 MiB"));
        }
        while matches!(self.buffer.last(), Some(b'\n' | b'\r')) {
            self.buffer.pop();
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(DataError::malformed_line(&self.path, self.line, "the line is not UTF-8 text")),
        }
    }

    /// An error about the line that was read last.
    pub(crate) fn error(&self, problem: impl Into<String>) -> DataError {
        DataError::malformed_line(&self.path, self.line, problem)
    }

    /// The file that was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }
}

/// Prefix of the names of unfinished files. A process that is killed leaves them behind.
pub const TEMPORARY_PREFIX: &str = ".carat-";

/// Writes a file under a temporary name in the same folder and renames it when `write` has succeeded and the bytes
/// are on the disk. A reader sees the old file or the whole new one, never a part, whatever happens in between.
pub fn write_atomically<E: From<DataError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |e: std::io::Error| E::from(DataError::write(path, without_temporary_name(e)));
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(folder).map_err(failed)?;
    let mut writer = BufWriter::with_capacity(1 << 17, temporary.as_file());
    write(&mut writer)?;
    writer.flush().map_err(failed)?;
    drop(writer);
    temporary.as_file().sync_all().map_err(failed)?;
    set_default_permissions(temporary.as_file()).map_err(failed)?;
    temporary.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// The system's reason without the temporary name, which means nothing to a user.
pub(crate) fn without_temporary_name(error: std::io::Error) -> std::io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => std::io::Error::new(error.kind(), reason),
        None => error,
    }
}

/// Temporary files are private (0600); a finished output should be as readable as any other file of the user's.
#[cfg(unix)]
fn set_default_permissions(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_default_permissions(_: &File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gz_and_plain_text_read_alike_and_truncation_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let text = "one\ntwo\r\n\nfour";
        std::fs::write(folder.path().join("plain.txt"), text).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        std::fs::write(folder.path().join("packed.txt.gz"), &packed).unwrap();
        for name in ["plain.txt", "packed.txt"] {
            let mut file = TextFile::open(&folder.path().join(name)).unwrap();
            let mut lines = Vec::new();
            while let Some(line) = file.next_line().unwrap() {
                lines.push(line.to_string());
            }
            assert_eq!(lines, ["one", "two", "", "four"]);
            assert_eq!(file.line(), 4);
        }
        std::fs::write(folder.path().join("cut.gz"), &packed[..packed.len() - 6]).unwrap();
        let mut cut = TextFile::open(&folder.path().join("cut.gz")).unwrap();
        let mut result = cut.next_line().map(|_| ());
        for _ in 0..5 {
            result = result.and_then(|()| cut.next_line().map(|_| ()));
        }
        assert!(result.unwrap_err().to_string().contains("damaged or cut short"));
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        std::fs::write(&path, "old").unwrap();
        let failure = write_atomically(&path, |writer| {
            writer.write_all(b"half").unwrap();
            Err(DataError::Invalid("stop".into()))
        });
        assert!(failure.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        write_atomically::<DataError>(&path, |writer| writer.write_all(b"new").map_err(|e| DataError::write(&path, e)))
            .unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    }
}
