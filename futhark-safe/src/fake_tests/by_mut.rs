//! Arguments that are consumed through `&mut`: kept by a refused call, spent by one that starts.

use super::*;
use crate::Error;
use futhark_fake::types::POINTS;

fn set_first_by_mut(core: &Arc<Core>, array: &mut Handle, to: i32) -> Result<Handle> {
    let inputs = [Input::ConsumedByMut(array), scalar(to)];
    value(core, "entry_set_first", inputs)
}

/// Calls the entry point that fails in the way `how`: see `fail`.
fn fail_by_mut(core: &Arc<Core>, how: i32, array: &mut Handle) -> Error {
    let inputs = [scalar(how), Input::ConsumedByMut(array)];
    value(core, "entry_fail", inputs).expect_err("this entry point always fails")
}

/// Expects the error for a spent value, which names the call that consumed it.
fn is_spent<T>(result: Result<T>, call: &str) {
    let words = format!("was consumed by {call}");
    says(result, ErrorKind::InvalidArgument, &words);
}

/// The spent handle must not count as an owner of the memory, which the result has now.
#[test]
fn a_result_does_not_share_memory_with_its_spent_argument() {
    for (world, core) in each_flavour() {
        let mut first = ints(&core, &[1, 2]);
        let mut second = set_first_by_mut(&core, &mut first, 5).unwrap();
        let third = set_first_by_mut(&core, &mut second, 6).unwrap();
        assert_eq!(world.take_copies(), 0);
        assert_eq!(world.values(), 1, "both spent values are freed");
        assert_eq!(read(&third).unwrap(), [6, 2]);
        drop((first, second));
        assert_eq!(read(&third).unwrap(), [6, 2]);
    }
}

#[test]
fn a_shared_argument_that_is_borrowed_mutably_does_not_change_its_alias() {
    for (world, core) in each_flavour() {
        let mut xs = ints(&core, &[1, 2]);
        let alias = identity(&core, &xs).unwrap();
        xs = set_first_by_mut(&core, &mut xs, 9).unwrap();
        assert_eq!(world.take_copies(), 1);
        assert_eq!(read(&alias).unwrap(), [1, 2]);
        assert_eq!(read(&xs).unwrap(), [9, 2]);
        assert_eq!(world.values(), 2);
    }
}

/// Makes the arguments of a call from its first one.
type Make = fn(&mut Handle) -> Vec<Input<'_>>;

#[test]
fn a_refused_call_leaves_its_argument() {
    for flavour in FLAVOURS {
        let world = World::new();
        let (core, other) = (world.core(flavour), world.core(flavour));
        let mut xs = ints(&core, &[1, 2]);
        let mut refused = |core: &Arc<Core>, inputs: Make, words| {
            let error = value(core, "entry_set_first", inputs(&mut xs)).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(read(&xs).unwrap(), [1, 2], "after {error}");
        };
        let both: Make = |xs| vec![Input::ConsumedByMut(xs), scalar(9i32)];
        refused(&other, both, "another context");
        refused(&core, |xs| vec![Input::ConsumedByMut(xs)], "got 1 and 1");
        let wide: Make = |xs| vec![Input::ConsumedByMut(xs), scalar(9i64)];
        refused(&core, wide, "got i64");
        // The failure of an earlier operation.
        let ys = ints(&core, &[3]);
        world.fail_frees(1);
        drop(ys);
        refused(&core, both, "refused to free");
        assert_eq!(world.values(), 1);
        let changed = set_first_by_mut(&core, &mut xs, 9).unwrap();
        assert_eq!(read(&changed).unwrap(), [9, 2]);
    }
}

/// Copying a shared argument waits on a GPU, so it can report a pending failure.
#[test]
fn a_failing_copy_of_a_shared_argument_leaves_it() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let mut xs = ints(&core, &[1, 2]);
    let alias = identity(&core, &xs).unwrap();
    sync(&core).unwrap();
    let failed = bad_gather(&core).unwrap();
    let error = set_first_by_mut(&core, &mut xs, 9).unwrap_err();
    assert!(error.to_string().contains("Index [7]"), "{error}");
    assert_eq!(read(&xs).unwrap(), [1, 2]);
    let changed = set_first_by_mut(&core, &mut xs, 9).unwrap();
    assert_eq!(read(&changed).unwrap(), [9, 2]);
    assert_eq!(read(&alias).unwrap(), [1, 2]);
    drop(failed);
}

#[test]
fn a_lost_context_keeps_arguments_until_they_are_dropped() {
    for (_world, core) in each_flavour() {
        let (mut xs, mut ys) = (ints(&core, &[1, 2]), ints(&core, &[3]));
        let lost = fail_by_mut(&core, 3, &mut xs);
        assert_eq!(lost.kind(), ErrorKind::ContextLost);
        is_spent(ffi::shape(&xs), "entry point fail, which failed");
        let error = set_first_by_mut(&core, &mut ys, 9).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ContextLost);
        assert_eq!(ffi::shape(&ys).unwrap(), [1], "this call did not start");
    }
}

