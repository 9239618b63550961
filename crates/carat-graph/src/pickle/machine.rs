//! The stack machine that runs a pickle's opcodes, protocols 0 to 5.

use std::collections::HashMap;

use super::objects::{self, Callable};
use super::{Object, Value};
use crate::DataError;

/// The machine's state. Every opcode takes at least one byte of input and adds at most one object.
pub(super) struct Machine<'a> {
    input: &'a [u8],
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: HashMap<u64, Value>,
    arena: Vec<Object>,
    /// Bytes that conversions may still copy.
    copies_left: usize,
}

pub(super) fn invalid<T>(problem: impl Into<String>) -> Result<T, DataError> {
    Err(DataError::Invalid(problem.into()))
}

fn damaged<T>(problem: &str) -> Result<T, DataError> {
    invalid(format!("{problem}; the file is damaged, or is no pickle"))
}

fn refused<T>(module: &str, name: &str) -> Result<T, DataError> {
    invalid(format!(
        "the pickle asks to call '{module}.{name}'; carat only builds arrays and dicts from pickles and executes \
         nothing"
    ))
}

impl<'a> Machine<'a> {
    /// Runs a whole pickle; gives the arena and the value that the pickle leaves.
    pub(super) fn run(input: &'a [u8]) -> Result<(Vec<Object>, Value), DataError> {
        let mut machine = Self {
            input,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            arena: Vec::new(),
            copies_left: input.len().saturating_mul(8),
        };
        loop {
            let [opcode] = machine.fixed()?;
            if opcode == b'.' {
                let root = machine.pop()?;
                return Ok((machine.arena, root));
            }
            machine.step(opcode)?;
        }
    }

