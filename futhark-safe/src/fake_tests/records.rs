//! Arrays of records, and the bytes of opaque values.

use super::*;
use futhark_fake::types::FLOATS;

fn point(core: &Arc<Core>, x: f32, y: i32) -> Handle {
    let inputs = [scalar(x), scalar(y)];
    value(core, "new_opaque_point", inputs).unwrap()
}

fn points(core: &Arc<Core>, xs: &[f32], ys: &[i32]) -> Handle {
    let xs = ffi::create(core, FLOATS, &[xs.len()], xs).unwrap();
    zip(core, &xs, &ints(core, ys)).unwrap()
}

fn ys(core: &Arc<Core>, points: &Handle) -> Vec<i32> {
    let field = value(core, "project_opaque_points_y", [Input::Observed(points)]);
    read(&field.unwrap()).unwrap()
}

#[test]
fn elements_of_arrays_are_copies() {
    for (_world, core) in each_flavour() {
        let points = points(&core, &[0.5, 1.5], &[1, 2]);
        assert_eq!(ffi::shape(&points).unwrap(), [2]);
        let second = ffi::index_value(&points, &[1], ffi::Bounds::Ours).unwrap();
        for wrong in [&[2i64][..], &[-1], &[], &[0, 0]] {
            let error = ffi::index_value(&points, wrong, ffi::Bounds::Ours).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            assert!(ffi::index_value(&points, wrong, ffi::Bounds::OfC).is_err());
        }
        drop(points);
        let y = int(&core, "project_opaque_point_y", [Input::Observed(&second)]);
        assert_eq!(y.unwrap(), 2);
        // Arrays of scalars have no elements that are values, others none at all.
        assert!(ffi::index_value(&ints(&core, &[1]), &[0], ffi::Bounds::Ours).is_err());
        assert!(ffi::index_value(&second, &[0], ffi::Bounds::Ours).is_err());
    }
}

#[test]
fn stored_values_are_restored_on_any_backend() {
    let world = World::new();
    let (core, other) = (world.core(Flavour::Host), world.core(Flavour::Gpu));
    let xs = ints(&core, &[1, 2, 3]);
    let pair = pair(&core, 5, &xs).unwrap();
    let stored = ffi::store(&pair).unwrap();
    let again = ffi::store(&pair).unwrap();
    assert!(stored == again, "the same bytes each time");
    let back = ffi::restore(&other, &stored).unwrap();
    let n = int(&other, "project_opaque_pair_n", [Input::Observed(&back)]);
    assert_eq!(n.unwrap(), 5);
    let field = value(&other, "project_opaque_pair_xs", [Input::Observed(&back)]).unwrap();
    assert_eq!(read(&field).unwrap(), [1, 2, 3]);
    // It shares no memory with the value that was stored.
    let inputs = [Input::Consumed(back), scalar(9i32)];
    drop(field);
    let poked = value(&other, "entry_poke", inputs).unwrap();
    assert_eq!(read(&poked).unwrap(), [9, 2, 3]);
    assert_eq!(read(&xs).unwrap(), [1, 2, 3]);
    assert!(ffi::store(&xs).is_err(), "arrays of scalars are not stored");
    let nothing = points(&core, &[], &[]);
    let back = ffi::restore(&core, &ffi::store(&nothing).unwrap()).unwrap();
    assert_eq!(ffi::shape(&back).unwrap(), [0]);
}

#[test]
fn set_reports_pending_failures() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let b = point(&core, 2.0, 20);
    let mut array = points(&core, &[0.5, 1.5], &[1, 2]);
    let held = value(&core, "project_opaque_points_y", [Input::Observed(&array)]).unwrap();
    let failed = bad_gather(&core).unwrap();
    ffi::set_value(&mut array, &[0], &b).unwrap_err();
    assert!(read(&failed).is_err());
    assert_eq!(ys(&core, &array), [1, 2]);
    assert_eq!(read(&held).unwrap(), [1, 2]);
    // An array that is itself the failed one.
    let floats = ffi::create(&core, FLOATS, &[2], &[1f32, 2.0]).unwrap();
    let failed = gather(&core, &held, &ints(&core, &[0, 7])).unwrap();
    let mut bad = zip(&core, &floats, &failed).unwrap();
    ffi::set_value(&mut bad, &[0], &b).unwrap_err();
    ffi::set_value(&mut bad, &[0], &b).unwrap_err();
    assert!(value(&core, "project_opaque_points_y", [Input::Observed(&bad)]).is_err());
}
