//! Model files, of every model.
#![no_main]

use carat_fuzz::check_message;
use carat_nn::{Cal, GcnNetwork, Network, WeightsError, WholeGraphModel, whole_graph_to_safetensors};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match Network::from_safetensors(data) {
        // What was read can be written, and says the same when it is read again.
        Ok(network) => {
            let again = Network::from_safetensors(&network.to_safetensors().unwrap()).unwrap();
            assert_eq!(network.parameters(), again.parameters());
        }
        Err(error) => check_message(&error.to_string()),
    }
    whole_graph(data, GcnNetwork::from_safetensors);
    whole_graph(data, Cal::from_safetensors);
});

/// The same of a model of the whole graph.
fn whole_graph<M: WholeGraphModel<f32>>(data: &[u8], read: impl Fn(&[u8]) -> Result<M, WeightsError>) {
    match read(data) {
        Ok(model) => {
            let again = read(&whole_graph_to_safetensors(&model).unwrap()).unwrap();
            assert_eq!((model.parameters(), model.buffers()), (again.parameters(), again.buffers()));
        }
        Err(error) => check_message(&error.to_string()),
    }
}
