//! What is measured once at the end of a training, at the weights that it keeps.

use crate::Error;
use crate::learner::Learner;
use crate::metrics::{Evaluation, Figures, RunFigures, Subset};

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
        let mut evaluate = |subset| {
            let predictions = learner.predictions(subset)?;
            let evaluation = Evaluation::of(&predictions);
            Ok::<_, Error>((Figures::of(&predictions, &evaluation), evaluation))
        };
        let (train, _) = evaluate(Subset::Train)?;
        let (val, validation) = evaluate(Subset::Validation)?;
        let (test, of_test) = evaluate(Subset::Test)?;
        let coherence = learner.coherence()?;
        let figures = RunFigures {
            test,
            val,
            train,
            attention_kl: coherence.map(|coherence| coherence.attention_kl),
            uniform_kl: coherence.map(|coherence| coherence.uniform_kl),
            attention_auc: coherence.and_then(|coherence| coherence.attention_auc),
        };
        Ok(Self { figures, validation, test: (of_test.entities > 0).then_some(of_test) })
    }
}
