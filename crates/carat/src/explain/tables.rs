//! Edges and nodes as tables, to be written to files.

use carat_graph::Dataset;
use carat_graph::table::{Column, Table};

use super::EdgeChanges;
use crate::Error;

/// Stands for a missing rank or class.
const NONE: i64 = -1;

impl EdgeChanges {
    /// One row per edge, in the order of ids: src, dst, base, car, difference, change, rank (from 1, the most
    /// up-weighted; -1 where the target has one in-edge); where effects were measured delta, effect and effect_rank (by
    /// delta); src_degree, dst_degree,
    /// same_class (1, 0, or -1 where unknown), similarity (NaN where undefined); where known year_gap; and a column of
    /// 0 and 1 per group that the data can tell.
    pub fn into_table(self) -> Result<Table, Error> {
        let rank = ranks(self.len(), &self.order);
        let mut columns = vec![
            ("src", Column::U32(self.src)),
            ("dst", Column::U32(self.dst)),
            ("base", Column::F32(self.base)),
            ("car", Column::F32(self.car)),
            ("difference", Column::F64(self.difference)),
            ("change", Column::F64(self.change)),
            ("rank", Column::I64(rank)),
        ];
        if let Some(effects) = self.effects {
            let rank = ranks(effects.effect.len(), &effects.order);
            columns.push(("delta", Column::F64(effects.delta)));
            columns.push(("effect", Column::F64(effects.effect)));
            columns.push(("effect_rank", Column::I64(rank)));
        }
        let properties = self.properties;
        let same = properties.same_class.iter().map(|same| same.map_or(NONE, i64::from)).collect();
        columns.extend([
            ("src_degree", Column::U32(properties.src_degree)),
            ("dst_degree", Column::U32(properties.dst_degree)),
            ("same_class", Column::I64(same)),
            ("similarity", Column::F32(properties.similarity)),
        ]);
        if let Some(gaps) = properties.year_gap {
            columns.push(("year_gap", Column::I64(gaps.into_iter().map(i64::from).collect())));
        }
        for group in self.groups {
            if let Ok(members) = group.members {
                columns.push((group.group.name(), Column::U32(members.into_iter().map(u32::from).collect())));
            }
        }
        Ok(Table::new(columns)?)
    }
}

/// The place of every edge in an order, from 1.
fn ranks(edges: usize, order: &[u32]) -> Vec<i64> {
    let mut ranks = vec![NONE; edges];
    for (place, &edge) in order.iter().enumerate() {
        ranks[edge as usize] = place as i64 + 1;
    }
    ranks
}

/// The nodes of the edges' table: node, label (-1 where missing), and where the data has them class, name, year and
/// authors. `guard` makes a text safe for programs that open the file.
pub fn nodes_table(dataset: &Dataset, guard: impl Fn(&str) -> String) -> Result<Table, Error> {
    let labels = dataset.labels();
    let guarded = |texts: &[String]| Column::Text(texts.iter().map(|text| guard(text)).collect());
    let mut columns = vec![
        ("node", Column::U32((0..dataset.num_nodes() as u32).collect())),
        ("label", Column::I64(labels.as_signed().iter().map(|&label| i64::from(label)).collect())),
    ];
    if let Some(names) = dataset.class_names() {
        let name = |label: &i32| usize::try_from(*label).ok().and_then(|class| names.get(class));
        let classes = labels.as_signed().iter().map(|label| name(label).map_or_else(String::new, |name| guard(name)));
        columns.push(("class", Column::Text(classes.collect())));
    }
    if let Some(names) = dataset.node_names() {
        columns.push(("name", guarded(names)));
    }
    if let Some(years) = dataset.node_years() {
        columns.push(("year", Column::I64(years.iter().map(|&year| i64::from(year)).collect())));
    }
    if let Some(authors) = dataset.node_authors() {
        columns.push(("authors", guarded(authors)));
    }
    Ok(Table::new(columns)?)
}
