//! Labels that may be numbers or names, and the classes they stand for.

use std::collections::HashMap;
use std::path::Path;

use crate::labels::MAX_CLASSES;
use crate::readers::rows::{Cell, RowFile};
use crate::{DataError, Labels};

/// True for texts that mean a missing label.
pub(crate) fn is_missing(label: &str) -> bool {
    matches!(label.trim(), "" | "-1" | "-1.0")
}

/// The classes in the order of a `classes` file.
pub(super) struct Classes {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Classes {
    pub(super) fn read(path: &Path) -> Result<Self, DataError> {
        let file = RowFile::open(path)?;
        let wanted = [file.require("label")?];
        let mut classes = Self { names: Vec::new(), numbers: HashMap::new() };
        file.for_each(&wanted, |row| {
            let label = row.cell(0).text().filter(|label| !is_missing(label));
            let label = label.ok_or_else(|| row.error("a class needs a name, and -1 stands for a missing label"))?;
            if classes.names.len() == MAX_CLASSES {
                return Err(row.error(format!("there are more than {MAX_CLASSES} classes")));
            }
            if classes.numbers.insert(label.to_string(), classes.names.len() as u32).is_some() {
                return Err(row.error(format!("class '{label}' is listed twice")));
            }
            classes.names.push(label.into_owned());
            Ok(())
        })?;
        Ok(classes)
    }

    fn find(&self, label: &str) -> Option<u32> {
        self.numbers.get(label).or_else(|| self.numbers.get(label.strip_suffix(".0")?)).copied()
    }
}

/// Collects one label per node, and decides at the end whether they are numbers or names.
pub(super) struct LabelColumn {
    classes: Option<Classes>,
    /// Distinct labels, numbered as they came.
    codes: HashMap<String, u32>,
    of_node: Vec<Option<u32>>,
}

impl LabelColumn {
    pub(super) fn new(classes: Option<Classes>) -> Self {
        Self { classes, codes: HashMap::new(), of_node: Vec::new() }
    }

    /// Adds the next node's label, or says what is wrong with it.
    pub(super) fn add(&mut self, cell: Cell<'_>) -> Result<(), String> {
        let code = match cell.text().filter(|label| !is_missing(label)) {
            None => None,
            Some(label) => match &self.classes {
                Some(classes) => {
                    Some(classes.find(&label).ok_or_else(|| format!("label '{label}' is not in the list of classes"))?)
                }
                None => Some(match self.codes.get(label.as_ref()) {
                    Some(&code) => code,
                    None => {
                        let code = self.codes.len() as u32;
                        self.codes.insert(label.into_owned(), code);
                        code
                    }
                }),
            },
        };
        self.of_node.push(code);
        Ok(())
    }

    /// The labels, and the names of the classes if these are not just numbers.
    pub(super) fn finish(self) -> Result<(Labels, Option<Vec<String>>), DataError> {
        if let Some(classes) = self.classes {
            let numbered = classes.names.iter().enumerate().all(|(class, name)| *name == class.to_string());
            let labels = Labels::new(self.of_node, classes.names.len())?;
            return Ok((labels, (!numbered).then_some(classes.names)));
        }
        let mut names: Vec<(String, u32)> = self.codes.into_iter().collect();
        names.sort_unstable();
        let numbers: Option<Vec<u32>> = names.iter().map(|(name, _)| class_number(name)).collect();
        let by_name = numbers.is_none();
        let classes = numbers.unwrap_or_else(|| (0..names.len() as u32).collect());
        let mut class_of_code = vec![0; names.len()];
        for ((_, code), &class) in names.iter().zip(&classes) {
            class_of_code[*code as usize] = class;
        }
        let num_classes = classes.iter().max().map_or(0, |&largest| largest as usize + 1);
        let of_node = self.of_node.into_iter().map(|code| code.map(|code| class_of_code[code as usize])).collect();
        let names = by_name.then(|| names.into_iter().map(|(name, _)| name).collect());
        Ok((Labels::new(of_node, num_classes)?, names))
    }
}

/// The class number that a label spells. Libraries without missing integers write 3 as 3.0.
fn class_number(label: &str) -> Option<u32> {
    let digits = label.strip_suffix(".0").unwrap_or(label);
    digits.parse().ok().filter(|&class: &u32| (class as usize) < MAX_CLASSES)
}
