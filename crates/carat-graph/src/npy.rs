//! NumPy arrays: their element types, their `.npy` form and the `.npz` archives that hold them by name.
//!
//! An [`Array`] keeps the bytes it was read with and converts on request. It is never larger than its shape promises,
//! and its shape never promises more than there are bytes, so memory stays in proportion to the input.

mod archive;
mod header;
mod stream;

use std::io::Read;

use half::f16;

use crate::DataError;

pub(crate) use archive::{NpzReader, NpzWriter, no_archive};
pub(crate) use stream::ArrayStream;

/// What one element of an array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One byte, 0 or 1.
    Bool,
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// An IEEE floating-point number.
    Float,
    /// Text of a fixed number of UCS-4 characters, padded with NULs.
    Text,
}

/// The element type of an array: NumPy's `dtype`, as far as numbers and text go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElementType {
    pub(crate) kind: Kind,
    /// Bytes per element.
    pub(crate) size: usize,
    pub(crate) big_endian: bool,
}

impl ElementType {
    /// Understands NumPy's short names, such as `<f4`, `|b1`, `>i8` and `<U12`.
    pub(crate) fn parse(name: &str) -> Result<Self, DataError> {
        let unsupported = || {
            DataError::Invalid(format!(
                "the element type '{name}' is not supported; save booleans, integers, floats or '<U' text"
            ))
        };
        let (big_endian, rest) = match name.as_bytes().first() {
            Some(b'>') => (true, &name[1..]),
            Some(b'<' | b'|' | b'=') => (false, &name[1..]),
            _ => (false, name),
        };
        if rest.starts_with('O') {
            return Err(DataError::Invalid(
                "the array holds Python objects, which only pickle could rebuild; save it with a numeric or '<U' dtype"
                    .into(),
            ));
        }
        let kind = match rest.as_bytes().first() {
            Some(b'b') => Kind::Bool,
            Some(b'i') => Kind::Signed,
            Some(b'u') => Kind::Unsigned,
            Some(b'f') => Kind::Float,
            Some(b'U') => Kind::Text,
            _ => return Err(unsupported()),
        };
        let count: usize = rest[1..].parse().map_err(|_| unsupported())?;
        let size = if kind == Kind::Text { count.checked_mul(4).ok_or_else(unsupported)? } else { count };
        let known = match kind {
            Kind::Bool => size == 1,
            Kind::Signed | Kind::Unsigned => matches!(size, 1 | 2 | 4 | 8),
            Kind::Float => matches!(size, 2 | 4 | 8),
            Kind::Text => true,
        };
        if known { Ok(Self { kind, size, big_endian }) } else { Err(unsupported()) }
    }
}

impl std::fmt::Display for ElementType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bits = self.size * 8;
        match self.kind {
            Kind::Bool => f.write_str("bool"),
            Kind::Signed => write!(f, "int{bits}"),
            Kind::Unsigned => write!(f, "uint{bits}"),
            Kind::Float => write!(f, "float{bits}"),
            Kind::Text => f.write_str("text"),
        }
    }
}

/// An array as it was stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    shape: Vec<usize>,
    element: ElementType,
    column_major: bool,
    bytes: Vec<u8>,
}

/// Number of bytes that an array of this shape and element takes.
fn byte_length(shape: &[usize], element: ElementType) -> Result<usize, DataError> {
    let count = shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
    // Elements of no size would let a few bytes of input promise billions of them.
    if element.size == 0 && count != Some(0) {
        return Err(DataError::Invalid("the array's elements are empty".into()));
    }
    count
        .and_then(|count| count.checked_mul(element.size))
        .ok_or_else(|| DataError::Invalid(format!("an array of shape {shape:?} is too large to exist")))
}

