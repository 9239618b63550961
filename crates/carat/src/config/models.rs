//! What the settings mean to each model: its defaults, its sizes, and which settings it does not read.

use carat_graph::Dataset;
use carat_nn::{CalConfig, GcnConfig};

use super::{TrainConfig, is_default};
use crate::{Error, ModelKind};

/// Why settings mean nothing to a model.
const NO_ATTENTION: &str = "it has no attention";
const WHOLE_GRAPH: &str = "every step looks at the whole graph";
const OWN_ATTENTION: &str = "its attention is of another kind";

/// CAL's own defaults: its authors' width, heads and strengths. Heads are concatenated, so that the width is a multiple
/// of them.
const CAL_HIDDEN: usize = 128;
const CAL_HEADS: usize = 4;
const CAL_STRENGTH: f64 = 0.5;

impl TrainConfig {
    /// The defaults of a model: CAL has a width and heads of its own.
    pub fn default_of(model: ModelKind) -> Self {
        match model {
            ModelKind::Attention | ModelKind::Gcn => Self { model, ..Self::default() },
            ModelKind::Cal => Self { model, hidden: CAL_HIDDEN, heads: CAL_HEADS, ..Self::default() },
        }
    }

    /// The same settings with the model's own defaults in place of those that are not given.
    #[must_use]
    pub fn with_model_defaults(self, is_given: impl Fn(&str) -> bool) -> Self {
        let Self { hidden, heads, .. } = Self::default_of(self.model);
        let hidden = if is_given("hidden") { self.hidden } else { hidden };
        let heads = if is_given("heads") { self.heads } else { heads };
        Self { hidden, heads, ..self }
    }

    /// Refuses settings that the model does not read, and sizes it cannot have.
    pub(super) fn check_model(&self) -> Result<(), Error> {
        if let Some(pruning) = &self.prune {
            if self.model != ModelKind::Gcn {
                return Err(Error::Config(
                    "prune is a setting of graph convolution networks; set the model to gcn".into(),
                ));
            }
            pruning.check()?;
        }
        let default = Self::default();
        let foreign = [
            ("gcn-norm", !is_default(&self.gcn_norm), ModelKind::Gcn, "graph convolution networks"),
            ("lambda1", self.lambda1.is_some(), ModelKind::Cal, "CAL"),
            ("lambda2", self.lambda2.is_some(), ModelKind::Cal, "CAL"),
        ];
        if let Some((name, _, model, of)) = foreign.into_iter().find(|(_, given, of, _)| *given && *of != self.model) {
            let problem = format!("{name} is a setting of {of}; add --model {model}, or leave it out");
            return Err(Error::Config(problem));
        }
        let lambda = ("lambda", self.lambda != default.lambda);
        let arch = ("arch", self.arch != default.arch);
        let heads = ("heads", self.heads != default.heads);
        let fanout = ("fanout", !self.fanout.is_empty());
        let batch_size = ("batch-size", self.batch_size != default.batch_size);
        let idle: &[_] = match self.model {
            ModelKind::Attention => &[],
            ModelKind::Gcn => &[
                (lambda, NO_ATTENTION),
                (arch, NO_ATTENTION),
                (heads, NO_ATTENTION),
                (fanout, WHOLE_GRAPH),
                (batch_size, WHOLE_GRAPH),
            ],
            ModelKind::Cal => {
                self.cal(1, 1).check()?;
                &[(lambda, OWN_ATTENTION), (arch, OWN_ATTENTION), (fanout, WHOLE_GRAPH), (batch_size, WHOLE_GRAPH)]
            }
        };
        match idle.iter().find(|((_, given), _)| *given) {
            None => Ok(()),
            Some(((name, _), why)) => {
                Err(Error::Config(format!("{name} has no meaning with model {}: {why}; leave it out", self.model)))
            }
        }
    }

    /// Refuses settings of a model without attention, where attention is the point.
    pub(crate) fn is_attention(&self) -> Result<(), Error> {
        match self.model {
            ModelKind::Attention => Ok(()),
            ModelKind::Cal => Err(Error::Config(format!("cal: {OWN_ATTENTION} than this needs; use model attention"))),
            model => Err(Error::Config(format!("a {model} has no attention, and this needs it; use model attention"))),
        }
    }

    /// Sizes of the graph convolution network for this data.
    pub fn gcn_for(&self, dataset: &Dataset) -> GcnConfig {
        let (features, classes) = (dataset.features().num_columns(), dataset.labels().num_classes());
        GcnConfig { norm: self.gcn_norm, features, hidden: self.hidden, layers: self.layers, classes }
    }

    /// Sizes and strengths of CAL for this data.
    pub fn cal_for(&self, dataset: &Dataset) -> CalConfig {
        self.cal(dataset.features().num_columns(), dataset.labels().num_classes())
    }

    fn cal(&self, features: usize, classes: usize) -> CalConfig {
        let Self { hidden, heads, layers, .. } = *self;
        let lambda1 = self.lambda1.unwrap_or(CAL_STRENGTH);
        let lambda2 = self.lambda2.unwrap_or(CAL_STRENGTH);
        CalConfig { features, hidden, heads, layers, classes, lambda1, lambda2 }
    }

