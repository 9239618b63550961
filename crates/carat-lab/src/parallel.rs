//! Runs independent pieces of work on all threads, each piece on one thread.

use std::any::Any;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use carat::Error;

/// The results of `work` on 0, 1, ... `count` - 1, in that order.
///
/// As many pieces run at a time as the caller's thread pool has threads (see [`carat::with_threads`]). Each piece has
/// one thread, because short loops gain more from one core of their own than from sharing several.
pub fn in_parallel<R: Send>(count: usize, work: impl Fn(usize) -> Result<R, Error> + Sync) -> Result<Vec<R>, Error> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    let take_turns = || -> Result<(), Error> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            let result = work(number).inspect_err(|_| next.store(count, Ordering::Relaxed))?;
            // A poisoned lock means that another piece panicked. The scope below passes the panic on.
            results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        let threads = rayon::current_num_threads().min(count);
        let turns = (0..threads).map(|_| scope.spawn(|| carat::with_threads(Some(1), take_turns)));
        let turns: Vec<_> = turns.collect();
        turns.into_iter().try_for_each(|turn| match turn.join() {
            Ok(result) => result?,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// The message of a panic, on one line.
pub fn reason_of_panic(payload: &dyn Any) -> String {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => *text,
        (_, Some(text)) => text.as_str(),
        _ => "no reason given",
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_every_piece_has_one_thread() {
        let squares = carat::with_threads(Some(3), || {
            in_parallel(20, |number| Ok((number * number, rayon::current_num_threads())))
        });
        let expected: Vec<(usize, usize)> = (0..20).map(|number| (number * number, 1)).collect();
        assert_eq!(squares.unwrap().unwrap(), expected);
        assert_eq!(in_parallel(0, Ok).unwrap(), Vec::<usize>::new());
    }

    #[test]
    fn the_first_failure_ends_the_work() {
        let done = AtomicUsize::new(0);
        let result = carat::with_threads(Some(1), || {
            in_parallel(1000, |number| {
                done.fetch_add(1, Ordering::Relaxed);
                if number == 3 { Err(Error::Config("three".into())) } else { Ok(number) }
            })
        });
        assert_eq!(result.unwrap().unwrap_err().to_string(), "three");
        assert_eq!(done.into_inner(), 4);
    }
}
