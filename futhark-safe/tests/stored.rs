//! Stored values through the dynamic interface, with every compiler, and through serde.

use futhark_safe::dynamic::{Arg, Context, Library, Opaque, Stored, Value};
use futhark_safe::{Backend, Config, ErrorKind, Untrusted};

use super::support::{self, says};

fn library(backend: Backend, compiler: &support::Compiler) -> Library {
    support::library("../typed/programs/stored.fut", backend, compiler)
}

fn opaque(ctx: &Context, entry: &str, args: Vec<Arg<'_>>) -> Opaque {
    support::opaque(support::call_one(ctx, entry, args).unwrap())
}

fn sizes(ctx: &Context) -> Opaque {
    let args = [6i64, 7].map(|n| Arg::Consume(n.into()));
    opaque(ctx, "sizes", args.into())
}

/// A value of several types.
fn values(ctx: &Context) -> Vec<Opaque> {
    let xs = Value::from(ctx.array(&[1.0, -2.0, 3.0]).unwrap());
    let one = |value: f64| Arg::Consume(value.into());
    vec![
        sizes(ctx),
        opaque(ctx, "point", vec![one(1.0), one(2.0)]),
        opaque(ctx, "circle", vec![one(2.5)]),
        opaque(ctx, "points", vec![Arg::Borrow(&xs), Arg::Borrow(&xs)]),
        opaque(ctx, "shapes", vec![Arg::Borrow(&xs)]),
        opaque(ctx, "track", vec![Arg::Borrow(&xs)]),
        opaque(ctx, "items", vec![Arg::Consume(3i64.into())]),
    ]
}

#[test]
fn values_are_restored_on_any_backend_of_one_compiler() {
    // Of each compiler: a context, and a stored value.
    let mut compilers: Vec<(Context, Stored)> = Vec::new();
    let backends = support::backends();
    let _device = support::lock_device();
    for compiler in support::compilers() {
        let contexts: Vec<Context> = backends
            .iter()
            .map(|&backend| Context::new(&library(backend, &compiler), &Config::new()).unwrap())
            .collect();
        let store = |ctx| -> Vec<Stored> {
            let values = values(ctx).into_iter();
            values.map(|value| value.store().unwrap()).collect()
        };
        let first = store(&contexts[0]);
        for ctx in &contexts {
            assert!(store(ctx) == first, "equal bytes");
            for stored in &first {
                assert!(ctx.restore(stored).unwrap().store().unwrap() == *stored);
                let untrusted = Untrusted::from_bytes(&stored.to_bytes().unwrap()).unwrap();
                ctx.library().check_stored(&untrusted).unwrap();
                // The checks do not cover the sums among them, whose payloads are records and arrays.
                let accepted = ctx.library().accept(untrusted.clone());
                match stored.type_name() {
                    "shape" | "[]shape" | "track" => {
                        assert_eq!(accepted.unwrap_err().kind(), ErrorKind::Unsupported);
                    }
                    _ => assert!(accepted.unwrap() == *stored),
                }
                // SAFETY: `store` returned these bytes.
                let trusted = unsafe { ctx.library().trust(untrusted) }.unwrap();
                assert!(trusted == *stored);
            }
        }
        let other = support::library("failures.fut", Backend::C, &compiler);
        let other = Context::new(&other, &Config::new()).unwrap();
        says(
            other.restore(&first[0]),
            ErrorKind::Restore,
            "another program",
        );
        // Layouts may differ between versions of the compiler.
        let ours = &contexts[0];
        for (theirs, stored) in &compilers {
            for (ctx, stored) in [(ours, stored), (theirs, &first[0])] {
                let error = ctx.restore(stored).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Restore, "{error}");
                let untrusted = Untrusted::from_bytes(&stored.to_bytes().unwrap()).unwrap();
                let error = ctx.library().check_stored(&untrusted).unwrap_err();
                assert!(error.to_string().contains("another program"), "{error}");
            }
        }
        compilers.push((ours.clone(), first[0].clone()));
    }
}

#[cfg(feature = "serde")]
#[test]
fn serde_deserializes_untrusted_values() {
    let Some(compiler) = support::newest() else {
        return;
    };
    let ctx = support::start(&library(Backend::C, &compiler));
    let stored = sizes(&ctx).store().unwrap();
    let json = serde_json::to_string(&stored).unwrap();
    assert!(json.starts_with("[137,70,85,84,13,10,26,10,1,"), "{json}");
    let untrusted: Untrusted = serde_json::from_str(&json).unwrap();
    assert!(untrusted == Untrusted::from_bytes(&stored.to_bytes().unwrap()).unwrap());
    // SAFETY: `store` returned these bytes.
    let trusted = unsafe { ctx.library().trust(untrusted) }.unwrap();
    assert!(ctx.restore(&trusted).unwrap().store().unwrap() == stored);

    for (bad, why) in [
        (
            json.replacen("137", "136", 1),
            "the magic number is missing",
        ),
        (json.replacen("]", ",0]", 1), "truncated or too long"),
        ("[]".to_owned(), "expected more than 32 bytes, got 0"),
        ("[300]".to_owned(), "300"),
        ("\"text\"".to_owned(), "expected more than 32 bytes, got 4"),
        ("{}".to_owned(), "the bytes of a stored value"),
    ] {
        let error = serde_json::from_str::<Untrusted>(&bad).unwrap_err();
        assert!(error.to_string().contains(why), "{bad}: {error}");
    }
}