#[test]
fn a_call_that_fails_spends_its_argument_and_frees_it_once() {
    for (world, core) in each_flavour() {
        for how in 0..=2 {
            let mut xs = ints(&core, &[1, 2]);
            fail_by_mut(&core, how, &mut xs);
            assert_eq!(world.values(), 0, "freed by the call");
            is_spent(read(&xs), "entry point fail, which failed: assign another");
            // Another value can be assigned.
            xs = ints(&core, &[5]);
            assert_eq!(total(&core, &xs).unwrap(), 5);
        }
    }
}

#[test]
fn a_failing_free_of_a_spent_value_is_reported_by_the_next_call() {
    for (world, core) in each_flavour() {
        let mut xs = ints(&core, &[1, 2]);
        world.fail_frees(1);
        let changed = set_first_by_mut(&core, &mut xs, 5).unwrap();
        reports_free(read(&changed));
        assert_eq!(read(&changed).unwrap(), [5, 2]);
    }
}

#[test]
fn every_use_of_a_spent_array_is_an_error() {
    const BY: &str = "entry point set_first: assign the result";
    for (world, core) in each_flavour() {
        let mut xs = ints(&core, &[1, 2]);
        drop(set_first_by_mut(&core, &mut xs, 9).unwrap());
        assert_eq!(world.values(), 0);
        is_spent(read(&xs), BY);
        is_spent(ffi::read_bytes(&xs), BY);
        is_spent(ffi::read_into(&xs, &mut [0i32; 2]), BY);
        is_spent(ffi::read_into::<i32>(&xs, &mut []), BY);
        is_spent(ffi::index(&xs, &[0], ffi::Bounds::Ours), BY);
        is_spent(ffi::index(&xs, &[0], ffi::Bounds::OfC), BY);
        is_spent(ffi::view::<i32>(&xs), BY);
        is_spent(ffi::raw_memory(&xs), BY);
        is_spent(ffi::duplicate(&xs), BY);
        is_spent(ffi::shape(&xs), BY);
        assert_eq!(ffi::shape_array(&xs), [0]);
        // As each kind of argument; the message names which.
        is_spent(identity(&core, &xs), BY);
        is_spent(set_first_by_mut(&core, &mut xs, 1), BY);
        let words = "record pair: argument 1 was consumed";
        says(pair(&core, 1, &xs), ErrorKind::InvalidArgument, words);
        {
            let mut lent = ffi::Lent::new(&core).unwrap();
            is_spent(lent.pointer(&xs, INTS), BY);
            lent.finish(false).unwrap();
        }
        let mut lent = ffi::Lent::new(&core).unwrap();
        is_spent(lent.release(xs, INTS), BY);
        lent.finish(false).unwrap();
    }
}

#[test]
fn every_use_of_a_spent_opaque_value_is_an_error() {
    const BY: &str = "entry point poke: assign the result";
    for (_world, core) in each_flavour() {
        let xs = ints(&core, &[1, 2]);
        let mut pair = pair(&core, 5, &xs).unwrap();
        let inputs = [Input::ConsumedByMut(&mut pair), scalar(9i32)];
        let poked = value(&core, "entry_poke", inputs).unwrap();
        assert_eq!(read(&poked).unwrap(), [9, 2]);
        assert_eq!(read(&xs).unwrap(), [1, 2]);
        is_spent(ffi::store(&pair), BY);
        is_spent(ffi::duplicate(&pair), BY);
        let n = int(&core, "project_opaque_pair_n", [Input::Observed(&pair)]);
        is_spent(n, BY);
    }
}

/// No entry point of the fake program consumes these, so the test spends them itself.
#[test]
fn every_use_of_a_spent_array_of_records_or_element_is_an_error() {
    const BY: &str = "entry point set_first: assign the result";
    for (world, core) in each_flavour() {
        let spent = |mut handle: Handle| {
            handle.spend_now(function(&core, "entry_set_first"));
            handle
        };
        let point = || {
            let inputs = [scalar(0.5f32), scalar(1i32)];
            value(&core, "new_opaque_point", inputs).unwrap()
        };
        let points = || ffi::create_of_values(&core, POINTS, &[1], &[&point()]).unwrap();
        is_spent(
            ffi::create_of_values(&core, POINTS, &[2], &[&point(), &spent(point())]),
            BY,
        );
        is_spent(ffi::set_value(&mut points(), &[0], &spent(point())), BY);
        let mut array = spent(points());
        is_spent(ffi::set_value(&mut array, &[0], &point()), BY);
        is_spent(ffi::index_value(&array, &[0], ffi::Bounds::Ours), BY);
        is_spent(ffi::index_value(&array, &[0], ffi::Bounds::OfC), BY);
        is_spent(ffi::store(&array), BY);
        assert_eq!(ffi::shape_array(&array), [0]);
        assert_eq!(world.values(), 0);
    }
}
