//! Model files: safetensors with PyG's names and shapes, so that weights move both ways.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use carat_graph::printable;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::de::DeserializeOwned;

use crate::cal::{Cal, CalConfig, CalError};
use crate::gcn::{GcnConfig, GcnNetwork};
use crate::network::{Network, NetworkConfig};
use crate::parameters::Layout;
use crate::sizes::SizeError;
use crate::whole_graph::WholeGraphModel;

/// What can be wrong with a model file.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// Not a safetensors file, or a damaged one.
    #[error("not a readable model ({}); the file is damaged, or of another kind", printable(.0))]
    Format(String),
    /// A parameter of the network is not in the file.
    #[error("tensor '{0}' is missing")]
    Missing(String),
    /// The file has a tensor that the network does not have.
    #[error("tensor '{}' does not belong to this network", printable(.0))]
    Unexpected(String),
    /// A tensor has another shape than the network's parameter.
    #[error("tensor '{name}' has shape {found:?}, where the network has {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// In the file.
        found: Vec<usize>,
        /// In the network.
        expected: Vec<usize>,
    },
    /// A tensor that is not f32.
    #[error("tensor '{0}' is not stored as 32-bit floats")]
    Type(String),
    /// NaN or infinity among the weights.
    #[error("tensor '{0}' holds a value that is not finite")]
    NotFinite(String),
    /// The file carries no usable description of its network.
    #[error("the file does not say which network it belongs to (metadata key '{METADATA_KEY}')")]
    NoDescription,
    /// The description names impossible sizes.
    #[error(transparent)]
    Size(#[from] SizeError),
}

/// The one metadata key; its value is the [`NetworkConfig`], or another model's sizes, as JSON.
const METADATA_KEY: &str = "carat";

impl Network<f32> {
    /// The model file's bytes; the same network always gives the same bytes.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, WeightsError> {
        // A custom attention has no name that a reader would know, and must not be taken for another kind.
        let description = self.built_in.then(|| serde_json::to_string(&self.config())).transpose();
        let parts = [(self.layout(), self.parameters()), (self.buffer_layout(), self.buffers())];
        write(&parts, description.map_err(|e| WeightsError::Format(e.to_string()))?)
    }

    /// A network from a model file that carat wrote, of one of carat's own kinds.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, WeightsError> {
        let config: NetworkConfig = described(bytes)?;
        holds(bytes, Self::num_values(config)?)?;
        let mut network = Self::new(config, 0)?;
        network.load_safetensors(bytes)?;
        Ok(network)
    }

    /// Takes every parameter and running statistic from a safetensors file with PyG's names and shapes. Nothing may be
    /// missing or left over.
    pub fn load_safetensors(&mut self, bytes: &[u8]) -> Result<(), WeightsError> {
        let (layout, buffer_layout) = (self.layout().clone(), self.buffer_layout().clone());
        let (parameters, buffers) = self.values_mut();
        read(bytes, &mut [(&layout, parameters), (&buffer_layout, buffers)])
    }
}

impl GcnNetwork<f32> {
    /// A network from a model file that carat wrote.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, WeightsError> {
        let config: GcnConfig = described(bytes)?;
        holds(bytes, Self::num_values(config)?)?;
        let mut network = Self::new(config, 0)?;
        load_whole_graph(&mut network, bytes)?;
        Ok(network)
    }
}

impl Cal<f32> {
    /// A model from a file that carat wrote.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, WeightsError> {
        let config: CalConfig = described(bytes)?;
        holds(bytes, Self::num_values(config)?)?;
        let mut model = Self::new(config, 0)?;
        load_whole_graph(&mut model, bytes)?;
        Ok(model)
    }
}

impl From<CalError> for WeightsError {
    fn from(error: CalError) -> Self {
        match error {
            CalError::Size(error) => Self::Size(error),
            other => Self::Format(other.to_string()),
        }
    }
}

/// The model file of a model of the whole graph, running statistics included.
pub fn whole_graph_to_safetensors(model: &dyn WholeGraphModel<f32>) -> Result<Vec<u8>, WeightsError> {
    let description = model.description().map_err(|e| WeightsError::Format(e.to_string()))?;
    write(&[(model.layout(), model.parameters()), (model.buffer_layout(), model.buffers())], Some(description))
}

