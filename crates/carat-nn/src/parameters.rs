//! All parameters of a network in one array, with PyG's names and shapes.
//!
//! One flat array makes the optimiser one loop, a checkpoint one copy and a gradient one buffer.

use std::ops::Range;

use rand::{Rng, RngExt};

use crate::buffer::Buffer;
use crate::real::Real;

/// How a parameter starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// All zero.
    Zeros,
    /// All this value.
    Constant(f64),
    /// Uniform in +-1/sqrt(fan_in), as torch.nn.Linear does for weight and bias.
    Linear {
        /// Number of inputs of the linear map.
        fan_in: usize,
    },
    /// Uniform in +-sqrt(6 / (rows + columns)) of the last two extents, as PyG's `glorot`.
    Glorot,
}

/// One named tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// PyG's name, within its layer or in the whole network.
    pub name: String,
    /// PyG's shape.
    pub shape: Vec<usize>,
    /// How it starts.
    pub init: Init,
    /// True for a matrix that is kept transposed in memory; files always have PyG's order.
    pub transposed: bool,
}

impl Parameter {
    /// A tensor kept as PyG keeps it.
    pub fn new(name: impl Into<String>, shape: &[usize], init: Init) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), init, transposed: false }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// True when an extent is zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bound(&self) -> f64 {
        match self.init {
            Init::Zeros | Init::Constant(_) => 0.0,
            Init::Linear { fan_in } => 1.0 / (fan_in as f64).sqrt(),
            Init::Glorot => {
                let extents: usize = self.shape.iter().rev().take(2).sum();
                (6.0 / extents as f64).sqrt()
            }
        }
    }
}

/// Where each parameter lies in the flat array.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layout {
    parameters: Vec<(Parameter, Range<usize>)>,
}

impl Layout {
    /// No parameters.
    pub(crate) const EMPTY: Self = Self { parameters: Vec::new() };

    /// Appends a parameter and returns its place.
    pub fn push(&mut self, parameter: Parameter) -> Range<usize> {
        let start = self.len();
        let range = start..start + parameter.len();
        self.parameters.push((parameter, range.clone()));
        range
    }

    /// Number of values of all parameters together.
    pub fn len(&self) -> usize {
        self.parameters.last().map_or(0, |(_, range)| range.end)
    }

    /// True when there is no parameter.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every parameter with its place, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Parameter, Range<usize>)> {
        self.parameters.iter().map(|(parameter, range)| (parameter, range.clone()))
    }

    /// Draws initial values. Drawn in PyG's order of elements, in f64, so that f32 and f64 networks start alike.
    pub fn initialise<T: Real>(&self, rng: &mut impl Rng) -> Buffer<T> {
        let mut values = Buffer::filled(T::ZERO, self.len());
        for (parameter, range) in self.iter() {
            let bound = parameter.bound();
            if let Init::Constant(value) = parameter.init {
                values[range].fill(T::from_f64(value));
            } else if bound > 0.0 {
                let drawn: Vec<T> = range.clone().map(|_| T::from_f64(rng.random_range(-bound..bound))).collect();
                self.store(parameter, &drawn, &mut values[range]);
            }
        }
        values
    }

    /// Copies values in PyG's order to their place in memory.
    pub fn store<T: Copy>(&self, parameter: &Parameter, pyg: &[T], memory: &mut [T]) {
        reorder(parameter, pyg, memory, true);
    }

    /// Copies values in memory to PyG's order.
    pub fn export<T: Copy>(&self, parameter: &Parameter, memory: &[T], pyg: &mut [T]) {
        reorder(parameter, memory, pyg, false);
    }
}

fn reorder<T: Copy>(parameter: &Parameter, from: &[T], to: &mut [T], into_memory: bool) {
    if !parameter.transposed {
        to.copy_from_slice(from);
        return;
    }
    let (mut rows, mut columns) = (parameter.shape[0], parameter.shape[1]);
    if !into_memory {
        (rows, columns) = (columns, rows);
    }
    for r in 0..rows {
        for c in 0..columns {
            to[c * rows + r] = from[r * columns + c];
        }
    }
}
