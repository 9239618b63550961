//! Class labels. A node without one passes messages on but adds nothing to the loss.

use crate::{DataError, Storage};

/// The most classes that a file may have. A larger number is a mistake, and a classifier would need a row for each.
pub(crate) const MAX_CLASSES: usize = 1_000_000;

/// One optional class per entity, each below the number of classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    classes: Storage<i32>,
    num_classes: usize,
}

impl Labels {
    /// Checks that every label is below `num_classes`.
    pub fn new(labels: Vec<Option<u32>>, num_classes: usize) -> Result<Self, DataError> {
        if num_classes > i32::MAX as usize {
            return Err(DataError::Invalid(format!("{num_classes} classes are too many")));
        }
        for (entity, label) in labels.iter().enumerate() {
            if let Some(class) = label.filter(|&class| class as usize >= num_classes) {
                return Err(DataError::Invalid(format!(
                    "label {class} of entity {entity} is out of range: there are {num_classes} classes (0 to {})",
                    num_classes.saturating_sub(1)
                )));
            }
        }
        Ok(Self { classes: labels.into_iter().map(|l| l.map_or(-1, |class| class as i32)).collect(), num_classes })
    }

    /// Labels as a mapped file stores them: a class, or -1.
    pub(crate) fn mapped(classes: Storage<i32>, num_classes: usize) -> Result<Self, DataError> {
        if num_classes > i32::MAX as usize {
            return Err(DataError::Invalid(format!("{num_classes} classes are too many")));
        }
        match classes.iter().position(|&class| class < -1 || class >= num_classes as i32) {
            None => Ok(Self { classes, num_classes }),
            Some(entity) => Err(DataError::Invalid(format!(
                "label {} of entity {entity} is out of range: there are {num_classes} classes, and -1 for none",
                classes[entity]
            ))),
        }
    }

    /// Labels as files often store them: a class, or a negative number where it is missing. The number of classes is
    /// one more than the largest.
    pub fn from_signed(labels: &[i64]) -> Result<Self, DataError> {
        let largest = labels.iter().copied().max().unwrap_or(-1);
        if largest >= MAX_CLASSES as i64 {
            let entity = labels.iter().position(|&l| l == largest).unwrap_or(0);
            return Err(DataError::Invalid(format!(
                "label {largest} of entity {entity} is out of range; number the classes from 0"
            )));
        }
        let optional = labels.iter().map(|&l| u32::try_from(l).ok()).collect();
        Self::new(optional, (largest + 1).max(0) as usize)
    }

    /// Number of entities, labelled or not.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// True when there is no entity.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Number of classes.
    pub fn num_classes(&self) -> usize {
        self.num_classes
    }

    /// The class of one entity, if it has one.
    pub fn get(&self, entity: u32) -> Option<u32> {
        u32::try_from(self.classes[entity as usize]).ok()
    }

    /// All classes, -1 where missing.
    pub fn as_signed(&self) -> &[i32] {
        &self.classes
    }

    /// Number of labelled entities.
    pub fn num_labelled(&self) -> usize {
        self.classes.iter().filter(|c| **c >= 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_labels_are_kept_and_classes_counted() {
        let labels = Labels::from_signed(&[2, -1, 0]).unwrap();
        assert_eq!((labels.get(0), labels.get(1), labels.num_classes()), (Some(2), None, 3));
        assert_eq!(labels.num_labelled(), 2);
    }

    #[test]
    fn a_label_out_of_range_is_named() {
        let error = Labels::new(vec![Some(0), Some(5)], 3).unwrap_err();
        assert_eq!(error.to_string(), "label 5 of entity 1 is out of range: there are 3 classes (0 to 2)");
        assert!(Labels::from_signed(&[0, 2_000_000_000]).is_err());
    }
}
