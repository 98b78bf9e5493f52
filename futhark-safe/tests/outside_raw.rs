//! What a user of raw modules sees: a crate of its own, and what must be there for it.
#![cfg(feature = "raw")]

mod package;

use package::{BUILD, MAIN, Package, assert_says};

/// The example of `Context::with_raw`, on whichever backend the context has.
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

/// A package whose build script asks for a raw module.
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
fn plain_calls_on_each_backend() {
    let package = package("outside-raw");
    for backend in ["c", "multicore", "opencl"] {
        let output = package.cargo("run", &["--", backend], &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.trim(), "2.6666667 2.6666667");
    }
}

#[test]
fn no_libclang() {
    let text = package("outside-no-libclang").fails(&[("LIBCLANG_PATH", "/nonexistent")]);
    assert_says(
        &text,
        &["libclang", "apt-get install libclang-dev", "LIBCLANG_PATH"],
    );
}

/// Who forbids unsafe code cannot have it by a module that was generated, either.
#[test]
fn a_crate_that_forbids_unsafe_code_has_no_raw_module() {
    let package = package("outside-raw-forbidden");
    package.write("src/main.rs", MAIN);
    assert_says(
        &package.fails(&[]),
        &[
            "allow(unsafe_code) incompatible with previous forbid",
            "put the program in a crate of its own",
        ],
    );
}

/// bindgen and its tree are built by those who ask for it, and by their build scripts only.
#[test]
fn bindgen_is_built_for_raw_modules_only() {
    let tree = |package: &Package, edges: &str| {
        let output = package.cargo("tree", &["--prefix", "none", "--edges", edges], &[]);
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let without = tree(&Package::new("outside-tree"), "normal,build");
    assert_says(&without, &["futhark-safe"]);
    assert!(!without.contains("bindgen"), "{without}");
    let with = package("outside-tree-raw");
    assert_says(&tree(&with, "normal,build"), &["bindgen"]);
    let linked = tree(&with, "normal");
    assert!(!linked.contains("bindgen"), "{linked}");
}
