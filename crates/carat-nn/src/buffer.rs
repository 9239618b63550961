//! Memory that starts at a cache line.
//!
//! A vector that crosses a line takes two reads. Where F is a multiple of 16, every row of a buffer that starts at a
//! line does so too, and none of its vectors crosses one.

use std::fmt;
use std::ops::{Deref, DerefMut};

use aligned_vec::{AVec, ConstAlign};

/// Bytes of a cache line, and of the longest vector.
const LINE: usize = 64;

/// Numbers in memory that starts at a cache line. Like a vector, it grows and never frees memory.
#[derive(Clone)]
pub struct Buffer<T> {
    /// Everything that was ever allocated; the first `len` numbers count. It never shrinks, because a vector grows
    /// number by number, while a slice is filled at once.
    values: AVec<T, ConstAlign<LINE>>,
    len: usize,
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self { values: AVec::new(LINE), len: 0 }
    }
}

impl<T: Copy> Buffer<T> {
    /// `len` copies of a number.
    pub fn filled(value: T, len: usize) -> Self {
        let mut buffer = Self::default();
        buffer.resize(len, value);
        buffer
    }

    /// Truncates to `len` numbers, or appends copies of `value` up to that.
    pub fn resize(&mut self, len: usize, value: T) {
        let kept = self.values.len().min(len);
        if self.len < kept {
            self.values[self.len..kept].fill(value);
        }
        if self.values.len() < len {
            self.values.resize(len, value);
        }
        self.len = len;
    }

    /// Truncates to `len` numbers.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends these numbers.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        let [first, ..] = values else { return };
        let start = self.len;
        self.resize(start + values.len(), *first);
        self[start..].copy_from_slice(values);
    }
}

impl<T: Copy> From<&[T]> for Buffer<T> {
    fn from(values: &[T]) -> Self {
        let mut buffer = Self::default();
        buffer.extend_from_slice(values);
        buffer
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[..self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[..self.len]
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_buffer_holds_what_a_vector_would(steps in proptest::collection::vec((0usize..5000, 0u8..4), 0..20)) {
            let (mut buffer, mut vector) = (Buffer::default(), Vec::new());
            for (at, (len, what)) in steps.into_iter().enumerate() {
                let value = at as f32;
                match what {
                    0 | 1 => { buffer.resize(len, value); vector.resize(len, value); }
                    2 => { buffer.truncate(len); vector.truncate(len); }
                    _ => {
                        if len % 3 == 0 { buffer.clear(); vector.clear(); }
                        let more = vec![value; len % 7];
                        buffer.extend_from_slice(&more);
                        vector.extend_from_slice(&more);
                    }
                }
                prop_assert_eq!(&buffer[..], &vector[..]);
                prop_assert_eq!(buffer.as_ptr() as usize % LINE, 0);
            }
        }
    }
}
