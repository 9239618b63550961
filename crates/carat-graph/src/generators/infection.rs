//! How far is the nearest infected node? After Faber, Moghaddam and Wattenhofer 2021, "When Comparing to Ground Truth
//! is Wrong: On Evaluating GNN Explanation Methods" (KDD).
//!
//! ```text
//! edges      i -> j with probability p for every ordered pair of different nodes (Erdos-Renyi, directed)
//! features   (1, 0) at a healthy node, (0, 1) at an infected one
//! d(j)       length of the shortest directed path from an infected node to j
//! label      min(d(j), D + 1)                                D = max_distance; no path counts as infinite
//! paths(j)   1 at an infected node, else the sum of paths(i) over in-neighbours i with d(i) = d(j) - 1
//! planted    i -> j  where  1 <= d(j) <= D,  paths(j) = 1,  d(i) = d(j) - 1
//! ```
//!
//! So a node with exactly one shortest path has exactly one planted in-edge, the path's last; its tail has one path
//! too, and the planted in-edges followed backwards are the whole path. Infected nodes, nodes with several shortest
//! paths and nodes farther than D have no known reason and no planted in-edge.

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::checks::{self, MOST_NODES, MOST_VALUES};
use super::sampling::{Purpose, stream};
use crate::{DataError, Dataset, DatasetParts, EdgeList, Features, Graph, Labels, Split, SplitRatio};

/// Settings of [`infection`]. The defaults are the authors'.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InfectionConfig {
    /// Nodes (1,000).
    pub nodes: usize,
    /// p: probability of an edge (0.004).
    pub edge_probability: f64,
    /// Infected nodes (50).
    pub infected: usize,
    /// D: nodes farther away are one class (4). A network needs as many layers.
    pub max_distance: usize,
    /// Shares of each class that train, validate and test (0.6, 0.2, 0.2).
    pub split_ratio: SplitRatio,
    /// Seed of everything random (0).
    pub seed: u64,
}

impl Default for InfectionConfig {
    fn default() -> Self {
        Self {
            nodes: 1000,
            edge_probability: 0.004,
            infected: 50,
            max_distance: 4,
            split_ratio: SplitRatio::default(),
            seed: 0,
        }
    }
}

impl InfectionConfig {
    /// Checks every value; the error names the first that is wrong, and its range.
    pub fn check(&self) -> Result<(), DataError> {
        checks::within("nodes", self.nodes, 2, MOST_NODES)?;
        checks::share("edge_probability", self.edge_probability)?;
        checks::within("infected", self.infected, 1, self.nodes)?;
        checks::within("max_distance", self.max_distance, 1, 1000)?;
        checks::volume("nodes and edge_probability", self.nodes, self.edge_probability * self.nodes as f64)?;
        checks::split_ratio(self.split_ratio)
    }
}

/// Makes the graph.
pub fn infection(config: &InfectionConfig) -> Result<Dataset, DataError> {
    config.check()?;
    let graph = erdos_renyi(config)?;
    let mut nodes: Vec<u32> = (0..config.nodes as u32).collect();
    nodes.shuffle(&mut stream(config.seed, Purpose::Layout, 0));
    let infected = &nodes[..config.infected];
    let routes = Routes::from(infected, &graph);
    let most = config.max_distance as u32;
    let label = |&distance: &u32| Some(distance.min(most + 1));
    let labels = Labels::new(routes.distance.iter().map(label).collect(), config.max_distance + 2)?;
    let others = graph.edges().map(|(i, j)| !routes.is_only_way(i, j, most)).collect();
    let mut values = [1.0, 0.0].repeat(config.nodes);
    for &node in infected {
        values[2 * node as usize..][..2].copy_from_slice(&[0.0, 1.0]);
    }
    let features = Features::dense(config.nodes, 2, values)?.compacted();
    let split = Split::stratified(&labels, config.split_ratio, config.seed);
    let mut parts = DatasetParts::new("infection", graph, features, labels);
    parts.splits = vec![split];
    parts.spurious = Some(others);
    parts.feature_names = Some(vec!["healthy".into(), "infected".into()]);
    let steps = (1..=most).map(|steps| format!("{steps} step{}", if steps == 1 { "" } else { "s" }));
    parts.class_names =
        Some(std::iter::once("infected".into()).chain(steps).chain(std::iter::once("farther".into())).collect());
    Dataset::new(parts)
}

/// Every ordered pair of different nodes with probability p. Pairs are numbered by target, and the gaps between those
/// that are joined drawn from their geometric law, so that the work is that of the edges.
fn erdos_renyi(config: &InfectionConfig) -> Result<Graph, DataError> {
    let mut rng = stream(config.seed, Purpose::Edges, 0);
    let others = config.nodes as u64 - 1;
    let log_without = (-config.edge_probability).ln_1p();
    let mut edges = EdgeList::default();
    let mut pair = 0u64;
    loop {
        // Saturates where p is 0, and is 0 where p is 1.
        pair = pair.saturating_add(((1.0 - rng.random::<f64>()).ln() / log_without) as u64);
        if pair >= others * config.nodes as u64 {
            break;
        }
        checks::within("the number of edges drawn", edges.len(), 0, MOST_VALUES)?;
        let (target, source) = (pair / others, pair % others);
        // Any node but the target: numbers from the target on move up by one.
        edges.push((source + u64::from(source >= target)) as u32, target as u32);
        pair += 1;
    }
    Graph::from_edges(config.nodes, &edges.src, &edges.dst)
}