    fn step(&mut self, opcode: u8) -> Result<(), DataError> {
        match opcode {
            // Protocol and frames: the frame's length is a hint for buffering only.
            0x80 => drop(self.fixed::<1>()?),
            0x95 => drop(self.fixed::<8>()?),
            // The stack.
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_to_mark()?),
            b'2' => self.stack.push(self.top()?),
            // Plain values.
            b'N' => self.stack.push(Value::None),
            0x88 => self.stack.push(Value::Bool(true)),
            0x89 => self.stack.push(Value::Bool(false)),
            b'J' => self.integer(4)?,
            b'K' => self.integer(1)?,
            b'M' => self.integer(2)?,
            b'I' | b'L' => self.written_integer()?,
            0x8a => {
                let length = self.length(1)?;
                self.long(length)?;
            }
            0x8b => {
                let length = self.length(4)?;
                self.long(length)?;
            }
            b'F' => {
                let value = self.line()?.trim().parse().or_else(|_| invalid("a float in the pickle is damaged"))?;
                self.stack.push(Value::Float(value));
            }
            b'G' => {
                let value = f64::from_be_bytes(self.fixed()?);
                self.stack.push(Value::Float(value));
            }
            // Text and bytes; the strings of Python 2 are bytes.
            b'S' => {
                let bytes = unquoted(self.line()?)?;
                self.push(Object::Bytes(bytes));
            }
            b'T' | b'B' => self.bytes(4)?,
            b'U' | b'C' => self.bytes(1)?,
            0x8e | 0x96 => self.bytes(8)?,
            b'V' => {
                let text = raw_unicode(self.line_bytes()?)?;
                self.push(Object::Text(text));
            }
            b'X' => self.text(4)?,
            0x8c => self.text(1)?,
            0x8d => self.text(8)?,
            // Collections.
            b']' => self.push(Object::List(Vec::new())),
            b')' => self.push(Object::Tuple(Vec::new())),
            b'}' => self.push(Object::Dict(Vec::new())),
            b'l' => {
                let items = self.pop_to_mark()?;
                self.push(Object::List(items));
            }
            b't' => {
                let items = self.pop_to_mark()?;
                self.push(Object::Tuple(items));
            }
            b'd' => {
                let items = pairs(&self.pop_to_mark()?)?;
                self.push(Object::Dict(items));
            }
            0x85..=0x87 => {
                let count = usize::from(opcode - 0x84);
                let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
                items.reverse();
                self.push(Object::Tuple(items));
            }
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])?;
            }
            b'e' => {
                let items = self.pop_to_mark()?;
                self.append(&items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set_items(&[key, value])?;
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set_items(&items)?;
            }
            // The memo.
            b'p' => {
                let index = self.written_index()?;
                self.memoise(index)?;
            }
            b'q' => {
                let index = self.length(1)? as u64;
                self.memoise(index)?;
            }
            b'r' => {
                let index = self.length(4)? as u64;
                self.memoise(index)?;
            }
            0x94 => self.memoise(self.memo.len() as u64)?,
            b'g' => {
                let index = self.written_index()?;
                self.recall(index)?;
            }
            b'h' => {
                let index = self.length(1)? as u64;
                self.recall(index)?;
            }
            b'j' => {
                let index = self.length(4)? as u64;
                self.recall(index)?;
            }
            // Names and calls.
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(module, name)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Some(Object::Text(module)), Some(Object::Text(name))) =
                    (objects::get(&self.arena, module), objects::get(&self.arena, name))
                else {
                    return invalid("the pickle names something by a value that is no text");
                };
                let (module, name) = (module.clone(), name.clone());
                self.global(&module, &name)?;
            }
            b'i' => {
                let (module, name) = (self.line()?, self.line()?);
                return refused(module, name);
            }
            b'R' | 0x81 => {
                let (arguments, callable) = (self.pop()?, self.pop()?);
                let built = objects::call(&self.arena, callable, arguments, &mut self.copies_left)?;
                self.push(built);
            }
            b'b' => {
                let state = self.pop()?;
                let object = self.top()?;
                objects::set_state(&mut self.arena, object, state)?;
            }
            other => {
                return invalid(format!(
                    "the pickle uses opcode {other:#04x}, which arrays and dicts do not need; the file is damaged or \
                     holds something else"
                ));
            }
        }
        Ok(())
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], DataError> {
        match self.input.split_at_checked(count) {
            Some((taken, rest)) => {
                self.input = rest;
                Ok(taken)
            }
            None => damaged("the pickle is cut short"),
        }
    }

    fn fixed<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], DataError> {
        let mut bytes = [0; SIZE];
        bytes.copy_from_slice(self.take(SIZE)?);
        Ok(bytes)
    }

    /// An unsigned little-endian number of `size` bytes.
    fn length(&mut self, size: usize) -> Result<usize, DataError> {
        let value = self.take(size)?.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        usize::try_from(value).or_else(|_| damaged("the pickle is cut short"))
    }

    fn line_bytes(&mut self) -> Result<&'a [u8], DataError> {
        let Some(end) = self.input.iter().position(|&byte| byte == b'\n') else {
            return damaged("the pickle is cut short");
        };
        let line = self.take(end)?;
        self.take(1)?;
        Ok(line)
    }

    fn line(&mut self) -> Result<&'a str, DataError> {
        let line = self.line_bytes()?;
        std::str::from_utf8(line).or_else(|_| invalid("a line of the pickle is not text"))
    }

    fn integer(&mut self, size: usize) -> Result<(), DataError> {
        let value = self.length(size)? as i64;
        // Only the four-byte form is signed.
        self.stack.push(Value::Int(if size == 4 { i64::from(value as i32) } else { value }));
        Ok(())
    }

    fn written_integer(&mut self) -> Result<(), DataError> {
        let value = match self.line()?.trim() {
            "00" => Value::Bool(false),
            "01" => Value::Bool(true),
            digits => match digits.trim_end_matches('L').parse() {
                Ok(value) => Value::Int(value),
                Err(_) => return invalid("an integer in the pickle is damaged or beyond 64 bits"),
            },
        };
        self.stack.push(value);
        Ok(())
    }

    fn long(&mut self, size: usize) -> Result<(), DataError> {
        let bytes = self.take(size)?;
        if bytes.len() > 8 {
            return invalid("an integer in the pickle is beyond 64 bits");
        }
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        self.stack.push(Value::Int(i64::from_le_bytes(wide)));
        Ok(())
    }

    fn bytes(&mut self, size: usize) -> Result<(), DataError> {
        let length = self.length(size)?;
        let bytes = self.take(length)?.to_vec();
        self.push(Object::Bytes(bytes));
        Ok(())
    }

    fn text(&mut self, size: usize) -> Result<(), DataError> {
        let length = self.length(size)?;
        let text = std::str::from_utf8(self.take(length)?).or_else(|_| invalid("a text in the pickle is not UTF-8"))?;
        self.push(Object::Text(text.to_string()));
        Ok(())
    }

    fn push(&mut self, object: Object) {
        self.stack.push(Value::Object(self.arena.len()));
        self.arena.push(object);
    }

    /// The lowest position that may be popped: nothing below a mark may be.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Value, DataError> {
        match self.stack.pop() {
            Some(value) if self.stack.len() >= self.floor() => Ok(value),
            _ => damaged("the pickle takes more values than it has"),
        }
    }

    fn top(&self) -> Result<Value, DataError> {
        match self.stack.last() {
            Some(&value) if self.stack.len() > self.floor() => Ok(value),
            _ => damaged("the pickle takes more values than it has"),
        }
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Value>, DataError> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => damaged("the pickle ends a list that it never began"),
        }
    }

    fn append(&mut self, items: &[Value]) -> Result<(), DataError> {
        let list = self.top()?;
        match objects::get_mut(&mut self.arena, list) {
            Some(Object::List(list)) => list.extend_from_slice(items),
            _ => return invalid("the pickle appends to something that is no list"),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[Value]) -> Result<(), DataError> {
        let dict = self.top()?;
        match objects::get_mut(&mut self.arena, dict) {
            Some(Object::Dict(dict)) => dict.extend(pairs(items)?),
            _ => return invalid("the pickle sets an item of something that is no dictionary"),
        }
        Ok(())
    }

    fn written_index(&mut self) -> Result<u64, DataError> {
        self.line()?.trim().parse().or_else(|_| invalid("a memo index in the pickle is damaged"))
    }

    fn memoise(&mut self, index: u64) -> Result<(), DataError> {
        let value = self.top()?;
        self.memo.insert(index, value);
        Ok(())
    }

    fn recall(&mut self, index: u64) -> Result<(), DataError> {
        match self.memo.get(&index) {
            Some(&value) => self.stack.push(value),
            None => return damaged("the pickle recalls a value that it never stored"),
        }
        Ok(())
    }

    fn global(&mut self, module: &str, name: &str) -> Result<(), DataError> {
        match Callable::named(module, name) {
            Some(callable) => self.push(Object::Callable(callable)),
            None => return refused(module, name),
        }
        Ok(())
    }
}

