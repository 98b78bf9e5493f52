//! Invalid arguments: rejected before the call.

use super::*;
use futhark_fake::types::{FLOATS, MATRIX, PAIR};

#[test]
fn a_wrong_number_or_type_of_arguments_is_rejected() {
    for (_world, core) in each_flavour() {
        let invalid = ErrorKind::InvalidArgument;
        let xs = ints(&core, &[1]);
        let words = "expected 1 argument and 1 result, got 0 and 1";
        says(value(&core, "entry_identity", []), invalid, words);
        let words = "expected argument 0 of type []i32, got i32";
        says(
            value(&core, "entry_identity", [scalar(1i32)]),
            invalid,
            words,
        );
        let inputs = [scalar(1i64), Input::Observed(&xs)];
        says(value(&core, "new_opaque_pair", inputs), invalid, "i64");
        let floats = ffi::create(&core, FLOATS, &[1], &[1f32]).unwrap();
        says(identity(&core, &floats), invalid, "got []f32");
        let inputs = [Input::Observed(&xs), scalar(1i32)];
        let words = "pass it by value";
        says(value(&core, "entry_set_first", inputs), invalid, words);
        // Places of another type, or too few.
        let mut output = Output::value(PAIR);
        let number = function(&core, "entry_identity");
        call(&core, number, [Input::Observed(&xs)], &mut [&mut output]).unwrap_err();
        call(&core, number, [Input::Observed(&xs)], &mut []).unwrap_err();
        let beyond = core.table().functions().len();
        call(&core, beyond, [], &mut []).unwrap_err();
        assert_eq!(read(&xs).unwrap(), [1]);
    }
}

#[test]
fn values_of_another_context_are_rejected() {
    for (one, two) in [
        (Flavour::Host, Flavour::Host),
        (Flavour::Gpu, Flavour::Gpu),
        (Flavour::Host, Flavour::Gpu),
    ] {
        let world = World::new();
        let (core, other) = (world.core(one), world.core(two));
        let (xs, ys) = (ints(&core, &[1]), ints(&other, &[2]));
        says(identity(&core, &ys), ErrorKind::WrongContext, "argument 0");
        let inputs = [Input::Consumed(xs), Input::Consumed(ys)];
        let error = two_values(&core, "entry_swap", inputs).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongContext);
        assert_eq!(world.values(), 0, "consumed, and freed in its own context");
    }
}

#[test]
fn impossible_shapes_and_indices_are_rejected() {
    let (_world, core) = world_and_core(Flavour::Host);
    for (shape, n) in [
        ([2, 2], 3),
        ([0, 2], 1),
        ([2, 2], 0),
        ([usize::MAX, 2], 2),
        ([1 << 32, 1 << 32], 0),
        ([0, usize::MAX], 0),
    ] {
        let data = vec![0i32; n];
        let created = ffi::create(&core, MATRIX, &shape, &data);
        says(created, ErrorKind::InvalidArgument, "shape");
    }
    // A type of another rank or element type, and one that is not an array.
    for ty in [INTS, FLOATS, PAIR, 99] {
        ffi::create(&core, ty, &[1, 1], &[0i32]).unwrap_err();
    }
    let m = ffi::create(&core, MATRIX, &[2, 3], &[1i32, 2, 3, 4, 5, 6]).unwrap();
    let t = value(&core, "entry_transpose", [Input::Observed(&m)]).unwrap();
    assert_eq!(ffi::shape(&t).unwrap(), [3, 2]);
    assert_eq!(read(&t).unwrap(), [1, 4, 2, 5, 3, 6]);
    for wrong in [&[0i64][..], &[3, 0], &[0, -1], &[0, 2], &[0, 0, 0]] {
        ffi::index(&t, wrong, ffi::Bounds::Ours).unwrap_err();
    }
    // C checks the bounds, but not the number of indices, which is checked first.
    for (wrong, kind) in [
        (&[0i64][..], ErrorKind::InvalidArgument),
        (&[0, 0, 0], ErrorKind::InvalidArgument),
        (&[3, 0], ErrorKind::Backend),
        (&[0, -1], ErrorKind::Backend),
    ] {
        let error = ffi::index(&t, wrong, ffi::Bounds::OfC).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
    assert!(ffi::index(&t, &[2, 1], ffi::Bounds::OfC).is_ok());
    let (_, six) = ffi::index(&t, &[2, 1], ffi::Bounds::Ours).unwrap();
    assert_eq!(i32::from_c(six), 6);
    assert!(ffi::read_vec::<f32>(&t).is_err());
    assert!(ffi::read_into(&t, &mut [0i32; 5]).is_err());
    assert!(ffi::read_into(&t, &mut [0i32; 7]).is_err());
    let mut exact = [0i32; 6];
    ffi::read_into(&t, &mut exact).unwrap();
    assert_eq!(exact, [1, 4, 2, 5, 3, 6]);
    let empty = ffi::create::<i32>(&core, MATRIX, &[0, 5], &[]).unwrap();
    assert_eq!(ffi::shape(&empty).unwrap(), [0, 5]);
    assert!(read(&empty).unwrap().is_empty());
}

/// Of different types, in both lists.
#[test]
fn calls_can_have_many_arguments_and_results() {
    let (_world, core) = world_and_core(Flavour::Host);
    let xs = ints(&core, &[7, 8]);
    let inputs = (1..=9).map(scalar::<i32>).chain([Input::Observed(&xs)]);
    let mut scalars = [(); 9].map(|()| Output::scalar(ElemType::I32));
    let mut array = Output::value(INTS);
    let mut outputs: Vec<&mut Output> = scalars.iter_mut().collect();
    outputs.insert(8, &mut array);
    call(&core, function(&core, "entry_rotate"), inputs, &mut outputs).unwrap();
    let scalars = scalars.map(|output| i32::from_c(output.to_scalar()));
    assert_eq!(scalars, [2, 3, 4, 5, 6, 7, 8, 9, 1]);
    assert_eq!(read(&array.take_handle()).unwrap(), [7, 8]);
}
