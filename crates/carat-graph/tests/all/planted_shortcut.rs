//! The planted graph does what it is for: a simple learner that hears spurious edges takes the shortcut and
//! generalises worse than one that hears useful edges only.

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

/// Accuracy of learners that hear all edges, useful edges only, and none.
fn compare(config: &PlantedConfig) -> [Outcome; 3] {
    let data = planted(config).unwrap();
    let truth = data.spurious().unwrap();
    let hearing = |heard: &dyn Fn(usize) -> bool| learn(&data, &inputs(&data, heard));
    [hearing(&|_| true), hearing(&|e| !truth[e]), hearing(&|_| false)]
}

#[test]
fn using_spurious_edges_generalises_worse() {
    for seed in 0..2 {
        let [all, useful, none] = compare(&PlantedConfig { seed, ..PlantedConfig::default() });
        assert!(useful.test > 0.9, "useful edges are enough to classify well: {}", useful.test);
        assert!(useful.test > none.test + 0.1, "useful edges tell more than a node's own words: {}", none.test);
        assert!(all.train > 0.99, "the training nodes are fitted: {}", all.train);
        assert!(all.test < useful.test - 0.04, "the shortcut misleads: {} against {}", all.test, useful.test);
    }
}

#[test]
fn the_stronger_the_shortcut_the_worse() {
    let test_accuracy = |shortcut| {
        let [all, useful, _] = compare(&PlantedConfig { shortcut, ..PlantedConfig::default() });
        assert!(useful.test > 0.9);
        all.test
    };
    let (noise, default, strong) = (test_accuracy(0.0), test_accuracy(0.4), test_accuracy(0.9));
    assert!(noise > default + 0.03, "{noise} against {default}");
    assert!(default > strong + 0.1, "{default} against {strong}");
}
