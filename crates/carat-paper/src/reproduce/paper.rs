//! The paper's own figures, as printed. One file per table.
//!
//! Rows are attention kinds in the order of [`KINDS`], columns are datasets in the order of [`DATASETS`].

mod ablation;
mod accuracy;
mod cal;
mod changes;
mod claims;
mod datasets;
mod loss;
mod runtime;

pub use ablation::{CAUSAL_EVIDENCE, VOTE_EVIDENCE};
pub use accuracy::{ACCURACY_BASELINE, ACCURACY_CAR};
pub use cal::CAL_ACCURACY;
pub use changes::{ACCURACY_CHANGE, Changes, LOSS_CHANGE};
pub use claims::{ACCURACY_HIGHER, CAUSAL_ABOVE_VOTE, COUNTED, KL_LOWER, LOSS_LOWER, RUNTIME_FACTORS, STRONGER_LARGER};
pub use datasets::{DATASETS, DatasetFigures, place, title};
pub use loss::{LOSS_BASELINE, LOSS_CAR};
pub use runtime::{RUNTIME, RuntimeFigures};

use carat_nn::AttentionKind;
use carat_report::statistics::Spread;

/// Attention kinds, in the order of the paper's rows.
pub const KINDS: [AttentionKind; 3] = [AttentionKind::Gat, AttentionKind::GatV2, AttentionKind::Transformer];

/// A figure for every kind and dataset.
pub type ByKind<V> = [[V; 8]; 3];

/// The kind's row.
pub fn row(kind: &str) -> Option<usize> {
    KINDS.iter().position(|known| known.name() == kind)
}

/// The figure of a kind on one of our datasets.
pub fn at<V: Copy>(figures: &ByKind<V>, kind: &str, data: &str) -> Option<V> {
    figures.get(row(kind)?)?.get(place(data)?).copied()
}

/// A row of means and a row of their deviations, as printed.
const fn spreads(means: [f64; 8], deviations: [f64; 8]) -> [Spread; 8] {
    let mut row = [spread(0.0, 0.0); 8];
    let mut column = 0;
    while column < row.len() {
        row[column] = spread(means[column], deviations[column]);
        column += 1;
    }
    row
}

/// A mean and its deviation, as printed.
const fn spread(mean: f64, deviation: f64) -> Spread {
    Spread { mean, deviation: Some(deviation) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_kind_and_by_our_names() {
        assert_eq!(at(&LOSS_BASELINE, "gat", "cora").map(|s| s.mean), Some(2.33));
        assert_eq!(at(&LOSS_CAR, "transformer", "wisconsin"), Some(spread(0.86, 0.13)));
        assert_eq!(at(&ACCURACY_CAR, "gatv2", "arxiv-tape").map(|s| s.mean), Some(0.56));
        assert_eq!(at(&LOSS_CAR, "gcn", "cora"), None);
        assert_eq!(at(&LOSS_CAR, "gat", "mygraph"), None);
    }

    #[test]
    fn the_paper_s_own_tables_agree_with_its_sentences() {
        let above = CAUSAL_EVIDENCE.iter().zip(VOTE_EVIDENCE).filter(|(causal, vote)| *causal > vote);
        assert_eq!((above.count(), DATASETS.len()), (CAUSAL_ABOVE_VOTE, COUNTED));
        let lower = LOSS_BASELINE.iter().flatten().zip(LOSS_CAR.iter().flatten());
        assert!(lower.into_iter().all(|(baseline, car)| car.mean <= baseline.mean));
        let with_car = ACCURACY_CAR.iter().flat_map(|row| row.iter().zip(CAL_ACCURACY));
        assert!(with_car.into_iter().all(|(car, cal)| car.mean > cal));
    }
}