/// Takes every parameter and running statistic from a model file. Nothing may be missing or left over.
pub(crate) fn load_whole_graph(model: &mut dyn WholeGraphModel<f32>, bytes: &[u8]) -> Result<(), WeightsError> {
    let (layout, buffer_layout) = (model.layout().clone(), model.buffer_layout().clone());
    let mut parameters = model.parameters().to_vec();
    let mut buffers = model.buffers().to_vec();
    read(bytes, &mut [(&layout, &mut parameters), (&buffer_layout, &mut buffers)])?;
    model.parameters_mut().copy_from_slice(&parameters);
    model.buffers_mut().copy_from_slice(&buffers);
    Ok(())
}

/// The metadata of a model file.
pub(crate) fn described<C: DeserializeOwned>(bytes: &[u8]) -> Result<C, WeightsError> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| WeightsError::Format(e.to_string()))?;
    let description = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
    description.and_then(|text| serde_json::from_str(text).ok()).ok_or(WeightsError::NoDescription)
}

/// Refuses a file that is too small for so many values, before anything of that size is allocated.
pub(crate) fn holds(bytes: &[u8], values: usize) -> Result<(), WeightsError> {
    if values.saturating_mul(4) > bytes.len() {
        return Err(WeightsError::Format("the file is smaller than the network it describes".into()));
    }
    Ok(())
}

/// The bytes of a model file; the same values always give the same bytes.
fn write(parts: &[(&Layout, &[f32])], description: Option<String>) -> Result<Vec<u8>, WeightsError> {
    let mut tensors: BTreeMap<String, (Vec<usize>, Vec<u8>)> = BTreeMap::new();
    for (layout, values) in parts {
        for (parameter, range) in layout.iter() {
            let mut exported = vec![0.0f32; parameter.len()];
            layout.export(parameter, &values[range], &mut exported);
            let bytes = exported.iter().flat_map(|v| v.to_le_bytes()).collect();
            tensors.insert(parameter.name.clone(), (parameter.shape.clone(), bytes));
        }
    }
    let views = tensors
        .iter()
        .map(|(name, (shape, bytes))| Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes)?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
        .map_err(|e| WeightsError::Format(e.to_string()))?;
    let metadata = description.map(|description| HashMap::from([(METADATA_KEY.to_string(), description)]));
    safetensors::serialize(views, metadata).map_err(|e| WeightsError::Format(e.to_string()))
}

