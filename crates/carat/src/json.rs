//! JSON for people to read: a line per name, and a line per element of a list, whatever the element holds.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

/// A value as JSON. Of a matrix, a row is a line; of a list of objects, an object is.
pub fn to_json(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Lines::default()))?;
    text.push(b'\n');
    Ok(text)
}

/// Pretty up to the elements of the outermost list, and compact within them.
#[derive(Default)]
struct Lines<'a> {
    pretty: PrettyFormatter<'a>,
    /// Lists and objects that are open, from the outermost list on.
    open: usize,
}

/// Calls one of the two formatters.
macro_rules! either {
    ($self:ident.$call:ident($($argument:expr),*)) => {
        if $self.open <= 1 { $self.pretty.$call($($argument),*) } else { CompactFormatter.$call($($argument),*) }
    };
}

impl Formatter for Lines<'_> {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.open += 1;
        either!(self.begin_array(writer))
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        either!(self.end_array(writer))?;
        self.open -= 1;
        Ok(())
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        either!(self.begin_array_value(writer, first))
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        either!(self.end_array_value(writer))
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.open += usize::from(self.open > 0);
        either!(self.begin_object(writer))
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        either!(self.end_object(writer))?;
        self.open -= usize::from(self.open > 0);
        Ok(())
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        either!(self.begin_object_key(writer, first))
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        either!(self.begin_object_value(writer))
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        either!(self.end_object_value(writer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_is_a_line() {
        let value = json!({"a": 1, "b": [[1, 2], [3, [4]]], "c": [{"d": [], "e": {"f": 2}}], "g": {"h": []}});
        let text = String::from_utf8(to_json(&value).unwrap()).unwrap();
        let expected = "{\n  \"a\": 1,\n  \"b\": [\n    [1,2],\n    [3,[4]]\n  ],\n  \"c\": [\n    {\"d\":[],\"e\":\
                        {\"f\":2}}\n  ],\n  \"g\": {\n    \"h\": []\n  }\n}\n";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
