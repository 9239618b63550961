//! A report's parts with the names that links and files know them by. The page, the Markdown and the files agree on
//! these names because all of them are made from here.

use std::collections::HashSet;

use super::{Block, Report};

/// The lead or a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part<'a> {
    /// Its name in links, unlike that of any other part.
    pub(super) id: String,
    /// Its heading; `None`: the lead.
    pub(super) title: Option<&'a str>,
    /// Its blocks; tables and charts with the names of their files, without the ending.
    pub(super) blocks: Vec<(String, &'a Block)>,
}

/// Every part, the lead first.
pub(super) fn parts(report: &Report) -> Vec<Part<'_>> {
    let (mut ids, mut names) = (Names::default(), Names::default());
    // The page's own list of contents has this name.
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

/// Names given so far. Some file systems do not tell capitals from small letters.
#[derive(Debug, Default)]
struct Names(HashSet<String>);

impl Names {
    /// The name with nothing but letters, digits and hyphens, and with a number where it was given before.
    fn unique(&mut self, name: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let plain: String = name.chars().map(plain).take(80).collect();
        let plain = match plain.trim_matches('-') {
            "" => "unnamed",
            name => name,
        };
        let mut unlike = plain.to_string();
        let mut number = 1;
        while !self.0.insert(unlike.to_ascii_lowercase()) {
            number += 1;
            unlike = format!("{plain}-{number}");
        }
        unlike
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_unlike_each_other() {
        let mut names = Names::default();
        let given = ["table1", "Table1", "../../etc/passwd", "<img>", "", "table1", "ü"];
        let got = given.map(|name| names.unique(name));
        assert_eq!(got, ["table1", "Table1-2", "etc-passwd", "img", "unnamed", "table1-3", "unnamed-2"]);
    }
}