/// Fills every part from a file, or none of them where the file does not fit.
fn read(bytes: &[u8], parts: &mut [(&Layout, &mut [f32])]) -> Result<(), WeightsError> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| WeightsError::Format(e.to_string()))?;
    let mut left: BTreeSet<&str> = file.names().into_iter().collect();
    let mut loaded: Vec<Vec<f32>> = parts.iter().map(|(layout, _)| vec![0.0; layout.len()]).collect();
    for ((layout, _), loaded) in parts.iter().zip(&mut loaded) {
        for (parameter, range) in layout.iter() {
            let name = || parameter.name.clone();
            let tensor = file.tensor(&parameter.name).map_err(|_| WeightsError::Missing(name()))?;
            left.remove(parameter.name.as_str());
            if tensor.dtype() != Dtype::F32 {
                return Err(WeightsError::Type(name()));
            }
            if tensor.shape() != parameter.shape {
                let (found, expected) = (tensor.shape().to_vec(), parameter.shape.clone());
                return Err(WeightsError::Shape { name: name(), found, expected });
            }
            let values: Vec<f32> =
                tensor.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            if values.iter().any(|v| !v.is_finite()) {
                return Err(WeightsError::NotFinite(name()));
            }
            layout.store(parameter, &values, &mut loaded[range]);
        }
    }
    if let Some(name) = left.into_iter().next() {
        return Err(WeightsError::Unexpected(name.to_string()));
    }
    for ((_, values), loaded) in parts.iter_mut().zip(&loaded) {
        values.copy_from_slice(loaded);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcn::GcnNorm;
    use crate::layers::{AttentionKind, Gat};

    fn network(arch: AttentionKind, hidden: usize) -> Network<f32> {
        let config = NetworkConfig { arch, features: 5, hidden, heads: 2, layers: 2, classes: 3, ..Default::default() };
        Network::new(config, 1).unwrap()
    }

    #[test]
    fn a_network_survives_the_file_bit_for_bit() {
        for arch in AttentionKind::ALL {
            let before = network(arch, 4);
            let bytes = before.to_safetensors().unwrap();
            assert_eq!(bytes, before.to_safetensors().unwrap());
            let after = Network::from_safetensors(&bytes).unwrap();
            assert_eq!(before.parameters(), after.parameters());
            assert_eq!(before.config(), after.config());
        }
    }

    #[test]
    fn a_graph_convolution_network_survives_the_file_and_is_no_other() {
        let config =
            GcnConfig { norm: GcnNorm::None, features: 5, hidden: 4, layers: 2, classes: 3, ..Default::default() };
        let before = GcnNetwork::new(config, 1).unwrap();
        let bytes = whole_graph_to_safetensors(&before).unwrap();
        let after = GcnNetwork::from_safetensors(&bytes).unwrap();
        assert_eq!((before.parameters(), before.config()), (after.parameters(), after.config()));
        assert!(matches!(Network::from_safetensors(&bytes), Err(WeightsError::NoDescription)));
        let attention = network(AttentionKind::Gat, 4).to_safetensors().unwrap();
        assert!(matches!(GcnNetwork::from_safetensors(&attention), Err(WeightsError::NoDescription)));
        for cut in 0..bytes.len() {
            assert!(GcnNetwork::from_safetensors(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn an_attention_of_ones_own_is_read_by_those_who_know_it() {
        let own = |seed| Network::with_attention(network(AttentionKind::Gat, 4).config(), Box::new(Gat), seed).unwrap();
        let (before, mut after) = (own(1), own(2));
        let bytes = before.to_safetensors().unwrap();
        assert!(matches!(Network::from_safetensors(&bytes), Err(WeightsError::NoDescription)));
        after.load_safetensors(&bytes).unwrap();
        assert_eq!(before.parameters(), after.parameters());
    }

    #[test]
    fn a_file_for_another_network_is_refused() {
        let bytes = network(AttentionKind::Gat, 4).to_safetensors().unwrap();
        let error = network(AttentionKind::Gat, 6).load_safetensors(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "tensor 'encoder.weight' has shape [4, 5], where the network has [6, 5]");
        assert!(matches!(
            network(AttentionKind::Transformer, 4).load_safetensors(&bytes),
            Err(WeightsError::Missing(_))
        ));
    }

    #[test]
    fn a_file_that_claims_a_large_network_allocates_nothing() {
        let bytes = network(AttentionKind::Gat, 4).to_safetensors().unwrap();
        // Another number in the description, and the header's length to match.
        let claim = |from: &[u8], to: &[u8]| {
            let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
            let mut header = bytes[8..].to_vec();
            header.splice(at - 8..at - 8 + from.len(), to.iter().copied());
            let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) + (to.len() - from.len()) as u64;
            [&length.to_le_bytes()[..], &header].concat()
        };
        let started = std::time::Instant::now();
        for (from, to) in [("classes\\\":3", "classes\\\":1000000"), ("layers\\\":2", "layers\\\":64")] {
            let error = Network::from_safetensors(&claim(from.as_bytes(), to.as_bytes())).unwrap_err();
            assert!(error.to_string().contains("smaller than the network it describes"), "{error}");
        }
        let error = Network::from_safetensors(&claim(b"hidden\\\":4", b"hidden\\\":60000")).unwrap_err();
        assert!(error.to_string().contains("the number of parameters must be between 1 and"), "{error}");
        assert!(started.elapsed().as_secs() < 5);
    }

    #[test]
    fn damaged_files_are_errors_and_never_panics() {
        let bytes = network(AttentionKind::Gat, 4).to_safetensors().unwrap();
        for cut in 0..bytes.len() {
            assert!(Network::from_safetensors(&bytes[..cut]).is_err());
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x40;
            let _ = Network::from_safetensors(&flipped);
        }
    }
}
