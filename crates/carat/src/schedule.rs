//! The learning rate of an epoch e of E, counted from 1:
//!
//! ```text
//! none      lr
//! cosine    lr (1 + cos(pi (e - 1) / E)) / 2        as torch's CosineAnnealingLR with T_max = E
//! ```
//!
//! It depends on nothing else, so a run that resumes has the rates of one that was never stopped.

use std::f64::consts::PI;

use crate::TrainConfig;
use crate::settings::Schedule;

impl TrainConfig {
    /// The learning rate of an epoch, counted from 1.
    pub fn learning_rate(&self, epoch: usize) -> f64 {
        let rate = self.optimiser.lr;
        match self.optimiser.schedule {
            Schedule::None => rate,
            Schedule::Cosine => {
                let passed = epoch.saturating_sub(1) as f64 / self.stopping.epochs as f64;
                rate * (1.0 + (PI * passed).cos()) / 2.0
            }
        }
    }
}
