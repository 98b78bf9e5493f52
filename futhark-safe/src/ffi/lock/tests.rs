//! No thread looks again before it sleeps here (`SPINS`), so waiting and waking up are tested too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::*;
use crate::fake_tests::{in_time, times};

/// Counts under the lock, with a plain read and write. Takes what is queued as a call does.
fn count(lock: &Lock<usize>, queue: &Mutex<usize>) {
    let mut hold = lock.take(|| ());
    // SAFETY: of this lock.
    *unsafe { lock.state(&mut hold) } += 1;
    if lock.leave_at_once(&hold) {
        return;
    }
    loop {
        take_queued(lock, &mut hold, queue);
        if lock.leave_unless_queued(&hold) {
            return;
        }
    }
}

fn take_queued(lock: &Lock<usize>, hold: &mut Hold<'_>, queue: &Mutex<usize>) {
    while lock.unmark_queued() {
        let queued = std::mem::take(&mut *queue.lock().unwrap());
        // SAFETY: of this lock.
        *unsafe { lock.state(hold) } += queued;
    }
}

/// Queues one, and takes it if nothing holds the lock.
fn queue_one(lock: &Lock<usize>, queue: &Mutex<usize>) {
    *queue.lock().unwrap() += 1;
    if lock.mark_queued() {
        return;
    }
    if let Some(mut hold) = lock.try_take() {
        loop {
            take_queued(lock, &mut hold, queue);
            if lock.leave_unless_queued(&hold) {
                return;
            }
        }
    }
}

/// Every thread gets the lock, and nothing stays queued.
#[test]
fn threads_that_wait_and_threads_that_queue_all_end() {
    in_time(|| {
        let (lock, queue) = (Lock::<usize>::default(), Mutex::new(0));
        let n = times(2000);
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let (lock, queue) = (&lock, &queue);
                scope.spawn(move || {
                    for i in 0..n {
                        match thread < 4 {
                            true => count(lock, queue),
                            false => queue_one(lock, queue),
                        }
                        if i % 16 == 0 {
                            std::thread::yield_now();
                        }
                    }
                });
            }
        });
        // The mark of waiting threads may be left, since a thread that wakes up keeps it for others.
        let word = lock.word.load(Ordering::Relaxed);
        assert_eq!(word & (HELD | QUEUED), 0, "{word}");
        let hold = &mut lock.take(|| ());
        // SAFETY: of this lock.
        assert_eq!(*unsafe { lock.state(hold) }, 6 * n);
        lock.leave(hold);
    });
}

/// Holds the lock while a thread waits for it, asleep, and a value is queued.
fn with_waiter(leave: impl Fn(&Lock<usize>, &Hold<'_>) + Send + 'static) {
    in_time(move || {
        let lock = Lock::<usize>::default();
        let hold = lock.take(|| ());
        std::thread::scope(|scope| {
            let (sees, seen) = mpsc::channel();
            let lock = &lock;
            scope.spawn(move || {
                let hold = lock.take(|| ());
                sees.send(lock.has_queued()).unwrap();
                lock.leave(&hold);
            });
            while lock.word.load(Ordering::Relaxed) & WAITERS == 0 {
                std::thread::yield_now();
            }
            assert!(lock.mark_queued());
            assert_eq!(lock.word.load(Ordering::Relaxed), HELD | WAITERS | QUEUED);
            assert!(!lock.leave_at_once(&hold));
            assert!(!lock.leave_unless_queued(&hold));
            assert_eq!(lock.word.load(Ordering::Relaxed), HELD | WAITERS | QUEUED);
            leave(lock, &hold);
            // The thread woke up, and sees the mark if it was left.
            let queued = seen.recv().unwrap();
            assert_eq!(queued, lock.has_queued());
        });
        assert!(lock.try_take().is_some());
    });
}

#[test]
fn a_thread_wakes_up_if_the_mark_was_removed() {
    with_waiter(|lock, hold| {
        assert!(lock.unmark_queued());
        assert!(!lock.unmark_queued());
        // Another thread waits, which takes more than one operation.
        assert!(!lock.leave_at_once(hold));
        assert!(lock.leave_unless_queued(hold));
        assert!(!lock.has_queued());
    });
}

#[test]
fn a_thread_wakes_up_and_the_mark_stays() {
    with_waiter(|lock, hold| {
        lock.leave(hold);
        assert!(lock.has_queued());
    });
}

/// Several threads sleep, and one that leaves wakes one of them, which wakes the next.
#[test]
fn all_that_wait_wake_up() {
    in_time(|| {
        let lock = Lock::<usize>::default();
        let hold = lock.take(|| ());
        let arrived = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let hold = lock.take(|| {
                        arrived.fetch_add(1, Ordering::Relaxed);
                    });
                    lock.leave(&hold);
                });
            }
            let start = Instant::now();
            while arrived.load(Ordering::Relaxed) < 4 || start.elapsed() < Duration::from_millis(5)
            {
                std::thread::yield_now();
            }
            lock.leave(&hold);
        });
    });
}

