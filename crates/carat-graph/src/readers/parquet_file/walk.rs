//! Walks a header in Thrift's compact protocol and keeps only two numbers.

use std::io::{self, Read};

use super::schema::{Fields, Wire};

/// The Parquet library's limit.
const MAX_DEPTH: u32 = 64;

const BOOLEANS: [u8; 2] = [1, 2];
const BYTE: u8 = 3;
const INTEGERS: std::ops::RangeInclusive<u8> = 4..=6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LISTS: [u8; 2] = [9, 10];
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

impl Wire {
    fn is(&self, kind: u8) -> bool {
        match self {
            Self::Bool => BOOLEANS.contains(&kind),
            Self::Byte => kind == BYTE,
            Self::Integer => INTEGERS.contains(&kind),
            Self::Double => kind == DOUBLE,
            Self::Binary => kind == BINARY,
            Self::List(_) => LISTS.contains(&kind),
            Self::Struct(_) => kind == STRUCT,
        }
    }
}

fn endless() -> io::Error {
    io::Error::other("it claims to be longer than the file")
}

/// Thrift keeps the sign of a number in its lowest bit.
fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Walks a header of at most `left` bytes. Returns the integers in its fields 2 and 3, zero if missing.
pub(super) fn walk(reader: impl Read, left: u64, fields: Fields) -> io::Result<[i64; 2]> {
    Walk { reader, left }.structure(fields, MAX_DEPTH)
}

struct Walk<R> {
    reader: R,
    /// Bytes that may still be read.
    left: u64,
}

impl<R: Read> Walk<R> {
    fn structure(&mut self, fields: Fields, depth: u32) -> io::Result<[i64; 2]> {
        let (mut integers, mut number) = ([0; 2], 0i16);
        loop {
            let head = self.byte()?;
            let kind = head & 15;
            if kind == 0 {
                return Ok(integers);
            }
            // The number of the field: its distance from the one before, or written out.
            number = match head >> 4 {
                0 => i16::try_from(signed(self.number()?)).ok(),
                distance => number.checked_add(distance.into()),
            }
            .ok_or_else(|| io::Error::other("it has a field of an impossible number"))?;
            match fields.iter().find(|(known, _)| *known == number) {
                // The library reads a known field as its expected type, whatever type the header gives.
                Some((_, wire)) if !wire.is(kind) => {
                    return Err(io::Error::other(format!("its field {number} is of the wrong type {kind}")));
                }
                Some((2 | 3, Wire::Integer)) => integers[usize::from(number == 3)] = signed(self.number()?),
                known => self.value(kind, known.map(|(_, wire)| wire), depth)?,
            }
        }
    }

    /// Walks a value of this kind. `wire` is the expected type if the field is known.
    fn value(&mut self, kind: u8, wire: Option<&Wire>, depth: u32) -> io::Result<()> {
        let Some(deeper) = depth.checked_sub(1) else {
            return Err(io::Error::other("its parts lie too deep within each other"));
        };
        match kind {
            _ if BOOLEANS.contains(&kind) => Ok(()),
            BYTE => self.bytes(1),
            _ if INTEGERS.contains(&kind) => self.number().map(|_| ()),
            DOUBLE => self.bytes(8),
            BINARY => {
                let length = self.number()?;
                self.bytes(length)
            }
            _ if LISTS.contains(&kind) => {
                let head = self.byte()?;
                let size = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                let element = match wire {
                    Some(Wire::List(element)) => Some(*element),
                    _ => None,
                };
                self.elements(size, &[head & 15], element, deeper)
            }
            MAP => match self.number()? {
                0 => Ok(()),
                size => {
                    let kinds = self.byte()?;
                    self.elements(size, &[kinds >> 4, kinds & 15], None, deeper)
                }
            },
            STRUCT => {
                let fields = match wire {
                    Some(Wire::Struct(fields)) => fields,
                    _ => &[][..],
                };
                self.structure(fields, deeper).map(|_| ())
            }
            UUID => self.bytes(16),
            _ => Err(io::Error::other(format!("it has a field of the unknown type {kind}"))),
        }
    }

    fn elements(&mut self, size: u64, kinds: &[u8], wire: Option<&Wire>, depth: u32) -> io::Result<()> {
        // Skipped booleans take no bytes, so their number has no limit. No valid header has a list of them.
        if size > self.left || (size > 0 && kinds.iter().all(|kind| BOOLEANS.contains(kind))) {
            return Err(endless());
        }
        if size > 0 && kinds.iter().any(|&kind| wire.is_some_and(|wire| !wire.is(kind))) {
            return Err(io::Error::other("it has a list of the wrong type"));
        }
        for _ in 0..size {
            for &kind in kinds {
                self.value(kind, wire, depth)?;
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
    use super::super::schema::PAGE;
    use super::*;

    fn walk_any(bytes: &[u8]) -> io::Result<[i64; 2]> {
        walk(bytes, bytes.len() as u64, &[])
    }

    fn walk_page(bytes: &[u8]) -> io::Result<[i64; 2]> {
        walk(bytes, bytes.len() as u64, PAGE)
    }

    #[test]
    fn ordinary_values_end() {
        // An i32, a text, a list of two i32, a map of a byte to a text, a double.
        let (text, list, map) = ([0x18, 2, b'a', b'b'], [0x19, 0x25, 2, 4], [0x1b, 1, 0x38, 9, 1, b'x']);
        let double = [0x17, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut bytes = [&[0x15, 14][..], &text, &list, &map, &double].concat();
        assert!(walk_any(&bytes).is_err());
        bytes.push(0);
        walk_any(&bytes).unwrap();
    }

    #[test]
    fn the_sizes_of_a_page_are_found() {
        assert_eq!(walk_page(&[0x15, 0, 0x15, 0x80, 0x02, 0x15, 20, 0]).unwrap(), [128, 10]);
        // Field numbers written out, in another order, and an unknown field.
        assert_eq!(walk_page(&[0x05, 6, 20, 0x05, 4, 3, 0x08, 80, 1, b'x', 0]).unwrap(), [-2, 10]);
        assert!(walk_page(&[0x15, 0, 0x15]).is_err());
    }

    #[test]
    fn a_known_field_of_another_type_is_refused() {
        assert!(walk_page(&[0x18, 0, 0]).unwrap_err().to_string().contains("field 1 is of the wrong type 8"));
        // The same within the header of a dictionary, whose third field is a boolean.
        walk_page(&[0x7c, 0x31, 0, 0]).unwrap();
        assert!(walk_page(&[0x7c, 0x35, 0, 0, 0]).is_err());
    }

    #[test]
    fn endless_headers_are_refused() {
        let billions = [0xff, 0xff, 0xff, 0xff, 0x07];
        for kind in 1..=13 {
            assert!(walk_any(&[&[0x19, 0xf0 | kind][..], &billions, &[0]].concat()).is_err(), "{kind}");
        }
        // Three booleans, and a map of a boolean to a boolean: small, but never part of a Parquet header.
        assert!(walk_any(&[0x19, 0x31, 0]).is_err());
        assert!(walk_any(&[0x1b, 1, 0x11, 0]).is_err());
        assert!(walk_any(&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]).is_err());
        assert!(walk_any(&[0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]).is_err());
        assert!(walk_any(&[0x1c; 1000]).unwrap_err().to_string().contains("too deep"));
    }
}
