//! The table of edges: which nodes each joins, and the columns of features.

use std::path::{Path, PathBuf};

use super::columns::{FeatureColumns, Found, GivenKinds, Kind};
use super::ids::Ids;
use crate::edge_sorter::EdgeSorter;
use crate::readers::EdgePlace;
use crate::readers::rows::{Cell, Row, RowFile};
use crate::{DataError, EdgeFeatures, EdgeList, Flags, Graph, RawTable};

/// What the table of edges tells.
pub(super) struct Edges {
    pub(super) graph: Graph,
    pub(super) spurious: Option<Flags>,
    /// Further columns, a row per edge id: as numbers or, where they are not only that, as a table.
    pub(super) features: Option<EdgeFeatures>,
    pub(super) table: Option<RawTable>,
    /// Repeated edges that were left out.
    pub(super) merged: usize,
}

/// An open table of edges.
pub(super) struct EdgeFile {
    path: PathBuf,
    file: RowFile,
    src: usize,
    dst: usize,
    spurious: Option<usize>,
    /// Places of the columns of features.
    features: Vec<usize>,
}

impl EdgeFile {
    pub(super) fn open(path: &Path, kinds: &GivenKinds) -> Result<Self, DataError> {
        let file = RowFile::open(path)?;
        let (src, dst, spurious) = (file.require("src")?, file.require("dst")?, file.find("spurious"));
        let is_feature = |at: &usize| {
            let ignored = kinds.of(&file.columns()[*at]) == Some(Kind::Ignore);
            !ignored && ![Some(src), Some(dst), spurious].contains(&Some(*at)) && file.is_readable(*at)
        };
        let features = (0..file.columns().len()).filter(is_feature).collect();
        Ok(Self { path: path.to_path_buf(), src, dst, spurious, features, file })
    }

    /// The names of the further columns.
    pub(super) fn features(&self) -> Vec<String> {
        let others = [Some(self.src), Some(self.dst), self.spurious];
        let names = self.file.columns().iter().enumerate().filter(|(at, _)| !others.contains(&Some(*at)));
        names.map(|(_, name)| name.clone()).collect()
    }

    /// Reads all edges between the nodes of these ids.
    pub(super) fn read(self, ids: &Ids, kinds: &GivenKinds, place: EdgePlace<'_>) -> Result<Edges, DataError> {
        let (path, has_spurious, has_features) =
            (self.path.clone(), self.spurious.is_some(), !self.features.is_empty());
        match place {
            EdgePlace::Disk(folder) if !has_features => {
                let mut sorter = EdgeSorter::new(ids.len(), folder)?;
                let mut count = 0;
                self.for_each(ids, |src, dst, mark, _| {
                    count += 1;
                    sorter.push(src, dst, mark)
                })?;
                let (graph, flags) = sorter.finish()?;
                let merged = count - graph.num_edges();
                Ok(Edges { graph, spurious: has_spurious.then_some(flags), features: None, table: None, merged })
            }
            // Rows of edge features are in memory in any case, and follow their edges there.
            _ => {
                let (mut edges, mut marks) = (EdgeList::default(), Vec::new());
                let mut columns = FeatureColumns::new(self.file.columns(), &self.features, kinds);
                let first = 2 + usize::from(has_spurious);
                self.for_each(ids, |src, dst, mark, row| {
                    edges.push(src, dst);
                    if has_spurious {
                        marks.push(mark);
                    }
                    columns.add(row, |k| row.cell(first + k));
                    Ok(())
                })?;
                let in_file = |e: DataError| e.in_file(&path);
                let (graph, origin) =
                    Graph::from_edges_with_origin(ids.len(), &edges.src, &edges.dst).map_err(in_file)?;
                let spurious = has_spurious.then(|| origin.iter().map(|&edge| marks[edge as usize]).collect());
                let merged = edges.src.len() - graph.num_edges();
                let mut found = Edges { graph, spurious, features: None, table: None, merged };
                if has_features {
                    let Found { names, features, table } = columns.finish(&path).map_err(in_file)?;
                    let origin: Vec<usize> = origin.into_iter().map(|edge| edge as usize).collect();
                    let features = features.map(|features| EdgeFeatures::of_features(names, &features)).transpose();
                    found.features = features.map_err(in_file)?.map(|rows| rows.of_edges(origin.iter().copied()));
                    if let Some(table) = table {
                        // Features are made of the table once the dataset knows it.
                        found.features = Some(EdgeFeatures::new(vec!["none yet".into()], vec![0.0; origin.len()])?);
                        found.table = Some(table.of_rows(&origin));
                    }
                }
                Ok(found)
            }
        }
    }

    /// Visits every edge in order: its source, its target, whether it is marked as spurious, and its row, where
    /// features come last.
    fn for_each(
        self,
        ids: &Ids,
        mut visit: impl FnMut(u32, u32, bool, &Row<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let Self { file, src, dst, spurious, features, .. } = self;
        let end = |row: &Row<'_>, k: usize, column: &str| {
            let cell = row.cell(k);
            ids.find(cell).ok_or_else(|| match cell.text() {
                None => row.error(format!("{column} is empty; it must be the id of a node")),
                Some(id) => row.error(format!("{column} '{id}' is not the id of any node{}", ids.help(&id))),
            })
        };
        let wanted: Vec<usize> = [src, dst].into_iter().chain(spurious).chain(features).collect();
        file.for_each(&wanted, |row| {
            let (src, dst) = (end(row, 0, "src")?, end(row, 1, "dst")?);
            let unclear = || row.error("spurious must be 0, 1, true or false");
            let mark = spurious.is_some() && flag(row.cell(2)).ok_or_else(unclear)?;
            visit(src, dst, mark, row)
        })
    }
}

fn flag(cell: Cell<'_>) -> Option<bool> {
    let text = cell.text()?;
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    // Called once per edge: comparing allocates nothing.
    if is("1") || is("true") {
        return Some(true);
    }
    (is("0") || is("false")).then_some(false)
}
