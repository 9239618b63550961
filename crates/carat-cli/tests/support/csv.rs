//! Tables that the program wrote.

use std::collections::BTreeMap;
use std::path::Path;

/// The rows of a CSV file of numbers, by column name; text reads as NaN.
pub fn rows(path: &Path) -> Vec<BTreeMap<String, f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let (head, body) = text.split_once('\n').unwrap();
    let row = |line: &str| {
        head.split(',').map(str::to_string).zip(line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN))).collect()
    };
    body.lines().map(row).collect()
}
