//! Packages with raw modules, and missing requirements.

use super::package::{BUILD, MAIN, Package, assert_says, compiler};

/// The example of `Context::with_raw`, on any backend.
const PLAIN: &str = r#"
#![deny(unsafe_code, warnings)]

use futhark_safe::{Backend, Config, Raw};

futhark_safe::include_program!(stats);

/// The mean by a plain C call.
macro_rules! plain_mean {
    ($ctx:expr, $xs:expr, $module:ident) => {{
        use stats::raw::$module as c;
        $ctx.with_raw(|raw: &mut Raw<'_, c::futhark_context>| {
            let (xs, mut mean) = (raw.pointer($xs)?, 0.0);
            // SAFETY: pointers of this context; `mean` is written before the call returns.
            let code = unsafe { c::futhark_entry_mean(raw.context(), &mut mean, xs) };
            raw.check(code)?;
            Ok(mean)
        })
    }};
}

#[expect(unsafe_code, reason = "calls C")]
fn main() -> Result<(), futhark_safe::Error> {
    let name = std::env::args().nth(1).expect("a backend");
    let backend: Backend = name.parse().expect("a backend");
    let ctx = stats::Context::new(&Config::new().backend(backend))?;
    let xs = ctx.array(&[1.0f32, 2.0, 5.0])?;
    let plain = match backend {
        Backend::C => plain_mean!(ctx, &xs, c),
        Backend::Multicore => plain_mean!(ctx, &xs, multicore),
        _ => plain_mean!(ctx, &xs, opencl),
    }?;
    println!("{plain} {}", ctx.entry().mean(&xs)?);
    Ok(())
}
"#;

/// A package with a raw module.
fn package(name: &str) -> Package {
    let package = Package::new(name);
    package.write(
        "build.rs",
        &BUILD.replace(".compile()", ".raw(true).compile()"),
    );
    package.write("src/main.rs", PLAIN);
    let manifest = std::fs::read_to_string(package.folder.join("Cargo.toml")).unwrap();
    package.write("Cargo.toml", &manifest.replace("[\"build\"]", "[\"raw\"]"));
    package
}

#[test]
fn plain_calls_work_on_each_backend() {
    if compiler().is_none() {
        return;
    }
    let package = package("outside-raw");
    if !package.builds() {
        return;
    }
    for backend in ["c", "multicore", "opencl"] {
        let output = package.cargo("run", &["--", backend], &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.trim(), "2.6666667 2.6666667");
    }
}

#[test]
fn missing_libclang_is_a_build_error() {
    if compiler().is_none() {
        return;
    }
    let text = package("outside-raw").fails(&[("LIBCLANG_PATH", "/nonexistent")]);
    assert_says(
        &text,
        &["libclang", "apt-get install libclang-dev", "LIBCLANG_PATH"],
    );
}

#[test]
fn a_raw_module_does_not_compile_where_unsafe_code_is_forbidden() {
    if compiler().is_none() {
        return;
    }
    let package = package("outside-raw");
    if !package.builds() {
        return;
    }
    package.write("src/main.rs", MAIN);
    assert_says(
        &package.fails(&[]),
        &[
            "allow(unsafe_code) incompatible with previous forbid",
            "put the program in a crate of its own",
        ],
    );
}

/// bindgen is a dependency of their build scripts only.
#[test]
fn only_raw_modules_need_bindgen() {
    let tree = |package: &Package, edges: &str| {
        let output = package.cargo("tree", &["--prefix", "none", "--edges", edges], &[]);
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let without = tree(&Package::new("outside-broken"), "normal,build");
    assert_says(&without, &["futhark-safe"]);
    assert!(!without.contains("bindgen"), "{without}");
    let with = package("outside-raw");
    assert_says(&tree(&with, "normal,build"), &["bindgen"]);
    let linked = tree(&with, "normal");
    assert!(!linked.contains("bindgen"), "{linked}");
}