fn pairs(items: &[Value]) -> Result<Vec<(Value, Value)>, DataError> {
    let (pairs, rest) = items.as_chunks::<2>();
    if !rest.is_empty() {
        return invalid("a dictionary of the pickle has a key without a value");
    }
    Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
}

/// Text in Python's raw-unicode-escape: one byte per character, or `\uXXXX` or `\UXXXXXXXX`.
fn raw_unicode(line: &[u8]) -> Result<String, DataError> {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        let digits = match (byte, tail.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(*byte));
                continue;
            }
        };
        let code = tail.get(1..=digits).and_then(|hex| std::str::from_utf8(hex).ok());
        let character = code.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
        let Some(character) = character else { return invalid("an escape in a text of the pickle is damaged") };
        text.push(character);
        rest = &tail[1 + digits..];
    }
    Ok(text)
}

/// A string as Python 2 wrote it: in quotes, with backslash escapes.
fn unquoted(line: &str) -> Result<Vec<u8>, DataError> {
    let line = line.trim_end();
    let inner = ["'", "\""].into_iter().find_map(|quote| line.strip_prefix(quote)?.strip_suffix(quote));
    let Some(inner) = inner else { return invalid("a string in the pickle is not quoted") };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'v') => 11,
            Some(quoted @ (b'\\' | b'\'' | b'"')) => quoted,
            Some(b'x') => {
                let digits = [rest.next(), rest.next()].map(|digit| (digit? as char).to_digit(16));
                let [Some(high), Some(low)] = digits else {
                    return invalid("an escape in a string of the pickle is damaged");
                };
                (high * 16 + low) as u8
            }
            _ => return invalid("an escape in a string of the pickle is damaged"),
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bytes: &[u8]) -> Result<(Vec<Object>, Value), DataError> {
        Machine::run(bytes)
    }

    #[test]
    fn numbers_of_every_form() {
        let cases: [(&[u8], Value); 12] = [
            (b"N.", Value::None),
            (b"\x88.", Value::Bool(true)),
            (b"I01\n.", Value::Bool(true)),
            (b"I-12\n.", Value::Int(-12)),
            (b"L12L\n.", Value::Int(12)),
            (b"K\xff.", Value::Int(255)),
            (b"M\x01\x02.", Value::Int(513)),
            (b"J\xfe\xff\xff\xff.", Value::Int(-2)),
            (b"\x8a\x00.", Value::Int(0)),
            (b"\x8a\x02\xfe\xff.", Value::Int(-2)),
            (b"F2.5\n.", Value::Float(2.5)),
            (b"G\x40\x04\x00\x00\x00\x00\x00\x00.", Value::Float(2.5)),
        ];
        for (bytes, value) in cases {
            assert_eq!(run(bytes).unwrap().1, value, "{bytes:?}");
        }
        assert!(run(b"\x8a\x09aaaaaaaaa.").is_err());
    }

    #[test]
    fn strings_of_python_2_keep_their_bytes() {
        let (arena, _) = run(b"S'a\\x00\\xff\\n\\'b'\n.").unwrap();
        assert_eq!(arena, [Object::Bytes(b"a\x00\xff\n'b".to_vec())]);
        for damaged in ["S'a\\x0'\n.", "S'a\\q'\n.", "Sa\n.", "S'\n.", "S'a\\"] {
            assert!(run(damaged.as_bytes()).is_err(), "{damaged}");
        }
    }

    #[test]
    fn text_of_protocol_0_is_unescaped() {
        let (arena, _) = run(b"Va\xe9\\u005c\\u000a\\U0001f600\\n\n.").unwrap();
        assert_eq!(arena, [Object::Text("a\u{e9}\\\n\u{1f600}\\n".into())]);
        assert!(run(b"V\\u12\n.").is_err() && run(b"V\\ud800\n.").is_err() && run(b"V\\u").is_err());
    }

    #[test]
    fn the_stack_cannot_be_misused() {
        for bytes in [&b"."[..], b"0.", b"1.", b"a.", b"N(a.", b"NNs.", b"K\x01(0.", b"(NNNd.", b"t.", b"h\x00.", b"2."]
        {
            assert!(run(bytes).is_err(), "{bytes:?}");
        }
        assert!(run(b"U\xff").is_err() && run(b"B\xff\xff\xff\xff").is_err());
        assert!(run(b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff").is_err());
    }
}
