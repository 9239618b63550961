//! Model files.
#![no_main]

use carat_fuzz::check_message;
use carat_nn::Network;
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
});
