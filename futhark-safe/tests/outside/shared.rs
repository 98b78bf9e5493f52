//! Packages that open shared objects: without compilers, and without the features that run them.

use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_safe::Backend;
use futhark_safe::compile::{Build, Compiler};

use super::package::{Package, assert_says, compiler, full, manifest};

const PROGRAM: &str = "\
type dot = {x: f32, n: i64}
entry mean [n] (xs: [n]f32) : f32 = f32.sum xs / f32.i64 n
entry dot [n] (xs: [n]f32) : dot = {x = f32.sum xs, n}
";

const DYNAMIC: &str = r#"
use futhark_safe::Config;
use futhark_safe::dynamic::{Arg, Context, Library, Value};

fn main() -> Result<(), futhark_safe::Error> {
    let path = std::env::args().nth(1).expect("a path");
    // SAFETY: the test has built it.
    let library = unsafe { Library::open(path) }?;
    let ctx = Context::new(&library, &Config::new())?;
    let xs: Value = ctx.array(&[1.0f32, 2.0, 6.0])?.into();
    println!("{} {:?}", library.backend(), ctx.call("mean", vec![Arg::Borrow(&xs)])?);
    Ok(())
}
"#;

/// Without a linked program, so that values are trusted for a context.
const TYPED: &str = r#"
use futhark_safe::dynamic::Library;
use futhark_safe::{Config, Untrusted};

futhark_safe::include_program!(stats);

fn main() -> Result<(), futhark_safe::Error> {
    let path = std::env::args().nth(1).expect("a path");
    // SAFETY: the test has built it.
    let library = unsafe { Library::open(path) }?;
    let ctx = match stats::Context::with_library(&library, &Config::new()) {
        Ok(ctx) => ctx,
        Err(error) => {
            println!("{:?} {error}", error.kind());
            return Ok(());
        }
    };
    let mean: f32 = ctx.entry().mean(&ctx.array(&[1.0f32, 2.0, 6.0])?)?;
    println!("{} {mean}", ctx.backend());

    let bytes = ctx.entry().dot(&ctx.array(&[2.0f32])?)?.store()?.to_bytes()?;
    let untrusted = Untrusted::from_bytes(&bytes)?;
    println!("{}", untrusted.check::<stats::Dot>().unwrap_err());
    untrusted.check_for::<stats::Dot>(&ctx)?;
    // SAFETY: this process stored it.
    let stored = unsafe { untrusted.trust_for::<stats::Dot>(&ctx) }?;
    println!("{:?}", ctx.restore(&stored)?.x()?);

    let wrong = if library.backend() == futhark_safe::Backend::C { "multicore" } else { "c" };
    let config = Config::new().backend(wrong.parse().expect("a backend"));
    println!("{}", stats::Context::with_library(&library, &config).unwrap_err());
    println!("{}", stats::Context::new(&Config::new()).unwrap_err());
    Ok(())
}
"#;

const BUILD: &str = r#"
fn main() -> Result<(), futhark_safe::Error> {
    futhark_safe::build::Program::new("stats.fut").linked(false).compile()
}
"#;

/// A package whose only feature is `dynamic`.
fn package(name: &str, build_dependencies: &str) -> Package {
    let package = Package::empty(name);
    let safe = env!("CARGO_MANIFEST_DIR");
    let dependencies = format!(
        "[dependencies]\n\
         futhark-safe = {{ path = {safe:?}, default-features = false, features = [\"dynamic\"] }}\n\n\
         {build_dependencies}"
    );
    package.write("Cargo.toml", &manifest(name, 2024, &dependencies));
    package
}

/// Compiles `program`, and moves the shared object beside the package.
fn shared_object(
    package: &Package,
    compiler: &Compiler,
    program: &str,
    backend: Backend,
) -> PathBuf {
    package.write("stats.fut", program);
    let build = Build::new(package.folder.join("stats.fut"), backend)
        .compiler(compiler.clone())
        .out_dir(package.folder.join("built"));
    let artifact = build.run().unwrap_or_else(|error| panic!("{error}"));
    let file = package.folder.join("machine").join("libstats.so");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&file);
    std::fs::copy(artifact.library(), &file).unwrap();
    std::fs::remove_dir_all(package.folder.join("built")).unwrap();
    file
}

/// Runs the binary of the package with nothing on `PATH`; only the OpenCL driver of this machine.
fn run(package: &Package, library: &Path) -> String {
    let name = package.folder.file_name().unwrap();
    let mut command = Command::new(Package::target().join("debug").join(name));
    command.arg(library).env_clear().env("PATH", "/nonexistent");
    for driver in ["FUTHARK_LIBOPENCL", "OCL_ICD_VENDORS", "LD_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(driver) {
            command.env(driver, value);
        }
    }
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn libraries_are_opened_without_compilers() {
    let Some(compiler) = compiler() else {
        return;
    };
    let package = package("outside-shared", "");
    package.write("src/main.rs", DYNAMIC);
    let tree = package.succeeds("tree", &["--edges", "normal,build"], &[]);
    assert_says(&tree, &["futhark-manifest", "libloading"]);
    for absent in ["cc ", "hmac-sha256", "bindgen"] {
        let named = tree
            .lines()
            .any(|line| line.contains(&format!("\u{2500} {absent}")));
        assert!(!named, "{absent} is a dependency:\n{tree}");
    }
    package.succeeds("build", &[], &[]);
    for backend in [Backend::C, Backend::Multicore, Backend::OpenCl] {
        let library = shared_object(&package, &compiler, PROGRAM, backend);
        let answer = run(&package, &library);
        assert_eq!(answer.trim(), format!("{backend} [Scalar(F32(3.0))]"));
    }
}

#[test]
fn typed_contexts_are_made_of_libraries() {
    if !full() {
        return println!("skipped: FUTHARK_TESTS_FULL is not set");
    }
    let Some(compiler) = compiler() else {
        return;
    };
    let safe = env!("CARGO_MANIFEST_DIR");
    // With the default features, which a build script does not need, and which change nothing for it.
    let package = package(
        "outside-shared-typed",
        &format!(
            "[build-dependencies]\nfuthark-safe = {{ path = {safe:?}, features = [\"build\"] }}\n"
        ),
    );
    package.write("build.rs", BUILD);
    package.write("stats.fut", PROGRAM);
    package.write("src/main.rs", TYPED);
    // The module needs no C compiler.
    package.succeeds("build", &[], &[("CC", "/nonexistent/cc")]);
    for backend in [Backend::C, Backend::OpenCl] {
        let library = shared_object(&package, &compiler, PROGRAM, backend);
        let answer = run(&package, &library);
        let first = format!("{backend} 3\n");
        assert_says(
            &answer,
            &[
                &first,
                "another program",
                "\n2.0\n",
                &format!("library was built for backend {backend}, but"),
                "not linked into this binary",
            ],
        );
    }
    // Another type of a field, another consumed parameter, and another order of functions.
    let narrower = PROGRAM.replace("n: i64", "n: i32");
    for changed in [
        narrower.replace("n}\n", "n = i32.i64 n}\n"),
        PROGRAM.replace("mean [n] (xs: [n]f32)", "mean [n] (xs: *[n]f32)"),
        PROGRAM.replace("entry mean", "entry zmean"),
    ] {
        assert_ne!(changed, PROGRAM);
        let library = shared_object(&package, &compiler, &changed, Backend::C);
        let answer = run(&package, &library);
        assert_says(&answer, &["Load ", "other types or entry points"]);
    }
    package.write("stats.fut", PROGRAM);
}
