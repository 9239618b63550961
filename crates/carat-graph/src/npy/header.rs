//! The head of a `.npy` file: a magic number, a version, and a Python dictionary written out as text.

use std::io::{Read, Write};

use super::ElementType;
use crate::DataError;

/// NumPy's own limit is 10,000 characters; a longer head is not one that it wrote.
const MAX_HEADER_BYTES: u32 = 1 << 16;

/// NumPy allows 64 axes.
const MAX_AXES: usize = 64;

/// What the head of a `.npy` file says about the bytes that follow.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) element: ElementType,
    pub(super) column_major: bool,
    pub(super) shape: Vec<usize>,
}

pub(super) fn damaged(error: std::io::Error) -> DataError {
    DataError::Invalid(format!("the array is damaged or cut short: {error}"))
}

impl Header {
    pub(super) fn read(reader: &mut impl Read) -> Result<Self, DataError> {
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(damaged)?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(DataError::Invalid("this is not a NumPy array: the first bytes are not those of .npy".into()));
        }
        let length = match start[6] {
            1 => {
                let mut length = [0; 2];
                reader.read_exact(&mut length).map_err(damaged)?;
                u32::from(u16::from_le_bytes(length))
            }
            2 | 3 => {
                let mut length = [0; 4];
                reader.read_exact(&mut length).map_err(damaged)?;
                u32::from_le_bytes(length)
            }
            version => return Err(DataError::Invalid(format!(".npy version {version} is not known (1 to 3 are)"))),
        };
        if length > MAX_HEADER_BYTES {
            return Err(DataError::Invalid(format!("the .npy header claims {length} bytes, more than NumPy writes")));
        }
        let mut text = vec![0; length as usize];
        reader.read_exact(&mut text).map_err(damaged)?;
        Parser { rest: &String::from_utf8_lossy(&text) }.header()
    }

    /// Writes a version 1 head whose length keeps the data aligned, as NumPy does.
    pub(super) fn write(writer: &mut impl Write, descr: &str, shape: &[usize]) -> std::io::Result<()> {
        let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
        let extents = if shape.len() == 1 { extents.trim_end() } else { extents.trim_end_matches(", ") };
        let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
        let padding = (64 - (10 + text.len() + 1) % 64) % 64;
        text.extend(std::iter::repeat_n(' ', padding));
        text.push('\n');
        writer.write_all(b"\x93NUMPY\x01\x00")?;
        // Three axes of twenty digits each stay far below version 1's limit of 65,535 bytes.
        writer.write_all(&(text.len() as u16).to_le_bytes())?;
        writer.write_all(text.as_bytes())
    }
}

/// Reads the dictionary: the three keys in any order, and nothing else.
struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn header(&mut self) -> Result<Header, DataError> {
        let (mut element, mut column_major, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.accept("}") {
            let key = self.quoted()?;
            self.expect(":")?;
            match key {
                "descr" => element = Some(self.element()?),
                "fortran_order" => column_major = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                other => return Err(DataError::Invalid(format!("the .npy header has the unknown key '{other}'"))),
            }
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        match (element, column_major, shape) {
            (Some(element), Some(column_major), Some(shape)) => Ok(Header { element, column_major, shape }),
            _ => Err(DataError::Invalid("the .npy header lacks descr, fortran_order or shape".into())),
        }
    }

    fn accept(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), DataError> {
        if self.accept(token) {
            return Ok(());
        }
        Err(DataError::Invalid(format!("the .npy header is damaged: '{token}' is missing")))
    }
}

impl<'a> Parser<'a> {
    fn quoted(&mut self) -> Result<&'a str, DataError> {
        let quote = if self.accept("'") { '\'' } else { '"' };
        if quote == '"' {
            self.expect("\"")?;
        }
        let (text, rest) = self
            .rest
            .split_once(quote)
            .ok_or_else(|| DataError::Invalid("the .npy header is damaged: a quote is left open".into()))?;
        self.rest = rest;
        Ok(text)
    }

    fn element(&mut self) -> Result<ElementType, DataError> {
        if self.accept("[") {
            return Err(DataError::Invalid("the array holds records; save each column as an array of its own".into()));
        }
        ElementType::parse(self.quoted()?)
    }

    fn boolean(&mut self) -> Result<bool, DataError> {
        if self.accept("True") {
            return Ok(true);
        }
        self.expect("False")?;
        Ok(false)
    }

    fn shape(&mut self) -> Result<Vec<usize>, DataError> {
        self.expect("(")?;
        let mut shape = Vec::new();
        while !self.accept(")") {
            self.rest = self.rest.trim_start();
            let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let (number, rest) = self.rest.split_at(digits);
            let extent = number.parse().ok().filter(|_| shape.len() < MAX_AXES).ok_or_else(|| {
                DataError::Invalid("the .npy header is damaged: its shape is not a list of sizes".into())
            })?;
            shape.push(extent);
            self.rest = rest;
            // Python 2 writes long integers with an L behind them.
            self.accept("L");
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_aligned() {
        for shape in [vec![], vec![7], vec![2, 10_556], vec![1, 2, 3]] {
            let mut file = Vec::new();
            Header::write(&mut file, "<i8", &shape).unwrap();
            assert_eq!(file.len() % 64, 0, "{shape:?}");
            let header = Header::read(&mut &file[..]).unwrap();
            assert_eq!(header, Header { element: ElementType::parse("<i8").unwrap(), column_major: false, shape });
        }
    }

    #[test]
    fn versions_and_spellings_are_understood() {
        let dictionary = "{\"shape\": (5L, 3L), 'descr':'>f8' , 'fortran_order': True}";
        let mut file = b"\x93NUMPY\x03\x00".to_vec();
        file.extend((dictionary.len() as u32).to_le_bytes());
        file.extend(dictionary.as_bytes());
        let header = Header::read(&mut &file[..]).unwrap();
        assert_eq!(header.shape, [5, 3]);
        assert!(header.column_major && header.element.big_endian);
    }

    #[test]
    fn damage_is_an_error() {
        let bad = ["", "{", "{}", "{'shape': (}", "{'descr': '<f4'", "{'descr': <f4}", "{'shape': (1 2)}", "{'a': 1}"];
        for dictionary in bad {
            let file = super::super::tests::npy(dictionary, &[]);
            assert!(Header::read(&mut &file[..]).is_err(), "{dictionary}");
        }
        assert!(Header::read(&mut &b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..]).is_err());
        assert!(Header::read(&mut &b"\x93NUMPY\x09\x00"[..]).is_err());
        assert!(Header::read(&mut &b"PK\x03\x04aaaaaaa"[..]).is_err());
    }
}
