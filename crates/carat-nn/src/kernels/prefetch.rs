//! Asks for a row before it is needed. Neighbours' rows lie anywhere, so the machine cannot guess which comes next, and
//! on a graph that does not fit its caches it would wait for each.

/// How many neighbours ahead of the one at hand.
pub(crate) const AHEAD: usize = 2;

/// Bytes that come from memory together.
const LINE: usize = 64;

/// Begins to load a row into the cache; changes nothing else.
#[inline(always)]
pub(crate) fn prefetch<T>(row: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of_val(row)).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint that reads nothing into the program and never faults, whatever the address; this
        // one lies inside `row`. Every x86-64 processor has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(row.as_ptr().cast::<i8>().wrapping_add(line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (row, LINE);
}
