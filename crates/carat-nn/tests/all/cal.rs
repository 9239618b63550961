//! CAL's model: PyTorch's scores, loss, gradients and running statistics; gradients by differences; the same bits for
//! any number of threads. `tools/golden/make_cal_golden.py` makes the files.

use crate::support::{Golden, small_graph};
use carat_graph::{CsrMatrix, Dataset, DatasetParts, Features, Graph, Labels, Split};
use carat_nn::{
    Cal, CalConfig, CalError, CalHead, Labelled, Layout, Real, WholeGraph, WholeGraphModel, check,
    whole_graph_to_safetensors,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use safetensors::SafeTensors;

const HIDDEN: usize = 8;
const SIZES: [(usize, usize); 3] = [(1, 1), (2, 2), (4, 1)];

fn config(heads: usize, layers: usize) -> CalConfig {
    CalConfig { features: 12, hidden: HIDDEN, heads, layers, classes: 4, lambda1: 0.4, lambda2: 0.8 }
}

/// The small graph with its features as they are, and as a sparse matrix.
fn both_forms() -> [Dataset; 2] {
    let (dense, _, _) = small_graph();
    let sparse = sparse_form(&dense);
    [dense, sparse]
}

fn sparse_form(dense: &Dataset) -> Dataset {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in dense.features().to_dense().chunks_exact(12) {
        for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            columns.push(column as u32);
            values.push(*value);
        }
        offsets.push(columns.len());
    }
    let features = Features::sparse(CsrMatrix::new(12, offsets, columns, values).unwrap()).unwrap();
    let mut parts = DatasetParts::new("sparse", dense.graph().clone(), features, dense.labels().clone());
    parts.splits = dense.splits().to_vec();
    Dataset::new(parts).unwrap()
}

/// A graph of so many nodes and edges that every pass is cut into chunks, likewise.
fn large_forms() -> [Dataset; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let nodes = 3000u32;
    let (src, dst): (Vec<u32>, Vec<u32>) =
        (0..9000).map(|_| (rng.random_range(0..nodes), rng.random_range(0..nodes))).unzip();
    let graph = Graph::from_edges(nodes as usize, &src, &dst).unwrap();
    let values = (0..nodes * 12).map(|_| rng.random_range(-2.0..2.0f32).max(0.0)).collect();
    let features = Features::dense(nodes as usize, 12, values).unwrap();
    let labels = Labels::new((0..nodes).map(|node| Some(node % 4)).collect(), 4).unwrap();
    let mut parts = DatasetParts::new("large", graph, features, labels);
    parts.splits = vec![Split { train: (0..2500).collect(), ..Split::default() }];
    let dense = Dataset::new(parts).unwrap();
    let sparse = sparse_form(&dense);
    [dense, sparse]
}

fn labels(dataset: &Dataset) -> Vec<u32> {
    dataset.splits()[0].train.iter().map(|&n| dataset.labels().get(n).unwrap()).collect()
}

/// Takes all tensors of a layout from a file.
fn take<T: Real>(layout: &Layout, golden: &Golden, prefix: &str, memory: &mut [T]) {
    for (parameter, range) in layout.iter() {
        let values: Vec<T> =
            golden.floats(&format!("{prefix}.{}", parameter.name)).into_iter().map(T::from_f32).collect();
        layout.store(parameter, &values, &mut memory[range]);
    }
}

/// The model of a golden file.
fn model<T: Real>(golden: &Golden, heads: usize, layers: usize) -> Cal<T> {
    let mut model = Cal::<T>::new(config(heads, layers), 0).unwrap();
    let (layout, buffers) = (model.layout().clone(), model.buffer_layout().clone());
    take(&layout, golden, "param", model.parameters_mut());
    take(&buffers, golden, "before", model.buffers_mut());
    model
}

/// Compares relative to the largest entry.
fn close<T: Real>(found: &[T], expected: &[f32], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1e-3, |scale: f64, e| scale.max(f64::from(e.abs())));
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found.to_f64() - f64::from(*expected)).abs() / scale;
        assert!(error <= tolerance, "{what}, {at}: {found:?} where PyTorch has {expected} (relative {error:e})");
    }
}

fn compare<T: Real>(dataset: &Dataset, heads: usize, layers: usize, tolerance: f64) {
    let what = |part: &str| format!("{} K={heads} L={layers} {part}", dataset.name());
    let golden = Golden::open(&format!("cal_k{heads}_l{layers}"));
    let mut model = model::<T>(&golden, heads, layers);
    let graph = WholeGraph::new(dataset).unwrap();
    let mut predicted = Vec::new();
    model.predict(&graph, &mut predicted);
    close(&predicted, &golden.floats("predicted"), tolerance, &what("prediction"));

    let labels = labels(dataset);
    let labelled = Labelled::new(&dataset.splits()[0].train, &labels);
    let mut gradient = vec![T::from_f64(f64::NAN); model.parameters().len()];
    let loss = model.loss_in_contexts(&graph, labelled, &golden.integers("permutation"), &mut gradient);
    close(&[loss], &golden.floats("loss"), tolerance, &what("loss"));
    let heads_and_names = [(CalHead::Context, "context"), (CalHead::Object, "object"), (CalHead::Combined, "combined")];
    for (head, name) in heads_and_names {
        close(model.scores(head), &golden.floats(name), tolerance, &what(name));
    }
    for (layout, found, prefix) in
        [(model.layout(), &gradient[..], "grad"), (model.buffer_layout(), model.buffers(), "after")]
    {
        for (parameter, range) in layout.iter() {
            let mut values = vec![T::ZERO; parameter.len()];
            layout.export(parameter, &found[range], &mut values);
            let name = format!("{prefix}.{}", parameter.name);
            close(&values, &golden.floats(&name), 10.0 * tolerance, &what(&name));
        }
    }
}

