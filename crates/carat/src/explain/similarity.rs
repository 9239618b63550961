//! How alike the features of an edge's ends are.
//!
//! ```text
//! cosine(i, j) = x_i . x_j / (|x_i| |x_j|)
//! ```

use carat_graph::{CsrMatrix, Dataset, Features};
use rayon::prelude::*;

use crate::Error;

/// The cosine of every edge; NaN where an end has no feature but zeros.
pub(super) fn cosines(dataset: &Dataset, src: &[u32], dst: &[u32]) -> Result<Vec<f32>, Error> {
    let features = dataset.features();
    // Rows of a mapped file have not all been checked yet.
    features.check()?;
    let edges = || src.par_iter().zip(dst);
    Ok(match features {
        Features::Dense { num_columns, values, .. } => {
            let row = |node: u32| &values[node as usize * num_columns..(node as usize + 1) * num_columns];
            let norms = norms(features.num_rows(), |node| dot(row(node), row(node)));
            edges().map(|(&i, &j)| cosine(dot(row(i), row(j)), &norms, i, j)).collect()
        }
        Features::Sparse(matrix) => {
            let norms = norms(features.num_rows(), |node| {
                let (_, values) = matrix.row(node as usize);
                dot(values, values)
            });
            edges().map(|(&i, &j)| cosine(sparse_dot(matrix, i, j), &norms, i, j)).collect()
        }
    })
}

/// The length of every row, from its square.
fn norms(rows: usize, square: impl Fn(u32) -> f64 + Sync) -> Vec<f64> {
    (0..rows as u32).into_par_iter().map(|node| square(node).sqrt()).collect()
}

fn cosine(dot: f64, norms: &[f64], i: u32, j: u32) -> f32 {
    let length = norms[i as usize] * norms[j as usize];
    // Rounding must not give more than 1 for equal rows.
    if length > 0.0 { (dot / length).clamp(-1.0, 1.0) as f32 } else { f32::NAN }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// Goes through both rows together: their columns ascend.
fn sparse_dot(matrix: &CsrMatrix, i: u32, j: u32) -> f64 {
    let ((columns, values), (others, factors)) = (matrix.row(i as usize), matrix.row(j as usize));
    let mut other = others.iter().zip(factors).peekable();
    let mut sum = 0.0;
    for (column, value) in columns.iter().zip(values) {
        while other.next_if(|(candidate, _)| *candidate < column).is_some() {}
        if let Some((_, factor)) = other.next_if(|(candidate, _)| *candidate == column) {
            sum += f64::from(*value) * f64::from(*factor);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_graph::{DatasetParts, Graph, Labels};

    #[test]
    fn dense_and_sparse_rows_have_the_same_cosines() {
        let rows = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0];
        let (src, dst) = ([0, 2, 0, 3], [1, 0, 0, 0]);
        let graph = || Graph::from_edges(4, &src, &dst).unwrap();
        let labels = || Labels::from_signed(&[0, 1, 0, 1]).unwrap();
        let dense = Features::dense(4, 3, rows.to_vec()).unwrap();
        let columns = vec![0, 2, 1, 0, 2];
        let matrix = CsrMatrix::new(3, vec![0, 2, 3, 5, 5], columns, vec![1.0, 2.0, 3.0, 1.0, 2.0]).unwrap();
        let sparse = Features::sparse(matrix).unwrap();
        for features in [dense, sparse] {
            let dataset = Dataset::new(DatasetParts::new("tiny", graph(), features, labels())).unwrap();
            let found = cosines(&dataset, &src, &dst).unwrap();
            assert_eq!(found[..3], [0.0, 1.0, 1.0]);
            assert!(found[3].is_nan());
        }
    }

    #[test]
    fn angles_are_those_of_the_rows() {
        let features = [[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]];
        let dataset = Dataset::from_rows("tiny", &[(0, 1)], &features, &[Some(0), Some(1), None]).unwrap();
        let found = cosines(&dataset, &[0, 0], &[1, 2]).unwrap();
        assert!((found[0] - 0.5f32.sqrt()).abs() < 1e-7);
        assert_eq!(found[1], -1.0);
    }
}
