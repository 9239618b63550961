//! Taking one file out of a zip archive.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::DataError;

/// Writes member `name` of the archive (fetched from `address`) to `target`, and never more than `size` bytes and one:
/// a small archive can unpack to any length.
pub(super) fn member(archive: &Path, address: &str, name: &str, target: &Path, size: u64) -> Result<(), DataError> {
    let failed = |problem: String| DataError::Download { url: address.to_string(), problem };
    let file = File::open(archive).map_err(|e| DataError::read(archive, e))?;
    let mut zip = ZipArchive::new(BufReader::new(file))
        .map_err(|e| failed(format!("the server sent something that is not a zip archive: {e}")))?;
    let mut member = zip.by_name(name).map_err(|e| match e {
        ZipError::FileNotFound => failed(format!("the archive does not hold {name}")),
        other => failed(format!("{name} in the archive is damaged: {other}")),
    })?;
    let mut output = File::create(target).map_err(|e| DataError::write(target, e))?;
    let mut bounded = (&mut member).take(size.saturating_add(1));
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        let n = match bounded.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(failed(format!("{name} in the archive is damaged: {e}"))),
        };
        io::Write::write_all(&mut output, &buffer[..n]).map_err(|e| DataError::write(target, e))?;
    }
}
