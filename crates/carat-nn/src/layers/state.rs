//! What attention kinds keep between their calls. Each kind has its own types.

use std::any::Any;
use std::fmt;

use crate::buffer::Buffer;

/// One value of a type that the kind chooses. It is made when it is first filled and then reused in every step, so its
/// buffers are allocated once.
///
/// ```
/// use carat_nn::{Buffer, State};
///
/// #[derive(Default)]
/// struct Projected {
///     values: Buffer<f32>,
/// }
///
/// let mut state = State::default();
/// state.fill::<Projected>().values.resize(3, 1.5);
/// assert_eq!(state.read::<Projected>().values[..], [1.5; 3]);
/// ```
#[derive(Default)]
pub struct State(Option<Box<dyn Any + Send + Sync>>);

impl State {
    /// The value, to be filled.
    pub fn fill<S: Default + Send + Sync + 'static>(&mut self) -> &mut S {
        if !self.0.as_ref().is_some_and(|value| value.is::<S>()) {
            self.0 = Some(Box::<S>::default());
        }
        self.0.as_mut().and_then(|value| value.downcast_mut()).expect("made above")
    }

    /// The value that was filled before.
    pub fn read<S: 'static>(&self) -> &S {
        self.0.as_ref().and_then(|value| value.downcast_ref()).expect("a kind reads the state that it has filled")
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "State(filled)" } else { "State(empty)" })
    }
}

/// The results of targets.
#[derive(Debug, Default)]
pub struct TargetState<T> {
    /// Attention, edges x heads.
    pub alpha: Buffer<T>,
    /// What else the kind keeps.
    pub own: State,
}

/// What a layer keeps between its forward and its backward pass.
#[derive(Debug, Default)]
pub struct LayerState<T> {
    /// From [`Attention::sources`](crate::Attention::sources).
    pub sources: State,
    /// From [`Attention::targets`](crate::Attention::targets).
    pub targets: TargetState<T>,
    /// Buffers of the backward pass.
    pub scratch: State,
    /// From the backward pass: the gradient with respect to [`LayerEdges::gates`](crate::LayerEdges::gates), if there
    /// are some, for every edge of the layer's block.
    pub d_gates: Buffer<T>,
}
