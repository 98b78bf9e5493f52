//! Models: loom runs each of them in every order of the operations on locks, flags and counts of handles that can matter,
//! with every value that Rust's memory model lets a load return (`ci/sanitize loom`). The fake context reports accesses
//! that no lock orders, and a world values that are freed twice or not at all.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;

/// Runs a model in all orders, or in those with at most `bound` preemptions, and prints their number.
pub(crate) fn explore(name: &str, bound: Option<usize>, model: fn()) {
    let orders: &AtomicUsize = Box::leak(Box::default());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.check(move || {
        orders.fetch_add(1, Relaxed);
        model();
    });
    let bound = bound.map_or(String::new(), |n| format!(" with at most {n} preemptions"));
    println!("{name}: {} interleavings{bound}", orders.load(Relaxed));
}

/// The body of another thread.
type Body = Box<dyn FnOnce() + Send>;

fn on_thread(body: impl FnOnce() + Send + 'static) -> Body {
    Box::new(body)
}

fn dropping(value: Handle) -> Body {
    on_thread(|| drop(value))
}

/// Waits for pending work, which may have failed.
fn waiting(core: &Arc<Core>) -> Body {
    let core = Arc::clone(core);
    on_thread(move || {
        if let Err(error) = sync(&core) {
            is_late::<()>(Err(error));
        }
    })
}

/// Runs `main` on this thread and `others` on threads of their own, until all have ended.
fn together(others: impl IntoIterator<Item = Body>, main: impl FnOnce()) {
    let others: Vec<_> = others.into_iter().map(loom::thread::spawn).collect();
    main();
    others.into_iter().for_each(|other| other.join().unwrap());
}

/// GPU: a value of a computation that fails later, and its argument, `[1, 2, 3]`.
fn failing(core: &Arc<Core>) -> (Handle, Handle) {
    let (xs, is) = (ints(core, &[1, 2, 3]), ints(core, &[7]));
    (gather(core, &xs, &is).unwrap(), xs)
}

fn is_late<T>(result: Result<T>) {
    says(result, ErrorKind::Program, "Index [7] out of bounds");
}

fn double(core: &Arc<Core>, xs: &Handle) -> Handle {
    value(core, "entry_double", [Input::Observed(xs)]).unwrap()
}

/// No other operation is needed, also if the value is dropped while the call ends.
#[test]
fn a_value_that_is_dropped_during_a_call_is_freed_when_both_are_done() {
    explore("a call and a drop", None, || {
        let (world, core) = world_and_core(Flavour::Host);
        let xs = ints(&core, &[1, 2]);
        together([dropping(ints(&core, &[3]))], || {
            assert_eq!(total(&core, &xs).unwrap(), 3);
        });
        assert_eq!(world.values(), 1);
    });
}

#[test]
fn values_that_are_dropped_during_two_calls_are_freed_when_all_are_done() {
    explore("two calls and two drops", Some(3), || {
        let (world, core) = world_and_core(Flavour::Host);
        let xs = ints(&core, &[1, 2]);
        let dropped = (ints(&core, &[3]), ints(&core, &[4]));
        together([waiting(&core), on_thread(|| drop(dropped))], || {
            assert_eq!(total(&core, &xs).unwrap(), 3);
        });
        assert_eq!(world.values(), 1);
    });
}

#[test]
fn the_context_is_freed_by_the_last_of_its_users() {
    explore(
        "values that outlive the handle of the context",
        Some(3),
        || {
            let (world, core) = world_and_core(Flavour::Host);
            let (a, b) = (ints(&core, &[1]), ints(&core, &[2]));
            let user = on_thread(move || assert_eq!(total(a.core(), &a).unwrap(), 1));
            together([user, dropping(b)], || drop(core));
            assert_eq!((world.contexts(), world.values()), (0, 0));
        },
    );
}

#[test]
fn a_lost_context_refuses_calls_and_frees_its_values() {
    explore("a loss", Some(3), || {
        let (world, core) = world_and_core(Flavour::Host);
        let xs = ints(&core, &[1, 2]);
        let theirs = Arc::clone(&core);
        let loses = on_thread(move || assert_eq!(fail(&theirs, 3).kind(), ErrorKind::ContextLost));
        together([loses, dropping(ints(&core, &[3]))], || {
            match total(&core, &xs) {
                Ok(total) => assert_eq!(total, 3),
                Err(error) => assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}"),
            }
        });
        says(read(&xs), ErrorKind::ContextLost, "entry point fail");
        drop(xs);
        assert_eq!(world.values(), 0);
    });
}