    /// What the network is called: its attention kind, or the model without one.
    pub fn network_name(&self) -> &'static str {
        match self.model {
            ModelKind::Attention => self.arch.name(),
            model => model.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use carat_nn::{AttentionKind, GcnNorm};

    use super::*;
    use crate::Lambda;
    use crate::rewire::Pruning;

    #[test]
    fn what_came_later_is_left_out_of_files_unless_it_is_used() {
        let plain = toml::to_string(&TrainConfig::default()).unwrap();
        assert!(!plain.contains("model") && !plain.contains("gcn") && !plain.contains("lambda1"));
        let gcn = TrainConfig { model: ModelKind::Gcn, gcn_norm: GcnNorm::None, ..Default::default() };
        let text = toml::to_string(&gcn).unwrap();
        assert!(text.contains("model = \"gcn\"") && text.contains("gcn-norm = \"none\""));
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), gcn);
        let guide = Box::new(TrainConfig { lambda: Lambda::new(5.0), ..Default::default() });
        let pruned = TrainConfig { prune: Some(Pruning { threshold: 0.3, random: true, guide }), ..gcn };
        pruned.check().unwrap();
        let text = toml::to_string(&pruned).unwrap();
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), pruned);
        let error = TrainConfig { model: ModelKind::Attention, ..pruned }.check().unwrap_err().to_string();
        assert_eq!(error, "prune is a setting of graph convolution networks; set the model to gcn");
    }

    #[test]
    fn the_settings_of_cal_round_trip() {
        let cal = TrainConfig { lambda1: Some(0.2), ..TrainConfig::default_of(ModelKind::Cal) };
        let text = toml::to_string(&cal).unwrap();
        assert!(text.contains("model = \"cal\"") && text.contains("lambda1 = 0.2") && !text.contains("lambda2"));
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), cal);
    }

    #[test]
    fn cal_has_a_width_and_heads_of_its_own_unless_a_file_says_otherwise() {
        let read = |text: &str| TrainConfig::from_toml(text, Path::new("settings.toml")).unwrap();
        let sizes = |text: &str| (read(text).hidden, read(text).heads);
        assert_eq!(sizes("model = 'cal'"), (128, 4));
        assert_eq!(sizes("model = 'cal'\nhidden = 100"), (100, 4));
        assert_eq!(sizes("model = 'cal'\nheads = 3\nhidden = 99"), (99, 3));
        assert_eq!(sizes("lr = 0.1"), (100, 3));
        read("model = 'cal'").check().unwrap();
    }

    #[test]
    fn settings_that_cal_cannot_have_are_refused() {
        let cal = TrainConfig::default_of(ModelKind::Cal);
        let other = "has no meaning with model cal: its attention is of another kind; leave it out";
        let refused = [
            (
                TrainConfig { heads: 3, ..cal.clone() },
                "cal concatenates its heads, so that hidden must be a multiple of heads, and 128 is not one of 3"
                    .into(),
            ),
            (TrainConfig { lambda1: Some(-1.0), ..cal.clone() }, "lambda1 must be 0 or more, and -1 is not".into()),
            (TrainConfig { lambda: Lambda::new(1.0), ..cal.clone() }, format!("lambda {other}")),
            (TrainConfig { arch: AttentionKind::GatV2, ..cal.clone() }, format!("arch {other}")),
            (
                TrainConfig { gcn_norm: GcnNorm::None, ..cal },
                "gcn-norm is a setting of graph convolution networks; add --model gcn, or leave it out".into(),
            ),
            (
                TrainConfig { lambda2: Some(0.5), ..TrainConfig::default() },
                "lambda2 is a setting of CAL; add --model cal, or leave it out".into(),
            ),
        ];
        for (config, problem) in refused {
            assert_eq!(config.check().unwrap_err().to_string(), problem);
        }
    }

    #[test]
    fn settings_that_a_graph_convolution_network_cannot_have_are_refused() {
        let gcn = TrainConfig { model: ModelKind::Gcn, gcn_norm: GcnNorm::None, ..Default::default() };
        gcn.check().unwrap();
        let no_attention = "has no meaning with model gcn: it has no attention; leave it out";
        let whole_graph = "has no meaning with model gcn: every step looks at the whole graph; leave it out";
        let refused = [
            (TrainConfig { heads: 2, ..gcn.clone() }, format!("heads {no_attention}")),
            (TrainConfig { lambda: Lambda::new(1.0), ..gcn.clone() }, format!("lambda {no_attention}")),
            (TrainConfig { fanout: vec![1, 2], ..gcn.clone() }, format!("fanout {whole_graph}")),
            (TrainConfig { batch_size: 5, ..gcn.clone() }, format!("batch-size {whole_graph}")),
            (
                TrainConfig { model: ModelKind::Attention, ..gcn },
                "gcn-norm is a setting of graph convolution networks; add --model gcn, or leave it out".into(),
            ),
        ];
        for (config, message) in refused {
            assert_eq!(config.check().unwrap_err().to_string(), message);
        }
    }
}