#[test]
fn scopes_can_end_in_any_order() {
    let locks: [Lock<()>; 3] = Default::default();
    let in_scope = |i: usize| {
        let hold = locks[i].try_take().expect("no other thread uses the lock");
        locks[i].leave(&hold);
        hold.is_in_scope()
    };
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let holds = [0, 1, 2].map(|i: usize| locks[i].take(|| ()));
        let scopes = [0, 1, 2].map(|i: usize| Box::into_raw(Box::new(Scope::of(&locks[i]))));
        let mut listed = [0, 1, 2].map(|i: usize| {
            // SAFETY: made by `into_raw`, and freed below.
            let scope = unsafe { &*scopes[i] };
            // SAFETY: of this lock; dropped before the scope is freed.
            Some(unsafe { locks[i].begin(scope) })
        });
        for (done, &i) in order.iter().enumerate() {
            listed[i] = None;
            // SAFETY: made by `into_raw`, and each is freed once.
            drop(unsafe { Box::from_raw(scopes[i]) });
            locks[i].leave(&holds[i]);
            for (at, &i) in order.iter().enumerate() {
                assert_eq!(in_scope(i), at > done, "{order:?}");
            }
        }
        assert!(INNERMOST.get().is_null());
    }
}

/// On another stack of the thread, a plain call would go on with a scope that is gone.
#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_scope_does_not_end_while_it_is_entered() {
    const INSIDE: &str = "FUTHARK_TEST_ENDS_INSIDE";
    let name = "ffi::lock::tests::a_scope_does_not_end_while_it_is_entered";
    if std::env::var_os(INSIDE).is_some() {
        let lock = Lock::<()>::default();
        let scope = Scope::of(&lock);
        // SAFETY: of this lock, and dropped before it.
        let listed = unsafe { lock.begin(&scope) };
        let _entered = lock.take(|| ());
        drop(listed);
        return;
    }
    let test = std::env::current_exe().unwrap();
    let mut run = std::process::Command::new(test);
    let run = run.args([name, "--exact", "--nocapture"]).env(INSIDE, "1");
    let output = run.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(text.contains("`exclusive` ended while"), "{text}");
}

#[test]
fn a_call_inside_of_a_call_panics() {
    let lock = Lock::<()>::default();
    let scope = Scope::of(&lock);
    // SAFETY: of this lock, and dropped before it.
    let _listed = unsafe { lock.begin(&scope) };
    let hold = lock.take(|| ());
    assert!(lock.try_take().is_none());
    let nested = catch_unwind(AssertUnwindSafe(|| {
        let _hold = lock.take(|| ());
    }));
    assert!(nested.is_err());
    lock.leave(&hold);
    assert!(
        lock.try_take()
            .is_some_and(|hold| lock.leave_at_once(&hold))
    );
}