/// d, and whether there is exactly one shortest path, of every node.
struct Routes {
    distance: Vec<u32>,
    is_unique: Vec<bool>,
}

impl Routes {
    /// Breadth first, in the direction of the edges.
    fn from(infected: &[u32], graph: &Graph) -> Self {
        let mut distance = vec![u32::MAX; graph.num_nodes()];
        let mut is_unique = vec![true; graph.num_nodes()];
        infected.iter().for_each(|&node| distance[node as usize] = 0);
        let mut reached = infected.to_vec();
        let mut next = 0;
        while next < reached.len() {
            let i = reached[next];
            next += 1;
            for &j in graph.out_neighbours(i) {
                let (steps, j) = (distance[i as usize] + 1, j as usize);
                if distance[j] == u32::MAX {
                    distance[j] = steps;
                    is_unique[j] = is_unique[i as usize];
                    reached.push(j as u32);
                } else if distance[j] == steps {
                    is_unique[j] = false;
                }
            }
        }
        Self { distance, is_unique }
    }

    /// Whether the only shortest path to j, of at most `most` edges, ends with the edge from i.
    fn is_only_way(&self, i: u32, j: u32, most: u32) -> bool {
        let [from, to] = [i, j].map(|node| self.distance[node as usize]);
        (1..=most).contains(&to) && from == to - 1 && self.is_unique[j as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How many walks of each length up to `most` lead from infected nodes to every node.
    fn walks(data: &Dataset, most: usize) -> Vec<Vec<u64>> {
        let features = data.features().to_dense();
        let mut counts = vec![features.chunks_exact(2).map(|row| row[1] as u64).collect::<Vec<u64>>()];
        for _ in 0..most {
            let last = &counts[counts.len() - 1];
            let into = |j: u32| data.graph().in_neighbours(j).iter().map(|&i| last[i as usize]).sum();
            let next = (0..data.num_nodes() as u32).map(into).collect();
            counts.push(next);
        }
        counts
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn labels_are_distances_and_planted_edges_the_only_shortest_paths(
            nodes in 2usize..60, p in 0.0f64..0.2, infected in 1usize..8, max_distance in 1usize..6, seed: u64,
        ) {
            let config = InfectionConfig {
                nodes, edge_probability: p, infected: infected.min(nodes), max_distance, seed,
                ..InfectionConfig::default()
            };
            let data = infection(&config).unwrap();
            let counts = walks(&data, max_distance);
            prop_assert_eq!(counts[0].iter().sum::<u64>(), config.infected as u64);
            let truth = data.spurious().unwrap();
            for j in 0..nodes as u32 {
                // A shortest walk is a path.
                let distance = (0..=max_distance).find(|&steps| counts[steps][j as usize] > 0);
                prop_assert_eq!(data.labels().get(j), Some(distance.unwrap_or(max_distance + 1) as u32));
                let planted: Vec<u32> =
                    data.graph().in_edges(j).filter(|&e| !truth[e]).map(|e| data.graph().sources()[e]).collect();
                match distance {
                    Some(steps @ 1..) if counts[steps][j as usize] == 1 => {
                        prop_assert_eq!(planted.len(), 1);
                        prop_assert_eq!(counts[steps - 1][planted[0] as usize], 1);
                    }
                    _ => prop_assert!(planted.is_empty()),
                }
            }
        }
    }

    #[test]
    fn defaults_are_the_papers_and_seeds_tell_graphs_apart() {
        let make = |seed| infection(&InfectionConfig { seed, ..InfectionConfig::default() }).unwrap();
        let data = make(4);
        assert_eq!((data.num_nodes(), data.labels().num_classes()), (1000, 6));
        // 999,000 pairs with probability 0.004: 3,996 edges, give or take 63.
        assert!(data.graph().num_edges().abs_diff(3996) < 4 * 63, "{}", data.graph().num_edges());
        let planted = data.spurious().unwrap().iter().filter(|spurious| !spurious).count();
        assert!((300..900).contains(&planted), "{planted}");
        let again = make(4);
        assert_eq!((data.graph(), data.labels(), data.spurious()), (again.graph(), again.labels(), again.spurious()));
        assert_eq!((data.features(), data.splits()), (again.features(), again.splits()));
        assert_ne!(data.graph(), make(5).graph());
        let all = infection(&InfectionConfig { nodes: 9, edge_probability: 1.0, infected: 1, ..Default::default() });
        assert_eq!(all.unwrap().graph().num_edges(), 72);
    }

    #[test]
    fn every_bad_value_is_named() {
        let good = InfectionConfig::default();
        let cases = [
            ("nodes", InfectionConfig { nodes: 1, ..good.clone() }),
            ("edge_probability", InfectionConfig { edge_probability: 1.5, ..good.clone() }),
            ("edge_probability", InfectionConfig { edge_probability: f64::NAN, ..good.clone() }),
            ("infected", InfectionConfig { infected: 0, ..good.clone() }),
            ("infected", InfectionConfig { infected: 1001, ..good.clone() }),
            ("max_distance", InfectionConfig { max_distance: 0, ..good.clone() }),
            ("nodes and edge_probability", InfectionConfig { nodes: MOST_NODES, edge_probability: 0.5, ..good }),
        ];
        for (name, config) in cases {
            let error = infection(&config).unwrap_err().to_string();
            assert!(error.starts_with(name), "{name}: {error}");
        }
    }
}
