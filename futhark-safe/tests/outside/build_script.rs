//! A user's package that depends on futhark-safe by path, built by Cargo: with all requirements, and
//! with one of them missing at a time.

use std::path::Path;
use std::process::Command;

use super::package::{BUILD, PROGRAM, Package, assert_says, compiler, manifest, no_futhark};

/// Hides the GPU libraries of this machine.
const NO_DRIVERS: [(&str, &str); 3] = [
    ("FUTHARK_LIBOPENCL", "/nonexistent/libOpenCL.so.1"),
    ("FUTHARK_LIBCUDA", "/nonexistent/libcuda.so.1"),
    ("FUTHARK_LIBAMDHIP64", "/nonexistent/libamdhip64.so"),
];

#[test]
fn a_binary_can_contain_all_backends() {
    if compiler().is_none() {
        return;
    }
    let package = Package::new("outside");
    let five = BUILD.replace(
        "[Backend::OpenCl,",
        "[Backend::Cuda, Backend::Hip, Backend::OpenCl,",
    );
    package.write("build.rs", &five);
    if !package.builds() {
        return;
    }
    let prints = |backend: &str, environment: &[(&str, &str)], words: &[&str]| {
        let mut arguments = vec!["--", backend];
        arguments.retain(|_| !backend.is_empty());
        assert_says(&package.succeeds("run", &arguments, environment), words);
    };
    for backend in ["c", "multicore", "opencl"] {
        let answer = format!("{backend} 2.6666667 [0.125, 0.25, 0.625]");
        prints(backend, &[], &[&answer]);
    }
    // A machine without an OpenCL platform.
    let no_platform = [("OCL_ICD_VENDORS", "/nonexistent")];
    prints(
        "opencl",
        &no_platform,
        &["Load", "no OpenCL platform", "install"],
    );
    // The binary starts without any driver, and names the one that a backend needs. Without a
    // backend in the configuration it takes the first that works.
    for (backend, words) in [
        ("", &["multicore 2.6666667"][..]),
        ("c", &["c 2.6666667"]),
        (
            "opencl",
            &["Load", "FUTHARK_LIBOPENCL", "/nonexistent/libOpenCL.so.1"],
        ),
        ("cuda", &["Load", "/nonexistent/libcuda.so.1"]),
        ("hip", &["Load", "/nonexistent/libamdhip64.so"]),
        // A backend that the program was not compiled for.
        ("ispc", &["Unsupported", "ispc", "multicore"]),
    ] {
        prints(backend, &NO_DRIVERS, words);
    }
    let needed = Command::new("ldd")
        .arg(Package::target().join("debug/outside"))
        .output()
        .unwrap();
    let needed = String::from_utf8(needed.stdout).unwrap();
    assert!(needed.contains("libc.so"), "{needed}");
    for library in ["OpenCL", "cuda", "nvrtc", "hip"] {
        assert!(!needed.contains(library), "{library} is needed:\n{needed}");
    }
    // Variables that choose the C compiler, or its flags, run the build script again.
    for variable in ["CC", "CFLAGS"] {
        let text = package.fails(&[(variable, "--no-such-compiler")]);
        assert_says(&text, &["--no-such-compiler"]);
    }
}

/// Values of every kind, so that the module has code of every kind.
const KINDS: &str = "
type point = {x: f64, y: f64}
type shape = #circle f64 | #box f64 f64
entry point (x: f64) (y: f64) : point = {x, y}
entry area (s: shape) : f64 = match s case #circle r -> r * r case #box a b -> a * b
entry half [n] (xs: [n]f16) : [n]f16 = map (/ 2) xs
entry points [n] (xs: [n]f64) : [n]point = map (\\x -> {x, y = x}) xs
";

