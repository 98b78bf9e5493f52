//! Tests with entry points that only compare their sizes.

use super::*;

/// A call with arrays of these ranks, and this number of i64 arguments.
fn call(ranks: &[usize], scalars: usize) -> Call {
    let mut extents = 0;
    let mut arguments: Vec<Recipe> = (0..scalars)
        .map(|number| Recipe::Scalar(ElemType::I64, number))
        .collect();
    for rank in ranks {
        arguments.push(Recipe::Array(
            ElemType::I32,
            (extents..extents + rank).collect(),
        ));
        extents += rank;
    }
    Call {
        entry: "f".into(),
        arguments,
        extents: vec![Extent::Variable(0); extents],
        roles: vec![Role::Small; scalars],
    }
}

/// All sizes of the inputs: scalars first, then extents.
fn sizes(inputs: &[Input]) -> Vec<i64> {
    let leaves = inputs.iter().flat_map(Input::leaves);
    leaves
        .flat_map(|value| match value.shape() {
            [] => vec![i64::from_ne_bytes(value.bytes().try_into().unwrap())],
            shape => shape.iter().map(|&extent| extent as i64).collect(),
        })
        .collect()
}

fn learnt(call: &Call, fits: impl Fn(&[i64]) -> bool) -> Call {
    let mut trial = |_: &str, inputs: &[Input]| {
        Some(Trial {
            fits: fits(&sizes(inputs)),
            seconds: 0.0,
            bytes: 0,
            costly: false,
        })
    };
    learn(call, None, &mut trial).unwrap()
}

#[test]
fn equal_extents_are_found() {
    // [n][m] [m][k] [n]
    let call = learnt(&call(&[2, 2, 1], 0), |s| s[1] == s[2] && s[0] == s[4]);
    assert_eq!(call.variables(), 3);
    assert_eq!(call.extents[0], call.extents[4]);
    assert_eq!(call.extents[1], call.extents[2]);
    assert_ne!(call.extents[0], call.extents[3]);
}

#[test]
fn three_equal_extents_are_found() {
    let call = learnt(&call(&[1, 1, 1, 1], 0), |s| s[0] == s[1] && s[1] == s[3]);
    assert_eq!(call.variables(), 2);
    assert_eq!(call.extents[0], call.extents[3]);
    assert_ne!(call.extents[0], call.extents[2]);
}

#[test]
fn constants_and_sizes_that_are_arguments_are_found() {
    // (n: i64) (x: i64) [n] [4]
    let call = learnt(&call(&[1, 1], 2), |s| s[0] == s[2] && s[3] == 4);
    assert_eq!(call.extents[1], Extent::Fixed(4));
    assert_eq!(call.roles[0], Role::Size(0));
    assert_eq!(call.roles[1], Role::Any);
    assert_eq!(call.variables(), 1);
}

#[test]
fn a_scalar_that_determines_the_work_stays_small() {
    let call = call(&[], 2);
    let mut largest = 0;
    let mut trial = |_: &str, inputs: &[Input]| {
        let sizes = sizes(inputs);
        largest = largest.max(sizes[1]);
        Some(Trial {
            fits: true,
            seconds: 0.000_001 * sizes[1] as f64,
            bytes: 0,
            costly: false,
        })
    };
    let call = learn(&call, None, &mut trial).unwrap();
    assert_eq!(call.roles, [Role::Any, Role::Small]);
    assert!(largest <= 65_536, "it was found out early");
}

#[test]
fn a_scalar_with_exponential_work_stays_small() {
    let mut largest = 0;
    let mut trial = |_: &str, inputs: &[Input]| {
        let size = sizes(inputs)[0];
        largest = largest.max(size);
        Some(Trial {
            fits: true,
            seconds: 5e-9 * 2f64.powf(size as f64),
            bytes: 0,
            costly: false,
        })
    };
    let call = learn(&call(&[], 1), None, &mut trial).unwrap();
    assert_eq!(call.roles, [Role::Small]);
    assert!(largest <= 21, "it was found out early: {largest}");
}

#[test]
fn an_entry_point_that_rejects_all_sizes_is_an_error() {
    let mut trial = |_: &str, _: &[Input]| {
        Some(Trial {
            fits: false,
            seconds: 0.0,
            bytes: 0,
            costly: false,
        })
    };
    let error = learn(&call(&[1, 1, 1, 1], 0), None, &mut trial).unwrap_err();
    assert!(error.contains("no sizes"), "{error}");
}
