//! "Node Classification Dataset Statistics" (appendix), and the names of the paper's datasets here.

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DatasetFigures {
    /// The paper's name.
    pub title: &'static str,
    /// Our name. For ogbn-arxiv it is that of the same graph with other features.
    pub data: &'static str,
    /// Classes.
    pub classes: usize,
    /// Nodes.
    pub nodes: usize,
    /// Directed edges.
    pub edges: usize,
    /// Splits.
    pub splits: usize,
    /// Edges per node.
    pub mean_degree: f64,
    /// Share of edges between nodes of one class.
    pub homophily: f64,
}

const fn figures(
    (title, data): (&'static str, &'static str),
    [classes, nodes, edges, splits]: [usize; 4],
    (mean_degree, homophily): (f64, f64),
) -> DatasetFigures {
    DatasetFigures { title, data, classes, nodes, edges, splits, mean_degree, homophily }
}

/// The eight datasets, in the paper's order.
pub const DATASETS: [DatasetFigures; 8] = [
    figures(("Cora", "cora"), [7, 2_708, 10_556, 1], (3.9, 0.81)),
    figures(("CiteSeer", "citeseer"), [6, 3_327, 9_104, 1], (2.7, 0.74)),
    figures(("PubMed", "pubmed"), [3, 19_717, 88_648, 1], (4.5, 0.80)),
    figures(("ogbn-arxiv", "arxiv-tape"), [40, 169_343, 1_166_243, 1], (6.9, 0.66)),
    figures(("Chameleon", "chameleon"), [5, 2_277, 36_051, 10], (15.8, 0.23)),
    figures(("Squirrel", "squirrel"), [5, 5_201, 216_933, 10], (41.7, 0.22)),
    figures(("Cornell", "cornell"), [5, 183, 295, 10], (1.6, 0.12)),
    figures(("Wisconsin", "wisconsin"), [5, 251, 499, 10], (2.0, 0.17)),
];

/// The column of a dataset, by our name.
pub fn place(data: &str) -> Option<usize> {
    DATASETS.iter().position(|figures| figures.data == data)
}

/// A dataset's name for readers: the paper's, or ours where the data is not the paper's.
pub fn title(data: &str) -> String {
    match place(data).and_then(|place| DATASETS.get(place)) {
        Some(figures) if figures.title.eq_ignore_ascii_case(figures.data) => figures.title.to_string(),
        Some(figures) => format!("{} (paper: {})", figures.data, figures.title),
        None => data.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_features_are_named() {
        assert_eq!(title("cora"), "Cora");
        assert_eq!(title("arxiv-tape"), "arxiv-tape (paper: ogbn-arxiv)");
        assert_eq!(title("mygraph.npz"), "mygraph.npz");
    }
}
