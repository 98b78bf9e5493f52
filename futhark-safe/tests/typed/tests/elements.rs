//! `new` and `set` of arrays of opaque values, which compilers provide since 0.25.36, in the typed
//! interface. `tests/elements.rs` of futhark-safe tests all kinds of elements.

use futhark_safe::ErrorKind;
use futhark_safe_typed_tests::elements::{ArrayArrayPt, ArrayPt, Context, Pt, PtFields};

use super::support::each;

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