#[test]
fn each_call_gets_its_own_error() {
    explore("errors of two calls", Some(3), || {
        let (_world, core) = world_and_core(Flavour::Host);
        let theirs = Arc::clone(&core);
        let other = on_thread(move || assert_eq!(fail(&theirs, 2).kind(), ErrorKind::OutOfMemory));
        together([other], || {
            assert_eq!(fail(&core, 0).kind(), ErrorKind::Program)
        });
    });
}

#[test]
fn a_failing_wait_invalidates_pending_values_that_others_read_and_drop() {
    explore("a late failure", Some(3), || {
        let (world, core) = world_and_core(Flavour::Gpu);
        let (failed, xs) = failing(&core);
        let pending = double(&core, &xs);
        together([waiting(&core), dropping(pending)], || {
            is_late(read(&failed))
        });
        is_late(read(&failed));
        assert_eq!(read(&xs).unwrap(), [1, 2, 3]);
        assert_eq!(world.values(), 2);
        drop(failed);
        assert_eq!(world.values(), 1);
    });
}

#[test]
fn a_batch_reports_the_failing_wait_of_another_thread() {
    explore("a download in a batch", Some(3), || {
        let (world, core) = world_and_core(Flavour::Gpu);
        let (_, xs) = failing(&core);
        let doubled = double(&core, &xs);
        together([waiting(&core)], || {
            let place = ffi::Downloaded::default();
            is_late(ffi::batch(&core, |batch| {
                batch.read_vec::<i32>(&doubled, &place)
            }));
            assert_eq!(*place.lock().unwrap(), None);
        });
        drop(doubled);
        assert_eq!(read(&xs).unwrap(), [1, 2, 3]);
        assert_eq!(world.values(), 1);
    });
}

#[test]
fn an_upload_in_a_batch_is_valid_or_an_error() {
    explore("an upload in a batch", Some(3), || {
        let (world, core) = world_and_core(Flavour::Gpu);
        let (failed, xs) = failing(&core);
        drop(xs);
        together([waiting(&core), dropping(failed)], || {
            let made = ffi::batch(&core, |batch| {
                batch.create(INTS, &[2], (&[4, 5][..]).into())
            });
            match made {
                Ok(array) => assert_eq!(read(&array).unwrap(), [4, 5]),
                Err(error) => is_late::<()>(Err(error)),
            }
        });
        assert_eq!(world.values(), 0);
    });
}

#[test]
fn close_fails_while_a_value_lives_and_reports_the_failure_of_its_free() {
    explore("close", None, || {
        let (world, core) = world_and_core(Flavour::Host);
        let dropped = ints(&core, &[1]);
        world.fail_frees(1);
        let mut reports = 0;
        let mut kept = Some(core);
        together([dropping(dropped)], || {
            reports += usize::from(sync(kept.as_ref().unwrap()).is_err());
            if let Err((core, error)) = Core::close(kept.take().unwrap()) {
                reports += usize::from(!error.to_string().contains("other handle"));
                kept = Some(core);
            }
        });
        if let Some(Err((core, error))) = kept.map(Core::close) {
            reports_free::<()>(Err(error));
            reports += 1;
            assert!(Core::close(core).is_ok());
        }
        assert_eq!((reports, world.contexts(), world.values()), (1, 0, 0));
    });
}

#[test]
fn plain_calls_exclude_calls_and_frees() {
    explore("plain calls", Some(3), || {
        let (world, core) = world_and_core(Flavour::Gpu);
        let xs = ints(&core, &[1, 2]);
        together([waiting(&core), dropping(ints(&core, &[3]))], || {
            let mut lent = ffi::Lent::new(&core).unwrap();
            let (pointer, mut sum) = (lent.pointer(&xs, INTS).unwrap(), 0);
            let context = lent.context().cast();
            // SAFETY: the context is lent.
            let code = unsafe { futhark_fake::plain::total(context, &mut sum, pointer) };
            assert_eq!((code, sum), (0, 3));
            // Plain calls have no operation that loom sees: let the others run.
            loom::thread::yield_now();
            lent.finish(false).unwrap();
        });
        assert_eq!(world.values(), 1);
    });
}

#[test]
fn an_argument_by_mut_changes_no_alias_that_another_thread_reads_and_drops() {
    explore("an argument by &mut", Some(3), || {
        let (world, core) = world_and_core(Flavour::Host);
        let mut xs = ints(&core, &[1, 2]);
        let alias = identity(&core, &xs).unwrap();
        let reader = on_thread(move || assert_eq!(read(&alias).unwrap(), [1, 2]));
        together([reader], || {
            let inputs = [Input::ConsumedByMut(&mut xs), scalar(9i32)];
            let changed = value(&core, "entry_set_first", inputs).unwrap();
            assert_eq!(read(&changed).unwrap(), [9, 2]);
        });
        assert_eq!(world.values(), 0);
    });
}
