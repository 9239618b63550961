//! Which nodes (or graphs) train, which decide when to stop, which are tested.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{DataError, Labels};

/// Entities by role, each list ascending. Entities in none of them carry messages only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Split {
    /// Training entities.
    pub train: Vec<u32>,
    /// Validation entities.
    pub val: Vec<u32>,
    /// Test entities.
    pub test: Vec<u32>,
}

/// Shares of the labelled entities for seeded splits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitRatio {
    /// Share of training entities.
    pub train: f64,
    /// Share of validation entities.
    pub val: f64,
    /// Share of test entities.
    pub test: f64,
}

impl Default for SplitRatio {
    fn default() -> Self {
        Self { train: 0.6, val: 0.2, test: 0.2 }
    }
}

impl std::fmt::Display for SplitRatio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{},{}", self.train, self.val, self.test)
    }
}

impl std::str::FromStr for SplitRatio {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<f64> = text.split(',').map(|p| p.trim().parse::<f64>().unwrap_or(f64::NAN)).collect();
        match parts[..] {
            [train, val, test]
                if parts.iter().all(|p| *p >= 0.0) && train > 0.0 && train + val + test <= 1.0 + 1e-9 =>
            {
                Ok(Self { train, val, test })
            }
            _ => Err(format!(
                "'{text}' is not three shares like 0.6,0.2,0.2: none negative, the first above 0, at most 1 together"
            )),
        }
    }
}

impl Split {
    /// A split from boolean masks over all entities.
    pub fn from_masks(train: &[bool], val: &[bool], test: &[bool]) -> Self {
        let pick = |mask: &[bool]| (0..mask.len() as u32).filter(|&n| mask[n as usize]).collect();
        Self { train: pick(train), val: pick(val), test: pick(test) }
    }

    /// A seeded split that keeps every class's share: the labelled entities of each class are shuffled and cut.
    pub fn stratified(labels: &Labels, ratio: SplitRatio, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut split = Self::default();
        for mut members in by_class(labels) {
            members.shuffle(&mut rng);
            let count = |share: f64| (share * members.len() as f64).round() as usize;
            // At least one member of every class trains, even if the class has only one or two.
            let train = count(ratio.train).max(1).min(members.len());
            let val = count(ratio.val).min(members.len() - train);
            let test = if ratio.train + ratio.val + ratio.test > 1.0 - 1e-9 {
                members.len() - train - val
            } else {
                count(ratio.test).min(members.len() - train - val)
            };
            split.train.extend_from_slice(&members[..train]);
            split.val.extend_from_slice(&members[train..train + val]);
            split.test.extend_from_slice(&members[train + val..train + val + test]);
        }
        split.sorted()
    }

    /// One split of a cross-validation. The labelled entities of each class are shuffled by the seed and dealt out to
    /// `folds` folds; fold `number` is for testing, the next one for validation, all others for training.
    pub fn fold(labels: &Labels, folds: usize, number: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut split = Self::default();
        // The next class continues with the next fold, so that fold sizes differ by one at most.
        let mut next = 0;
        for mut members in by_class(labels) {
            members.shuffle(&mut rng);
            for entity in members {
                let list = match (next + folds - number % folds) % folds {
                    0 => &mut split.test,
                    1 => &mut split.val,
                    _ => &mut split.train,
                };
                list.push(entity);
                next = (next + 1) % folds;
            }
        }
        split.sorted()
    }

    fn sorted(mut self) -> Self {
        self.train.sort_unstable();
        self.val.sort_unstable();
        self.test.sort_unstable();
        self
    }

    /// Checks that every entity exists and none plays two roles.
    pub(crate) fn check(&self, num_entities: usize) -> Result<(), DataError> {
        const NAMES: [&str; 3] = ["train", "val", "test"];
        let mut roles = vec![0u8; num_entities];
        for (role, list) in (1..).zip([&self.train, &self.val, &self.test]) {
            let name = |role: u8| NAMES[usize::from(role) - 1];
            for &n in list {
                match roles.get_mut(n as usize) {
                    None => {
                        let name = name(role);
                        return Err(DataError::Invalid(format!(
                            "the {name} split names node {n}, but there are only {num_entities}"
                        )));
                    }
                    Some(0) => roles[n as usize] = role,
                    Some(&mut other) => {
                        let (other, name) = (name(other), name(role));
                        return Err(DataError::Invalid(format!("node {n} is both in {other} and in {name}")));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The labelled entities of every class.
fn by_class(labels: &Labels) -> Vec<Vec<u32>> {
    let mut by_class: Vec<Vec<u32>> = vec![Vec::new(); labels.num_classes()];
    for entity in 0..labels.len() as u32 {
        if let Some(class) = labels.get(entity) {
            by_class[class as usize].push(entity);
        }
    }
    by_class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stratified_splits_keep_shares_and_skip_missing_labels() {
        let labels: Vec<i64> = (0..1000).map(|n| if n % 10 == 9 { -1 } else { i64::from(n % 3 == 0) }).collect();
        let labels = Labels::from_signed(&labels).unwrap();
        let split = Split::stratified(&labels, SplitRatio::default(), 7);
        assert_eq!(split, Split::stratified(&labels, SplitRatio::default(), 7));
        assert_ne!(split, Split::stratified(&labels, SplitRatio::default(), 8));
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (540, 180, 180));
        split.check(1000).unwrap();
        let share =
            |list: &[u32]| list.iter().filter(|&&n| labels.get(n) == Some(1)).count() as f64 / list.len() as f64;
        assert!((share(&split.train) - share(&split.test)).abs() < 0.01);
    }

    #[test]
    fn every_labelled_entity_is_tested_in_one_fold_and_validates_in_another() {
        let labels: Vec<i64> = (0..188).map(|n| if n == 100 { -1 } else { i64::from(n < 63) }).collect();
        let labels = Labels::from_signed(&labels).unwrap();
        let splits: Vec<Split> = (0..10).map(|number| Split::fold(&labels, 10, number, 3)).collect();
        let (mut tested, mut validated) = ([0; 188], [0; 188]);
        for (number, split) in splits.iter().enumerate() {
            split.check(188).unwrap();
            assert_eq!(split.train.len() + split.val.len() + split.test.len(), 187);
            assert!((18..=19).contains(&split.test.len()));
            let minority = split.test.iter().filter(|&&n| labels.get(n) == Some(1)).count();
            assert!((6..=7).contains(&minority), "{minority}");
            assert_eq!(split.val, splits[(number + 1) % 10].test);
            split.test.iter().for_each(|&n| tested[n as usize] += 1);
            split.val.iter().for_each(|&n| validated[n as usize] += 1);
        }
        let once = std::array::from_fn(|n| i32::from(n != 100));
        assert_eq!((tested, validated), (once, once));
        assert_ne!(splits[0], Split::fold(&labels, 10, 0, 4));
    }

    #[test]
    fn overlapping_or_foreign_entities_are_refused() {
        let overlap = Split { train: vec![0, 1], val: vec![1], test: vec![] };
        assert_eq!(overlap.check(3).unwrap_err().to_string(), "node 1 is both in train and in val");
        let foreign = Split { train: vec![9], val: vec![], test: vec![] };
        assert!(foreign.check(3).is_err());
    }

    #[test]
    fn ratios_are_checked() {
        assert!("0.6,0.2,0.2".parse::<SplitRatio>().is_ok());
        for bad in ["", "1", "0.6,0.2", "0,0.5,0.5", "0.9,0.9,0.9", "a,b,c", "0.5,-0.1,0.2"] {
            assert!(bad.parse::<SplitRatio>().is_err(), "{bad}");
        }
    }
}
