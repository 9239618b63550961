//! Arms without targets: noise that only training sees, and what each arm refuses.

use carat::{Arm, Lambda, TrainConfig, Trainer, score};
use carat_graph::generators::{PlantedConfig, planted};
use carat_graph::{Block, Dataset};
use carat_nn::{
    Attention, Gat, Layer, LayerShape, LayerState, Network, Parameter, Residual, State, TargetState, Targets, Upstream,
};

fn data() -> Dataset {
    planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() }).unwrap()
}

fn config(arm: Arm) -> TrainConfig {
    TrainConfig::default().hidden(8).heads(2).epochs(6).lambda(Lambda::new(1.0)).arm(arm)
}

#[test]
fn validation_and_scores_see_every_edge_and_no_noise() {
    let dataset = data();
    for arm in Arm::ALL.into_iter().filter(|arm| !arm.has_targets() && *arm != Arm::None) {
        let config = config(arm).drop_rate(0.6);
        let split = config.choose_split(&dataset).unwrap();
        let trained = |config: &TrainConfig| Trainer::new(&dataset, &split, config).unwrap().run().unwrap();
        let (network, validation) = trained(&config);
        let again = score(&network, &dataset, &split.val).unwrap();
        assert!((validation.loss - again.loss).abs() < 1e-6, "{arm}: {validation}, {again}");
        let (plain, _) = trained(&config.lambda(Lambda::new(0.0)));
        assert_ne!(network.parameters(), plain.parameters(), "{arm}");
    }
}

/// Model files of networks that drop no messages are as they were.
#[test]
fn model_files_name_the_rate_only_where_messages_are_dropped() {
    let dataset = data();
    let config = config(Arm::DropMessage).residual(Residual::Add);
    for (config, is_named) in [(config.clone().lambda(Lambda::new(0.0)), false), (config, true)] {
        let network = Network::<f32>::new(config.network_for(&dataset), 1).unwrap();
        let file = network.to_safetensors().unwrap();
        let read = Network::<f32>::from_safetensors(&file).unwrap();
        assert_eq!(read.config(), network.config());
        assert_eq!(String::from_utf8_lossy(&file).contains("message_dropout"), is_named);
    }
}

#[test]
fn noise_has_no_strength() {
    for lambda in [Lambda::auto(), Lambda::per_layer(vec![0.5, 1.0])] {
        for arm in [Arm::DropEdge, Arm::DropMessage] {
            let error = config(arm).lambda(lambda.clone()).check().unwrap_err().to_string();
            let expected = "adds no loss that lambda could weigh; give lambda 1 to switch it on, and set drop-rate";
            assert_eq!(error, format!("regulariser {arm} {expected}"));
        }
        config(Arm::EdgePrediction).lambda(lambda).check().unwrap();
    }
}

#[test]
fn a_network_that_drops_no_messages_is_told() {
    let dataset = data();
    let config = config(Arm::DropMessage);
    let split = config.choose_split(&dataset).unwrap();
    let plain = Network::new(config.clone().lambda(Lambda::new(0.0)).network_for(&dataset), 1).unwrap();
    let error = Trainer::with_network(&dataset, &split, &config, plain).unwrap_err().to_string();
    assert!(error.starts_with("regulariser drop-message needs a network that drops messages"), "{error}");
}

/// GAT, as a kind of one's own would be.
#[derive(Debug)]
struct Own;

impl Attention<f32> for Own {
    fn parameters(&self, shape: LayerShape) -> Vec<Parameter> {
        Attention::<f32>::parameters(&Gat, shape)
    }

    fn sources(&self, layer: Layer<'_, f32>, first: usize, state: &mut State) {
        Gat.sources(layer, first, state);
    }

    fn targets(
        &self,
        layer: Layer<'_, f32>,
        sources: &State,
        targets: Targets<'_, f32>,
        out: &mut [f32],
        state: &mut TargetState<f32>,
    ) {
        Gat.targets(layer, sources, targets, out, state);
    }

    fn backward(
        &self,
        layer: Layer<'_, f32>,
        block: Block<'_>,
        upstream: Upstream<'_, f32>,
        state: &mut LayerState<f32>,
        d_parameters: &mut [f32],
        d_h: &mut [f32],
    ) {
        Gat.backward(layer, block, upstream, state, d_parameters, d_h);
    }
}

#[test]
fn a_kind_that_cannot_score_pairs_is_told() {
    let dataset = data();
    let of = |arm: Arm| {
        let config = config(arm);
        let split = config.choose_split(&dataset).unwrap();
        let network = Network::with_attention(config.network_for(&dataset), Box::new(Own), 1).unwrap();
        Trainer::with_network(&dataset, &split, &config, network).and_then(Trainer::run).map(|_| ())
    };
    of(Arm::DropEdge).unwrap();
    let error = of(Arm::EdgePrediction).unwrap_err().to_string();
    assert!(
        error.starts_with("regulariser edge-prediction scores any two nodes, which this attention kind"),
        "{error}"
    );
}
