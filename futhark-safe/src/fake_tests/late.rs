//! GPU backends: a computation that fails after its call has returned. The model notices
//! if its result is ever given out; here is what else must hold.

use super::*;
use crate::Kind;
use futhark_fake::types::FLOATS;
use futhark_fake::{Flavour, World};

fn double(core: &Arc<Core>, xs: &Handle) -> Handle {
    value(core, "entry_double", [Input::observed(xs)]).unwrap()
}

fn is_tainted(result: Result<impl std::fmt::Debug>) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), Kind::Program, "{error}");
    assert!(
        error.to_string().contains("Index [7] out of bounds"),
        "{error}"
    );
}

#[test]
fn what_was_under_way_is_never_believed_and_nothing_else_is_refused() {
    let world = World::new();
    let core = world.core(Flavour::Gpu);
    let xs = ints(&core, &[1, 2]);
    let early = double(&core, &xs);
    assert_eq!(read(&early).unwrap(), [2, 4]);
    let failed = bad_gather_of(&core, &xs);
    let after = double(&core, &xs);
    let derived = double(&core, &failed);
    for _ in 0..3 {
        for value in [&failed, &after, &derived] {
            is_tainted(read(value));
            is_tainted(total(&core, value));
            is_tainted(ffi::index(value, &[0]));
            is_tainted(identity(&core, value));
        }
    }
    assert_eq!(read(&early).unwrap(), [2, 4]);
    assert_eq!(read(&xs).unwrap(), [1, 2]);
    assert_eq!(read(&double(&core, &xs)).unwrap(), [2, 4]);
    core.simple("sync", |raw| raw.sync).unwrap();
}

/// Arrays are made beforehand: making one waits, which would show the failure.
fn bad_gather_of(core: &Arc<Core>, xs: &Handle) -> Handle {
    let is = ints(core, &[0, 7]);
    let inputs = [Input::observed(xs), Input::observed(&is)];
    value(core, "entry_gather", inputs).unwrap()
}

/// Each wait may be the one that shows it.
#[test]
fn whoever_waits_is_told() {
    type Waits = fn(&Arc<Core>, &Handle) -> Result<()>;
    let waits: [Waits; 9] = [
        |core, _| core.simple("sync", |raw| raw.sync),
        |core, _| core.simple("clear_caches", |raw| raw.clear_caches),
        |core, _| core.report().map(drop),
        |_, xs| read(xs).map(drop),
        |_, xs| ffi::index(xs, &[0]).map(drop),
        |core, xs| total(core, xs).map(drop),
        |core, _| ffi::create(core, INTS, &[1], &[1i32]).map(drop),
        |core, _| {
            call(
                core,
                function(core, "entry_nothing"),
                [Input::scalar(1i32)],
                &mut [],
            )
        },
        // Fails on its own account; both are told.
        |core, xs| {
            let inputs = [Input::scalar(0i32), Input::consumed(identity(core, xs)?)];
            value(core, "entry_fail", inputs).map(drop)
        },
    ];
    for wait in waits {
        let world = World::new();
        let core = world.core(Flavour::Gpu);
        let xs = ints(&core, &[1, 2]);
        let failed = bad_gather_of(&core, &xs);
        is_tainted(wait(&core, &xs));
        is_tainted(read(&failed));
        assert_eq!(read(&xs).unwrap(), [1, 2]);
    }
}

/// What nobody was told of when a context is closed, `close` tells; it can be closed again.
#[test]
fn closing_waits_too() {
    let world = World::new();
    let core = world.core(Flavour::Gpu);
    let xs = ints(&core, &[1, 2]);
    let failed = bad_gather_of(&core, &xs);
    let (core, error) = core.close().unwrap_err();
    assert!(error.to_string().contains("are in use"), "{error}");
    drop((xs, failed));
    let (core, error) = core.close().unwrap_err();
    assert_eq!(error.operation(), "close");
    is_tainted(Err::<(), _>(error));
    assert_eq!(world.contexts(), 1, "it was handed back");
    core.close().unwrap();
    assert_eq!(world.contexts(), 0);
}

/// A call that fails for a reason of its own tells both; the value knows what it failed of.
#[test]
fn a_failure_is_not_told_as_another_call_s() {
    let world = World::new();
    let core = world.core(Flavour::Gpu);
    let (xs, ys) = (ints(&core, &[1, 2]), ints(&core, &[3]));
    let failed = bad_gather_of(&core, &xs);
    let inputs = [Input::scalar(2i32), Input::consumed(ys)];
    let own = value(&core, "entry_fail", inputs).map(drop).unwrap_err();
    assert_eq!(own.kind(), Kind::OutOfMemory, "{own}");
    assert!(own.to_string().contains("Index [7] out of bounds"), "{own}");
    let error = read(&failed).unwrap_err();
    assert_eq!((error.kind(), error.code()), (Kind::Program, Some(2)));
    let text = error.c_message().unwrap();
    assert!(text.starts_with("Index [7] out of bounds"), "{text}");
}

#[test]
fn values_made_of_failed_ones_are_not_believed() {
    let world = World::new();
    let core = world.core(Flavour::Gpu);
    let xs = ints(&core, &[1, 2]);
    let floats = ffi::create(&core, FLOATS, &[2], &[1f32, 2.0]).unwrap();
    let failed = bad_gather_of(&core, &xs);
    let inputs = [Input::scalar(1i32), Input::observed(&failed)];
    let pair = value(&core, "new_opaque_pair", inputs).unwrap();
    let inputs = [Input::observed(&floats), Input::observed(&failed)];
    let points = value(&core, "zip_opaque_points", inputs).unwrap();
    let field = value(&core, "project_opaque_points_y", [Input::observed(&points)]).unwrap();
    core.simple("sync", |raw| raw.sync).unwrap_err();
    is_tainted(read(&field));
    is_tainted(value(
        &core,
        "project_opaque_pair_xs",
        [Input::observed(&pair)],
    ));
    is_tainted(ffi::store(&pair).map(|_| ()));
    is_tainted(ffi::index_value(&points, &[0]));
    let inputs = [Input::consumed(pair), Input::scalar(1i32)];
    is_tainted(value(&core, "entry_poke", inputs));
    // What was complete before is as good as ever.
    assert_eq!(ffi::read_vec::<f32>(&floats).unwrap(), [1.0, 2.0]);
}

/// Overwriting in place what fails half-way leaves nothing to be believed.
#[test]
fn a_consumed_argument_under_way() {
    let world = World::new();
    let core = world.core(Flavour::Gpu);
    let xs = ints(&core, &[1, 2]);
    let ys = ints(&core, &[3, 4]);
    let failed = bad_gather_of(&core, &xs);
    let changed = set_first(&core, ys, 9).unwrap();
    is_tainted(read(&failed));
    is_tainted(read(&changed));
    is_tainted(set_first(&core, changed, 5));
}
