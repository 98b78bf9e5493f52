//! Work on several threads.

use std::any::Any;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Applies a function to each item, on at most `threads` threads. The results are in the items'
/// order.
///
/// # Panics
/// If the function panics, after the other threads have done the remaining work; or if no thread can be started.
pub fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    on_threads(threads.min(items.len()), || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((index, result));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Does the work on each of the threads. The other threads do the work of one that cannot be started.
///
/// # Panics
/// If the work panics, after the other threads have ended; or if the first thread cannot be started.
pub fn on_threads(threads: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for number in 0..threads {
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, &work) {
                assert!(number > 0, "failed to start a thread: {error}");
                break;
            }
        }
    });
}

/// The text of a panic that was caught; empty if it has none.
#[must_use]
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or_default()
}

/// The number of processors.
#[must_use]
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_on_any_number_of_threads() {
        let items: Vec<usize> = (0..100).collect();
        for threads in [1, 2, 200] {
            assert_eq!(map(&items, threads, |item| item * 2)[99], 198);
        }
        assert!(map(&[0; 0], 4, |item| *item).is_empty());
    }
}