#[test]
fn a_dependency_has_any_name_and_its_users_any_lints() {
    if compiler().is_none() {
        return;
    }
    let package = Package::empty("outside-renamed");
    let path = env!("CARGO_MANIFEST_DIR");
    let dependencies = format!(
        "[dependencies]\nfut = {{ package = \"futhark-safe\", path = {path:?} }}\n\n\
         [build-dependencies]\n\
         fut = {{ package = \"futhark-safe\", path = {path:?}, default-features = false, features = [\"build\"] }}\n"
    );
    package.write(
        "Cargo.toml",
        &manifest("outside-renamed", 2024, &dependencies),
    );
    let build = BUILD.replace("futhark_safe", "fut");
    package.write("build.rs", &build.replace("stats.fut", "kinds.fut"));
    package.write("kinds.fut", KINDS);
    let main = "//! A package with strict lints.\n\
        #![deny(missing_docs, clippy::pedantic, clippy::nursery, clippy::restriction)]\n\
        #![allow(clippy::blanket_clippy_restriction_lints, reason = \"all of them\")]\n\
        #![deny(missing_copy_implementations, missing_debug_implementations, variant_size_differences)]\n\
        #![deny(unused_qualifications, unused_results, unused_lifetimes, single_use_lifetimes)]\n\
        #![deny(elided_lifetimes_in_paths, explicit_outlives_requirements, let_underscore_drop)]\n\
        #![deny(trivial_casts, trivial_numeric_casts, unnameable_types, unreachable_pub)]\n\n\
        fut::include_program!(kinds);\n\nfn main() {}\n";
    package.write("src/main.rs", main);
    if !package.builds() {
        return;
    }
    if package
        .command("clippy", &["--version"], &[])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        package.succeeds("clippy", &[], &[]);
    }
}

/// Builds a package with this build script and program, which fails with an error that says this.
fn refused(script: &str, program: &str, environment: &[(&str, &str)], words: &[&str]) -> String {
    let package = Package::new("outside-broken");
    package.write("build.rs", script);
    package.write("stats.fut", program);
    let text = package.fails(environment);
    assert_says(&text, words);
    // Cargo shows the output of the script before the error, if there is any.
    assert!(!text.contains("--- stdout"), "{text}");
    text
}

/// The build script, with a variable that Cargo sets for it.
fn script_with(variable: &str, value: &str) -> String {
    let begin = "fn main() -> Result<(), Error> {";
    let set = format!("{begin} unsafe {{ std::env::set_var({variable:?}, {value:?}) }};");
    BUILD.replace(begin, &set)
}

#[test]
fn wrong_targets_and_compilers_are_refused() {
    for (name, value) in [
        ("CARGO_CFG_TARGET_OS", "freebsd"),
        ("CARGO_CFG_TARGET_OS", "unknown"),
        ("CARGO_CFG_TARGET_POINTER_WIDTH", "32"),
    ] {
        let supported = "Linux, macOS and Windows (x86_64-pc-windows-gnu)";
        let words = ["cannot compile for", supported];
        let text = refused(&script_with(name, value), PROGRAM, &[], &words);
        assert!(!text.contains("cc:"), "{text}");
    }
    let script = script_with("HOST", "riscv64gc-unknown-linux-gnu");
    let native = script.replace(".compile()", ".native().compile()");
    let words = ["cannot compile for", "`native()`", "-march="];
    refused(&native, PROGRAM, &[], &words);

    let found = "no Futhark compiler was found";
    let words = [found, "apt-get install", "brew", "FUTHARK"];
    refused(BUILD, PROGRAM, &no_futhark(), &words);
    for (file, word) in [("/nonexistent/futhark", ""), ("/bin/echo", "--version")] {
        let unusable = format!("cannot use {file} as a Futhark compiler");
        refused(BUILD, PROGRAM, &[("FUTHARK", file)], &[&unusable, word]);
    }
}

