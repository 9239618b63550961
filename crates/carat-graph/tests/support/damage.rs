//! Damages files for tests of readers.

use std::path::Path;

/// Calls `read` for the file cut at every length, with that length, and for a flipped bit in every byte, with `None`.
/// Then restores the file.
pub fn with_every_damage(path: &Path, mut read: impl FnMut(Option<usize>)) {
    let whole = std::fs::read(path).unwrap();
    for at in 0..whole.len() {
        std::fs::write(path, &whole[..at]).unwrap();
        read(Some(at));
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(path, flipped).unwrap();
        read(None);
    }
    std::fs::write(path, whole).unwrap();
}
