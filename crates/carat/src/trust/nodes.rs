//! Node by node: where attention may be read, and where it may not.

use carat_graph::table::{Column, Table};

use super::{Observed, Of, Reading};
use crate::{Error, Task};

/// A node, or graph, whose edges do different things to its prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedEntity {
    /// The node or graph.
    pub entity: u32,
    /// Number of its edges.
    pub edges: usize,
    /// Pearson's correlation of attention with what the edges do to the predicted class.
    pub correlation: f64,
    /// The place among all edges of the one with the most attention.
    pub most_attended: usize,
    /// The place of the one that does most to the prediction, for or against it.
    pub most_effective: usize,
}

impl Observed {
    /// Every entity that can be judged, by attention averaged over layers and heads.
    pub fn judged(&self) -> Vec<JudgedEntity> {
        let (attention, deltas) = (self.read(Reading::Mean), self.deltas(Of::Prediction));
        let correlations = self.correlations(&attention, Of::Prediction);
        let judge = |((row, &entity), found): ((std::ops::Range<usize>, &u32), Option<[f64; 2]>)| {
            // Of equals the first.
            let largest =
                |value: &dyn Fn(usize) -> f64| row.clone().rev().max_by(|&a, &b| value(a).total_cmp(&value(b)));
            Some(JudgedEntity {
                entity,
                edges: row.len(),
                correlation: found?[0],
                most_attended: largest(&|edge| attention[edge])?,
                most_effective: largest(&|edge| deltas[edge].abs())?,
            })
        };
        self.rows().zip(&self.entities).zip(correlations).filter_map(judge).collect()
    }

    /// A row per edge: the edge, its attention and what it does.
    pub fn edges_table(&self) -> Result<Table, Error> {
        let attention = self.read(Reading::Mean);
        let table = self.effects.clone().into_table()?;
        let after = if self.task == Task::Graph { "edges" } else { "degree" };
        Ok(table.with_column(after, "attention", Column::F64(attention))?)
    }

    /// A row per entity that can be judged: its correlations with what edges do to the true class and to the predicted
    /// one, by attention averaged over layers and heads.
    pub fn entities_table(&self) -> Result<Table, Error> {
        let attention = self.read(Reading::Mean);
        let [label, prediction] = [Of::Label, Of::Prediction].map(|of| self.correlations(&attention, of));
        let rows: Vec<_> = self.rows().zip(&self.entities).zip(label.iter().zip(&prediction)).collect();
        let kept = || rows.iter().filter(|(_, (_, prediction))| prediction.is_some());
        let of = |which: &Option<[f64; 2]>, at: usize| which.map_or(f64::NAN, |found| found[at]);
        let degree = if self.task == Task::Graph { "edges" } else { "degree" };
        Ok(Table::new([
            (self.task.to_string().as_str(), Column::U32(kept().map(|((_, entity), _)| **entity).collect())),
            (degree, Column::U32(kept().map(|((row, _), _)| row.len() as u32).collect())),
            ("faithfulness", Column::F64(kept().map(|(_, (label, _))| of(label, 0)).collect())),
            ("faithfulness_rank", Column::F64(kept().map(|(_, (label, _))| of(label, 1)).collect())),
            ("self_faithfulness", Column::F64(kept().map(|(_, (_, found))| of(found, 0)).collect())),
            ("self_faithfulness_rank", Column::F64(kept().map(|(_, (_, found))| of(found, 1)).collect())),
        ])?)
    }
}
