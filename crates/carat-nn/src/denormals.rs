//! Arithmetic that flushes denormal numbers to zero.
//!
//! A network that has memorised its training nodes has gradients of 1e-20 and less, whose products are denormal
//! numbers. Some processors are 150 times slower with these than with others. [`Denormals::flush`] makes a thread treat
//! them as zero, as operands and as results, and later restores the thread's own mode. Passes and optimiser steps do
//! this on all their threads. The caller's own arithmetic and other jobs on the same threads are not affected.

use std::marker::PhantomData;

/// While it exists, this thread flushes denormal numbers to zero, or keeps them, on processors that let it choose.
#[derive(Debug)]
pub(crate) struct Denormals {
    /// The thread's previous mode, which is restored.
    before: register::Mode,
    /// The mode belongs to this thread.
    on_this_thread: PhantomData<*const ()>,
}

impl Denormals {
    /// Flushes them to zero.
    #[inline]
    pub(crate) fn flush() -> Self {
        Self::with(|mode| mode | register::FLUSH)
    }

    /// Keeps them: for waiting, when this thread may run other jobs.
    #[inline]
    pub(crate) fn keep() -> Self {
        Self::with(|mode| mode & !register::FLUSH)
    }

    #[inline]
    fn with(change: impl Fn(register::Mode) -> register::Mode) -> Self {
        let before = register::read();
        let mode = change(before);
        if mode != before {
            register::write(mode);
        }
        Self { before, on_this_thread: PhantomData }
    }
}

/// Whether this thread flushes denormal numbers to zero.
#[cfg(test)]
pub(crate) fn are_flushed() -> bool {
    register::FLUSH != 0 && register::read() & register::FLUSH == register::FLUSH
}

