//! What is measured once at the end of a training, at the weights that it keeps.

use crate::Error;
use crate::learner::Learner;
use crate::metrics::{Evaluation, Figures, Predictions, RunFigures, Subset};

/// All figures of a trained model, and what is behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Every figure.
    pub figures: RunFigures,
    /// Confusion matrix, classes and calibration over validation entities.
    pub validation: Evaluation,
    /// The same over test entities; `None` where the split has none.
    pub test: Option<Evaluation>,
}

impl Results {
    /// Of a learner's current model.
    pub(crate) fn of<L: Learner + ?Sized>(learner: &mut L) -> Result<Self, Error> {
        let of_train = learner.predictions(Subset::Train)?;
        let positive = of_train.rarer_class();
        let evaluate = |predictions: Predictions| {
            let predictions = predictions.with_positive(positive);
            let evaluation = Evaluation::of(&predictions);
            (Figures::of(&predictions, &evaluation), evaluation)
        };
        let (train, _) = evaluate(of_train);
        let (val, validation) = evaluate(learner.predictions(Subset::Validation)?);
        let (test, of_test) = evaluate(learner.predictions(Subset::Test)?);
        let coherence = learner.coherence()?;
        let on_test = learner.trust(Subset::Test)?;
        let on_validation = learner.trust(Subset::Validation)?;
        let figures = RunFigures {
            test,
            val,
            train,
            attention_kl: coherence.map(|coherence| coherence.attention_kl),
            uniform_kl: coherence.map(|coherence| coherence.uniform_kl),
            attention_auc: coherence.and_then(|coherence| coherence.attention_auc),
            ..RunFigures::default()
        };
        let figures = figures.with_trust(on_test.as_ref(), on_validation.as_ref());
        Ok(Self { figures, validation, test: (of_test.entities > 0).then_some(of_test) })
    }
}