impl Array {
    /// Checks that the bytes are as many as the shape promises.
    pub(crate) fn new(
        shape: Vec<usize>,
        element: ElementType,
        column_major: bool,
        bytes: Vec<u8>,
    ) -> Result<Self, DataError> {
        let expected = byte_length(&shape, element)?;
        if bytes.len() != expected {
            return Err(DataError::Invalid(format!(
                "an array of shape {shape:?} and type {element} takes {expected} bytes, but there are {}",
                bytes.len()
            )));
        }
        if column_major && shape.len() > 2 {
            return Err(DataError::Invalid(format!(
                "an array of shape {shape:?} is stored in Fortran order; save it with numpy.ascontiguousarray"
            )));
        }
        Ok(Self { shape, element, column_major, bytes })
    }

    /// Reads one array in `.npy` form, and no byte beyond it.
    pub(crate) fn read_npy(reader: &mut impl Read) -> Result<Self, DataError> {
        let header = header::Header::read(reader)?;
        let length = byte_length(&header.shape, header.element)?;
        let mut bytes = Vec::new();
        // `take` grows the buffer with what really comes: a header that lies about its size allocates nothing.
        reader.take(length as u64).read_to_end(&mut bytes).map_err(header::damaged)?;
        if bytes.len() != length {
            return Err(DataError::Invalid(format!(
                "the array is cut short: its header promises {length} bytes, but only {} follow",
                bytes.len()
            )));
        }
        Self::new(header.shape, header.element, header.column_major, bytes)
    }

    /// The extent along each axis.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    /// Every element in row-major order, from its bytes in little-endian order.
    fn elements<const SIZE: usize, T>(&self, convert: impl Fn([u8; SIZE]) -> T) -> Vec<T> {
        let element = |bytes: &[u8]| {
            let mut little_endian = [0; SIZE];
            little_endian.copy_from_slice(bytes);
            if self.element.big_endian {
                little_endian.reverse();
            }
            convert(little_endian)
        };
        match self.shape[..] {
            // An array without elements may claim any number of rows.
            _ if self.bytes.is_empty() => Vec::new(),
            [rows, columns] if self.column_major => {
                let at = |row: usize, column: usize| (column * rows + row) * SIZE;
                (0..rows)
                    .flat_map(|row| (0..columns).map(move |column| at(row, column)))
                    .map(|start| element(&self.bytes[start..start + SIZE]))
                    .collect()
            }
            _ => self.bytes.chunks_exact(SIZE).map(element).collect(),
        }
    }

    /// All elements as floating-point numbers, row by row.
    pub(crate) fn to_f64(&self) -> Result<Vec<f64>, DataError> {
        self.numbers(|v| v as f64, |v| v as f64, f64::from, |v| v)
    }

    /// The same in single precision.
    pub(crate) fn to_f32(&self) -> Result<Vec<f32>, DataError> {
        self.numbers(|v| v as f32, |v| v as f32, |v| v, |v| v as f32)
    }

