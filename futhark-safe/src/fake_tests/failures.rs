//! Failures: each is reported, and leaks nothing.

use super::*;
use crate::ffi::Setting;
use futhark_sys::table::{FUT_SET_DEBUGGING, FUT_SET_DEVICE};

#[test]
fn each_failure_has_its_kind_and_text() {
    for (world, core) in each_flavour() {
        for _ in 0..times(500) {
            let error = fail(&core, 0);
            assert_eq!((error.kind(), error.code()), (ErrorKind::Program, Some(2)));
            assert_eq!(error.operation(), "entry point fail");
            let text = error.c_message().unwrap();
            assert!(text.contains("Assertion is false: (x > 0)"), "{text}");
            let error = fail(&core, 1);
            assert_eq!((error.kind(), error.code()), (ErrorKind::Backend, Some(1)));
            assert!(error.to_string().contains("without a message"), "{error}");
            assert_eq!(fail(&core, 2).kind(), ErrorKind::OutOfMemory);
            // The next call does not see any of them.
            let xs = ints(&core, &[1, 2, 3]);
            assert_eq!(total(&core, &xs).unwrap(), 6);
        }
        assert_eq!(world.values(), 0, "results of a failed call are freed");
    }
}

#[test]
fn failures_of_operations_on_values_are_invalid_arguments() {
    let (_world, core) = world_and_core(Flavour::Host);
    let xs = ffi::create(&core, futhark_fake::types::FLOATS, &[2], &[1f32, 2.0]).unwrap();
    let ys = ints(&core, &[1]);
    let zipped = zip(&core, &xs, &ys);
    says(zipped, ErrorKind::InvalidArgument, "different shapes");
}

#[test]
fn a_lost_context_stays_lost_and_its_values_can_be_dropped() {
    for flavour in FLAVOURS {
        let world = World::new();
        for _ in 0..times(100) {
            let core = world.core(flavour);
            let (xs, ys) = (ints(&core, &[1, 2]), ints(&core, &[3]));
            assert_eq!(fail(&core, 3).kind(), ErrorKind::ContextLost);
            assert_eq!(fail_again(&core, &xs), [ErrorKind::ContextLost; 5]);
            drop(xs);
            let words = "lost in an earlier call";
            says(total(&core, &ys), ErrorKind::ContextLost, words);
            assert_eq!(ffi::shape(&ys).unwrap(), [1], "shapes can still be read");
        }
        let core = world.core(flavour);
        assert_eq!(total(&core, &ints(&core, &[4])).unwrap(), 4);
    }
}

fn fail_again(core: &Arc<Core>, xs: &Handle) -> [ErrorKind; 5] {
    [
        total(core, xs).unwrap_err().kind(),
        read(xs).unwrap_err().kind(),
        ffi::index(xs, &[0], ffi::Bounds::Ours).unwrap_err().kind(),
        ffi::create(core, INTS, &[1], &[1i32]).unwrap_err().kind(),
        sync(core).unwrap_err().kind(),
    ]
}

/// The next call reports a failure in a drop, and no later one does.
#[test]
fn a_failing_free_is_reported_by_the_next_call() {
    for (world, core) in each_flavour() {
        let xs = ints(&core, &[1, 2]);
        let ys = ints(&core, &[3]);
        world.fail_frees(1);
        drop(ys);
        reports_free(total(&core, &xs));
        assert_eq!(total(&core, &xs).unwrap(), 3);
        // Also when the value was consumed by a call that succeeded.
        world.fail_frees(1);
        let xs = set_first(&core, xs, 5).unwrap();
        reports_free(read(&xs));
        assert_eq!(read(&xs).unwrap(), [5, 2]);
        // No later call can report this failure. Dropping the values and the context must not panic then.
        world.fail_frees(1);
    }
}

#[test]
fn a_context_that_fails_to_start_leaks_nothing() {
    let world = World::new();
    let device = |name: &std::ffi::CStr| [Setting::text(FUT_SET_DEVICE, name.to_owned())];
    for _ in 0..times(1000) {
        says(
            world.start(Flavour::Gpu, &device(c"none")),
            ErrorKind::Start,
            "opencl context: no acceptable device",
        );
        let error = world.start(Flavour::Host, &device(c"any")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        // The fake has no memory with this setting.
        let error = world
            .start(Flavour::Host, &[Setting::number(FUT_SET_DEBUGGING, true)])
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        assert_eq!(world.contexts(), 0);
    }
    // The next start works.
    let core = world.start(Flavour::Gpu, &device(c"any")).unwrap();
    assert!(core.report().unwrap().contains("events"));
}

#[test]
fn thousands_of_contexts_leak_nothing() {
    let world = World::new();
    let mut kept = Vec::new();
    for i in 0..times(5000) {
        let core = world.core(FLAVOURS[i % 2]);
        let xs = ints(&core, &[1, 2]);
        drop(core);
        // Values keep their context alive.
        let xs = set_first(&Arc::clone(xs.core()), xs, 7).unwrap();
        assert_eq!(read(&xs).unwrap(), [7, 2]);
        if i % 10 == 0 {
            kept.push(xs);
        }
    }
    assert_eq!(world.contexts(), kept.len());
}
