//! The figures of a run: a line per figure, from which its name in files, its heading, its place in stores and its
//! value are made.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Evaluation, Predictions};
use crate::trust::Trust;

/// Defines [`Metric`], [`Figures`], [`Figure`] and [`RunFigures`].
///
/// A line of `of_entities` has the field, the variant, the title, which values are better, the meaning around the words
/// for the entities, and the value. One of `of_run` has all but the value, which the run fills in.
macro_rules! figures {
    (
        of_entities { $(
            $(#[$doc:meta])*
            $field:ident $metric:ident, $title:literal, $better:ident,
            ($before:literal, $after:literal $(,)?), $value:expr;
        )+ }
        of_run { $(
            $(#[$run_doc:meta])*
            $run_field:ident $figure:ident, $run_title:literal, $run_better:ident, $meaning:literal;
        )+ }
    ) => {
        /// What is measured over some entities.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Metric {
            $($(#[$doc])* $metric,)+
        }

        impl Metric {
            /// Every metric, in the order of files.
            pub const ALL: &'static [Self] = &[$(Self::$metric),+];

            /// Its name in headings.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$metric => $title,)+
                }
            }

            /// True where a lower value is better.
            pub fn lower_is_better(self) -> bool {
                match self {
                    $(Self::$metric => stringify!($better) == "lower",)+
                }
            }
        }

        /// Every metric over some entities; `None` where it has no meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
        pub struct Figures {
            $($(#[$doc])* pub $field: Option<f64>,)+
        }

        impl Figures {
            /// Of some predictions, which were evaluated before.
            pub fn of(predictions: &Predictions, evaluation: &Evaluation) -> Self {
                Self { $($field: $value(predictions, evaluation),)+ }
            }

            /// One figure.
            pub fn get(&self, metric: Metric) -> Option<f64> {
                match metric {
                    $(Metric::$metric => self.$field,)+
                }
            }

            fn place(&mut self, metric: Metric) -> &mut Option<f64> {
                match metric {
                    $(Metric::$metric => &mut self.$field,)+
                }
            }
        }

        /// The figures of a run at the weights that it kept.
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct RunFigures {
            /// Over test entities.
            pub test: Figures,
            /// Over validation entities.
            pub val: Figures,
            /// Over training entities.
            pub train: Figures,
            $($(#[$run_doc])* pub $run_field: Option<f64>,)+
        }

        /// One figure of a run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Figure {
            /// A metric over some entities.
            Of(Subset, Metric),
            $($(#[$run_doc])* $figure,)+
        }

        impl Figure {
            /// Every figure, in the order of files.
            pub fn all() -> impl Iterator<Item = Self> {
                let of_subset = |subset| Metric::ALL.iter().map(move |&metric| Self::Of(subset, metric));
                Subset::ALL.into_iter().flat_map(of_subset).chain([$(Self::$figure),+])
            }

            /// Its name in files, stores and flags: `test_roc_auc`.
            pub fn name(self) -> &'static str {
                match self {
                    $(
                        Self::Of(Subset::Test, Metric::$metric) => concat!("test_", stringify!($field)),
                        Self::Of(Subset::Validation, Metric::$metric) => concat!("val_", stringify!($field)),
                        Self::Of(Subset::Train, Metric::$metric) => concat!("train_", stringify!($field)),
                    )+
                    $(Self::$figure => stringify!($run_field),)+
                }
            }

            /// Its name in sentences and headings: `test ROC AUC`.
            pub fn title(self) -> &'static str {
                match self {
                    $(
                        Self::Of(Subset::Test, Metric::$metric) => concat!("test ", $title),
                        Self::Of(Subset::Validation, Metric::$metric) => concat!("validation ", $title),
                        Self::Of(Subset::Train, Metric::$metric) => concat!("training ", $title),
                    )+
                    $(Self::$figure => $run_title,)+
                }
            }

            /// Its definition, as part of a sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(
                        Self::Of(Subset::Test, Metric::$metric) => concat!($before, "test nodes", $after),
                        Self::Of(Subset::Validation, Metric::$metric) => concat!($before, "validation nodes", $after),
                        Self::Of(Subset::Train, Metric::$metric) => concat!($before, "training nodes", $after),
                    )+
                    $(Self::$figure => $meaning,)+
                }
            }

            /// True where a lower value is better.
            pub fn lower_is_better(self) -> bool {
                match self {
                    Self::Of(_, metric) => metric.lower_is_better(),
                    $(Self::$figure => stringify!($run_better) == "lower",)+
                }
            }
        }

        impl RunFigures {
            /// One figure.
            pub fn get(&self, figure: Figure) -> Option<f64> {
                match figure {
                    Figure::Of(subset, metric) => self.of(subset).get(metric),
                    $(Figure::$figure => self.$run_field,)+
                }
            }

            /// Replaces one figure.
            pub fn set(&mut self, figure: Figure, value: Option<f64>) {
                match figure {
                    Figure::Of(Subset::Test, metric) => *self.test.place(metric) = value,
                    Figure::Of(Subset::Validation, metric) => *self.val.place(metric) = value,
                    Figure::Of(Subset::Train, metric) => *self.train.place(metric) = value,
                    $(Figure::$figure => self.$run_field = value,)+
                }
            }
        }
    };
}

figures! {
    of_entities {
        /// Mean cross-entropy.
        loss Loss, "loss", lower, ("the mean cross-entropy over ", ""), |p: &Predictions, _| p.loss();
        /// Share of entities that are predicted right.
        accuracy Accuracy, "accuracy", higher, ("the share of ", " whose class is predicted right"),
            |_, e: &Evaluation| e.accuracy();
        /// Mean recall over classes.
        balanced_accuracy BalancedAccuracy, "balanced accuracy", higher,
            ("the mean over classes of the share of ", " of the class that are predicted right"),
            |_, e: &Evaluation| e.balanced_accuracy();
        /// Mean F1 over classes.
        macro_f1 MacroF1, "macro F1", higher, ("the mean over classes of F1 over ", ""),
            |_, e: &Evaluation| e.macro_f1();
        /// Area under the ROC curve: of the positive class of two, or the mean over classes.
        roc_auc RocAuc, "ROC AUC", higher,
            (
                "the probability that, of two ",
                ", the one of the class gets the higher probability for it; 0.5 is chance",
            ),
            |_, e: &Evaluation| e.roc_auc();
        /// Average precision: of the positive class of two, or the mean over classes.
        average_precision AveragePrecision, "average precision", higher,
            ("the mean precision over the ranks of the ", " of the class; chance has the share of the class"),
            |_, e: &Evaluation| e.average_precision();
        /// Expected calibration error.
        calibration_error CalibrationError, "calibration error", lower,
            ("the mean distance between confidence and accuracy over ", " in 15 bins of confidence"),
            |_, e: &Evaluation| e.calibration_error();
        /// Brier score.
        brier Brier, "Brier score", lower, ("the mean squared error of the probabilities of ", ""),
            |p: &Predictions, _| p.brier();
    }
    of_run {
        /// Divergence of attention from label agreement, see [`crate::Coherence`].
        attention_kl AttentionKl, "KL divergence", lower,
            "the divergence of attention from label agreement around test nodes";
        /// The same for uniform attention.
        uniform_kl UniformKl, "KL divergence of uniform attention", lower,
            "the divergence of uniform attention from label agreement around test nodes";
        /// Probability that attention ranks a same-label in-edge above another, see [`crate::Coherence`].
        attention_auc AttentionAuc, "attention_auc", higher,
            "the probability that attention ranks an in-neighbour of the test node's class above one of another class; \
             0.5 is chance, and what uniform attention has";
        /// Correlation of attention, the mean over layers and heads, with what test nodes' in-edges do to the true
        /// class, see [`crate::trust`].
        faithfulness Faithfulness, "faithfulness", higher,
            "the mean over test nodes of the correlation, over in-edges, of attention (the mean over layers and heads) \
             with the log-likelihood that the edge gives to the true class; 0 is what uniform attention has";
        /// The same of ranks: Spearman's correlation.
        faithfulness_rank FaithfulnessRank, "rank faithfulness", higher,
            "as faithfulness, with Spearman's correlation in place of Pearson's";
        /// The same of the last layer's attention.
        faithfulness_last FaithfulnessLast, "faithfulness of the last layer", higher,
            "as faithfulness, of the last layer's attention";
        /// Correlation of attention with what test nodes' in-edges do to the predicted class.
        self_faithfulness SelfFaithfulness, "self-faithfulness", higher,
            "the mean over test nodes of the correlation, over in-edges, of attention (the mean over layers and heads) \
             with the log-likelihood that the edge gives to the predicted class; 0 is what uniform attention has";
        /// The same of ranks.
        self_faithfulness_rank SelfFaithfulnessRank, "rank self-faithfulness", higher,
            "as self-faithfulness, with Spearman's correlation in place of Pearson's";
        /// The same of the last layer's attention.
        self_faithfulness_last SelfFaithfulnessLast, "self-faithfulness of the last layer", higher,
            "as self-faithfulness, of the last layer's attention";
        /// Faithfulness around validation nodes, by which settings may be chosen.
        val_faithfulness ValFaithfulness, "validation faithfulness", higher,
            "as faithfulness, over validation nodes";
        /// Self-faithfulness around validation nodes.
        val_self_faithfulness ValSelfFaithfulness, "validation self-faithfulness", higher,
            "as self-faithfulness, over validation nodes";
        /// Area between the deletion curves of a random order and of the most attended edges first.
        deletion_area DeletionArea, "deletion area", higher,
            "how much faster than in random order the probability of the predicted class falls while in-edges are \
             deleted, the most attended first: the area between both curves";
        /// The same as a share of what the order by effect has.
        deletion_share DeletionShare, "deletion area, share of the best", higher,
            "the deletion area over that of the best order, which is by what the edges do: 1 is the best, 0 is chance";
        /// Fidelity+.
        fidelity_plus FidelityPlus, "fidelity+", higher,
            "how much of the predicted class's probability goes without the 30 % of in-edges with the most attention";
        /// Fidelity-.
        fidelity_minus FidelityMinus, "fidelity-", lower,
            "how much of the predicted class's probability goes with only the 30 % of in-edges with the most attention";
        /// Both in one.
        characterisation Characterisation, "characterisation", higher,
            "the harmonic mean of fidelity+ and 1 - fidelity-";
        /// Probability that attention ranks a planted edge above another.
        planted_auc PlantedAuc, "planted AUC of attention", higher,
            "the probability that attention ranks an in-edge that is known to matter above another one; 0.5 is chance";
        /// The same of the exact effects.
        planted_auc_of_effects PlantedAucOfEffects, "planted AUC of effects", higher,
            "the probability that an in-edge that is known to matter does more for the prediction than another one";
    }
}

/// A part of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subset {
    /// Test entities.
    Test,
    /// Validation entities.
    Validation,
    /// Training entities.
    Train,
}

