//! The parts of a report, with their names in links and files. The page, the Markdown and the files all use these
//! names.

use std::collections::HashSet;

use super::{Block, Report};

/// The lead or a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part<'a> {
    /// Its unique name in links.
    pub(super) id: String,
    /// Its heading; `None` for the lead.
    pub(super) title: Option<&'a str>,
    /// Its blocks. Tables and charts have the name of their file, without the extension.
    pub(super) blocks: Vec<(String, &'a Block)>,
}

/// Every part, the lead first.
pub(super) fn parts(report: &Report) -> Vec<Part<'_>> {
    let (mut ids, mut names) = (Names::default(), Names::default());
    // The page's table of contents has this name.
    ids.unique("contents");
    let lead = ("lead", None, &report.lead);
    let sections =
        report.sections.iter().map(|section| (section.id.as_str(), Some(section.title.as_str()), &section.blocks));
    let mut parts = Vec::new();
    for (id, title, blocks) in std::iter::once(lead).chain(sections) {
        let id = ids.unique(id);
        let mut charts = 0;
        let mut name = |block: &Block| match block {
            Block::Table(table) => names.unique(&table.name),
            Block::Chart(_) => {
                charts += 1;
                names.unique(&format!("{id}-{charts}"))
            }
            Block::Paragraph(_) | Block::Points(_) | Block::Command(_) => String::new(),
        };
        let blocks = blocks.iter().map(|block| (name(block), block)).collect();
        parts.push(Part { id, title, blocks });
    }
    parts
}

/// The names used so far. They differ by more than case, because some file systems ignore it.
#[derive(Debug, Default)]
struct Names(HashSet<String>);

impl Names {
    /// The name reduced to letters, digits and hyphens, with a number if it was used before.
    fn unique(&mut self, name: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let plain: String = name.chars().map(plain).take(80).collect();
        let plain = match plain.trim_matches('-') {
            "" => "unnamed",
            name => name,
        };
        let mut unique = plain.to_string();
        let mut number = 1;
        while !self.0.insert(unique.to_ascii_lowercase()) {
            number += 1;
            unique = format!("{plain}-{number}");
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_unique() {
        let mut names = Names::default();
        let given = ["table1", "Table1", "../../etc/passwd", "<img>", "", "table1", "ü"];
        let got = given.map(|name| names.unique(name));
        assert_eq!(got, ["table1", "Table1-2", "etc-passwd", "img", "unnamed", "table1-3", "unnamed-2"]);
    }
}
