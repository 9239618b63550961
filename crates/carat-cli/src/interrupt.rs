//! Ctrl-C: the first asks the work to end cleanly, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// Handles Ctrl-C and SIGTERM; the returned function tells whether one was received.
pub fn flag() -> Result<impl Fn() -> bool + Send + Sync, Failure> {
    let asked = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&asked);
    ctrlc::set_handler(move || {
        if handler.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!("stopping after this step; once more to stop at once");
    })
    .map_err(|e| Failure::work(format!("cannot take over Ctrl-C: {e}")))?;
    Ok(move || asked.load(Ordering::SeqCst))
}
