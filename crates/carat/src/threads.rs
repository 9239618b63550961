//! The threads that kernels share rows over.

use crate::Error;

/// Runs `work` with this many threads; `None` takes one per core. The result does not depend on the number.
pub fn with_threads<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> Result<R, Error> {
    let threads = threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Threads { threads, problem: e.to_string() })?;
    Ok(pool.install(work))
}
