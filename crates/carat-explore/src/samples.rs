//! A small graph with awkward names and two networks on it, for tests.

use carat::{Dataset, Lambda, TrainConfig};
use carat_nn::Network;

use crate::{Inputs, Run};

/// Names that would do harm if they were used as markup, script or part of a line.
pub const HOSTILE: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"quotes\" & 'more'",
    "שלום עולם",
    "\u{202e}turned around",
    "line\u{2028}end\u{0}",
];

/// A hub (node 0) with 30 in-edges, chains around it, and a node without in-edges (31).
pub fn inputs() -> Inputs {
    let nodes = 32u32;
    let mut edges: Vec<(u32, u32)> = (1..31).map(|source| (source, 0)).collect();
    edges.extend((1..30).map(|node| (node, node + 1)));
    edges.extend((2..30).map(|node| (node * 7 % 30 + 1, node)));
    edges.push((5, 5));
    let features: Vec<[f32; 3]> =
        (0..nodes).map(|n| [(n as f32).sin(), (2.7 * n as f32).cos(), (n % 3) as f32]).collect();
    let labels: Vec<Option<u32>> = (0..nodes).map(|n| (n % 7 != 6).then_some(n % 3)).collect();
    let mut parts = Dataset::from_rows("tiny", &edges, &features, &labels).unwrap().into_parts();
    let name = |n: u32| HOSTILE.get(n as usize).map_or_else(|| format!("Paper {n}"), ToString::to_string);
    parts.node_names = Some((0..nodes).map(name).collect());
    parts.class_names = Some(vec!["A".into(), "<b>B</b>".into(), "C".into()]);
    parts.node_years = Some((0..nodes as i32).map(|n| 1990 + n).collect());
    let dataset = Dataset::new(parts).unwrap();
    let plain = TrainConfig::default().hidden(6).heads(2);
    let car = plain.clone().lambda(Lambda::new(1.0)).layers(1).heads(3);
    let run = |name: &str, config: TrainConfig, seed| {
        let network = Network::new(config.network_for(&dataset), seed).unwrap();
        Run { name: name.into(), config, network }
    };
    let runs = vec![run("plain", plain, 1), run("car", car, 2)];
    Inputs::new(dataset, runs).unwrap()
}
