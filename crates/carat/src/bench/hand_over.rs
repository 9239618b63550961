//! How long a number that one core has written takes to reach another core.
//!
//! Steps on small graphs are loops of a few microseconds, and each one reads what the other cores wrote in the one
//! before. Between cores that share a cache this takes 30 to 60 ns. On a virtual machine two cores may share none, and
//! the same step then takes up to twice as long. Step times should be read together with this figure.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Round trips per measurement.
const ROUNDS: u32 = 100;

/// Cores that have not answered by then are busy with other work.
const PATIENCE: Duration = Duration::from_millis(20);

/// Nanoseconds that a number takes one way between this thread and another of its pool; nothing where none had time.
pub(super) fn hand_over_ns() -> Option<f64> {
    if rayon::current_num_threads() == 1 {
        return None;
    }
    let ball = AtomicU32::new(0);
    let given_up = AtomicBool::new(false);
    let here = || {
        // The other thread has begun.
        wait_for(&ball, 1, &given_up)?;
        let start = Instant::now();
        for round in 1..=ROUNDS {
            ball.store(2 * round, Ordering::Release);
            wait_for(&ball, 2 * round + 1, &given_up)?;
        }
        Some(start.elapsed().as_nanos() as f64 / f64::from(2 * ROUNDS))
    };
    let there = || {
        // The other side has stopped waiting where this thread runs the part itself, after the other part.
        if given_up.load(Ordering::Relaxed) {
            return;
        }
        ball.store(1, Ordering::Release);
        let _ = (1..=ROUNDS).try_for_each(|round| {
            wait_for(&ball, 2 * round, &given_up)?;
            ball.store(2 * round + 1, Ordering::Release);
            Some(())
        });
    };
    rayon::join(here, there).0
}

/// Spins until `ball` is `wanted`, or either side has waited too long.
fn wait_for(ball: &AtomicU32, wanted: u32, given_up: &AtomicBool) -> Option<()> {
    let mut start = None;
    for spins in 1u64.. {
        if ball.load(Ordering::Acquire) == wanted {
            return Some(());
        }
        spin_loop();
        if spins % 4096 == 0 {
            let late = start.get_or_insert_with(Instant::now).elapsed() > PATIENCE;
            if late {
                given_up.store(true, Ordering::Relaxed);
            }
            if given_up.load(Ordering::Relaxed) {
                return None;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_threads;

    #[test]
    fn a_hand_over_takes_nanoseconds_and_ends_on_a_busy_machine() {
        let found = |threads| with_threads(Some(threads), hand_over_ns).unwrap();
        assert_eq!(found(1), None);
        if let Some(time) = found(2) {
            assert!(time > 1.0 && time < 1e8, "{time} ns");
        }
    }

    #[test]
    fn nobody_waits_for_ever() {
        let given_up = AtomicBool::new(false);
        assert_eq!(wait_for(&AtomicU32::new(1), 2, &given_up), None);
        assert!(given_up.load(Ordering::Relaxed), "the other side is told");
        assert_eq!(wait_for(&AtomicU32::new(2), 2, &given_up), Some(()));
    }
}
