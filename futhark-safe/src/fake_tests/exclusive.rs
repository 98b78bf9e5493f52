//! Exclusive use of a context by one thread.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::*;
use crate::ErrorKind;
use futhark_fake::{FLAVOURS, Flavour, World};

#[test]
fn calls_in_the_scope_work_by_any_handle() {
    for flavour in FLAVOURS {
        let world = World::new();
        let core = world.core(flavour);
        let xs = ints(&core, &[1, 2, 3]);
        let clone = Arc::clone(&core);
        let changed = ffi::exclusive(&core, || {
            let alias = identity(&clone, &xs).unwrap();
            // Shared, so the call gets a copy.
            let changed = set_first(xs.core(), alias, 9).unwrap();
            assert_eq!(read(&changed).unwrap(), [9, 2, 3]);
            assert_eq!(fail(&core, 0).kind(), ErrorKind::Program);
            assert_eq!(total(&core, &xs).unwrap(), 6);
            changed
        });
        assert_eq!(total(&core, &changed).unwrap(), 14);
        drop(changed);
        assert_eq!(world.values(), 1);
    }
}

#[test]
fn scopes_nest_in_any_order() {
    let world = World::new();
    let (a, b) = (world.core(Flavour::Host), world.core(Flavour::Gpu));
    let (xs, ys) = (ints(&a, &[1]), ints(&b, &[2]));
    let both = || (total(&a, &xs).unwrap(), total(&b, &ys).unwrap());
    ffi::exclusive(&a, || {
        ffi::exclusive(&b, || {
            // The outer one's lock is held by a scope that is not the innermost.
            assert_eq!(both(), (1, 2));
            ffi::exclusive(&a, || assert_eq!(both(), (1, 2)));
            let error = total(&a, &ys).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WrongContext);
            drop(ints(&a, &[3]));
            assert_eq!(world.values(), 2);
        });
        assert_eq!(both(), (1, 2));
    });
    assert_eq!(both(), (1, 2));
}

/// A value that another thread drops is freed by the next call in the scope, or at its end.
#[test]
fn a_drop_on_another_thread_does_not_wait_for_the_scope() {
    for flavour in FLAVOURS {
        let world = World::new();
        let core = world.core(flavour);
        let (xs, early, late) = (ints(&core, &[1]), ints(&core, &[2]), ints(&core, &[3]));
        let elsewhere = |value: Handle| {
            // The thread ends, so dropping waits for nothing.
            std::thread::scope(|scope| scope.spawn(|| drop(value)).join().unwrap());
        };
        ffi::exclusive(&core, || {
            elsewhere(early);
            assert_eq!(
                world.values(),
                3,
                "only the scope's thread enters the context"
            );
            assert_eq!(total(&core, &xs).unwrap(), 1);
            assert_eq!(world.values(), 2);
            elsewhere(late);
            assert_eq!(world.values(), 2);
        });
        assert_eq!(world.values(), 1);
    }
}

/// An alias that was dropped elsewhere is freed before the count is read, so nothing is copied.
#[test]
fn a_drop_on_another_thread_comes_before_a_later_consumption() {
    let world = World::new();
    let core = world.core(Flavour::Host);
    ffi::exclusive(&core, || {
        let xs = ints(&core, &[1, 2]);
        let alias = identity(&core, &xs).unwrap();
        std::thread::scope(|scope| scope.spawn(|| drop(alias)).join().unwrap());
        set_first(&core, xs, 5).unwrap();
    });
    assert!(core.copies().is_empty());
}

#[test]
fn other_threads_wait_for_the_end_of_the_scope() {
    in_time(|| {
        let world = World::new();
        let core = world.core(Flavour::Host);
        let xs = ints(&core, &[4]);
        let (arrived, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            ffi::exclusive(&core, || {
                for _ in 0..3 {
                    scope.spawn(|| {
                        arrived.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(total(&core, &xs).unwrap(), 4);
                        assert!(
                            over.load(Ordering::Relaxed),
                            "the call ran inside of the scope"
                        );
                    });
                }
                while arrived.load(Ordering::Relaxed) < 3 {
                    std::thread::yield_now();
                }
                // Long enough for them to sleep.
                std::thread::sleep(Duration::from_millis(20));
                assert_eq!(total(&core, &xs).unwrap(), 4);
                over.store(true, Ordering::Relaxed);
            });
        });
    });
}

