//! Views do not change, and copies do not share memory.

use futhark_safe::{Backend, ErrorKind};
use futhark_safe_typed_tests::arrays;

use super::support::each;

/// Consumes values that share the memory of the array in every possible way.
#[test]
fn a_view_does_not_change() {
    each(|ctx: arrays::Context| {
        let entry = ctx.entry();
        let xs = ctx.array(&[1, 2, 3, 4]).unwrap();
        let aliases = [entry.alias(&xs).unwrap(), entry.head(2, &xs).unwrap()];
        let pair = entry.pair(&xs, &xs).unwrap();
        let field = entry.left(&pair).unwrap();
        let view = xs.to_cow().unwrap();
        for alias in aliases {
            assert_eq!(entry.set_first(alias, 99).unwrap().get(0).unwrap(), 99);
        }
        assert_eq!(entry.poke(pair, 98).unwrap().get(0).unwrap(), 98);
        assert_eq!(entry.set_first(field, 97).unwrap().get(0).unwrap(), 97);
        ctx.clear_caches().unwrap();
        assert_eq!(*view, [1, 2, 3, 4]);
        drop(view);
        assert_eq!(
            entry.set_first(xs, 96).unwrap().to_vec().unwrap(),
            [96, 2, 3, 4]
        );

        let constant = entry.constant().unwrap();
        let view = constant.to_cow().unwrap();
        entry.set_first(entry.constant().unwrap(), 99).unwrap();
        assert_eq!(*view, [10, 20, 30, 40]);
    });
}

/// The memory of a lost context is freed with its last value, so a view stays readable.
#[test]
fn a_view_outlives_the_loss_of_its_context() {
    each(|ctx: arrays::Context| {
        let xs = ctx.array(&[1, 2, 3]).unwrap();
        let view = xs.view();
        let error = ctx.entry().divide(i64::MIN, -1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
        assert_eq!(xs.try_clone().unwrap_err().kind(), ErrorKind::ContextLost);
        assert_eq!(xs.to_vec().unwrap_err().kind(), ErrorKind::ContextLost);
        let expected = (ctx.backend() != Backend::OpenCl).then_some(&[1, 2, 3][..]);
        assert_eq!((view, xs.view()), (expected, expected));
    });
}

/// It outlives the context, and other threads read it. Where there are no views, the array comes back.
#[test]
fn an_array_becomes_a_slice_that_owns_it() {
    each(|ctx: arrays::Context| {
        let gpu = ctx.backend().is_gpu();
        let truths = ctx.array(&[true]).unwrap().into_host().unwrap_err();
        assert_eq!(truths.to_vec().unwrap(), [true]);
        let xs = ctx.array_nd([2, 2], &[1, 2, 3, 4]).unwrap();
        drop(ctx);
        match xs.into_host() {
            Ok(host) => {
                assert!(!gpu);
                let host = std::thread::spawn(move || {
                    assert_eq!(*host, [1, 2, 3, 4]);
                    host
                });
                let host = host.join().unwrap();
                assert_eq!(host.shape(), [2, 2]);
                assert_eq!(host.into_array().to_vec().unwrap(), [1, 2, 3, 4]);
            }
            Err(xs) => {
                assert!(gpu);
                assert_eq!(xs.to_vec().unwrap(), [1, 2, 3, 4]);
            }
        }
    });
}

/// Arguments, results of earlier calls and constants of the program share memory with an array.
#[test]
fn elements_written_in_place_change_no_other_value() {
    each(|ctx: arrays::Context| {
        if ctx.backend().is_gpu() {
            return;
        }
        let entry = ctx.entry();
        let xs = ctx.array(&[1, 2, 3, 4]).unwrap();
        let pair = entry.pair(&xs, &xs).unwrap();
        for shared in [
            entry.alias(&xs).unwrap(),
            entry.head(2, &xs).unwrap(),
            entry.left(&pair).unwrap(),
        ] {
            let mut host = shared.into_host().unwrap();
            host.to_mut().unwrap()[0] = 99;
            assert_eq!(host[..2], [99, 2]);
        }
        assert_eq!(xs.to_vec().unwrap(), [1, 2, 3, 4]);
        let mut constant = entry.constant().unwrap().into_host().unwrap();
        constant.to_mut().unwrap()[0] = 99;
        assert_eq!(entry.constant().unwrap().get(0).unwrap(), 10);
        let count = |copies: &[futhark_safe::Copies]| copies.iter().map(|c| c.count).sum::<u64>();
        assert_eq!(count(&ctx.copies()), 4);

        // Nothing shares this one any more: no copy.
        drop(pair);
        let before = xs.view().unwrap().as_ptr();
        let mut host = xs.into_host().unwrap();
        host.to_mut().unwrap()[3] = 5;
        assert_eq!(host.as_ptr(), before);
        assert_eq!(count(&ctx.copies()), 4);
        let doubled = entry.set_first(host.into_array(), 7).unwrap();
        assert_eq!(doubled.to_vec().unwrap(), [7, 2, 3, 5]);
    });
}

/// Elements are written to the array's own memory on host backends.
#[test]
fn arrays_are_made_by_a_function() {
    each(|ctx: arrays::Context| {
        let matrix = ctx.array_from_fn([2, 3], |i| i as i32).unwrap();
        assert_eq!(matrix.to_vec().unwrap(), [0, 1, 2, 3, 4, 5]);
        let turned = ctx.entry().transpose_i32(&matrix).unwrap();
        assert_eq!(turned.to_vec().unwrap(), [0, 3, 1, 4, 2, 5]);
        let truths = ctx.array_from_fn([3], |i| i != 1).unwrap();
        let truths = ctx.entry().reverse_bool(&truths).unwrap();
        assert_eq!(truths.to_vec().unwrap(), [true, false, true]);
        let none = ctx.array_from_fn([0], |_| -> i32 { unreachable!() });
        assert!(none.unwrap().is_empty());
        let error = ctx.array_from_fn([usize::MAX, 2], |_| 0i32).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");

        // 128 TiB. The function is not called for memory that does not exist.
        let error = ctx.array_from_fn([1 << 44], |_| -> i64 { unreachable!() });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::OutOfMemory);

        // A panic leaves no array, and a context that works.
        let used = ctx.memory().unwrap();
        let stops =
            || ctx.array_from_fn([1000], |i| if i < 10 { i as i64 } else { panic!("stop") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(stops)).is_err());
        assert_eq!(ctx.memory().unwrap().host, used.host);
        assert_eq!(turned.to_vec().unwrap(), [0, 3, 1, 4, 2, 5]);
    });
}

/// The context is not locked while the function runs.
#[test]
fn the_function_of_an_array_can_use_the_context() {
    each(|ctx: arrays::Context| {
        let xs = ctx.array(&[4, 5, 6]).unwrap();
        let ys = ctx.array_from_fn([3], |i| {
            let turned = ctx.entry().set_first(xs.try_clone().unwrap(), i as i32);
            turned.unwrap().to_vec().unwrap().iter().sum::<i32>()
        });
        assert_eq!(ys.unwrap().to_vec().unwrap(), [11, 12, 13]);
        let nested = ctx.array_from_fn([2], |i| {
            let inner = ctx.array_from_fn([i + 1], |j| j as i32 + 1).unwrap();
            inner.get(i).unwrap()
        });
        assert_eq!(nested.unwrap().to_vec().unwrap(), [1, 2]);
    });
}
