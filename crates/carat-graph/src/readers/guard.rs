//! Turns panics of libraries on damaged files into errors.
//!
//! The Parquet library divides by zero, or slices out of bounds, on some files with a flipped bit. Users should see an
//! error that names the file instead of a panic message.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

static SILENCED: Once = Once::new();

/// What `call` returns, or `None` if it panics. The caller must then drop whatever `call` was working on.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    SILENCED.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                report(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_none_and_ends_the_guard() {
        assert_eq!(guarded(|| 1), Some(1));
        let zero = std::hint::black_box(0);
        assert_eq!(guarded(|| 1 / zero), None);
        assert!(!GUARDED.get());
    }
}