#[test]
fn wrong_programs_and_missing_tools_are_build_errors() {
    let Some(futhark) = compiler() else {
        return;
    };
    let ill_typed = "entry f (x: i32) : i32 = x + true\n";
    let words = ["Error at stats.fut:1:", "rejected the program"];
    refused(BUILD, ill_typed, &[], &words);
    let other = BUILD.replace("stats.fut", "other.fut");
    let words = ["the Futhark source file other.fut does not exist"];
    refused(&other, PROGRAM, &[], &words);
    let ispc = BUILD.replace("Backend::OpenCl", "Backend::Ispc");
    let words = ["cannot compile for the backend ispc", "use multicore"];
    refused(&ispc, PROGRAM, &[], &words);
    // Only the build script uses CC; Cargo links with `cc`.
    for (variable, file, word) in [
        ("CC", "/nonexistent/cc", "cannot run a C compiler"),
        ("AR", "/nonexistent/ar", ""),
    ] {
        let words = [word, file, "install gcc or clang"];
        refused(BUILD, PROGRAM, &[(variable, file)], &words);
    }
    if Path::new("/usr/include/CL/cl.h").exists() {
        println!("skipped: every C compiler finds the OpenCL headers of this machine");
        return;
    }
    let futhark = futhark.program().to_str().unwrap();
    let environment = [("FUTHARK", futhark), ("FUTHARK_TOOLCHAIN", "/nonexistent")];
    let needs = "the backend opencl needs the OpenCL headers";
    refused(BUILD, PROGRAM, &environment, &[needs, "opencl-headers"]);
}

/// A newer compiler is used with a warning, and an older one is rejected.
#[cfg(unix)]
#[test]
fn a_newer_compiler_is_a_warning_and_an_older_one_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let Some(real) = compiler() else {
        return;
    };
    let package = Package::new("outside-newer");
    let all = "[Backend::OpenCl, Backend::Multicore, Backend::C]";
    package.write("build.rs", &BUILD.replace(all, "[Backend::C]"));
    // Its manifest has this version and an unknown member.
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$1\" != --version ] || {{ echo 'Futhark 0.99.1.'; exit; }}\n'{}' \"$@\"\n\
         [ \"$2\" != --library ] || sed -i 's/\"version\":\"[0-9.]*/\"abi\":3,\"version\":\"0.99.1./' \"$5.json\"\n",
        real.program().display()
    );
    let install = |name: &str, script: &str| {
        package.write(name, script);
        let wrapper = package.folder.join(name);
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
        wrapper.into_os_string().into_string().unwrap()
    };
    let newer = install("futhark-newer", &script);
    let run = || package.command("run", &["--", "c"], &[("FUTHARK", &newer)]);
    // Not quiet: Cargo shows the warnings.
    let output = run().output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_says(
        &text,
        &[
            "the manifest of the program: at /version: ",
            "found 0.99.1",
            "the manifest of the program: at /abi: ",
        ],
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.trim(), "c 2.6666667 [0.125, 0.25, 0.625]");
    // Its runtime is not known.
    let changed = script.replace(
        "\"$5.json\"",
        "\"$5.json\" && sed -i 's/int32_t r = re/int r = re/' \"$5.c\"",
    );
    let unknown = install("futhark-unknown", &changed);
    let text = package.fails(&[("FUTHARK", &unknown)]);
    assert_says(&text, &["`copy.h`", "FUTHARK_UNKNOWN_COMPILER=allow"]);
    let allowed = [
        ("FUTHARK", &*unknown),
        ("FUTHARK_UNKNOWN_COMPILER", "allow"),
    ];
    let output = package
        .command("run", &["--", "c"], &allowed)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_says(
        &text,
        &["unchecked: Futhark 0.99.1 is not known: copy.h: not ensured that a transposition"],
    );
    let text = package.fails(&[("FUTHARK_UNKNOWN_COMPILER", "all")]);
    assert_says(
        &text,
        &["FUTHARK_UNKNOWN_COMPILER is `all`; expected `allow`"],
    );
    // A replaced compiler is run again.
    package.write("futhark-newer", "#!/bin/sh\necho 'not Futhark'\n");
    let output = run().output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_says(&text, &["`--version` prints `not Futhark`"]);
    // A compiler that is too old.
    let old = script.replace("0.99.1", "0.19.4");
    let text = package.fails(&[("FUTHARK", &install("futhark-old", &old))]);
    let (major, minor, patch) = futhark_manifest::known::OLDEST;
    let oldest = format!("expected Futhark {major}.{minor}.{patch} or later");
    assert_says(&text, &[&oldest, "got 0.19.4"]);
}
