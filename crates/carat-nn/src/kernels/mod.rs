//! The loops that do the work: free functions over slices and blocks, apart from the network that calls them.
//!
//! Each kernel is compiled for plain x86-64, AVX2 and AVX-512 (or NEON), and the best is chosen when it is called.
//! Sums that must stay in registers are written with vectors of the machine's width ([`simd`]); the other bodies are
//! plain loops, which the compiler turns into vector code for each target.

// Arrays of sums are walked side by side by index; iterators over four of them at once would hide which belongs to
// which.
#![allow(clippy::needless_range_loop)]

pub(crate) mod additive;
pub(crate) mod aggregate;
pub(crate) mod columns;
pub(crate) mod concatenated;
pub(crate) mod convolution;
pub(crate) mod dense;
pub(crate) mod head_rows;
pub(crate) mod heads;
pub(crate) mod in_edges;
pub(crate) mod moments;
pub(crate) mod prefetch;
pub(crate) mod simd;
pub(crate) mod slots;
pub(crate) mod softmax;
pub(crate) mod sparse;
pub(crate) mod vector;
pub(crate) mod weighted;
