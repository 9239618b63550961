//! "Average percent change in test accuracy" and "... in test loss" (appendix), by kind and strength.
//!
//! The loss figures printed for Cornell and Wisconsin are the accuracy figures with the sign turned, and do not agree
//! with Table 1 (Cornell, transformer: 1.22 to 1.07 is -12 %, not -0.6 %). They are kept as printed.

use super::ByKind;

/// Percent changes at both groups of strengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changes {
    /// Lambda 1 and 5.
    pub strong: ByKind<f64>,
    /// Lambda 0.1 and 0.5.
    pub weak: ByKind<f64>,
}

/// Of accuracy.
pub const ACCURACY_CHANGE: Changes = Changes {
    strong: [
        [3.8, 7.4, 2.7, -0.9, -0.2, 0.3, 1.8, 0.6],
        [7.4, 7.1, 0.3, -0.6, -1.1, 0.4, 3.1, 0.4],
        [7.0, 12.5, 0.0, -0.3, -0.2, -0.5, 0.6, 1.2],
    ],
    weak: [
        [2.3, 4.2, 0.4, 0.0, 0.3, 0.5, 1.4, 0.4],
        [6.6, 3.0, 0.3, -0.3, 0.2, -0.1, 1.6, 0.0],
        [7.6, 1.5, 0.0, -0.7, 0.0, -0.4, 0.7, 0.9],
    ],
};

/// Of loss.
pub const LOSS_CHANGE: Changes = Changes {
    strong: [
        [-22.6, -11.7, -12.8, 0.6, -2.4, -1.1, -1.8, -0.6],
        [-29.0, 7.6, -13.9, 1.9, -2.7, -1.5, -3.1, -0.4],
        [-43.6, -45.0, -7.0, -0.2, -3.8, -2.0, -0.6, -1.2],
    ],
    weak: [
        [-15.3, -12.9, -2.8, -0.1, -0.7, -0.2, -1.4, -0.4],
        [-19.8, 11.2, -2.9, -0.2, -0.7, 0.0, -1.6, 0.0],
        [-28.8, -20.9, -1.1, -0.8, -0.8, 0.0, -0.7, -0.9],
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_two_columns_of_loss_are_those_of_accuracy_turned() {
        for (loss, accuracy) in [(LOSS_CHANGE.strong, ACCURACY_CHANGE.strong), (LOSS_CHANGE.weak, ACCURACY_CHANGE.weak)]
        {
            for (loss, accuracy) in loss.iter().zip(&accuracy) {
                assert!(loss[6..].iter().zip(&accuracy[6..]).all(|(loss, accuracy)| *loss == -accuracy));
            }
        }
    }
}
