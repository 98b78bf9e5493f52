//! Sums with one variant, as compilers since 0.27 represent them: without a tag, and without any
//! component if there is no payload.

use futhark_safe_typed_tests::unary::{
    Context, Payload, PayloadVariant, Row, RowVariant, Single, SingleVariant,
};

use super::support::each;

#[test]
fn a_sum_without_components_is_a_value_like_any_other() {
    each(|ctx: Context| {
        let single = Single::new(&ctx, &SingleVariant::Only).unwrap();
        let SingleVariant::Only = single.destruct().unwrap();
        assert_eq!(single.variant_name().unwrap(), "only");
        assert_eq!(ctx.entry().of_single(&single).unwrap(), 7);
        let stored = single.store().unwrap();
        assert!(stored.body().is_empty());
        let back: Single = ctx.restore(&stored).unwrap();
        assert_eq!(ctx.entry().of_single(&back).unwrap(), 7);
        assert_eq!(
            ctx.entry()
                .of_single(&ctx.entry().single(1).unwrap())
                .unwrap(),
            7
        );
    });
}

#[test]
fn a_payload_has_no_tag_before_it() {
    each(|ctx: Context| {
        let payload = Payload::new(&ctx, &PayloadVariant::Some(3, 0.5)).unwrap();
        assert_eq!(ctx.entry().of_payload(&payload).unwrap(), 3.5);
        let stored = payload.store().unwrap();
        assert_eq!(stored.body().len(), 7 + 4 + 7 + 8);
        let back: Payload = ctx.restore(&stored).unwrap();
        let PayloadVariant::Some(a, b) = back.destruct().unwrap();
        assert_eq!((a, b), (3, 0.5));

        let array = ctx.array(&[1, 2, 3]).unwrap();
        let row = Row::new(&ctx, &RowVariant::Wrap(array)).unwrap();
        let RowVariant::Wrap(xs) = row.destruct().unwrap();
        // The payload shares its memory with the sum.
        let row = ctx.entry().grow(row).unwrap();
        assert_eq!(xs.to_vec().unwrap(), [1, 2, 3]);
        assert_eq!(ctx.entry().of_row(&row).unwrap(), 9 + 2 + 3);
    });
}