impl Subset {
    /// Every part, the one that counts most first.
    pub const ALL: [Self; 3] = [Self::Test, Self::Validation, Self::Train];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Validation => "validation",
            Self::Train => "training",
        }
    }
}

impl Figure {
    /// The figure of this name in files.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|figure| figure.name() == name)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

impl RunFigures {
    /// The same with the measures of trust, over test entities and over validation entities.
    #[must_use]
    pub(crate) fn with_trust(self, test: Option<&Trust>, validation: Option<&Trust>) -> Self {
        let [test_mean, val_mean] = [test, validation].map(|found| found.map(Trust::mean));
        let last = test.map(Trust::last);
        let curves = test.filter(|found| found.curve_entities > 0);
        Self {
            faithfulness: test_mean.and_then(|mean| mean.faithfulness.pearson),
            faithfulness_rank: test_mean.and_then(|mean| mean.faithfulness.spearman),
            faithfulness_last: last.and_then(|last| last.faithfulness.pearson),
            self_faithfulness: test_mean.and_then(|mean| mean.self_faithfulness.pearson),
            self_faithfulness_rank: test_mean.and_then(|mean| mean.self_faithfulness.spearman),
            self_faithfulness_last: last.and_then(|last| last.self_faithfulness.pearson),
            val_faithfulness: val_mean.and_then(|mean| mean.faithfulness.pearson),
            val_self_faithfulness: val_mean.and_then(|mean| mean.self_faithfulness.pearson),
            deletion_area: curves.map(|found| found.deletion_area),
            deletion_share: curves.and_then(Trust::share_of_best),
            fidelity_plus: curves.map(|found| found.fidelity.plus),
            fidelity_minus: curves.map(|found| found.fidelity.minus),
            characterisation: curves.map(|found| found.fidelity.characterisation),
            planted_auc: test_mean.and_then(|mean| mean.planted).map(|planted| planted.auc),
            planted_auc_of_effects: test.and_then(|found| found.planted).map(|planted| planted.auc),
            ..self
        }
    }

