//! Tests `new` and `set` of arrays of opaque values in the dynamic interface. Compilers provide both
//! functions since 0.25.36. `typed/tests/elements.rs` tests the typed interface.
#![cfg(all(feature = "compile", feature = "dynamic", unix))]

#[path = "newer/mod.rs"]
mod newer;
mod support;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futhark_safe::compile::Compiler;
use futhark_safe::dynamic::{Arg, Context, Opaque, Scalar, Value};
use futhark_safe::{Backend, ElemType, ErrorKind};
use support::{call_one, read, says};

/// The program, and the compiler for it; `None` if these tests are skipped.
fn newer_compiler() -> Option<&'static (PathBuf, Compiler)> {
    static NEWER: LazyLock<Option<(PathBuf, Compiler)>> = LazyLock::new(|| {
        support::newest()?;
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/newer");
        let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("futhark-newer");
        newer::compiler(&here, &script);
        Some((here.join("elements.fut"), Compiler::at(&script).unwrap()))
    });
    NEWER.as_ref()
}

fn each(mut check: impl FnMut(&Context)) {
    let Some((program, compiler)) = newer_compiler() else {
        return;
    };
    for backend in support::backends() {
        eprintln!("{backend}");
        let library = support::library_of(program, backend, compiler);
        let _device = (backend == Backend::OpenCl).then(support::lock_device);
        check(&support::start(&library));
    }
}

fn pt(ctx: &Context, n: i32, x: f32) -> Value {
    let fields = [&Value::from(n), &Value::from(x)];
    ctx.record("pt", &fields).unwrap().into()
}

fn row(ctx: &Context, id: i64, xs: &[f32]) -> Value {
    let xs = ctx.array(xs).unwrap().into();
    ctx.record("row", &[&id.into(), &xs]).unwrap().into()
}

/// A block of any shape, without bytes if a dimension is 0.
fn block(ctx: &Context, shape: [usize; 2]) -> Value {
    let bytes = vec![7; shape[0].saturating_mul(shape[1])];
    let bytes = ctx
        .array_from_bytes(ElemType::U8, &shape, &bytes)
        .unwrap()
        .into();
    ctx.record("block", &[&bytes]).unwrap().into()
}

fn field<T: futhark_safe::Element>(array: &Opaque, name: &str) -> Vec<T> {
    read(&array.project(name).unwrap()).unwrap()
}

fn opaque(ctx: &Context, entry: &str, args: Vec<Arg<'_>>) -> Opaque {
    support::opaque(call_one(ctx, entry, args).unwrap())
}

fn sum(ctx: &Context, entry: &str, of: Opaque) -> f32 {
    match ctx.call(entry, vec![Arg::Consume(of.into())]).unwrap()[..] {
        [Value::Scalar(Scalar::F32(sum))] => sum,
        ref other => panic!("{entry} returned {other:?}"),
    }
}

#[test]
fn arrays_of_two_dimensions_support_new_and_set() {
    each(|ctx| {
        let pts: Vec<Value> = (0..6).map(|i| pt(ctx, i, 0.0)).collect();
        let elements: Vec<&Value> = pts.iter().collect();
        let grid = ctx.array_from_values_nd("[][]pt", &[2, 3], &elements);
        let mut grid = grid.unwrap();
        grid.set(&[1, 0], &pts[5]).unwrap();
        for wrong in [[2, 0], [0, 3], [-1, 0], [0, i64::MAX]] {
            let error = grid.set(&wrong, &pts[0]).unwrap_err();
            assert!(error.to_string().contains("shape [2, 3]"), "{error}");
        }
        assert_eq!(grid.shape().unwrap(), [2, 3]);
        assert_eq!(field::<i32>(&grid, "n"), [0, 1, 2, 5, 4, 5]);
    });
}

