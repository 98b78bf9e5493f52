//! Stored values through the dynamic interface, with every compiler, and through serde.

use futhark_safe::dynamic::{Arg, Context, Library, Opaque, Value};
use futhark_safe::{Backend, Config, ErrorKind, Untrusted};

use super::support;

fn library(backend: Backend, compiler: &futhark_safe::compile::Compiler) -> Library {
    support::library("../typed/programs/stored.fut", backend, compiler)
}

fn on_c() -> Option<Context> {
    let compiler = support::newest()?;
    Some(Context::new(&library(Backend::C, &compiler), &Config::new()).unwrap())
}

fn opaque(ctx: &Context, entry: &str, args: Vec<Arg<'_>>) -> Opaque {
    match ctx.call(entry, args).unwrap().remove(0) {
        Value::Opaque(opaque) => opaque,
        other => panic!("{entry} returned {other:?}"),
    }
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
    let mut per_compiler = Vec::new();
    for compiler in support::compilers() {
        let libraries: Vec<Library> = support::backends()
            .into_iter()
            .map(|backend| library(backend, &compiler))
            .collect();
        let _device = support::lock_device();
        let contexts: Vec<Context> = libraries
            .iter()
            .map(|library| Context::new(library, &Config::new()).unwrap())
            .collect();
        let stored: Vec<_> = contexts
            .iter()
            .map(|ctx| {
                values(ctx)
                    .iter()
                    .map(|v| v.store().unwrap())
                    .collect::<Vec<_>>()
            })
            .collect();
        assert!(
            stored.windows(2).all(|pair| pair[0] == pair[1]),
            "equal bytes"
        );
        for ctx in &contexts {
            for stored in &stored[0] {
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
        per_compiler.push((contexts, stored));
    }
    // Layouts may differ between versions of the compiler.
    for (i, (contexts, _)) in per_compiler.iter().enumerate() {
        for (_, stored) in per_compiler
            .iter()
            .enumerate()
            .filter(|(j, _)| i != *j)
            .map(|(_, p)| p)
        {
            let error = contexts[0].restore(&stored[0][0]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Restore, "{error}");
            let bytes = stored[0][0].to_bytes().unwrap();
            let untrusted = Untrusted::from_bytes(&bytes).unwrap();
            let error = contexts[0].library().check_stored(&untrusted).unwrap_err();
            assert!(error.to_string().contains("another program"), "{error}");
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn serde_deserializes_untrusted_values() {
    let Some(ctx) = on_c() else {
        return;
    };
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
