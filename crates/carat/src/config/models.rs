//! What the settings mean to each model.

use carat_graph::Dataset;
use carat_nn::{CalConfig, GcnConfig};

use crate::settings::{NetworkSettings, OWN_ATTENTION};
use crate::{Error, ModelKind, TrainConfig};

/// CAL's authors' strengths.
const CAL_STRENGTH: f64 = 0.5;

impl TrainConfig {
    /// Refuses sizes that the model does not support.
    pub(super) fn check_model(&self) -> Result<(), Error> {
        if self.model == ModelKind::Cal {
            self.cal(1, 1).check()?;
        }
        Ok(())
    }

    /// Refuses settings of a model without attention, for commands that need attention.
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
        let NetworkSettings { hidden, layers, .. } = self.network;
        GcnConfig { norm: self.gcn.norm, features, hidden, layers, classes, block: self.block.config() }
    }

    /// Sizes and strengths of CAL for this data.
    pub fn cal_for(&self, dataset: &Dataset) -> CalConfig {
        self.cal(dataset.features().num_columns(), dataset.labels().num_classes())
    }

    fn cal(&self, features: usize, classes: usize) -> CalConfig {
        let NetworkSettings { hidden, heads, layers, .. } = self.network;
        let lambda1 = self.cal.lambda1.unwrap_or(CAL_STRENGTH);
        let lambda2 = self.cal.lambda2.unwrap_or(CAL_STRENGTH);
        CalConfig { features, hidden, heads, layers, classes, lambda1, lambda2 }
    }

    /// The network's name: its attention kind, or the model where it has no attention.
    pub fn network_name(&self) -> &'static str {
        match self.model {
            ModelKind::Attention => self.network.arch.name(),
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
        let gcn = TrainConfig::default().model(ModelKind::Gcn).gcn_norm(GcnNorm::None);
        let text = toml::to_string(&gcn).unwrap();
        assert!(text.contains("model = \"gcn\"") && text.contains("gcn-norm = \"none\""));
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), gcn);
        let guide = Box::new(TrainConfig::default().lambda(Lambda::new(5.0)));
        let pruned = gcn.prune(Some(Pruning { threshold: 0.3, random: true, guide }));
        pruned.check().unwrap();
        let text = toml::to_string(&pruned).unwrap();
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), pruned);
        let error = pruned.model(ModelKind::Attention).check().unwrap_err().to_string();
        assert_eq!(error, "prune is a setting of graph convolution networks; set the model to gcn");
    }

    #[test]
    fn the_settings_of_cal_round_trip() {
        let cal = TrainConfig::default_of(ModelKind::Cal).lambda1(Some(0.2));
        let text = toml::to_string(&cal).unwrap();
        assert!(text.contains("model = \"cal\"") && text.contains("lambda1 = 0.2") && !text.contains("lambda2"));
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), cal);
    }

    #[test]
    fn cal_has_a_width_and_heads_of_its_own_unless_a_file_says_otherwise() {
        let read = |text: &str| TrainConfig::from_toml(text, Path::new("settings.toml")).unwrap();
        let sizes = |text: &str| (read(text).network.hidden, read(text).network.heads);
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
                cal.clone().heads(3),
                "cal concatenates its heads, so that hidden must be a multiple of heads, and 128 is not one of 3"
                    .into(),
            ),
            (cal.clone().lambda1(Some(-1.0)), "lambda1 must be 0 or more, and -1 is not".into()),
            (cal.clone().lambda(Lambda::new(1.0)), format!("lambda {other}")),
            (cal.clone().arch(AttentionKind::GatV2), format!("arch {other}")),
            (
                cal.gcn_norm(GcnNorm::None),
                "gcn-norm is a setting of graph convolution networks; add --model gcn, or leave it out".into(),
            ),
            (
                TrainConfig::default().lambda2(Some(0.5)),
                "lambda2 is a setting of CAL; add --model cal, or leave it out".into(),
            ),
        ];
        for (config, problem) in refused {
            assert_eq!(config.check().unwrap_err().to_string(), problem);
        }
    }

    #[test]
    fn settings_that_a_graph_convolution_network_cannot_have_are_refused() {
        let gcn = TrainConfig::default().model(ModelKind::Gcn).gcn_norm(GcnNorm::None);
        gcn.check().unwrap();
        let no_attention = "has no meaning with model gcn: it has no attention; leave it out";
        let whole_graph = "has no meaning with model gcn: every step looks at the whole graph; leave it out";
        let refused = [
            (gcn.clone().heads(2), format!("heads {no_attention}")),
            (gcn.clone().lambda(Lambda::new(1.0)), format!("lambda {no_attention}")),
            (gcn.clone().fanout(vec![1, 2]), format!("fanout {whole_graph}")),
            (gcn.clone().batch_size(5), format!("batch-size {whole_graph}")),
            (
                gcn.model(ModelKind::Attention),
                "gcn-norm is a setting of graph convolution networks; add --model gcn, or leave it out".into(),
            ),
        ];
        for (config, message) in refused {
            assert_eq!(config.check().unwrap_err().to_string(), message);
        }
    }
}
