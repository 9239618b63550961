//! Finds nodes by name or number, fast enough for search while typing.
//!
//! All names are folded and stored in one text, so that a query is one pass over it: milliseconds for hundreds of
//! thousands of names.

use carat::Error;
use carat_graph::Dataset;

use crate::display::{folded, node_name, quoted};

/// The searchable names of all nodes.
#[derive(Debug)]
pub struct Names<'a> {
    dataset: &'a Dataset,
    /// The folded names, each ended by a line end, which no folded name contains.
    text: String,
    /// Where each name begins; one more entry at the end.
    starts: Vec<usize>,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The best matches, best first.
    pub nodes: Vec<u32>,
    /// Whether there are more.
    pub more: bool,
}

/// How well a node matches: smaller is better. Ties go to shorter names, then to lower numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    kind: Kind,
    length: usize,
    node: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Exact,
    Prefix,
    Word,
    Substring,
}

impl<'a> Names<'a> {
    /// Prepares the names of a dataset; nodes without names are found by their numbers.
    pub fn new(dataset: &'a Dataset) -> Self {
        let names = dataset.node_names().unwrap_or_default();
        let ids = dataset.node_ids().filter(|ids| *ids != names);
        let mut text = String::with_capacity(names.iter().map(|name| name.len() + 1).sum());
        let mut starts = Vec::with_capacity(names.len() + 1);
        for (node, name) in names.iter().enumerate() {
            starts.push(text.len());
            text.push_str(&folded(name));
            // The id is one more word of the name.
            if let Some(ids) = ids {
                text.push(' ');
                text.push_str(&folded(&ids[node]));
            }
            text.push('\n');
        }
        starts.push(text.len());
        Self { dataset, text, starts }
    }

    /// At most `most` nodes whose number or name matches `query`. Exact matches come first, then names that begin with
    /// it, then names with a word that does, then names that contain it. `#12` means the number 12 only.
    pub fn search(&self, query: &str, most: usize) -> Found {
        let query = folded(query.trim());
        if query.is_empty() || most == 0 {
            return Found { nodes: Vec::new(), more: false };
        }
        let (digits, by_name) = match query.strip_prefix('#') {
            Some(digits) => (digits, false),
            None => (query.as_str(), true),
        };
        let mut matches = self.by_number(digits, most);
        if by_name {
            self.by_name(&query, &mut matches);
        }
        matches.sort_unstable_by_key(|found| (found.node, *found));
        matches.dedup_by_key(|found| found.node);
        let more = matches.len() > most;
        if more {
            matches.select_nth_unstable(most);
            matches.truncate(most);
        }
        matches.sort_unstable();
        Found { nodes: matches.iter().map(|found| found.node).collect(), more }
    }

    /// The node with that number, and nodes whose numbers begin with it.
    fn by_number(&self, digits: &str, most: usize) -> Vec<Match> {
        let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let Some(number) = plain.then(|| digits.parse::<u64>().ok()).flatten() else { return Vec::new() };
        let nodes = self.dataset.num_nodes() as u64;
        let mut matches = Vec::new();
        if number < nodes {
            matches.push(Match { kind: Kind::Exact, length: 0, node: number as u32 });
        }
        // No number begins with "07".
        if digits.starts_with('0') {
            return matches;
        }
        let mut step = 10u64;
        while number.saturating_mul(step) < nodes {
            let first = number * step;
            let last = (first + step).min(nodes).min(first + most as u64 + 1);
            let length = first.to_string().len();
            matches.extend((first..last).map(|node| Match { kind: Kind::Prefix, length, node: node as u32 }));
            step *= 10;
        }
        matches
    }

    fn by_name(&self, query: &str, matches: &mut Vec<Match>) {
        let mut from = 0;
        while let Some(at) = self.text.get(from..).and_then(|rest| rest.find(query)).map(|at| from + at) {
            let node = self.starts.partition_point(|&start| start <= at) - 1;
            let (start, end) = (self.starts[node], self.starts[node + 1] - 1);
            let name = &self.text[start..end];
            let kind = match at - start {
                0 if name.len() == query.len() => Kind::Exact,
                0 => Kind::Prefix,
                _ if begins_a_word(name, query) => Kind::Word,
                _ => Kind::Substring,
            };
            matches.push(Match { kind, length: name.len(), node: node as u32 });
            from = end + 1;
        }
    }