    /// The figures over a part of the split.
    pub fn of(&self, subset: Subset) -> &Figures {
        match subset {
            Subset::Test => &self.test,
            Subset::Validation => &self.val,
            Subset::Train => &self.train,
        }
    }
}

/// A map from names to values.
impl Serialize for RunFigures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Figure::all().map(|figure| (figure.name(), self.get(figure))))
    }
}

/// From a map that may lack figures, as those of older runs do, and may have more.
impl<'de> Deserialize<'de> for RunFigures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = RunFigures;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of figures")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RunFigures, A::Error> {
                let mut figures = RunFigures::default();
                while let Some(name) = map.next_key::<String>()? {
                    match Figure::from_name(&name) {
                        Some(figure) => figures.set(figure, map.next_value()?),
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(figures)
            }
        }
        deserializer.deserialize_map(Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_figure_has_its_own_name_and_place_and_comes_back_from_a_file() {
        let mut figures = RunFigures::default();
        for (number, figure) in Figure::all().enumerate() {
            assert_eq!(figures.get(figure), None);
            figures.set(figure, Some(number as f64 + 0.1));
            assert_eq!(Figure::from_name(figure.name()), Some(figure));
        }
        let names: HashSet<&str> = Figure::all().map(Figure::name).collect();
        assert_eq!(names.len(), 3 * Metric::ALL.len() + 18);
        let text = serde_json::to_string(&figures).unwrap();
        assert!(text.starts_with(r#"{"test_loss":0.1,"test_accuracy":1.1,"#), "{text}");
        assert_eq!(serde_json::from_str::<RunFigures>(&text).unwrap(), figures);
        let old = r#"{"test_loss": 0.5, "val_accuracy": null, "of_a_later_version": [1]}"#;
        let read: RunFigures = serde_json::from_str(old).unwrap();
        assert_eq!(
            read,
            RunFigures { test: Figures { loss: Some(0.5), ..Figures::default() }, ..RunFigures::default() }
        );
    }

    #[test]
    fn titles_and_meanings_read_well() {
        let auc = Figure::Of(Subset::Test, Metric::RocAuc);
        assert_eq!((auc.name(), auc.to_string().as_str()), ("test_roc_auc", "test ROC AUC"));
        assert_eq!(Figure::Of(Subset::Validation, Metric::Loss).title(), "validation loss");
        assert_eq!(Figure::Of(Subset::Test, Metric::Loss).meaning(), "the mean cross-entropy over test nodes");
    }

    #[test]
    fn predictions_of_nothing_have_no_figures() {
        for classes in [0, 1, 2, 5] {
            let none = Predictions::new(classes);
            assert_eq!(Figures::of(&none, &Evaluation::of(&none)), Figures::default());
        }
    }
}