#[test]
fn elements_of_different_sizes_are_rejected() {
    each(|ctx| {
        let (a, b) = (row(ctx, 1, &[1.0, 2.0]), row(ctx, 2, &[3.0, 4.0]));
        let mut rows = ctx.array_from_values("[]row", &[&a, &b]).unwrap();
        assert_eq!(field::<f32>(&rows, "xs"), [1.0, 2.0, 3.0, 4.0]);
        rows.set(&[0], &b).unwrap();
        assert_eq!(field::<i64>(&rows, "id"), [2, 2]);
        assert_eq!(field::<f32>(&rows, "xs"), [3.0, 4.0, 3.0, 4.0]);

        // Corresponding parts of all elements must have the same shape; the generated C does not
        // check this.
        let long = row(ctx, 3, &[5.0, 6.0, 7.0]);
        let words = "expected parts of equal shapes, got [3] in element 1 and [2] in element 0";
        says(
            ctx.array_from_values("[]row", &[&a, &long]),
            ErrorKind::InvalidArgument,
            words,
        );
        let words = "expected an element with a part of shape [2], as in the array, got [3]";
        says(rows.set(&[1], &long), ErrorKind::InvalidArgument, words);
        // The array is unchanged, and the context works.
        assert_eq!(field::<f32>(&rows, "xs"), [3.0, 4.0, 3.0, 4.0]);
        assert_eq!(sum(ctx, "sum_rows", rows), 28.0);
        // Parts without elements.
        let nothing = row(ctx, 4, &[]);
        let rows = ctx.array_from_values("[]row", &[&nothing, &nothing]);
        let rows = rows.unwrap();
        assert!(field::<f32>(&rows, "xs").is_empty());
        assert_eq!(field::<i64>(&rows, "id"), [4, 4]);
    });
}

#[test]
fn arrays_of_sums_support_new_and_set() {
    each(|ctx| {
        let xs = ctx.array(&[0.25f32, 0.5]).unwrap().into();
        let dot: Value = ctx.sum("shape", "dot", &[&8i32.into()]).unwrap().into();
        let square: Value = ctx.sum("shape", "box", &[&xs]).unwrap().into();
        // The constructors of the C API leave the components of other variants empty, so the
        // components of `dot` and `square` differ in size.
        let error = ctx.array_from_values("[]shape", &[&dot, &square]);
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let mut shapes = opaque(ctx, "shapes", vec![Arg::Consume(4i64.into())]);
        let elements = [0, 1].map(|i| shapes.index(&[i]).unwrap());
        let made = ctx
            .array_from_values("[]shape", &[&elements[1], &elements[0], &elements[1]])
            .unwrap();
        let variants: Vec<_> = (0..3)
            .map(|i| support::opaque(made.index(&[i]).unwrap()))
            .map(|shape| shape.variant().unwrap())
            .collect();
        assert_eq!(variants, ["box", "dot", "box"]);
        shapes.set(&[2], &square).unwrap();
        // #dot 0, #box [1, 1], #box [0.25, 0.5], #box [3, 1]
        assert_eq!(sum(ctx, "sum_shapes", shapes), 6.75);
    });
}

/// Misuse 36. Constants of the program share memory, too.
#[test]
fn values_that_share_memory_do_not_change() {
    each(|ctx| {
        let nine = pt(ctx, 9, 9.0);
        for _ in 0..2 {
            let mut constant = opaque(ctx, "constant", vec![]);
            assert_eq!(field::<i32>(&constant, "n"), [0, 1, 2]);
            constant.set(&[0], &nine).unwrap();
            assert_eq!(field::<i32>(&constant, "n"), [9, 1, 2]);
        }
        let mut points = opaque(ctx, "points", vec![Arg::Consume(3i64.into())]);
        let column = points.project("n").unwrap();
        points.set(&[1], &nine).unwrap();
        let whole = Value::from(points);
        let alias = opaque(ctx, "identity", vec![Arg::Borrow(&whole)]);
        let mut points = support::opaque(whole);
        points.set(&[2], &nine).unwrap();
        assert_eq!(read::<i32>(&column).unwrap(), [0, 1, 2]);
        assert_eq!(field::<i32>(&alias, "n"), [0, 9, 2]);
        assert_eq!(field::<i32>(&points, "n"), [0, 9, 9]);
    });
}

/// Each size is valid, and only their sum overflows.
#[test]
fn elements_whose_total_size_overflows_are_an_error() {
    each(|ctx| {
        let wide = block(ctx, [1 << 62, 0]);
        let error = ctx.array_from_values("[]block", &[&wide, &wide]);
        let words = "an array of shape [2] with elements that have a part of shape [4611686018427387904][0] is larger";
        says(error, ErrorKind::InvalidArgument, words);
        // One alone does not overflow.
        let one = ctx.array_from_values("[]block", &[&wide]).unwrap();
        assert!(field::<u8>(&one, "bytes").is_empty());
        let small = block(ctx, [1, 2]);
        let blocks = ctx.array_from_values("[]block", &[&small, &small]);
        assert_eq!(field::<u8>(&blocks.unwrap(), "bytes"), [7; 4]);
    });
}