/// Scopes and single calls of several threads exclude each other: the fake table checks that one call
/// runs at a time, and the counter is not atomic.
#[test]
fn scopes_of_several_threads_take_turns() {
    struct Counter(Cell<usize>);
    // SAFETY: only used in the scope of one context.
    unsafe impl Sync for Counter {}
    in_time(|| {
        let world = World::new();
        let core = world.core(Flavour::Host);
        let xs = ints(&core, &[4, 5]);
        let counter = Counter(Cell::new(0));
        let n = times(300);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (core, xs, counter) = (&core, &xs, &counter);
                scope.spawn(move || {
                    for i in 0..n {
                        assert_eq!(total(core, xs).unwrap(), 9);
                        ffi::exclusive(core, || {
                            let before = counter.0.get();
                            let alias = identity(core, xs).unwrap();
                            let changed = set_first(core, alias, thread).unwrap();
                            assert_eq!(total(core, &changed).unwrap(), thread + 5);
                            counter.0.set(before + 1);
                        });
                        if i % 7 == 0 {
                            std::thread::yield_now();
                        }
                    }
                });
            }
        });
        assert_eq!((counter.0.get(), world.values()), (4 * n, 1));
        assert_eq!(read(&xs).unwrap(), [4, 5]);
    });
}

#[test]
fn a_panic_ends_the_scope() {
    let world = World::new();
    let core = world.core(Flavour::Host);
    let other = world.core(Flavour::Host);
    let xs = ints(&core, &[1]);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        ffi::exclusive(&other, || {
            ffi::exclusive(&core, || {
                let _dropped = ints(&core, &[2]);
                panic!("on purpose");
            })
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(world.values(), 1);
    // The lock is free for other threads too.
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(total(&core, &xs).unwrap(), 1));
        scope.spawn(|| ints(&other, &[1]));
    });
}

#[test]
fn a_context_that_is_lost_in_the_scope_reports_it() {
    for flavour in FLAVOURS {
        let world = World::new();
        let core = world.core(flavour);
        let xs = ints(&core, &[1]);
        ffi::exclusive(&core, || {
            assert_eq!(fail(&core, 3).kind(), ErrorKind::ContextLost);
            let error = total(&core, &xs).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ContextLost);
            assert!(error.is_from_earlier_call());
        });
        assert_eq!(
            total(&core, &xs).unwrap_err().kind(),
            ErrorKind::ContextLost
        );
    }
}

/// Freeing works in a lost context, and its failure is not reported as an earlier one.
#[test]
fn a_value_of_a_lost_context_is_freed_that_was_dropped_on_another_thread() {
    for flavour in FLAVOURS {
        let world = World::new();
        let core = world.core(flavour);
        let (xs, ys, zs) = (ints(&core, &[1]), ints(&core, &[2]), ints(&core, &[3]));
        ffi::exclusive(&core, || {
            assert_eq!(fail(&core, 3).kind(), ErrorKind::ContextLost);
            let values = world.values();
            std::thread::scope(|scope| scope.spawn(|| drop(ys)).join().unwrap());
            assert_eq!(world.values(), values);
            let error = total(&core, &xs).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ContextLost);
            assert_eq!(world.values(), values - 1);
            std::thread::scope(|scope| scope.spawn(|| drop(zs)).join().unwrap());
            assert_eq!(world.values(), values - 1);
            drop(xs);
        });
        drop(core);
        assert_eq!((world.contexts(), world.values()), (0, 0));
    }
}

#[test]
fn a_batch_works_inside_and_around_the_scope() {
    for flavour in FLAVOURS {
        let world = World::new();
        let core = world.core(flavour);
        let data = [1, 2, 3];
        let mut out = [[0; 3]; 2];
        let [first, second] = &mut out;
        ffi::exclusive(&core, || {
            ffi::batch(&core, |batch| {
                let xs = batch.create(INTS, &[3], data.as_slice().into())?;
                batch.read_into(&xs, first)
            })
            .unwrap();
        });
        ffi::batch(&core, |batch| {
            ffi::exclusive(&core, || {
                let xs = batch.create(INTS, &[3], data.as_slice().into())?;
                batch.read_into(&xs, second)
            })
        })
        .unwrap();
        assert_eq!(out, [data; 2]);
        assert_eq!(world.values(), 0);
    }
}

/// The failure to free a value that another thread dropped belongs to no call in the scope.
#[test]
fn the_failure_of_a_deferred_free_is_reported_in_the_scope() {
    let world = World::new();
    let core = world.core(Flavour::Host);
    let (xs, dropped) = (ints(&core, &[1]), ints(&core, &[2]));
    ffi::exclusive(&core, || {
        world.fail_frees(1);
        std::thread::scope(|scope| scope.spawn(|| drop(dropped)).join().unwrap());
        let error = total(&core, &xs).unwrap_err();
        assert!(error.to_string().contains("refused to free"), "{error}");
        assert_eq!(total(&core, &xs).unwrap(), 1);
    });
}

/// The last handle of a context can be dropped while another one's scope lasts.
#[test]
fn another_context_is_freed_in_the_scope() {
    let world = World::new();
    let core = world.core(Flavour::Host);
    ffi::exclusive(&core, || {
        let other = world.core(Flavour::Host);
        let value = ints(&other, &[1]);
        let (give, take) = mpsc::channel();
        ffi::exclusive(&other, || give.send(ints(&other, &[2])).unwrap());
        drop((value, other));
        assert_eq!(world.contexts(), 2, "a value keeps it alive");
        drop(take.recv().unwrap());
        assert_eq!(world.contexts(), 1);
    });
}
