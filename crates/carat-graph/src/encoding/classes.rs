//! The classes of other data by their names in training.

use super::Encoding;
use crate::{DataError, DatasetParts, Labels};

impl Encoding {
    /// Gives the labels the class numbers of training. A label of no class of training becomes a missing one.
    pub(super) fn relabel(&self, parts: &mut DatasetParts, notes: &mut Vec<String>) -> Result<(), DataError> {
        let own = parts.labels.num_classes();
        let names: Vec<String> = match &parts.class_names {
            Some(names) => names.clone(),
            None => (0..own).map(|class| class.to_string()).collect(),
        };
        let is_named = parts.class_names.is_some();
        if parts.class_names == self.class_names && (is_named || own == self.classes) {
            return Ok(());
        }
        let mut classes: Vec<Option<u32>> = match &self.class_names {
            Some(known) => {
                names.iter().map(|name| known.iter().position(|k| k == name).map(|class| class as u32)).collect()
            }
            None if is_named => {
                let number = |name: &String| name.parse().ok().filter(|&class: &u32| (class as usize) < self.classes);
                names.iter().map(number).collect()
            }
            // Numbers in both: they count as they are, and larger ones are scored as unknown.
            None => return Ok(()),
        };
        let occurs: Vec<bool> = {
            let mut occurs = vec![false; own];
            parts
                .labels
                .as_signed()
                .iter()
                .filter(|class| **class >= 0)
                .for_each(|&class| occurs[class as usize] = true);
            occurs
        };
        if let Some(known) = self.class_names.as_ref().filter(|_| !is_named && own > 0) {
            let unknown = |class: &usize| occurs[*class] && classes[*class].is_none();
            if (0..own).any(|class| unknown(&class)) && own <= self.classes {
                let order: Vec<String> = known.iter().enumerate().map(|(k, name)| format!("{k} is {name}")).collect();
                notes.push(format!("the labels are numbers, and count as class numbers: {}", order.join(", ")));
                classes = (0..own as u32).map(Some).collect();
            }
        }
        let lost: Vec<&str> = (0..own)
            .filter(|&class| occurs[class] && classes[class].is_none())
            .map(|class| names[class].as_str())
            .collect();
        if !lost.is_empty() {
            notes.push(format!(
                "labels that are no classes of the training data count as missing: {}",
                super::list(lost.into_iter())
            ));
        }
        let class_of = |node| parts.labels.get(node).and_then(|class| classes[class as usize]);
        parts.labels = Labels::new((0..parts.labels.len() as u32).map(class_of).collect(), self.classes)?;
        parts.class_names.clone_from(&self.class_names);
        Ok(())
    }
}