    /// The node given on the command line: by name, else by number. `#12` is always the number.
    pub fn resolve(&self, text: &str) -> Result<u32, Error> {
        let data = self.dataset.name();
        let number = text.strip_prefix('#').unwrap_or(text).parse::<u32>().ok();
        let number = number.filter(|&node| (node as usize) < self.dataset.num_nodes());
        let names = if text.starts_with('#') { &[] } else { self.dataset.node_names().unwrap_or_default() };
        let called = |same: &dyn Fn(&str) -> bool| -> Vec<u32> {
            (0..names.len() as u32).filter(|&node| same(&names[node as usize])).collect()
        };
        let ids = if text.starts_with('#') { &[] } else { self.dataset.node_ids().unwrap_or_default() };
        let mut nodes = called(&|name| name == text);
        if nodes.is_empty() {
            nodes.extend((0..ids.len() as u32).find(|&node| ids[node as usize] == text));
        }
        if nodes.is_empty() {
            nodes.extend(number);
        }
        if nodes.is_empty() {
            nodes = called(&|name| folded(name) == folded(text));
        }
        match &nodes[..] {
            [node] => Ok(*node),
            [first, second, ..] => Err(Error::Config(format!(
                "{} nodes of {data} are called {}; give the number of one, such as '#{first}' or '#{second}'",
                nodes.len(),
                quoted(text)
            ))),
            [] => {
                let near = self.search(text, 3).nodes;
                let near: Vec<String> = near.iter().map(|&n| quoted(&node_name(self.dataset, n))).collect();
                let hint = match near.is_empty() {
                    true => format!("its {} nodes count from 0", self.dataset.num_nodes()),
                    false => format!("did you mean {}?", near.join(" or ")),
                };
                Err(Error::Config(format!("there is no node {} in {data}; {hint}", quoted(text))))
            }
        }
    }
}

/// Whether some word of the name begins with the query.
fn begins_a_word(name: &str, query: &str) -> bool {
    let before = |at: usize| name[..at].chars().next_back();
    name.match_indices(query).any(|(at, _)| before(at).is_some_and(|c| !c.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_graph::DatasetParts;

    fn named(names: &[&str]) -> Dataset {
        let features = vec![[1.0]; names.len()];
        let labels = vec![Some(0); names.len()];
        let mut parts: DatasetParts = Dataset::from_rows("tiny", &[], &features, &labels).unwrap().into_parts();
        parts.node_names = Some(names.iter().map(ToString::to_string).collect());
        Dataset::new(parts).unwrap()
    }

    fn unnamed(nodes: usize) -> Dataset {
        Dataset::from_rows("plain", &[], &vec![[1.0]; nodes], &vec![Some(0); nodes]).unwrap()
    }

    #[test]
    fn exact_matches_come_before_prefixes_words_and_parts() {
        let dataset = named(&["a graph", "Graphs", "GRAPH", "paragraph", "graph of graphs", "none"]);
        let names = Names::new(&dataset);
        assert_eq!(names.search("graph", 10), Found { nodes: vec![2, 1, 4, 0, 3], more: false });
        assert_eq!(names.search(" Graph ", 2), Found { nodes: vec![2, 1], more: true });
        for nothing in ["", "  ", "graph\n", "zebra", "#graph"] {
            let found = names.search(nothing, 10);
            assert_eq!(found.nodes.is_empty(), nothing != "graph\n", "{nothing:?}: {found:?}");
        }
        assert!(names.search("a", 0).nodes.is_empty());
    }

    #[test]
    fn names_of_every_script_fold_and_never_run_into_each_other() {
        let dataset = named(&["Über Äpfel", "שלום עולם", "ΣΊΣΥΦΟΣ", "two\nlines", "", "日本語"]);
        let names = Names::new(&dataset);
        for (query, node) in [("ÜBER", 0), ("äpfel", 0), ("עולם", 1), ("σίσ", 2), ("two lines", 3), ("本", 5)]
        {
            assert_eq!(names.search(query, 5).nodes, [node], "{query}");
        }
        assert!(names.search("lines\n日", 5).nodes.is_empty());
    }

    #[test]
    fn numbers_are_found_whole_and_by_their_beginnings() {
        let dataset = unnamed(2000);
        let names = Names::new(&dataset);
        let found = names.search("12", 200);
        assert_eq!((found.nodes[0], found.nodes[1], found.nodes[11], found.nodes.len()), (12, 120, 1200, 111));
        assert_eq!(names.search("#12", 1), Found { nodes: vec![12], more: true });
        assert_eq!(names.search("0", 5), Found { nodes: vec![0], more: false });
        assert_eq!(names.search("1999", 5).nodes, [1999]);
        for none in ["2000", "99999999999999999999999", "-1", "1.5"] {
            assert!(names.search(none, 5).nodes.is_empty(), "{none}");
        }
    }

    #[test]
    fn names_come_before_numbers_and_ambiguous_names_are_refused() {
        let dataset = named(&["1", "Same", "same", "Paper One", "twin", "twin"]);
        let names = Names::new(&dataset);
        assert_eq!(names.resolve("1").unwrap(), 0);
        assert_eq!(names.resolve("#1").unwrap(), 1);
        assert_eq!(names.resolve("same").unwrap(), 2);
        assert_eq!(names.resolve("3").unwrap(), 3);
        assert_eq!(names.resolve("paper one").unwrap(), 3);
        let said = |text: &str| names.resolve(text).unwrap_err().to_string();
        assert_eq!(said("twin"), "2 nodes of tiny are called 'twin'; give the number of one, such as '#4' or '#5'");
        assert_eq!(said("paper"), "there is no node 'paper' in tiny; did you mean 'Paper One'?");
        assert_eq!(said("#9"), "there is no node '#9' in tiny; its 6 nodes count from 0");
    }
}
