//! Datasets with anything in them, for tests that write and read them back.

use carat_graph::{CsrMatrix, Dataset, DatasetParts, EdgeFeatures, Features, Graph, Labels, Split};
use proptest::prelude::*;

/// Everything but names and features, of which layouts may change the name and the form.
pub fn assert_same_parts(found: &Dataset, expected: &Dataset) {
    assert_eq!(found.graph(), expected.graph());
    assert_eq!(found.labels(), expected.labels());
    assert_eq!(found.splits(), expected.splits());
    assert_eq!(found.node_names(), expected.node_names());
    assert_eq!(found.class_names(), expected.class_names());
    assert_eq!(found.node_years(), expected.node_years());
    assert_eq!(found.node_authors(), expected.node_authors());
    assert_eq!(found.spurious(), expected.spurious());
    assert_eq!(found.edge_features(), expected.edge_features());
    let (found, expected) = (found.clone().into_parts(), expected.clone().into_parts());
    assert_eq!(found.graph_offsets, expected.graph_offsets);
}

/// Any dataset: dense or sparse, with and without every optional part, of nodes or of graphs.
pub fn any_dataset() -> impl Strategy<Value = Dataset> {
    (1usize..12, any::<u64>(), any::<[bool; 8]>()).prop_map(|(nodes, seed, has)| {
        let mut state = seed;
        let mut draw = move |below: u64| {
            // Knuth's generator; the high bits are the random ones.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let n = nodes as u64;
        let graph_offsets = has[1].then(|| vec![0, draw(n + 1) as u32, nodes as u32]);
        let graph_of = |node: u32| graph_offsets.as_ref().is_some_and(|offsets| node >= offsets[1]);
        let mut edges: Vec<(u32, u32)> = (0..draw(30)).map(|_| (draw(n) as u32, draw(n) as u32)).collect();
        edges.retain(|&(src, dst)| graph_of(src) == graph_of(dst));
        let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
        let graph = Graph::from_edges(nodes, &src, &dst).unwrap();
        let num_columns = 1 + draw(40) as usize;
        let features = if has[0] {
            let mut offsets = vec![0];
            let mut columns = Vec::new();
            for _ in 0..nodes {
                columns.extend((0..num_columns as u32).filter(|_| draw(20) == 0));
                offsets.push(columns.len());
            }
            let values = columns.iter().map(|_| draw(9) as f32 - 4.5).collect();
            Features::sparse(CsrMatrix::new(num_columns, offsets, columns, values).unwrap()).unwrap()
        } else {
            let values = (0..nodes * num_columns).map(|_| draw(1 << 20) as f32 / 7.0 - 9e4).collect();
            Features::dense(nodes, num_columns, values).unwrap()
        };
        let entities = graph_offsets.as_ref().map_or(nodes, |offsets| offsets.len() - 1);
        let num_classes = 1 + draw(4) as usize;
        let labels =
            (0..entities).map(|_| (draw(4) > 0).then(|| draw(num_classes as u64) as u32)).collect::<Vec<Option<u32>>>();
        let name = |k: usize| ["", "a", "\u{e9}", "\u{1f600} b", "c\0d", " "][k % 6].to_string();
        let mut parts = DatasetParts::new("any", graph, features, Labels::new(labels, num_classes).unwrap());
        parts.graph_offsets = graph_offsets;
        for _ in 0..draw(4) {
            let mut split = Split::default();
            for entity in 0..entities as u32 {
                match draw(4) {
                    0 => split.train.push(entity),
                    1 => split.val.push(entity),
                    2 => split.test.push(entity),
                    _ => {}
                }
            }
            parts.splits.push(split);
        }
        parts.node_names = has[2].then(|| (0..nodes).map(name).collect());
        parts.class_names = has[3].then(|| (0..num_classes).map(name).collect());
        parts.node_years = has[4].then(|| (0..nodes).map(|_| draw(5_000) as i32 - 2_500).collect());
        parts.node_authors = has[6].then(|| (0..nodes).map(|node| format!("{}; B", name(node))).collect());
        parts.spurious = has[5].then(|| (0..parts.graph.num_edges()).map(|_| draw(2) == 0).collect());
        parts.edge_features = has[7].then(|| {
            let names = ["amount", "kind=a b", "\u{e9}?"][..1 + draw(3) as usize].iter().map(|name| name.to_string());
            let names: Vec<String> = names.collect();
            let values = (0..parts.graph.num_edges() * names.len()).map(|_| draw(1 << 20) as f32 / 7.0 - 9e4);
            EdgeFeatures::new(names.clone(), values.collect::<Vec<f32>>()).unwrap()
        });
        Dataset::new(parts).unwrap()
    })
}
