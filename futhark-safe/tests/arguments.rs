//! The dynamic interface: wrong arguments are errors.
#![cfg(all(feature = "compile", feature = "dynamic"))]

mod support;

use futhark_safe::dynamic::{Arg, Context, Value};
use futhark_safe::{Backend, ErrorKind};
use support::{says, scalars};

/// A context of the newest compiler; `None` if these tests are skipped.
fn context() -> Option<Context> {
    let compiler = support::newest()?;
    let library = support::library("failures.fut", Backend::C, &compiler);
    Some(support::start(&library))
}

#[test]
fn wrong_arguments_are_errors_that_name_them() {
    let (Some(ctx), Some(other)) = (context(), context()) else {
        return;
    };
    let vector: Value = ctx.array(&[1i64, 2]).unwrap().into();
    let invalid = ErrorKind::InvalidArgument;
    for words in ["no entry point `no_such`", "divide_top"] {
        says(ctx.call("no_such", vec![]), invalid, words);
    }
    let one = vec![Arg::Consume(1i64.into())];
    let words = "expected 2 arguments and 1 result, got 1 and 1";
    says(ctx.call("divide_top", one), invalid, words);
    for (wrong, ty) in [(&1i32.into(), "i32"), (&vector, "[]i64")] {
        for words in ["expected argument 0 of type i64", ty] {
            let args = vec![Arg::Borrow(wrong), Arg::Consume(2i64.into())];
            says(ctx.call("divide_top", args), invalid, words);
        }
    }
    says(ctx.call("total", scalars(&[2])), invalid, "[]i64");
    let args = vec![Arg::Borrow(&vector)];
    let kind = ErrorKind::WrongContext;
    says(other.call("total", args), kind, "another context");

    let words = "element type i64 and rank 2";
    says(ctx.array_nd(&[2, 2], &[1i64; 4]), invalid, words);
    says(
        ctx.array_nd(&[3], &[1i64; 4]),
        invalid,
        "has 3 elements, got 4",
    );
    let Value::Array(array) = &vector else {
        panic!("an array")
    };
    for wrong in [vec![2], vec![-1], vec![], vec![0, 0]] {
        assert_eq!(array.index(&wrong).unwrap_err().kind(), invalid);
    }
    for (shape, words) in [
        (&[3][..], "has 3 elements, got 2"),
        (&[1, 2], "no array type of element type i64 and rank 2"),
        (&[], "rank 0"),
    ] {
        says(array.reshape(shape), invalid, words);
    }
    assert_eq!(array.to_vec::<i32>().unwrap_err().kind(), invalid);
    assert_eq!(array.view::<u64>().unwrap_err().kind(), invalid);
}

#[test]
fn arrays_are_viewed_and_copied() {
    let Some(ctx) = context() else {
        return;
    };
    let array = ctx.array(&[1i64, 2, 3]).unwrap();
    assert_eq!((array.len(), array.is_empty()), (3, false));
    assert!(ctx.array::<i64>(&[]).unwrap().is_empty());
    let copy = array.try_clone().unwrap();
    let view = array.view::<i64>().unwrap().unwrap();
    assert_eq!(view, [1, 2, 3]);
    assert_ne!(view.as_ptr(), copy.view::<i64>().unwrap().unwrap().as_ptr());
    assert_eq!(copy.to_vec::<i64>().unwrap(), view);
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarrays_round_trip() {
    let Some(ctx) = context() else {
        return;
    };
    let mut elements = ndarray::arr1(&[1i64, 2, 3]);
    elements.invert_axis(ndarray::Axis(0));
    let array = ctx.array_from_ndarray(&elements).unwrap();
    assert_eq!(array.to_vec::<i64>().unwrap(), [3, 2, 1]);
    assert_eq!(array.to_ndarray::<i64>().unwrap(), elements.into_dyn());
    let square = ndarray::arr2(&[[1i64]]);
    let error = ctx.array_from_ndarray(&square).unwrap_err();
    assert!(error.to_string().contains("rank 2"), "{error}");
}
