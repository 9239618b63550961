//! The planted graph does what it is for: a simple learner that hears spurious edges takes the shortcut, fits its
//! training nodes better and generalises worse than one that hears useful edges only.

use carat_graph::generators::{PlantedConfig, planted};
use carat_graph::{Dataset, Features};

/// What node j knows: its own words, then the mean words of the in-neighbours that `heard` admits, as (column, value).
fn inputs(data: &Dataset, heard: impl Fn(usize) -> bool) -> Vec<Vec<(usize, f32)>> {
    let Features::Sparse(words) = data.features() else { panic!("a bag of words is sparse") };
    let own = |node: u32| words.row(node as usize).0.iter().map(|&c| c as usize);
    (0..data.num_nodes() as u32)
        .map(|j| {
            let mut row: Vec<(usize, f32)> = own(j).map(|c| (c, 1.0)).collect();
            let edges: Vec<usize> = data.graph().in_edges(j).filter(|&e| heard(e)).collect();
            for &e in &edges {
                let share = 4.0 / edges.len() as f32;
                row.extend(own(data.graph().sources()[e]).map(|c| (words.num_columns() + c, share)));
            }
            row
        })
        .collect()
}

struct Outcome {
    train: f64,
    test: f64,
}

/// Softmax regression by full-batch gradient descent; accuracy on training and test nodes.
fn learn(data: &Dataset, rows: &[Vec<(usize, f32)>]) -> Outcome {
    let classes = data.labels().num_classes();
    let label = |node: u32| data.labels().get(node).unwrap() as usize;
    let mut weights = vec![0.0f32; 2 * data.features().num_columns() * classes];
    let scores = |weights: &[f32], node: u32| {
        let mut z = vec![0.0f32; classes];
        for &(column, value) in &rows[node as usize] {
            z.iter_mut().zip(&weights[column * classes..]).for_each(|(z, w)| *z += value * w);
        }
        z
    };
    let split = &data.splits()[0];
    for _ in 0..150 {
        let mut gradient = vec![0.0f32; weights.len()];
        for &node in &split.train {
            let mut p: Vec<f32> = scores(&weights, node).iter().map(|z| z.exp()).collect();
            let sum: f32 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
            p[label(node)] -= 1.0;
            for &(column, value) in &rows[node as usize] {
                gradient[column * classes..].iter_mut().zip(&p).for_each(|(g, p)| *g += value * p);
            }
        }
        let rate = 1.0 / split.train.len() as f32;
        weights.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= rate * g);
    }
    let accuracy = |nodes: &[u32]| {
        let right = nodes.iter().filter(|&&node| {
            let z = scores(&weights, node);
            (0..classes).all(|c| z[c] <= z[label(node)])
        });
        right.count() as f64 / nodes.len() as f64
    };
    Outcome { train: accuracy(&split.train), test: accuracy(&split.test) }
}

#[test]
fn listening_to_spurious_edges_generalises_worse() {
    for seed in 0..2 {
        let data = planted(&PlantedConfig { seed, ..PlantedConfig::default() }).unwrap();
        let truth = data.spurious().unwrap();
        let all = learn(&data, &inputs(&data, |_| true));
        let useful = learn(&data, &inputs(&data, |e| !truth[e]));
        let alone = learn(&data, &inputs(&data, |_| false));
        println!("test accuracy: all edges {:.3}, useful {:.3}, none {:.3}", all.test, useful.test, alone.test);
        println!("train accuracy: all edges {:.3}, useful {:.3}, none {:.3}", all.train, useful.train, alone.train);
        assert!(useful.test > 0.8, "useful edges are enough to classify well: {}", useful.test);
        assert!(useful.test > alone.test + 0.1, "useful edges tell more than a node's own words: {}", alone.test);
        assert!(all.test < useful.test - 0.1, "the shortcut misleads: {} against {}", all.test, useful.test);
    }
    // Without the shortcut spurious edges are noise, which hurts far less.
    let data = planted(&PlantedConfig { shortcut: 0.0, ..PlantedConfig::default() }).unwrap();
    let noise = learn(&data, &inputs(&data, |_| true));
    let tempted = planted(&PlantedConfig::default()).unwrap();
    let shortcut = learn(&tempted, &inputs(&tempted, |_| true));
    println!("test accuracy with noise {:.3}, with the shortcut {:.3}", noise.test, shortcut.test);
    assert!(noise.test > shortcut.test + 0.05);
}
