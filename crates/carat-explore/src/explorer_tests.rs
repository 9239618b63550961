use std::ops::ControlFlow;

use carat::{EffectSettings, effects, mean_attention};

use super::*;
use crate::samples::{HOSTILE, inputs};

#[test]
fn a_view_has_what_the_tables_of_the_whole_graph_have() {
    let inputs = inputs();
    let mut explorer = Explorer::new(&inputs).unwrap();
    let dataset = &inputs.dataset;
    for node in [0u32, 5, 17, 31] {
        let view = explorer.node(node, MOST_EDGES, Which::default()).unwrap();
        assert_eq!((view.node.id, view.node.degree), (node, dataset.graph().in_degree(node)));
        assert_eq!(view.edges.len(), view.node.degree);
        for (at, run) in inputs.runs.iter().enumerate() {
            let settings = EffectSettings::from(&run.config);
            let all =
                effects(&run.network, dataset, &[node], &settings, &mut |_, _| ControlFlow::Continue(())).unwrap();
            let means = mean_attention(&run.network, dataset, 10).unwrap();
            let (layers, heads) = (run.config.network.layers, run.config.network.heads);
            for edge in &view.edges {
                let place = all.src.iter().position(|&source| source == edge.source.id).unwrap();
                let said = &edge.runs[at];
                assert!((said.effect - all.effect[place]).abs() < 1e-5, "{said:?} for {}", all.effect[place]);
                assert!((said.rho - all.rho[place]).abs() < 1e-5);
                assert!((view.runs[at].loss - all.loss[place]).abs() < 1e-5);
                assert_eq!((said.attention.len(), said.attention[0].len()), (layers, heads));
                let mean = said.attention.iter().flatten().sum::<f32>() / (layers * heads) as f32;
                let id = dataset.graph().in_edges(node).start + place;
                assert!((mean - means[id]).abs() < 1e-6);

                let without = explorer.without(edge.source.id, node).unwrap();
                let live = &without.runs[at];
                assert!((live.effect - said.effect).abs() < 1e-6 && (live.rho - said.rho).abs() < 1e-6);
                assert!((live.after.loss - all.loss_without[place]).abs() < 1e-5);
                let p = f64::from(live.after.probabilities[live.after.judged_by]);
                assert!((live.after.loss + p.ln()).abs() < 1e-4, "{live:?}");
            }
        }
    }
}

#[test]
fn a_hub_shows_the_edges_with_most_attention_of_what_was_chosen() {
    let inputs = inputs();
    let mut explorer = Explorer::new(&inputs).unwrap();
    let strength = |edge: &EdgeView, which: Which| {
        let of = |run: &EdgeOfRun| {
            let layers: Vec<&Vec<f32>> = match which.layer.and_then(|l| run.attention.get(l)) {
                Some(layer) => vec![layer],
                None => run.attention.iter().collect(),
            };
            let values: Vec<f32> = layers
                .iter()
                .flat_map(|layer| match which.head.and_then(|head| layer.get(head)) {
                    Some(value) => vec![*value],
                    None => layer.to_vec(),
                })
                .collect();
            values.iter().sum::<f32>() / values.len() as f32
        };
        edge.runs.iter().map(of).fold(0.0, f32::max)
    };
    let choices = [(None, None), (Some(1), None), (Some(0), Some(2)), (Some(9), Some(9))];
    for (layer, head) in choices {
        let which = Which { layer, head };
        let all = explorer.node(0, 1000, which).unwrap();
        assert_eq!(all.edges.len(), 30);
        let strengths: Vec<f32> = all.edges.iter().map(|edge| strength(edge, which)).collect();
        assert!(strengths.windows(2).all(|pair| pair[0] >= pair[1] - 1e-6), "{which:?}: {strengths:?}");
        let some = explorer.node(0, 4, which).unwrap();
        let ids = |view: &NodeView| view.edges.iter().map(|edge| edge.source.id).collect::<Vec<_>>();
        assert_eq!(ids(&some), ids(&all)[..4]);
        assert_eq!(some.node.degree, 30);
    }
    assert!(explorer.node(0, 0, Which::default()).unwrap().edges.is_empty());
}

#[test]
fn summaries_describe_nodes() {
    let inputs = inputs();
    let mut explorer = Explorer::new(&inputs).unwrap();
    let view = explorer.node(2, 5, Which::default()).unwrap();
    assert_eq!((view.node.name.as_str(), view.node.class, view.node.year), (HOSTILE[2], Some(2), Some(1992)));
    assert!(view.node.role.is_some() && explorer.node(6, 5, Which::default()).unwrap().node.class.is_none());
    let readers: Vec<u32> = view.readers.iter().map(|node| node.id).collect();
    assert_eq!((readers.as_slice(), view.num_readers), (inputs.dataset.graph().out_neighbours(2), readers.len()));
    let info = explorer.info();
    assert_eq!(info.classes, ["A", "<b>B</b>", "C"]);
    assert_eq!([info.runs[0].treatment.as_str(), info.runs[1].treatment.as_str()], ["baseline", "CAR, lambda 1"]);
    assert!(inputs.dataset.graph().in_degree(info.start) <= USUAL_EDGES);
    assert_eq!(explorer.start_at("paper 9").unwrap(), 9);
    assert_eq!(explorer.info().start, 9);
    let said = explorer.node(32, 5, Which::default()).unwrap_err().to_string();
    assert_eq!(said, "there is no node 32 in tiny, which has 32");
    assert_eq!(explorer.without(31, 0).unwrap_err().to_string(), "there is no edge from 31 to 0 in tiny");
    assert_eq!(explorer.search("PAPER 1").nodes.len(), 10);
}
