//! Transfers of arrays of every element type, in both directions.

use std::borrow::Cow;

use futhark_safe::{Backend, Element, ErrorKind, HasArray, f16};
use futhark_safe_typed_tests::arrays::{self, Array};

use super::support::{each, says};

/// Special values, then numbers spread over all 64 bits.
fn spread() -> impl Iterator<Item = u64> {
    let special = [0, 1, 1 << 31, 1 << 63, u64::MAX, 0x7ff0_0000_7f80_0001];
    special
        .into_iter()
        .chain((0..1000).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// Uploads and downloads elements in every way. Bits are compared, since a `NaN` differs from itself.
fn round_trips<T: Element>(
    ctx: &arrays::Context,
    patterns: impl Iterator<Item = T>,
    bits: fn(T) -> u64,
) where
    arrays::Program: HasArray<T, 1> + HasArray<T, 2>,
{
    let patterns: Vec<T> = patterns.collect();
    let of = |elements: &[T]| -> Vec<u64> { elements.iter().map(|&x| bits(x)).collect() };
    let n = patterns.len();
    let expected = of(&patterns);
    let sent = [
        ctx.array(&patterns).unwrap(),
        ctx.array_nd([n], &patterns).unwrap(),
        ctx.array_from_iter(patterns.iter().copied()).unwrap(),
        // An iterator of unknown length.
        ctx.array_from_iter(patterns.iter().copied().filter(|_| true))
            .unwrap(),
        ctx.array_from_ndarray(&ndarray::ArrayView::from(&patterns))
            .unwrap(),
    ];
    for xs in sent {
        assert_eq!((xs.shape(), xs.len(), xs.is_empty()), ([n], n, false));
        assert_eq!(of(&xs.to_vec().unwrap()), expected);
        let mut buffer = vec![T::default(); n];
        xs.read_into(&mut buffer).unwrap();
        assert_eq!(of(&buffer), expected);
        assert_eq!(of(&xs.to_cow().unwrap()), expected);
        assert_eq!(of(xs.to_ndarray().unwrap().as_slice().unwrap()), expected);
        assert_eq!(bits(xs.get(n - 1).unwrap()), expected[n - 1]);
        // Host backends have views, except of C's bools.
        let viewed = xs.view().map(of);
        let can = ctx.backend() != Backend::OpenCl && T::ELEM != bool::ELEM;
        assert_eq!(viewed, can.then(|| expected.clone()));
        assert_eq!(
            xs.view_nd().map(|view| of(view.as_slice().unwrap())),
            viewed
        );
        assert_eq!(matches!(xs.to_cow().unwrap(), Cow::Borrowed(_)), can);
        let copy = xs.try_clone().unwrap();
        drop(xs);
        assert_eq!(of(&copy.to_vec().unwrap()), expected);
    }
    let (rows, columns) = (2, patterns.len() / 2);
    let matrix = ctx
        .array_nd([rows, columns], &patterns[..2 * columns])
        .unwrap();
    let flat = matrix.reshape([rows * columns]).unwrap();
    let tall = flat.reshape([columns, rows]).unwrap();
    drop((matrix, flat));
    assert_eq!(tall.shape(), [columns, rows]);
    assert_eq!(of(&tall.to_vec().unwrap()), expected[..2 * columns]);
}

#[test]
fn every_element_type_round_trips() {
    each(|ctx: arrays::Context| {
        // All bit patterns of types of up to 16 bits.
        round_trips(&ctx, i8::MIN..=i8::MAX, |x| x as u64);
        round_trips(&ctx, i16::MIN..=i16::MAX, |x| x as u64);
        round_trips(&ctx, spread().map(|x| x as i32), |x| x as u64);
        round_trips(&ctx, spread().map(|x| x as i64), |x| x as u64);
        round_trips(&ctx, 0..=u8::MAX, u64::from);
        round_trips(&ctx, 0..=u16::MAX, u64::from);
        round_trips(&ctx, spread().map(|x| x as u32), u64::from);
        round_trips(&ctx, spread(), |x| x);
        round_trips(&ctx, (0..=u16::MAX).map(f16::from_bits), |x| {
            x.to_bits().into()
        });
        round_trips(&ctx, spread().map(|x| f32::from_bits(x as u32)), |x| {
            x.to_bits().into()
        });
        round_trips(&ctx, spread().map(f64::from_bits), f64::to_bits);
        round_trips(&ctx, [true, false, false].into_iter(), u64::from);
    });
}

/// An array without elements has no memory.
#[test]
fn arrays_without_elements_round_trip() {
    each(|ctx: arrays::Context| {
        for shape in [[0, 0], [0, 3], [3, 0]] {
            let none = ctx.array_nd::<f32, 2>(shape, &[]).unwrap();
            assert_eq!((none.shape(), none.len()), (shape, 0));
            assert!(none.is_empty() && none.to_cow().unwrap().is_empty());
            none.read_into(&mut []).unwrap();
            assert_eq!(none.to_ndarray().unwrap().shape(), shape);
            assert_eq!(none.try_clone().unwrap().shape(), shape);
            let turned = ctx.entry().transpose_f32(&none).unwrap();
            assert_eq!(turned.shape(), [shape[1], shape[0]]);
            let error = none.get([0, 0]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
        assert!(ctx.array::<bool>(&[]).unwrap().to_vec().unwrap().is_empty());
        assert_eq!(
            ctx.array::<i32>(&[]).unwrap().view(),
            (ctx.backend() != Backend::OpenCl).then_some(&[][..])
        );
    });
}

#[test]
fn arrays_are_reshaped_to_any_rank_of_the_program() {
    each(|ctx: arrays::Context| {
        let elements: Vec<f32> = (0u8..24).map(f32::from).collect();
        let matrix = ctx.array(&elements).unwrap().reshape([4, 6]).unwrap();
        assert_eq!(Array::<f32, 2>::RANK, 2);
        // The result of a call, whose elements a GPU may still compute.
        let turned = ctx.entry().transpose_f32(&matrix).unwrap();
        let cube = turned.reshape([2, 3, 4]).unwrap();
        assert_eq!(cube.get([1, 2, 3]).unwrap(), 23.0);
        assert_eq!(cube.get([0, 1, 0]).unwrap(), 1.0);
        let turned = ctx.entry().turn(&cube).unwrap();
        assert_eq!(turned.get([3, 2, 1]).unwrap(), 23.0);
        for shape in [[5, 5], [0, 24], [usize::MAX, 24], [1, 23]] {
            let error = matrix.reshape(shape).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
        let error = matrix.reshape([5, 5]).unwrap_err().to_string();
        assert!(
            error.contains("[5, 5]") && error.contains("25") && error.contains("24"),
            "{error}"
        );
        let none = ctx.array_nd::<f32, 2>([0, 3], &[]).unwrap();
        assert_eq!(none.reshape([7, 0, 2]).unwrap().shape(), [7, 0, 2]);
        assert!(none.reshape([usize::MAX, 0]).is_err());
    });
}

/// `replicate 0 (replicate (-3) x)` has no elements, but a dimension that is negative.
#[test]
fn a_negative_dimension_is_an_error() {
    each(|ctx: arrays::Context| {
        says(ctx.entry().rows_of(0, -3), ErrorKind::Program, "negative");
        assert_eq!(ctx.entry().rows_of(0, 3).unwrap().shape(), [0, 3]);
    });
}

#[test]
fn impossible_shapes_are_errors() {
    each(|ctx: arrays::Context| {
        let most = usize::MAX;
        for (shape, words) in [
            ([2, 2], "has 4 elements, got 3"),
            ([0, 5], "has 0 elements, got 3"),
            ([1 << 32, 1 << 32], "larger than any memory"),
            ([1 << 33, 1 << 31], "larger than any memory"),
            ([most, 2], "larger than any memory"),
            ([most, most], "larger than any memory"),
            ([0, most], "larger than any memory"),
            ([1 << 63, 1], "larger than any memory"),
        ] {
            let error = ctx.array_nd(shape, &[1i32; 3]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            let text = error.to_string();
            assert!(
                text.contains(words) && text.contains(&format!("{shape:?}")),
                "{text}"
            );
        }
        let xs = ctx.array_nd([2, 3], &[1i32; 6]).unwrap();
        for length in [0, 5, 7] {
            let mut to = vec![7; length];
            says(
                xs.read_into(&mut to),
                ErrorKind::InvalidArgument,
                "6 elements",
            );
            assert!(to.iter().all(|&x| x == 7), "nothing was written");
        }
        for index in [[2, 0], [0, 3], [most, 0], [0, 1 << 63]] {
            says(xs.get(index), ErrorKind::InvalidArgument, "shape [2, 3]");
        }
    });
}

/// Elements are transferred in the order of their indices, for any strides.
#[test]
fn ndarrays_of_any_layout_round_trip() {
    use ndarray::{Array3, Axis, ShapeBuilder, s};
    each(|ctx: arrays::Context| {
        let standard = Array3::from_shape_fn([2, 3, 4], |(a, b, c)| (a * 100 + b * 10 + c) as f32);
        let mut fortran = Array3::zeros([2, 3, 4].f());
        fortran.assign(&standard);
        let row = ndarray::arr1(&[1.0f32, 2.0, 3.0]);
        let mut backwards = standard.clone();
        backwards.invert_axis(Axis(1));
        let views = [
            standard.view(),
            fortran.view(),
            standard.t(),
            backwards.view(),
            standard.slice(s![.., ..;2, 1..3]),
            standard.slice(s![..;-1, 0..0, ..]),
            row.broadcast([2, 2, 3]).unwrap(),
        ];
        for view in views {
            let there = ctx.array_from_ndarray(&view).unwrap();
            assert_eq!(there.shape(), view.shape());
            assert_eq!(there.to_ndarray().unwrap(), view);
            let turned = ctx.entry().turn(&there).unwrap();
            assert_eq!(turned.to_ndarray().unwrap(), view.t());
            if let Some(view_of_it) = turned.view_nd() {
                assert_eq!(view_of_it, view.t());
            }
        }
    });
}
