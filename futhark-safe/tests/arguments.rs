//! Calls of the dynamic face whose arguments do not fit: one clear error each.
#![cfg(feature = "dynamic")]

mod support;

use futhark_safe::dynamic::{Arg, Context, Value};
use futhark_safe::{Backend, Config, Error, Kind};

fn context() -> Context {
    let compiler = support::compilers().pop().unwrap();
    let library = support::library("failures.fut", Backend::C, &compiler);
    Context::new(&library, &Config::new()).unwrap()
}

fn assert_says(result: Result<Vec<Value>, Error>, kind: Kind, words: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "no `{word}` in: {error}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_words() {
    let ctx = context();
    let vector: Value = ctx.array_of(&[2], &[1i64, 2]).unwrap().into();
    let invalid = Kind::InvalidArgument;
    assert_says(
        ctx.call("no_such", vec![]),
        invalid,
        &["no entry point `no_such`", "divide_top"],
    );
    let one = vec![Arg::Consume(1i64.into())];
    assert_says(
        ctx.call("divide_top", one),
        invalid,
        &["takes 2 arguments, given were 1"],
    );
    let narrow = vec![Arg::Consume(1i32.into()), Arg::Consume(2i64.into())];
    assert_says(
        ctx.call("divide_top", narrow),
        invalid,
        &["argument 0 is of type i64", "i32"],
    );
    let array = vec![Arg::Borrow(&vector), Arg::Consume(2i64.into())];
    assert_says(
        ctx.call("divide_top", array),
        invalid,
        &["argument 0 is of type i64", "[]i64"],
    );
    let scalar = vec![Arg::Consume(2i64.into())];
    assert_says(ctx.call("total", scalar), invalid, &["[]i64"]);

    let other = context();
    assert_says(
        other.call("total", vec![Arg::Borrow(&vector)]),
        Kind::WrongContext,
        &["another context"],
    );

    let error = ctx.array_of(&[2, 2], &[1i64; 4]).unwrap_err();
    assert!(
        error.to_string().contains("element type i64 and rank 2"),
        "{error}"
    );
    let error = ctx.array_of(&[3], &[1i64; 4]).unwrap_err();
    assert!(
        error.to_string().contains("has 3 elements, given were 4"),
        "{error}"
    );
    let Value::Array(array) = &vector else {
        panic!("an array")
    };
    for wrong in [vec![2], vec![-1], vec![], vec![0, 0]] {
        assert_eq!(array.index(&wrong).unwrap_err().kind(), invalid);
    }
    assert_eq!(array.to_vec::<i32>().unwrap_err().kind(), invalid);
}
