//! Exclusive use of a context, on every backend.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futhark_safe::{ErrorKind, Result};
use futhark_safe_typed_tests::basics;

use super::support::each;

#[test]
fn calls_transfers_and_failures_are_as_usual() {
    each(|ctx: basics::Context| {
        let clone = ctx.clone();
        let xs = ctx.array(&[1, 2, 3]).unwrap();
        let (sum, changed) = ctx
            .exclusive(|| -> Result<(i32, Vec<i32>)> {
                let mut sum = 0;
                for x in 0..100 {
                    sum = clone.entry().add(sum, x)?;
                }
                // Shares the memory of `xs`, so the call gets a copy.
                let alias = ctx.entry().identity(&xs)?;
                let changed = ctx.entry().set_first(alias, sum)?;
                for _ in 0..20 {
                    let error = ctx.entry().element(&xs, 7).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Program, "{error}");
                    assert_eq!(ctx.entry().element(&xs, 1)?, 2);
                }
                let mut to = [0; 3];
                changed.read_into(&mut to)?;
                ctx.batch(|batch| batch.read_into(&changed, &mut to))?;
                assert_eq!(to, [4950, 2, 3]);
                Ok((sum, changed.to_vec()?))
            })
            .unwrap();
        assert_eq!((sum, changed), (4950, vec![4950, 2, 3]));
        assert_eq!(xs.to_vec().unwrap(), [1, 2, 3]);
        ctx.exclusive(|| ctx.sync()).unwrap();
    });
}

#[test]
fn threads_share_a_context_by_scopes_and_calls() {
    each(|ctx: basics::Context| {
        let xs = ctx.array(&[5, 6]).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (ctx, xs) = (&ctx, &xs);
                scope.spawn(move || {
                    for i in 0..20 {
                        assert_eq!(ctx.entry().add(thread, i).unwrap(), thread + i);
                        let kept = ctx.exclusive(|| {
                            let alias = ctx.entry().identity(xs).unwrap();
                            ctx.entry().set_first(alias, thread).unwrap()
                        });
                        assert_eq!(kept.to_vec().unwrap(), [thread, 6]);
                    }
                });
            }
        });
        assert_eq!(xs.to_vec().unwrap(), [5, 6]);
    });
}

#[test]
fn values_of_another_context_are_refused_in_the_scope() {
    // Not on Oclgrind, which works with one context at a time.
    let ctx =
        basics::Context::new(&basics::Config::new().backend(futhark_safe::Backend::C)).unwrap();
    let other =
        basics::Context::new(&basics::Config::new().backend(futhark_safe::Backend::C)).unwrap();
    let theirs = other.array(&[1, 2]).unwrap();
    ctx.exclusive(|| {
        let error = ctx.entry().identity(&theirs).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongContext, "{error}");
        other.exclusive(|| {
            assert_eq!(ctx.entry().add(1, 2).unwrap(), 3);
            assert_eq!(theirs.to_vec().unwrap(), [1, 2]);
        });
    });
}

#[test]
fn a_panic_in_the_scope_leaves_the_context_usable() {
    each(|ctx: basics::Context| {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            ctx.exclusive(|| {
                let xs = ctx.array(&[1, 2]).unwrap();
                assert_eq!(ctx.entry().element(&xs, 0).unwrap(), 2, "on purpose");
            });
        }));
        assert!(panicked.is_err());
        let other = std::thread::scope(|scope| {
            let call = scope.spawn(|| ctx.entry().add(1, 2).unwrap());
            call.join().unwrap()
        });
        assert_eq!(other, 3);
    });
}
