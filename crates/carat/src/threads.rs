//! The threads that kernels use.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::Yield;

use crate::Error;

/// Runs `work` with this many threads; `None` takes one per core. The result does not depend on the number.
pub fn with_threads<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> Result<R, Error> {
    let threads = threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Threads { threads, problem: e.to_string() })?;
    Ok(pool.install(work))
}

/// Runs `here` on this thread while `there` runs on another of its pool, and puts the result of `there` into `result`.
/// With one thread, `there` runs after `here`.
pub(crate) fn alongside<A, B: Send>(
    here: impl FnOnce() -> A,
    there: impl FnOnce() -> B + Send,
    result: &mut Option<B>,
) -> A {
    if rayon::current_num_threads() == 1 {
        let own = here();
        *result = Some(there());
        return own;
    }
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| *result = Some(there()));
        here()
    })
}

/// Most threads that are kept awake. Steps that are so short that waking threads matters have no work for more.
const MOST_AWAKE: usize = 8;

/// Attempts to find work, each about half a microsecond, after which an idle thread may sleep.
const PATIENCE: usize = 1000;

/// Runs `work`, a sequence of short parallel loops, while the other threads look for their share of it and do not sleep
/// in between. Waking a sleeping thread takes longer than such a loop.
pub(crate) fn keep_awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return work();
    }
    let done = &AtomicBool::new(false);
    rayon::scope(|scope| {
        let own = rayon::current_thread_index();
        for _ in 1..threads.min(MOST_AWAKE) {
            scope.spawn(move |_| {
                // The calling thread may run this while it waits for another's share; then it must continue to wait.
                if rayon::current_thread_index() != own {
                    look_for_work(done);
                }
            });
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

fn look_for_work(done: &AtomicBool) {
    let mut idle = 0;
    while idle < PATIENCE && !done.load(Ordering::Relaxed) {
        if rayon::yield_now() == Some(Yield::Executed) {
            idle = 0;
        } else {
            idle += 1;
            (0..32).for_each(|_| std::hint::spin_loop());
        }
    }
}
