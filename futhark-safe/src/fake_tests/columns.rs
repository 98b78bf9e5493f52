//! The columns of arrays of records, read and written in place.

use super::*;
use futhark_fake::types::{FLOATS, OUT_OF_MEMORY, POINTS};

/// Makes an array of points as generated code does.
fn points(core: &Arc<Core>, rows: &[(f32, i32)]) -> Result<Handle> {
    let shape = [rows.len()];
    let new = ffi::NewRecords::start(core, POINTS, &shape)?;
    let (mut xs, mut ys) = (new.column::<f32>(FLOATS)?, new.column::<i32>(INTS)?);
    for rows in rows.chunks(2) {
        ffi::fill_two(rows, (&mut xs, &mut ys), (|row| row.0, |row| row.1))?;
    }
    if let Some(array) = new.finish()? {
        return Ok(array);
    }
    let (xs, ys) = (xs.finish()?, ys.finish()?);
    zip(core, &xs, &ys)
}

fn columns(array: &Handle) -> Result<Option<ffi::Columns<'_>>> {
    ffi::columns(array, function(array.core(), "project_opaque_points_x"))
}

/// The fields, by the functions that return them.
fn fields(core: &Arc<Core>, array: &Handle) -> (Vec<f32>, Vec<i32>) {
    let field = |name| value(core, name, [Input::Observed(array)]).unwrap();
    let xs = field("project_opaque_points_x");
    let ys = field("project_opaque_points_y");
    (ffi::read_vec(&xs).unwrap(), read(&ys).unwrap())
}

#[test]
fn columns_are_the_fields() {
    for flavour in FLAVOURS {
        let (_world, core) = world_and_core(flavour);
        for n in [0, 1, 2, 5] {
            let rows: Vec<(f32, i32)> = (0..n).map(|i| (i as f32 / 2.0, -i)).collect();
            let array = points(&core, &rows).unwrap();
            assert_eq!(ffi::shape_array(&array), [n as usize]);
            let (xs, ys): (Vec<f32>, Vec<i32>) = rows.iter().copied().unzip();
            assert_eq!(fields(&core, &array), (xs.clone(), ys.clone()));
            let Some(columns) = columns(&array).unwrap() else {
                assert_eq!(flavour, Flavour::Gpu);
                continue;
            };
            assert_eq!(flavour, Flavour::Host);
            assert_eq!(*columns.get::<f32>(0).unwrap().unwrap(), xs);
            assert_eq!(*columns.get::<i32>(1).unwrap().unwrap(), ys);
            for error in [
                columns.get::<i32>(0).unwrap_err(),
                columns.get::<f32>(1).unwrap_err(),
                columns.get::<i32>(2).unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            }
        }
    }
}

/// Nothing else has a reference to its columns, and a view of them does not change.
#[test]
fn new_records_share_no_memory() {
    let (world, core) = world_and_core(Flavour::Host);
    let mut array = points(&core, &[(0.5, 1), (1.5, 2)]).unwrap();
    let second = ffi::index_value(&array, &[1], ffi::Bounds::Ours).unwrap();
    ffi::set_value(&mut array, &[0], &second).unwrap();
    assert_eq!(world.take_copies(), 0);
    let held = value(&core, "project_opaque_points_y", [Input::Observed(&array)]).unwrap();
    let view = ffi::view::<i32>(&held).unwrap().unwrap();
    let first = value(&core, "new_opaque_point", [scalar(7f32), scalar(7i32)]);
    ffi::set_value(&mut array, &[0], &first.unwrap()).unwrap();
    assert_eq!(world.take_copies(), 1);
    assert_eq!(view, [2, 2]);
    assert_eq!(fields(&core, &array), (vec![7.0, 1.5], vec![7, 2]));
}

