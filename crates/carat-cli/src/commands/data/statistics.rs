//! The statistics that `info`, `convert` and `generate` print about a dataset.

use carat_graph::{DataError, Dataset, Flags, printable};
use serde::Serialize;

use super::columns::{self, ColumnInfo};
use crate::output::thousands;

/// Sizes as in the paper's dataset table. Field names are the keys of the JSON document.
#[derive(Debug, Clone, Serialize)]
pub struct Statistics {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    graphs: Option<usize>,
    nodes: usize,
    edges: usize,
    features: usize,
    classes: usize,
    labelled: usize,
    splits: usize,
    split_sizes: Vec<SplitSizes>,
    mean_degree: f64,
    homophily: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spurious_edges: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edge_features: Vec<String>,
    /// Edges from a node to itself, which are kept.
    self_loops: usize,
    /// Repeated edges that were left out while reading.
    merged_edges: usize,
    class_sizes: Vec<ClassSize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<ColumnInfo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edge_columns: Vec<ColumnInfo>,
}

#[derive(Debug, Clone, Serialize)]
struct ClassSize {
    class: String,
    labelled: usize,
    share: f64,
}

/// Classes that the text shows.
const SHOWN_CLASSES: usize = 12;

#[derive(Debug, Clone, PartialEq, Serialize)]
struct SplitSizes {
    train: usize,
    val: usize,
    test: usize,
}

impl Statistics {
    pub fn of(dataset: &Dataset) -> Result<Self, DataError> {
        let sizes =
            dataset.splits().iter().map(|s| SplitSizes { train: s.train.len(), val: s.val.len(), test: s.test.len() });
        let [columns, edge_columns] = columns::columns(dataset)?;
        Ok(Self {
            name: dataset.name().to_string(),
            graphs: dataset.graph_set().map(|set| set.num_graphs()),
            nodes: dataset.num_nodes(),
            edges: dataset.graph().num_edges(),
            features: dataset.features().num_columns(),
            classes: dataset.labels().num_classes(),
            labelled: dataset.labels().num_labelled(),
            splits: dataset.splits().len(),
            split_sizes: sizes.collect(),
            mean_degree: dataset.mean_degree(),
            homophily: dataset.homophily(),
            spurious_edges: dataset.spurious().map(Flags::count),
            edge_features: dataset.edge_features().map_or_else(Vec::new, |features| features.names().to_vec()),
            self_loops: dataset.graph().edges().filter(|(src, dst)| src == dst).count(),
            merged_edges: dataset.merged_edges(),
            class_sizes: class_sizes(dataset),
            columns,
            edge_columns,
        })
    }

    /// One line per figure.
    pub fn text(&self) -> String {
        let count = |n: usize| thousands(n as u64);
        let mut lines = vec![("name", self.name.clone())];
        lines.extend(self.graphs.map(|n| ("graphs", count(n))));
        lines.extend([
            ("nodes", count(self.nodes)),
            ("edges", count(self.edges)),
            ("features", count(self.features)),
            ("classes", count(self.classes)),
        ]);
        if self.labelled != self.graphs.unwrap_or(self.nodes) {
            lines.push(("labelled", count(self.labelled)));
        }
        lines.push(("splits", self.splits_text()));
        lines.push(("mean degree", format!("{:.2}", self.mean_degree)));
        lines.extend(self.homophily.map(|h| ("homophily", format!("{h:.2}"))));
        lines.extend(self.spurious_edges.map(|n| ("spurious edges", count(n))));
        lines.extend((self.self_loops > 0).then(|| ("self-loops", format!("{}, kept", count(self.self_loops)))));
        let merged = || ("merged", format!("{} repeated edges, of which the first counts", count(self.merged_edges)));
        lines.extend((self.merged_edges > 0).then(merged));
        if !self.edge_features.is_empty() {
            lines.push(("edge features", self.edge_features_text()));
        }
        lines.push(("class sizes", self.classes_text()));
        let mut text = aligned(&lines);
        for (heading, columns) in [("column", &self.columns), ("edge column", &self.edge_columns)] {
            if !columns.is_empty() {
                text.push_str(&format!("\n{}", columns::text(heading, columns)));
            }
        }
        text
    }