    fn numbers<T>(
        &self,
        signed: impl Fn(i64) -> T,
        unsigned: impl Fn(u64) -> T,
        single: impl Fn(f32) -> T,
        double: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, DataError> {
        Ok(match (self.element.kind, self.element.size) {
            (Kind::Bool, _) => self.elements(|b: [u8; 1]| unsigned(u64::from(b[0] != 0))),
            (Kind::Signed, 1) => self.elements(|b| signed(i8::from_le_bytes(b).into())),
            (Kind::Signed, 2) => self.elements(|b| signed(i16::from_le_bytes(b).into())),
            (Kind::Signed, 4) => self.elements(|b| signed(i32::from_le_bytes(b).into())),
            (Kind::Signed, _) => self.elements(|b| signed(i64::from_le_bytes(b))),
            (Kind::Unsigned, 1) => self.elements(|b| unsigned(u8::from_le_bytes(b).into())),
            (Kind::Unsigned, 2) => self.elements(|b| unsigned(u16::from_le_bytes(b).into())),
            (Kind::Unsigned, 4) => self.elements(|b| unsigned(u32::from_le_bytes(b).into())),
            (Kind::Unsigned, _) => self.elements(|b| unsigned(u64::from_le_bytes(b))),
            (Kind::Float, 2) => self.elements(|b| single(f16::from_le_bytes(b).to_f32())),
            (Kind::Float, 4) => self.elements(|b| single(f32::from_le_bytes(b))),
            (Kind::Float, _) => self.elements(|b| double(f64::from_le_bytes(b))),
            (Kind::Text, _) => return Err(self.expected("numbers are")),
        })
    }

    /// All elements of an integer or boolean array, row by row.
    pub(crate) fn to_i64(&self) -> Result<Vec<i64>, DataError> {
        if self.element.kind == Kind::Float {
            return Err(self.expected("integers are"));
        }
        self.numbers(Some, |v| i64::try_from(v).ok(), |_| None, |_| None)?
            .into_iter()
            .collect::<Option<Vec<i64>>>()
            .ok_or_else(|| DataError::Invalid("an integer of the array is larger than 64 signed bits hold".into()))
    }

    /// All elements of an array of booleans or of the integers 0 and 1, row by row.
    pub(crate) fn to_bool(&self) -> Result<Vec<bool>, DataError> {
        let values = self.to_i64().map_err(|_| self.expected("booleans, or integers 0 and 1, are"))?;
        match values.iter().find(|v| !matches!(v, 0 | 1)) {
            Some(other) => Err(DataError::Invalid(format!("a mask may hold 0 and 1 only, but here is {other}"))),
            None => Ok(values.into_iter().map(|v| v == 1).collect()),
        }
    }

    /// All elements of a text array.
    pub(crate) fn to_text(&self) -> Result<Vec<String>, DataError> {
        if self.element.kind != Kind::Text {
            return Err(self.expected("text is"));
        }
        if self.shape.len() > 1 {
            return Err(DataError::Invalid(format!("text of shape {:?}, where a plain list is needed", self.shape)));
        }
        if self.bytes.is_empty() {
            return Ok(Vec::new());
        }
        self.bytes.chunks_exact(self.element.size).map(|bytes| self.text(bytes)).collect()
    }

    fn text(&self, bytes: &[u8]) -> Result<String, DataError> {
        let mut text = String::new();
        for character in bytes.chunks_exact(4) {
            let mut code = [0; 4];
            code.copy_from_slice(character);
            let code = if self.element.big_endian { u32::from_be_bytes(code) } else { u32::from_le_bytes(code) };
            text.push(char::from_u32(code).ok_or_else(|| {
                DataError::Invalid(format!("{code:#x} is not a Unicode character; the text is damaged"))
            })?);
        }
        text.truncate(text.trim_end_matches('\0').len());
        Ok(text)
    }

    fn expected(&self, needed: &str) -> DataError {
        DataError::Invalid(format!("the array is {}, but {needed} needed", self.element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version 1 file with this header and data.
    pub(super) fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(data);
        file
    }

    fn read(file: &[u8]) -> Result<Array, DataError> {
        Array::read_npy(&mut &file[..])
    }

    #[test]
    fn every_number_type_and_byte_order_is_understood() {
        let cases: [(&str, &[u8], f64); 14] = [
            ("|b1", &[1], 1.0),
            ("|i1", &[0xfe], -2.0),
            ("<i2", &[0xfe, 0xff], -2.0),
            (">i2", &[0xff, 0xfe], -2.0),
            ("<i4", &[0xfe, 0xff, 0xff, 0xff], -2.0),
            (">i8", &[0, 0, 0, 0, 0, 0, 1, 2], 258.0),
            ("|u1", &[0xfe], 254.0),
            (">u2", &[1, 2], 258.0),
            ("<u4", &[2, 1, 0, 0], 258.0),
            ("<u8", &[2, 1, 0, 0, 0, 0, 0, 0], 258.0),
            ("<f2", &[0x00, 0xc1], -2.5),
            ("<f4", &[0, 0, 0x20, 0xc0], -2.5),
            (">f4", &[0xc0, 0x20, 0, 0], -2.5),
            ("<f8", &[0, 0, 0, 0, 0, 0, 0x04, 0xc0], -2.5),
        ];
        for (name, bytes, value) in cases {
            let header = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': (1,), }}");
            let array = read(&npy(&header, bytes)).unwrap();
            assert_eq!(array.to_f64().unwrap(), [value], "{name}");
            assert_eq!(array.to_f32().unwrap(), [value as f32], "{name}");
            if !name.contains('f') {
                assert_eq!(array.to_i64().unwrap(), [value as i64], "{name}");
            }
        }
    }

    #[test]
    fn half_precision_covers_zero_subnormals_infinities_and_nan() {
        let header = "{'descr': '<f2', 'fortran_order': False, 'shape': (5,)}";
        let bytes = [0x0001u16, 0x3c00, 0x7bff, 0xfc00, 0x7e00].map(u16::to_le_bytes).concat();
        let values = read(&npy(header, &bytes)).unwrap().to_f32().unwrap();
        assert_eq!(values[..4], [2f32.powi(-24), 1.0, 65504.0, f32::NEG_INFINITY]);
        assert!(values[4].is_nan());
    }

    #[test]
    fn fortran_order_is_turned_into_rows() {
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}";
        assert_eq!(read(&npy(header, &[1, 4, 2, 5, 3, 6])).unwrap().to_i64().unwrap(), [1, 2, 3, 4, 5, 6]);
        // Without elements any number of rows can be claimed; going through them would take for ever.
        let empty = "{'descr': '|u1', 'fortran_order': True, 'shape': (9000000000000000000, 0)}";
        assert!(read(&npy(empty, &[])).unwrap().to_i64().unwrap().is_empty());
        let cube = "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 1, 1)}";
        assert!(read(&npy(cube, &[1])).unwrap_err().to_string().contains("Fortran order"));
    }

    #[test]
    fn lies_about_size_are_errors() {
        for (shape, problem) in [
            ("(4,)", "cut short"),
            ("(1000000000000,)", "cut short"),
            ("(18446744073709551615, 2)", "too large to exist"),
            ("(99999999999999999999,)", "shape"),
            ("(-1,)", "shape"),
        ] {
            let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}");
            let error = read(&npy(&header, &[0; 12])).unwrap_err().to_string();
            assert!(error.contains(problem), "{shape}: {error}");
        }
        let hollow = "{'descr': '<U0', 'fortran_order': False, 'shape': (4000000000,)}";
        assert!(read(&npy(hollow, &[])).is_err());
    }

    #[test]
    fn python_objects_and_records_are_refused() {
        let objects = "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}";
        assert!(read(&npy(objects, b"junk")).unwrap_err().to_string().contains("Python objects"));
        let records = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}";
        assert!(read(&npy(records, b"junk")).is_err());
        let complex = "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}";
        assert!(read(&npy(complex, &[0; 8])).unwrap_err().to_string().contains("'<c8' is not supported"));
    }

    #[test]
    fn masks_and_text_check_what_they_hold() {
        let mask = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}";
        assert_eq!(read(&npy(mask, &[0, 1, 1])).unwrap().to_bool().unwrap(), [false, true, true]);
        assert!(read(&npy(mask, &[0, 1, 2])).unwrap().to_bool().is_err());
        let text = "{'descr': '>U2', 'fortran_order': False, 'shape': (2,)}";
        let bytes = [0, 0, 0, b'a', 0, 0, 0, 0, 0, 1, 0xf6, 0, 0, 0, 0, b'b'];
        assert_eq!(read(&npy(text, &bytes)).unwrap().to_text().unwrap(), ["a", "\u{1f600}b"]);
        let surrogate = [0, 0, 0xd8, 0, 0, 0, 0, 0];
        let text = "{'descr': '>U2', 'fortran_order': False, 'shape': (1,)}";
        assert!(read(&npy(text, &surrogate)).unwrap().to_text().is_err());
    }
}
