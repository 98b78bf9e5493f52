//! Batches on every backend. On opencl, Oclgrind defers copies.

use futhark_safe::{Element, ErrorKind, HasArray, Result};
use futhark_safe_typed_tests::arrays::{self, Array, Context};

use super::support::each;

#[test]
fn many_transfers_and_calls_have_one_wait() {
    each(|ctx: Context| {
        let mut data: Vec<Vec<i32>> = (0..16).map(|i| (i..i + 100).collect()).collect();
        let reversed: Vec<Vec<i32>> = data
            .iter()
            .map(|xs| xs.iter().rev().copied().collect())
            .collect();
        let mut out = vec![vec![0i32; 100]; 16];
        let kept = ctx.batch(|batch| {
            let mut kept = Vec::new();
            // Not complete yet; host backends complete a download at the end, too.
            let early = batch.to_vec(&batch.array(vec![7i32])?)?.into_vec();
            assert_eq!(early.unwrap_err().kind(), ErrorKind::InvalidArgument);
            for (xs, out) in data.iter().zip(&mut out) {
                let ys = ctx.entry().reverse_i32(&batch.array(xs)?)?;
                batch.read_into(&ys, out)?;
                // Overwrites the memory of the array after the download.
                kept.push((
                    ctx.entry().set_first(ys, -1)?,
                    batch.to_vec(&batch.array(vec![7i32, 8])?)?,
                ));
            }
            Ok(kept)
        });
        let kept = kept.unwrap();
        data.fill(Vec::new());
        assert_eq!(out, reversed);
        for ((ys, download), reversed) in kept.into_iter().zip(&reversed) {
            let ys = ys.to_vec().unwrap();
            assert_eq!((ys[0], &ys[1..]), (-1, &reversed[1..]));
            assert_eq!(download.into_vec().unwrap(), [7, 8]);
        }
    });
}

/// A matrix, there and back in both ways.
fn round_trip<T: Element>(ctx: &Context, data: &[T], zero: T) -> Result<()>
where
    arrays::Program: HasArray<T, 1> + HasArray<T, 2>,
{
    let mut out = vec![zero; data.len()];
    let download = ctx.batch(|batch| {
        let matrix: Array<T, 2> = batch.array_nd([2, data.len() / 2], data)?;
        batch.read_into(&matrix, &mut out)?;
        batch.to_vec(&matrix)
    })?;
    assert_eq!(out, data);
    assert_eq!(download.into_vec()?, data);
    Ok(())
}

#[test]
fn elements_of_every_kind_round_trip() {
    each(|ctx: Context| {
        round_trip(&ctx, &[1i8, -2, 3, i8::MIN], 0).unwrap();
        round_trip(&ctx, &[1u64, u64::MAX, 3, 4], 0).unwrap();
        round_trip(&ctx, &[1.5f64, -2.0], 0.0).unwrap();
        round_trip(&ctx, &[true, false, false, true], false).unwrap();
        round_trip::<f32>(&ctx, &[], 0.0).unwrap();
    });
}

#[test]
fn transfers_of_a_lost_context_end_with_the_batch() {
    each(|ctx: Context| {
        let data = vec![1i32, 2, 3];
        let mut out = [0i32; 3];
        let result = ctx.batch(|batch| {
            let ys = ctx.entry().reverse_i32(&batch.array(&data)?)?;
            batch.read_into(&ys, &mut out)?;
            ctx.entry().divide(i64::MIN, -1)
        });
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
        // The batch has waited for the driver, which is intact.
        assert_eq!(out, [3, 2, 1]);
    });
}