#[test]
fn scores_loss_gradients_and_running_statistics_are_pytorchs() {
    for dataset in both_forms() {
        for (heads, layers) in SIZES {
            compare::<f64>(&dataset, heads, layers, 1e-6);
            compare::<f32>(&dataset, heads, layers, 2e-5);
        }
    }
}

#[test]
fn every_gradient_is_the_derivative() {
    for dataset in both_forms() {
        let graph = WholeGraph::<f64>::new(&dataset).unwrap();
        let labels = labels(&dataset);
        let labelled = Labelled::new(&dataset.splits()[0].train, &labels);
        for (heads, layers) in SIZES {
            let mut model = model::<f64>(&Golden::open(&format!("cal_k{heads}_l{layers}")), heads, layers);
            for parameter in check::whole_graph_gradient(&mut model, &graph, labelled, 5) {
                assert!(parameter.error < 1e-6, "K={heads} L={layers}: {parameter:?}");
                assert!(parameter.largest > 1e-6, "K={heads} L={layers}: {parameter:?}");
            }
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    for dataset in large_forms() {
        let labels = labels(&dataset);
        let labelled = Labelled::new(&dataset.splits()[0].train, &labels);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let graph = WholeGraph::<f32>::new(&dataset).unwrap();
                let mut model = Cal::<f32>::new(config(2, 2), 7).unwrap();
                let mut gradient = vec![0.0; model.parameters().len()];
                let losses: Vec<f64> = (0..4)
                    .map(|step| {
                        let loss = model.loss_and_gradient(&graph, labelled, step, &mut gradient);
                        model.parameters_mut().iter_mut().zip(&gradient).for_each(|(p, g)| *p -= 0.05 * g);
                        loss
                    })
                    .collect();
                let mut scores = Vec::new();
                model.predict(&graph, &mut scores);
                let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
                assert!(losses[3] < losses[0], "{losses:?}");
                (losses, bits(&gradient), bits(model.buffers()), bits(&scores))
            })
        };
        let one = run(1);
        assert!(run(2) == one && run(3) == one);
    }
}

#[test]
fn another_seed_is_another_context() {
    let [dataset, _] = both_forms();
    let labels = labels(&dataset);
    let labelled = Labelled::new(&dataset.splits()[0].train, &labels);
    let graph = WholeGraph::<f64>::new(&dataset).unwrap();
    let mut model = Cal::<f64>::new(config(2, 1), 7).unwrap();
    let mut gradient = vec![0.0; model.parameters().len()];
    let mut loss = |seed: u64| model.loss_and_gradient(&graph, labelled, seed, &mut gradient);
    assert_eq!(loss(1), loss(1));
    assert_ne!(loss(1), loss(2));
}

#[test]
fn a_model_survives_its_file_bit_for_bit() {
    let [dataset, _] = both_forms();
    let graph = WholeGraph::new(&dataset).unwrap();
    let mut before = model::<f32>(&Golden::open("cal_k2_l2"), 2, 2);
    let bytes = whole_graph_to_safetensors(&before).unwrap();
    assert_eq!(bytes, whole_graph_to_safetensors(&before).unwrap());
    let mut after = Cal::from_safetensors(&bytes).unwrap();
    assert_eq!((before.parameters(), before.buffers()), (after.parameters(), after.buffers()));
    assert_eq!(before.config(), after.config());
    let mut scores = [Vec::new(), Vec::new()];
    before.predict(&graph, &mut scores[0]);
    after.predict(&graph, &mut scores[1]);
    assert_eq!(scores[0], scores[1]);

    let file = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.tensor("bn_feat.running_var").unwrap().shape(), [12]);
    assert_eq!(file.tensor("conv_feat.weight").unwrap().shape(), [HIDDEN, 12]);
    assert_eq!(file.tensor("convs.1.att_src").unwrap().shape(), [1, 2, 4]);
}

#[test]
fn damaged_files_are_errors_and_never_panics() {
    let bytes = whole_graph_to_safetensors(&model::<f32>(&Golden::open("cal_k1_l1"), 1, 1)).unwrap();
    for cut in (0..bytes.len()).step_by(37) {
        assert!(Cal::from_safetensors(&bytes[..cut]).is_err());
    }
    let text = String::from_utf8_lossy(&bytes[..8 + 4000]).into_owned();
    let at = text.find("heads").unwrap();
    let mut other = bytes.clone();
    let digit = at + "heads\\\":".len();
    assert_eq!(other[digit], b'1');
    other[digit] = b'3';
    let error = Cal::from_safetensors(&other).unwrap_err().to_string();
    assert!(error.contains("hidden must be a multiple of heads"), "{error}");
}

#[test]
fn sizes_that_make_no_model_are_errors() {
    let text = |config: CalConfig| Cal::<f32>::new(config, 0).unwrap_err().to_string();
    let good = config(2, 1);
    assert_eq!(
        text(CalConfig { heads: 3, ..good }),
        "cal concatenates its heads, so that hidden must be a multiple of heads, and 8 is not one of 3"
    );
    assert_eq!(text(CalConfig { lambda1: -0.5, ..good }), "lambda1 must be 0 or more, and -0.5 is not");
    assert!(matches!(
        Cal::<f32>::new(CalConfig { lambda2: f64::NAN, ..good }, 0),
        Err(CalError::Strength { name: "lambda2", .. })
    ));
    assert_eq!(text(CalConfig { layers: 0, ..good }), "layers must be between 1 and 64, and 0 is not");
}
