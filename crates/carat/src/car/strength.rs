//! A strength that nobody has to choose: the regulariser's gradient as a share of the prediction's.
//!
//! ```text
//! lambda = share |g_p| / |g_c|          g_p, g_c: gradients of L_p and L_c, over the parameters that L_c reaches
//! ```
//!
//! Both norms are measured now and then, with a backward pass for each, and their ratio is averaged. So the regulariser
//! neither vanishes where the prediction's gradient is large nor takes over where it is small.

use carat_nn::Real;

/// Steps from one measurement to the next.
const EVERY: u32 = 10;

/// Share of the average that stays at a measurement.
const KEEP: f32 = 0.8;

/// The average ratio of the gradients' norms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Strength {
    share: f64,
    /// 0 before the first measurement.
    ratio: f32,
    /// Steps until the next one.
    wait: u32,
}

impl Strength {
    pub(crate) fn new(share: f64) -> Self {
        Self { share, ..Self::default() }
    }

    /// Counts a step; true where it should measure.
    pub(crate) fn is_due(&mut self) -> bool {
        let is_due = self.wait == 0;
        self.wait = if is_due { EVERY - 1 } else { self.wait - 1 };
        is_due
    }

    /// Adds a measurement: the gradient of L_p, and that of L_p + L_c. Where one has none, the next step measures
    /// again.
    pub(crate) fn observe<T: Real>(&mut self, prediction: &[T], both: &[T]) {
        let (mut of_prediction, mut of_attention) = (0.0, 0.0);
        for (p, both) in prediction.iter().zip(both) {
            let (p, difference) = (p.to_f64(), both.to_f64() - p.to_f64());
            if difference != 0.0 {
                of_prediction += p * p;
                of_attention += difference * difference;
            }
        }
        let ratio = (of_prediction / of_attention).sqrt() as f32;
        if ratio.is_finite() && ratio > 0.0 {
            self.ratio = if self.ratio == 0.0 { ratio } else { KEEP * self.ratio + (1.0 - KEEP) * ratio };
        } else {
            // The step had nothing to predict or to pull; the next one may.
            self.wait = 0;
        }
    }

    /// The current lambda.
    pub(crate) fn lambda(&self) -> f64 {
        self.share * f64::from(self.ratio)
    }

    /// The state, to be saved.
    pub(crate) fn state(&self) -> [f32; 2] {
        [self.ratio, self.wait as f32]
    }

    /// Restores it.
    pub(crate) fn restore(&mut self, [ratio, wait]: [f32; 2]) {
        (self.ratio, self.wait) = (ratio, (wait as u32).min(EVERY - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambda_makes_the_gradient_a_share_of_the_predictions() {
        let mut strength = Strength::new(0.5);
        assert_eq!(strength.lambda(), 0.0);
        // L_c reaches the first two of three parameters, with a gradient of norm 5 beside one of norm 10.
        let prediction = [6.0f64, 8.0, 100.0];
        strength.observe(&prediction, &[9.0, 12.0, 100.0]);
        assert!((strength.lambda() * 5.0 - 0.5 * 10.0).abs() < 1e-6);
        // Where L_c has no gradient, nothing is learned of it.
        assert!(strength.is_due() && !strength.is_due());
        strength.observe(&prediction, &prediction);
        assert!((strength.lambda() - 1.0).abs() < 1e-6);
        assert!(strength.is_due(), "the next step measures again");
        strength.observe(&prediction, &[12.0, 16.0, 100.0]);
        assert!((strength.lambda() - 0.9).abs() < 1e-6);
    }

    #[test]
    fn a_restored_strength_goes_on_as_it_would_have() {
        let mut one = Strength::new(1.0);
        assert!(one.is_due() && !one.is_due());
        one.observe(&[2.0f32], &[3.0]);
        let mut other = Strength::new(1.0);
        other.restore(one.state());
        assert_eq!(one, other);
        assert_eq!((0..9).map(|_| other.is_due()).filter(|due| *due).count(), 1);
    }
}