impl Drop for Denormals {
    #[inline]
    fn drop(&mut self) {
        if register::read() != self.before {
            register::write(self.before);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod register {
    //! MXCSR.

    use std::arch::asm;

    pub(super) type Mode = u32;

    /// Results are flushed to zero (bit 15), and operands are taken for zero (bit 6).
    pub(super) const FLUSH: Mode = 1 << 15 | 1 << 6;

    #[inline]
    pub(super) fn read() -> Mode {
        let mut mode: Mode = 0;
        // SAFETY: writes the register's 32 bits to a variable of that size, and nothing else.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
        mode
    }

    #[inline]
    pub(super) fn write(mode: Mode) {
        // SAFETY: `mode` is what `read` gave with the two bits above set or cleared. So no reserved bit is set, which
        // would fault, and neither the rounding mode nor the exceptions' masks change. The compiler assumes that
        // denormal numbers are kept: it may compute constants with them, or move arithmetic over this line. That only
        // decides whether a denormal number counts as zero, and no memory access depends on it. The bits come back when
        // the guard drops.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    //! FPCR.

    use std::arch::asm;

    pub(super) type Mode = u64;

    /// FZ: operands and results are flushed to zero.
    pub(super) const FLUSH: Mode = 1 << 24;

    #[inline]
    pub(super) fn read() -> Mode {
        let mode: Mode;
        // SAFETY: reads a register that user code may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) mode, options(nostack, preserves_flags)) };
        mode
    }

    #[inline]
    pub(super) fn write(mode: Mode) {
        // SAFETY: `mode` is what `read` gave with the bit above set or cleared, so nothing else changes. The compiler
        // assumes that denormal numbers are kept: it may compute constants with them, or move arithmetic over this
        // line. That only decides whether one counts as zero, and no memory access depends on it. The bit comes back
        // when the guard drops.
        unsafe { asm!("msr fpcr, {}", in(reg) mode, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    //! Other processors keep denormal numbers.

    pub(super) type Mode = u32;

    pub(super) const FLUSH: Mode = 0;

    pub(super) fn read() -> Mode {
        0
    }

    pub(super) fn write(_: Mode) {}
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use carat_graph::{Block, Blocks, Features, Graph};

    use super::*;
    use crate::rows::{Chunks, Rows};
    use crate::{
        Adam, AdamConfig, Attention, Gat, Input, Keep, Layer, LayerShape, LayerState, Network, NetworkConfig,
        Parameter, Pass, State, TargetState, Targets, Upstream, Workspace,
    };

    const DENORMAL: f32 = 1e-40;

    fn half(value: f32) -> f32 {
        black_box(value) * black_box(0.5)
    }

    #[test]
    fn guards_nest_and_give_the_mode_back() {
        assert!(half(DENORMAL) > 0.0 && !are_flushed());
        {
            let _flush = Denormals::flush();
            assert!(half(DENORMAL) == 0.0 && half(1.5e-38) == 0.0 && are_flushed());
            {
                let _keep = Denormals::keep();
                assert!(half(DENORMAL) > 0.0 && !are_flushed());
            }
            assert!(are_flushed());
            let failed = std::panic::catch_unwind(|| {
                let _keep = Denormals::keep();
                panic!("the guard drops all the same");
            });
            assert!(failed.is_err() && are_flushed());
        }
        assert!(half(DENORMAL) > 0.0 && !are_flushed());
    }

    /// Chunks flush on every thread, whatever the caller's mode. Between chunks threads do not.
    #[test]
    fn every_chunk_flushes_and_leaves_its_thread_as_it_was() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.install(|| {
            let _flush = Denormals::flush();
            let mut flushed = vec![false; 300];
            Chunks::even(300, 1).run(Rows::new(&mut flushed, 1), |_, row| row.into_slice()[0] = are_flushed());
            assert!(flushed.iter().all(|flushed| *flushed));
            assert!(are_flushed());
        });
        assert!(pool.broadcast(|_| are_flushed()).iter().all(|flushed| !flushed));
    }

    /// GAT that counts calls in which denormal numbers are kept.
    #[derive(Debug)]
    struct Watched(&'static AtomicUsize);

    impl Watched {
        fn look(&self) {
            self.0.fetch_add(usize::from(!are_flushed()), Ordering::Relaxed);
        }
    }

    impl Attention<f32> for Watched {
        fn parameters(&self, shape: LayerShape) -> Vec<Parameter> {
            Attention::<f32>::parameters(&Gat, shape)
        }

        fn sources(&self, layer: Layer<'_, f32>, first: usize, state: &mut State) {
            self.look();
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
            self.look();
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
            self.look();
            Gat.backward(layer, block, upstream, state, d_parameters, d_h);
        }
    }

    #[test]
    fn passes_and_steps_flush_and_their_caller_does_not() {
        static KEPT: AtomicUsize = AtomicUsize::new(0);
        let graph = Graph::from_edges(3, &[0, 1, 2, 2], &[1, 2, 0, 1]).unwrap();
        let features = Features::dense(3, 1, vec![1.0, 0.5, -1.0]).unwrap();
        let config = NetworkConfig {
            arch: Default::default(),
            features: 1,
            hidden: 2,
            heads: 1,
            layers: 2,
            classes: 2,
            ..Default::default()
        };
        let mut network = Network::with_attention(config, Box::new(Watched(&KEPT)), 0).unwrap();
        let (blocks, mut work) = (Blocks::whole(&graph, 2), Workspace::default());
        let input = Input::for_training(&features, blocks.nodes());
        let mut pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
        assert!(!are_flushed());
        pass.scores_without(&[crate::Deletion { target: 1, edge: 1 }], &mut Vec::new());
        pass.scores_without_all(&[0], &mut Vec::new());
        pass.loss_and_gradient(&[0, 1]);
        assert!(!are_flushed() && KEPT.load(Ordering::Relaxed) == 0);

        let mut adam = Adam::new(AdamConfig::default(), network.parameters().len());
        adam.second.fill(DENORMAL);
        adam.step(network.parameters_mut(), &vec![0.0; work.gradient().len()]);
        assert!(adam.second.iter().all(|second| *second == 0.0) && half(DENORMAL) > 0.0);
    }
}
