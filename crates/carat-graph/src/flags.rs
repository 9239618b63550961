//! One bit per edge, 64 to a word.

use std::ops::Index;

use crate::{DataError, Storage};

/// A list of flags.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flags {
    words: Storage<u64>,
    len: usize,
}

impl Flags {
    /// Flags from words of 64, the first in the lowest bit. Bits behind the last flag must be 0, so that equal lists
    /// have equal words.
    pub(crate) fn from_words(words: Storage<u64>, len: usize) -> Result<Self, DataError> {
        if words.len() != len.div_ceil(64) {
            return Err(DataError::Invalid(format!("{} words do not hold {len} flags", words.len())));
        }
        if !len.is_multiple_of(64) && words.last().is_some_and(|&last| last >> (len % 64) != 0) {
            return Err(DataError::Invalid("there are flags behind the last one".into()));
        }
        Ok(Self { words, len })
    }

    /// The words of 64 flags each.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Number of flags.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The flags in order.
    pub fn iter(&self) -> impl Iterator<Item = bool> + '_ {
        let words = &self.words[..];
        (0..self.len).map(move |at| words[at / 64] >> (at % 64) & 1 == 1)
    }

    /// How many are true.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}

impl Index<usize> for Flags {
    type Output = bool;

    fn index(&self, at: usize) -> &bool {
        assert!(at < self.len, "flag {at} of {}", self.len);
        if self.words[at / 64] >> (at % 64) & 1 == 1 { &true } else { &false }
    }
}

impl FromIterator<bool> for Flags {
    fn from_iter<I: IntoIterator<Item = bool>>(flags: I) -> Self {
        let (mut words, mut len) = (Vec::new(), 0usize);
        for flag in flags {
            if len.is_multiple_of(64) {
                words.push(0u64);
            }
            if let Some(word) = words.last_mut() {
                *word |= u64::from(flag) << (len % 64);
            }
            len += 1;
        }
        Self { words: words.into(), len }
    }
}

impl From<Vec<bool>> for Flags {
    fn from(flags: Vec<bool>) -> Self {
        flags.into_iter().collect()
    }
}

impl<const N: usize> PartialEq<[bool; N]> for &Flags {
    fn eq(&self, other: &[bool; N]) -> bool {
        self.len == N && self.iter().eq(other.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_back_in_order() {
        for len in [0, 1, 63, 64, 65, 200] {
            let flags: Vec<bool> = (0..len).map(|at| at * at % 3 == 1).collect();
            let packed = Flags::from(flags.clone());
            assert_eq!(packed.iter().collect::<Vec<_>>(), flags);
            assert!((0..len).all(|at| packed[at] == flags[at]));
            assert_eq!((packed.len(), packed.count()), (len, flags.iter().filter(|flag| **flag).count()));
            assert_eq!(Flags::from_words(packed.words().to_vec().into(), len).unwrap(), packed);
        }
    }

    #[test]
    fn words_for_another_length_are_refused() {
        assert!(Flags::from_words(vec![1].into(), 65).is_err());
        assert!(Flags::from_words(vec![0b100].into(), 2).is_err());
        assert!(Flags::from_words(vec![0b11].into(), 2).is_ok());
    }
}
