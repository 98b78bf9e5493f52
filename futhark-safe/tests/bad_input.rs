//! Unusual programs and arguments. `typed/tests/values.rs` and `golden/names.json` have names that
//! collide, `outside/build_script.rs` has an unknown compiler.

use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Arg, Context, Scalar, Value};

use super::support::{self, call_one, opaque, read, says};

fn each(program: &str, check: impl Fn(&Context)) {
    support::each_of(&support::program(program), |library| {
        check(&support::start(library));
    });
}

/// Units take no memory, so no allocation fails for a negative number of them.
#[test]
fn a_negative_number_of_units_is_an_error() {
    each("odd.fut", |ctx| {
        for n in [-1i64, -15, i64::MIN] {
            says(
                ctx.call("units", vec![Arg::Borrow(&n.into())]),
                ErrorKind::Program,
                &format!("[{n}]"),
            );
        }
        for n in [0i64, 3] {
            let units = ctx.call("units", vec![Arg::Borrow(&n.into())]).unwrap();
            let Value::Opaque(array) = &units[0] else {
                panic!()
            };
            // C does not write the bytes of units; we store zeros.
            let stored = array.store().unwrap();
            assert!(stored.body().ends_with(&vec![0; n as usize]));
            let count = ctx.call("count", vec![Arg::Borrow(&units[0])]).unwrap();
            assert!(
                matches!(count[0], Value::Scalar(Scalar::I64(m)) if m == n),
                "{count:?}"
            );
        }
        ctx.sync().unwrap();
    });
}

/// Two negative dimensions have a positive product, so an allocation succeeds, and reading the array
/// reads other memory. The message about positive dimensions must not blame a negative one alone.
#[test]
fn impossible_dimensions_are_an_error() {
    const NEGATIVE: [(i64, i64); 3] = [(-5, -3), (-5000, -5000), (-1, 9)];
    let mut cases = Vec::new();
    for entry in ["make", "used", "joined"] {
        cases.extend(NEGATIVE.map(|sizes| (entry, sizes, "")));
    }
    cases.push(("make", (1 << 61, 1), "more bytes than there can be"));
    // The array has a valid size, so no allocation refuses it.
    let part = "an array of negative length cannot be concatenated";
    cases.push(("rows", (0, 9), part));
    each("odd.fut", |ctx| {
        for &(entry, (n, m), words) in &cases {
            // On GPU backends the parts are written by kernels, which are not checked.
            if entry == "rows" && ctx.library().backend().is_gpu() {
                continue;
            }
            let arguments = [n.into(), m.into()];
            let result = ctx.call(entry, arguments.iter().map(Arg::Borrow).collect());
            let error = result.expect_err(entry);
            assert_eq!(error.kind(), ErrorKind::Program, "{entry} {n} {m}: {error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    });
}

#[test]
fn a_program_without_entry_points_can_be_loaded() {
    each("no_entries.fut", |ctx| {
        assert!(ctx.library().program().entries().is_empty());
        assert!(ctx.library().program().types().is_empty());
        says(
            ctx.call("f", vec![]),
            ErrorKind::InvalidArgument,
            "it has none",
        );
        assert!(ctx.array(&[1i32]).is_err());
        ctx.sync().unwrap();
    });
}

/// No entry point has `inner`, and only `inner` has `[]f32`.
#[test]
fn types_that_occur_only_in_other_types_can_be_used() {
    each("odd.fut", |ctx| {
        let made = call_one(ctx, "outer", vec![Arg::Consume(21i32.into())]);
        let inner = opaque(opaque(made.unwrap()).project("first").unwrap());
        assert_eq!(inner.type_name(), "inner");
        let xs = inner.project("xs").unwrap();
        assert_eq!(read::<f32>(&xs).unwrap(), [21.0, 21.0]);
        let inner = ctx.restore(&inner.store().unwrap()).unwrap().into();
        let outer = ctx.record("outer", &[&inner, &1i32.into()]).unwrap().into();
        let total = ctx.call("total", vec![Arg::Borrow(&outer)]).unwrap();
        assert!(matches!(total[0], Value::Scalar(Scalar::F32(42.0))));
    });
}
