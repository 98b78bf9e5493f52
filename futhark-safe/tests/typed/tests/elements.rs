//! `new` and `set` of arrays of opaque values, which compilers provide since 0.25.36, in the typed
//! interface. `tests/elements.rs` of futhark-safe tests the dynamic interface.

use futhark_safe::ErrorKind;
use futhark_safe_typed_tests::elements::{
    ArrayArrayPt, ArrayBlock, ArrayPt, ArrayRow, ArrayShape, Block, Context, Pt, PtFields, Row,
    Shape, ShapeVariant,
};

use super::support::each;

fn row(ctx: &Context, id: i64, xs: &[f32]) -> Row {
    Row::new(ctx, id, &ctx.array(xs).unwrap()).unwrap()
}

#[test]
fn elements_are_set_one_by_one() {
    each(|ctx: Context| {
        let (a, b) = (
            Pt::new(&ctx, 1, 0.5).unwrap(),
            Pt::new(&ctx, 2, 1.5).unwrap(),
        );
        let mut points = ArrayPt::new(&ctx, &[&a, &b, &a]).unwrap();
        points.set(2, &b).unwrap();
        let rows = [(1, 0.5), (2, 1.5), (2, 1.5)].map(|(n, x)| PtFields { n, x });
        assert_eq!(points.to_vec().unwrap(), rows);
        assert_eq!(ctx.entry().sum_points(&points).unwrap(), 6.5);
        let mut grid = ArrayArrayPt::new_nd(&ctx, [2, 2], &[&a, &a, &b, &b]).unwrap();
        grid.set([0, 1], &b).unwrap();
        assert_eq!(grid.n().unwrap().to_vec().unwrap(), [1, 2, 2, 2]);
        let error = grid.set([2, 0], &b).unwrap_err();
        assert!(error.to_string().contains("index [2, 0]"), "{error}");
        let error = ArrayArrayPt::new_nd(&ctx, [2, 1], &[&a]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(ArrayPt::new(&ctx, &[]).is_err());
    });
}

#[test]
fn elements_of_different_sizes_are_rejected() {
    each(|ctx: Context| {
        let (a, b) = (row(&ctx, 1, &[1.0, 2.0]), row(&ctx, 2, &[3.0, 4.0]));
        let long = row(&ctx, 3, &[5.0, 6.0, 7.0]);
        let mut rows = ArrayRow::new(&ctx, &[&a, &b]).unwrap();
        for error in [
            ArrayRow::new(&ctx, &[&a, &long]).unwrap_err(),
            rows.set(0, &long).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            assert!(error.to_string().contains("[3]"), "{error}");
        }
        rows.set(0, &b).unwrap();
        assert_eq!(rows.xs().unwrap().to_vec().unwrap(), [3.0, 4.0, 3.0, 4.0]);
        assert_eq!(ctx.entry().sum_rows(&rows).unwrap(), 28.0);
        // Each size is valid, and only their sum overflows.
        let wide = ctx.array_nd::<u8, 2>([1 << 62, 0], &[]).unwrap();
        let wide = Block::new(&ctx, &wide).unwrap();
        let error = ArrayBlock::new(&ctx, &[&wide, &wide]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert_eq!(
            ctx.entry().sum_rows(&rows).unwrap(),
            28.0,
            "the context works"
        );
    });
}

#[test]
fn elements_can_be_sums() {
    each(|ctx: Context| {
        let mut shapes = ctx.entry().shapes(4).unwrap();
        let xs = ctx.array(&[0.25f32, 0.5]).unwrap();
        let square = Shape::new(&ctx, &ShapeVariant::Box(xs)).unwrap();
        shapes.set(2, &square).unwrap();
        assert_eq!(ctx.entry().sum_shapes(&shapes).unwrap(), 6.75);
        let made = ArrayShape::new(&ctx, &[&square, &square]).unwrap();
        match made.index(1).unwrap().destruct().unwrap() {
            ShapeVariant::Box(xs) => assert_eq!(xs.to_vec().unwrap(), [0.25, 0.5]),
            ShapeVariant::Dot(i) => panic!("#dot {i}"),
        }
    });
}

/// Misuse 36. Constants of the program share memory, too.
#[test]
fn values_that_share_memory_do_not_change() {
    each(|ctx: Context| {
        let nine = Pt::new(&ctx, 9, 9.0).unwrap();
        for _ in 0..2 {
            let mut constant = ctx.entry().constant().unwrap();
            let held = constant.n().unwrap();
            constant.set(0, &nine).unwrap();
            assert_eq!(held.to_vec().unwrap(), [0, 1, 2]);
            assert_eq!(constant.n().unwrap().to_vec().unwrap(), [9, 1, 2]);
        }
        let mut points = ctx.entry().points(3).unwrap();
        let alias = ctx.entry().identity(&points).unwrap();
        let column = points.n().unwrap();
        let before = column.to_cow().unwrap();
        points.set(1, &nine).unwrap();
        assert_eq!(*before, [0, 1, 2], "a view, on hosts");
        assert_eq!(alias.n().unwrap().to_vec().unwrap(), [0, 1, 2]);
        assert_eq!(points.n().unwrap().to_vec().unwrap(), [0, 9, 2]);
    });
}
