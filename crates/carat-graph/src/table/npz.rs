//! Columns as an NPZ archive: a zip with one `.npy` array per column, as `numpy.savez` makes.

use std::io::{self, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{Column, SLICE_ROWS};

/// Text is padded to the longest value of its column; one long value must not turn into a file of terabytes.
const MAX_TEXT_BYTES: usize = 1 << 34;

pub(super) fn write<W: Write + Seek>(columns: &[(String, Column)], writer: W) -> io::Result<()> {
    let mut archive = ZipWriter::new(writer);
    for (name, column) in columns {
        let text = matches!(column, Column::Text(_));
        let options = SimpleFileOptions::default()
            // Numbers hardly shrink and are quicker to load as they stand; padded text shrinks a great deal.
            .compression_method(if text { CompressionMethod::Deflated } else { CompressionMethod::Stored })
            .large_file(true);
        archive.start_file(format!("{name}.npy"), options)?;
        match column {
            Column::U32(values) => write_numbers(&mut archive, "<u4", values, |v| v.to_le_bytes())?,
            Column::I64(values) => write_numbers(&mut archive, "<i8", values, |v| v.to_le_bytes())?,
            Column::F32(values) => write_numbers(&mut archive, "<f4", values, |v| v.to_le_bytes())?,
            Column::F64(values) => write_numbers(&mut archive, "<f8", values, |v| v.to_le_bytes())?,
            Column::Text(values) => write_text(&mut archive, name, values)?,
        }
    }
    archive.finish()?.flush()
}

/// The header of a one-dimensional array, version 1.0: padded so that the data starts at a multiple of 64 bytes.
fn write_header(writer: &mut impl Write, dtype: &str, rows: usize) -> io::Result<()> {
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({rows},), }}");
    let padding = 64 - (10 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', padding % 64));
    header.push('\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&(header.len() as u16).to_le_bytes())?;
    writer.write_all(header.as_bytes())
}

fn write_numbers<T: Copy, const BYTES: usize>(
    writer: &mut impl Write,
    dtype: &str,
    values: &[T],
    to_bytes: impl Fn(T) -> [u8; BYTES],
) -> io::Result<()> {
    write_header(writer, dtype, values.len())?;
    let mut bytes = Vec::with_capacity(values.len().min(SLICE_ROWS) * BYTES);
    for slice in values.chunks(SLICE_ROWS) {
        bytes.clear();
        bytes.extend(slice.iter().flat_map(|&v| to_bytes(v)));
        writer.write_all(&bytes)?;
    }
    Ok(())
}

fn write_text(writer: &mut impl Write, name: &str, values: &[String]) -> io::Result<()> {
    let width = values.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    if width.saturating_mul(4).saturating_mul(values.len()) > MAX_TEXT_BYTES {
        return Err(io::Error::other(format!(
            "column '{name}' has a value of {width} characters, and NPZ pads every value to the longest; \
             write .csv or .parquet instead"
        )));
    }
    write_header(writer, &format!("<U{width}"), values.len())?;
    let mut bytes = Vec::with_capacity(width * 4);
    for text in values {
        bytes.clear();
        bytes.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
        bytes.resize(width * 4, 0);
        writer.write_all(&bytes)?;
    }
    Ok(())
}
