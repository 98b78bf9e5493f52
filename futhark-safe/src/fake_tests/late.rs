//! GPU backends: computations that fail after their call has returned. The fake
//! program reports a violation if the result of one is read.

use super::*;
use futhark_fake::types::FLOATS;

fn double(core: &Arc<Core>, xs: &Handle) -> Handle {
    value(core, "entry_double", [Input::Observed(xs)]).unwrap()
}

fn is_invalid(result: Result<impl std::fmt::Debug>) {
    says(result, ErrorKind::Program, "Index [7] out of bounds");
}

#[test]
fn a_failing_wait_invalidates_exactly_the_pending_values() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let xs = ints(&core, &[1, 2]);
    let early = double(&core, &xs);
    assert_eq!(read(&early).unwrap(), [2, 4]);
    let failed = bad_gather_of(&core, &xs);
    let after = double(&core, &xs);
    let derived = double(&core, &failed);
    for _ in 0..3 {
        for value in [&failed, &after, &derived] {
            is_invalid(read(value));
            is_invalid(total(&core, value));
            is_invalid(ffi::index(value, &[0], ffi::Bounds::Ours));
            is_invalid(identity(&core, value));
        }
    }
    assert_eq!(read(&early).unwrap(), [2, 4]);
    assert_eq!(read(&xs).unwrap(), [1, 2]);
    assert_eq!(read(&double(&core, &xs)).unwrap(), [2, 4]);
    sync(&core).unwrap();
}

#[test]
fn waits_of_any_operation_confirm_the_results_of_earlier_calls() {
    type Waits = fn(&Arc<Core>, &Handle, &Handle);
    let waits: [Waits; 3] = [
        |_, xs, _| drop(ffi::duplicate(xs).unwrap()),
        |core, _, pair| {
            int(core, "project_opaque_pair_n", [Input::Observed(pair)]).unwrap();
        },
        // The argument is shared, so it is copied.
        |core, xs, _| {
            let alias = identity(core, xs).unwrap();
            let inputs = [Input::Consumed(alias), scalar(3i32)];
            drop(value(core, "entry_set_first", inputs).unwrap());
        },
    ];
    for wait in waits {
        let (_world, core) = world_and_core(Flavour::Gpu);
        let xs = ints(&core, &[1, 2]);
        let pair = pair(&core, 5, &xs).unwrap();
        let is = ints(&core, &[7]);
        let before = double(&core, &xs);
        wait(&core, &xs, &pair);
        let failed = gather(&core, &xs, &is).unwrap();
        is_invalid(sync(&core));
        is_invalid(read(&failed));
        assert_eq!(read(&before).unwrap(), [2, 4]);
    }
}

/// The arrays are made beforehand, since making one waits and would report the failure.
fn bad_gather_of(core: &Arc<Core>, xs: &Handle) -> Handle {
    gather(core, xs, &ints(core, &[0, 7])).unwrap()
}

#[test]
fn the_next_wait_of_any_kind_reports_the_failure() {
    type Waits = fn(&Arc<Core>, &Handle) -> Result<()>;
    let waits: [Waits; 9] = [
        |core, _| sync(core),
        |core, _| core.simple("clear_caches", |raw| raw.clear_caches),
        |core, _| core.report().map(drop),
        |_, xs| read(xs).map(drop),
        |_, xs| ffi::index(xs, &[0], ffi::Bounds::Ours).map(drop),
        |core, xs| total(core, xs).map(drop),
        |core, _| ffi::create(core, INTS, &[1], &[1i32]).map(drop),
        |core, _| {
            let nothing = function(core, "entry_nothing");
            call(core, nothing, [scalar(1i32)], &mut [])
        },
        // A failure of its own: both are reported.
        |core, xs| {
            let inputs = [scalar(0i32), Input::Consumed(identity(core, xs)?)];
            value(core, "entry_fail", inputs).map(drop)
        },
    ];
    for wait in waits {
        let (_world, core) = world_and_core(Flavour::Gpu);
        let xs = ints(&core, &[1, 2]);
        let failed = bad_gather_of(&core, &xs);
        is_invalid(wait(&core, &xs));
        is_invalid(read(&failed));
        assert_eq!(read(&xs).unwrap(), [1, 2]);
    }
}

/// `close` reports a failure that no call has reported; the context can be closed again.
#[test]
fn close_reports_pending_failures() {
    let (world, core) = world_and_core(Flavour::Gpu);
    let xs = ints(&core, &[1, 2]);
    let failed = bad_gather_of(&core, &xs);
    let (core, error) = Core::close(core).unwrap_err();
    assert!(error.to_string().contains("other handle"), "{error}");
    drop((xs, failed));
    let (core, error) = Core::close(core).unwrap_err();
    assert_eq!(error.operation(), "close");
    is_invalid(Err::<(), _>(error));
    assert_eq!(world.contexts(), 1, "it was handed back");
    Core::close(core).unwrap();
    assert_eq!(world.contexts(), 0);
}

/// A call with a failure of its own reports both; the invalid value keeps the earlier one.
#[test]
fn an_earlier_failure_is_not_attributed_to_another_call() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let (xs, ys) = (ints(&core, &[1, 2]), ints(&core, &[3]));
    let failed = bad_gather_of(&core, &xs);
    let inputs = [scalar(2i32), Input::Consumed(ys)];
    let own = value(&core, "entry_fail", inputs).map(drop).unwrap_err();
    assert_eq!(own.kind(), ErrorKind::OutOfMemory, "{own}");
    assert!(own.to_string().contains("Index [7] out of bounds"), "{own}");
    let error = read(&failed).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Program, Some(2)));
    let text = error.c_message().unwrap();
    assert!(text.starts_with("Index [7] out of bounds"), "{text}");
}

#[test]
fn values_made_from_invalid_ones_are_invalid() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let xs = ints(&core, &[1, 2]);
    let floats = ffi::create(&core, FLOATS, &[2], &[1f32, 2.0]).unwrap();
    let failed = bad_gather_of(&core, &xs);
    let pair = pair(&core, 1, &failed).unwrap();
    let points = zip(&core, &floats, &failed).unwrap();
    let field = value(&core, "project_opaque_points_y", [Input::Observed(&points)]).unwrap();
    sync(&core).unwrap_err();
    is_invalid(read(&field));
    let inputs = [Input::Observed(&pair)];
    is_invalid(value(&core, "project_opaque_pair_xs", inputs));
    is_invalid(ffi::store(&pair).map(|_| ()));
    is_invalid(ffi::index_value(&points, &[0], ffi::Bounds::Ours));
    let inputs = [Input::Consumed(pair), scalar(1i32)];
    is_invalid(value(&core, "entry_poke", inputs));
    // Values that were complete before the failure are valid.
    assert_eq!(ffi::read_vec::<f32>(&floats).unwrap(), [1.0, 2.0]);
}

#[test]
fn an_in_place_update_with_failing_work_pending_is_invalid() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let xs = ints(&core, &[1, 2]);
    let ys = ints(&core, &[3, 4]);
    let failed = bad_gather_of(&core, &xs);
    let changed = set_first(&core, ys, 9).unwrap();
    is_invalid(read(&failed));
    is_invalid(read(&changed));
    is_invalid(set_first(&core, changed, 5));
}