#[test]
fn records_are_handed_out_when_all_elements_are_written() {
    let (world, core) = world_and_core(Flavour::Host);
    let rows = [1, 2, 3];
    let new = ffi::NewRecords::start(&core, POINTS, &[3]).unwrap();
    let mut xs = new.column::<f32>(FLOATS).unwrap();
    let mut ys = new.column::<i32>(INTS).unwrap();
    ffi::fill(&rows, &mut xs, |&row| row as f32).unwrap();
    ffi::fill(&rows[..2], &mut ys, |&row| row).unwrap();
    // The one that is full does not count for the other.
    let refused = ffi::fill(&rows[..1], &mut xs, |&row| row as f32);
    says(refused, ErrorKind::InvalidArgument, "0 elements left");
    let words = "expected 6 elements, got 5";
    says(new.finish(), ErrorKind::InvalidArgument, words);
    let stop = |row: &i32| if *row == 0 { 0 } else { panic!("stop") };
    let panics = || ffi::fill(&rows[..1], &mut ys, stop);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert!(new.finish().is_err());
    ffi::fill(&rows[2..], &mut ys, |&row| row).unwrap();
    let array = new.finish().unwrap().unwrap();
    assert_eq!(fields(&core, &array), (vec![1.0, 2.0, 3.0], vec![1, 2, 3]));
    assert!(new.finish().unwrap().is_none(), "once");
    drop(array);
    // They are full.
    assert!(ffi::fill(&rows[..1], &mut ys, |&row| row).is_err());
    let error = xs.finish().map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert_eq!(world.values(), 0);
}

#[test]
fn a_column_is_given_out_once_and_with_its_own_elements() {
    let (world, core) = world_and_core(Flavour::Host);
    let new = ffi::NewRecords::start(&core, POINTS, &[3]).unwrap();
    let is_refused = |error: crate::Error| {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    };
    is_refused(new.column::<i32>(INTS).map(drop).unwrap_err());
    let _xs = new.column::<f32>(FLOATS).unwrap();
    is_refused(new.column::<f32>(FLOATS).map(drop).unwrap_err());
    let _ys = new.column::<i32>(INTS).unwrap();
    is_refused(new.column::<i32>(INTS).map(drop).unwrap_err());
    assert_eq!(world.values(), 1);
    // Of another rank, of no such type, and of arrays that are no records: arrays of their own.
    for (ty, shape) in [(POINTS, &[1, 1][..]), (u32::MAX, &[1]), (INTS, &[1])] {
        let new = ffi::NewRecords::start(&core, ty, shape).unwrap();
        assert!(new.finish().unwrap().is_none());
    }
}

#[test]
fn missing_memory_for_columns_is_an_error() {
    let (world, core) = world_and_core(Flavour::Host);
    let make = |n: usize| ffi::NewRecords::start(&core, POINTS, &[n]).map(drop);
    let kinds = [OUT_OF_MEMORY as usize, usize::MAX].map(|n| make(n).unwrap_err().kind());
    assert_eq!(kinds, [ErrorKind::OutOfMemory, ErrorKind::InvalidArgument]);
    assert_eq!(world.values(), 0);
    points(&core, &[(1.0, 2)]).unwrap();
}

/// As calls that return a field do.
#[test]
fn columns_report_earlier_failures_and_what_became_of_the_value() {
    let (world, core) = world_and_core(Flavour::Host);
    let mut array = points(&core, &[(0.5, 1)]).unwrap();
    world.fail_frees(1);
    drop(ints(&core, &[3]));
    let error = columns(&array).map(drop).unwrap_err();
    assert!(error.is_from_earlier_call(), "{error}");
    assert!(columns(&array).unwrap().is_some());
    world.fail_frees(1);
    drop(ints(&core, &[3]));
    let error = points(&core, &[(0.5, 1)]).unwrap_err();
    assert!(error.is_from_earlier_call(), "{error}");

    let project = function(&core, "project_opaque_points_x");
    let fails_as_the_call = |array: &Handle| {
        let error = columns(array).map(drop).unwrap_err();
        let by_call = value(&core, "project_opaque_points_x", [Input::Observed(array)]);
        assert_eq!(error.to_string(), by_call.unwrap_err().to_string());
    };
    let other = points(&core, &[(0.5, 1)]).unwrap();
    array.spend_now(project);
    fails_as_the_call(&array);
    assert_eq!(fail(&core, 3).kind(), ErrorKind::ContextLost);
    fails_as_the_call(&other);
    let error = points(&core, &[(0.5, 1)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
}