    fn classes_text(&self) -> String {
        let size = |size: &ClassSize| {
            format!("{} {} ({:.1} %)", printable(&size.class), thousands(size.labelled as u64), 100.0 * size.share)
        };
        let shown: Vec<String> = self.class_sizes.iter().take(SHOWN_CLASSES).map(size).collect();
        match self.class_sizes.len().saturating_sub(SHOWN_CLASSES) {
            0 if shown.is_empty() => "no labels; 'carat predict' needs none, training does".into(),
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }

    fn edge_features_text(&self) -> String {
        const SHOWN: usize = 8;
        let (count, names) = (self.edge_features.len(), &self.edge_features[..self.edge_features.len().min(SHOWN)]);
        let more = if count > SHOWN { ", ..." } else { "" };
        format!("{count}: {}{more}; of repeated edges the first counts", names.join(", "))
    }

    fn splits_text(&self) -> String {
        let sizes = |s: &SplitSizes| [s.train, s.val, s.test].map(|n| thousands(n as u64)).join(" / ");
        match &self.split_sizes[..] {
            [] => "none; seeded stratified ones are made when training".to_string(),
            [only] => format!("1: {}", sizes(only)),
            [first, ..] => format!("{}, the first: {}", self.splits, sizes(first)),
        }
    }
}

fn class_sizes(dataset: &Dataset) -> Vec<ClassSize> {
    let labels = dataset.labels();
    let mut sizes = vec![0usize; labels.num_classes()];
    labels.as_signed().iter().filter(|class| **class >= 0).for_each(|&class| sizes[class as usize] += 1);
    let all = labels.num_labelled().max(1) as f64;
    let name = |class: usize| dataset.class_names().map_or_else(|| class.to_string(), |names| names[class].clone());
    let size =
        |(class, labelled): (usize, usize)| ClassSize { class: name(class), labelled, share: labelled as f64 / all };
    sizes.into_iter().enumerate().map(size).collect()
}

/// A family of graphs as a whole, and each of them.
#[derive(Debug, Serialize)]
pub struct FamilyStatistics {
    name: String,
    nodes: usize,
    edges: usize,
    features: usize,
    classes: usize,
    splits: usize,
    mean_degree: f64,
    homophily: Option<f64>,
    homophily_range: Option<[f64; 2]>,
    variants: Vec<Statistics>,
}

impl FamilyStatistics {
    /// Sizes of the typical member, by the median. `None` without members.
    pub fn of(name: &str, variants: Vec<Statistics>) -> Option<Self> {
        let first = variants.first()?;
        let median = |size: fn(&Statistics) -> usize| {
            let mut sizes: Vec<usize> = variants.iter().map(size).collect();
            sizes.sort_unstable();
            sizes[sizes.len() / 2]
        };
        let (nodes, edges) = (median(|v| v.nodes), median(|v| v.edges));
        let levels: Vec<f64> = variants.iter().filter_map(|v| v.homophily).collect();
        let range = levels.iter().fold(None, |range: Option<[f64; 2]>, &level| {
            Some(range.map_or([level; 2], |[low, high]| [low.min(level), high.max(level)]))
        });
        Some(Self {
            name: name.to_string(),
            nodes,
            edges,
            features: first.features,
            classes: first.classes,
            splits: first.splits,
            mean_degree: edges as f64 / nodes as f64,
            homophily: range.map(|_| levels.iter().sum::<f64>() / levels.len() as f64),
            homophily_range: range,
            variants,
        })
    }

    /// One line per figure, then one per member.
    pub fn text(&self) -> String {
        let count = |n: usize| thousands(n as u64);
        let mut lines = vec![
            ("name", self.name.clone()),
            ("graphs", count(self.variants.len())),
            ("nodes", count(self.nodes)),
            ("edges", format!("about {}", count(self.edges))),
            ("features", count(self.features)),
            ("classes", count(self.classes)),
            ("mean degree", format!("{:.2}", self.mean_degree)),
        ];
        lines.extend(self.homophily_range.map(|[low, high]| ("homophily", format!("{low:.2} to {high:.2}"))));
        let rows: Vec<Vec<String>> = self
            .variants
            .iter()
            .map(|v| vec![v.name.clone(), count(v.edges), v.homophily.map_or("-".into(), |h| format!("{h:.2}"))])
            .collect();
        format!("{}\n{}", aligned(&lines), crate::output::table(&["member", ">edges", ">homophily"], &rows))
    }
}

fn aligned(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    lines.iter().map(|(key, value)| format!("{key:<width$}  {value}\n")).collect()
}
