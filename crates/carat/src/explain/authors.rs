//! The authors of every node by number, so that edges are compared without reading text.

use std::collections::HashMap;

use carat_graph::Dataset;

/// Authors of every node, ascending.
pub(super) struct Authors {
    offsets: Vec<usize>,
    ids: Vec<u32>,
}

impl Authors {
    /// Reads the lists of a dataset; `None` where it has none, or none with a name in it. Names are compared without
    /// regard to case and to surrounding spaces.
    pub(super) fn of(dataset: &Dataset) -> Option<Self> {
        let lists = dataset.node_authors()?;
        let mut known: HashMap<String, u32> = HashMap::new();
        let (mut offsets, mut ids) = (vec![0], Vec::new());
        for list in lists {
            let start = ids.len();
            for name in list.split(';').map(str::trim).filter(|name| !name.is_empty()) {
                let next = known.len() as u32;
                ids.push(*known.entry(name.to_lowercase()).or_insert(next));
            }
            ids[start..].sort_unstable();
            offsets.push(ids.len());
        }
        (!ids.is_empty()).then_some(Self { offsets, ids })
    }

    /// True where two nodes have an author in common.
    pub(super) fn share(&self, one: u32, other: u32) -> bool {
        let of = |node: u32| &self.ids[self.offsets[node as usize]..self.offsets[node as usize + 1]];
        let (one, mut other) = (of(one), of(other).iter().peekable());
        one.iter().any(|id| {
            while other.next_if(|candidate| *candidate < id).is_some() {}
            other.peek() == Some(&id)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_in_common_is_enough() {
        let rows = [[1.0]; 4];
        let dataset = Dataset::from_rows("tiny", &[(0, 1)], &rows, &[Some(0), Some(0), None, None]).unwrap();
        assert!(Authors::of(&dataset).is_none());
        let with = |lists: [&str; 4]| {
            let mut parts = dataset.clone().into_parts();
            parts.node_authors = Some(lists.map(String::from).to_vec());
            Authors::of(&Dataset::new(parts).unwrap())
        };
        assert!(with(["", " ", ";;", ""]).is_none());
        let authors = with(["Kurt; Ada ", "Emmy;ADA", "", "Kurt G.; Emmy"]).unwrap();
        let shared = [(0, 1), (1, 0), (1, 3), (0, 3), (0, 2), (2, 2)].map(|(i, j)| authors.share(i, j));
        assert_eq!(shared, [true, true, true, false, false, false]);
    }
}
