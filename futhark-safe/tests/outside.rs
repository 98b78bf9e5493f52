//! What a user sees: a crate of its own that depends on ours by path, built by Cargo,
//! with everything as it should be and with one thing missing at a time.
#![cfg(feature = "build")]

mod package;

use std::path::Path;
use std::process::Command;

use package::{BUILD, Package, assert_says};

/// `PATH` without any folder that has a Futhark compiler.
fn path_without_futhark() -> String {
    let path = std::env::var_os("PATH").unwrap();
    let kept = std::env::split_paths(&path).filter(|folder| !folder.join("futhark").exists());
    std::env::join_paths(kept).unwrap().into_string().unwrap()
}

#[test]
fn it_builds_and_runs_on_each_backend() {
    let package = Package::new("outside-good");
    for (backend, answer) in [("c", "c"), ("multicore", "multicore"), ("opencl", "opencl")] {
        let output = package.cargo("run", &["--", backend], &[]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(
            text.trim(),
            format!("{answer} 2.6666667 [0.125, 0.25, 0.625]")
        );
    }
    // A machine without an OpenCL platform: an error that says so …
    let output = package.cargo(
        "run",
        &["--", "opencl"],
        &[("OCL_ICD_VENDORS", "/nonexistent")],
    );
    assert_says(
        &String::from_utf8_lossy(&output.stdout),
        &["Load", "no OpenCL platform", "install"],
    );
    // … one without the library: likewise, by name …
    let output = package.cargo(
        "run",
        &["--", "opencl"],
        &[("FUTHARK_LIBOPENCL", "/nonexistent/libOpenCL.so.1")],
    );
    assert_says(
        &String::from_utf8_lossy(&output.stdout),
        &["Load", "FUTHARK_LIBOPENCL", "/nonexistent/libOpenCL.so.1"],
    );
    // … and without a wish for a backend the next one is taken.
    let output = package.cargo("run", &[], &[("OCL_ICD_VENDORS", "/nonexistent")]);
    assert_says(
        &String::from_utf8_lossy(&output.stdout),
        &["multicore 2.6666667"],
    );
    // A backend that the program was not compiled for.
    let output = package.cargo("run", &["--", "cuda"], &[]);
    assert_says(
        &String::from_utf8_lossy(&output.stdout),
        &["Unsupported", "cuda", "multicore"],
    );
    // Variables that choose the C compiler, or its flags, run the build script again.
    for variable in ["CC", "CFLAGS"] {
        let text = package.fails(&[(variable, "--no-such-compiler")]);
        assert_says(&text, &["--no-such-compiler"]);
    }
}

/// A machine without any GPU library, whatever this one has.
const NO_DRIVERS: [(&str, &str); 3] = [
    ("FUTHARK_LIBOPENCL", "/nonexistent/libOpenCL.so.1"),
    ("FUTHARK_LIBCUDA", "/nonexistent/libcuda.so.1"),
    ("FUTHARK_LIBAMDHIP64", "/nonexistent/libamdhip64.so"),
];

#[test]
fn all_five_backends_in_one_binary_need_no_driver_to_start() {
    let package = Package::new("outside-five");
    let five = BUILD.replace(
        "[Backend::OpenCl,",
        "[Backend::Cuda, Backend::Hip, Backend::OpenCl,",
    );
    package.write("build.rs", &five);
    for (backend, answer) in [
        // Nothing is wished for: the first that works.
        ("", &["multicore 2.6666667"][..]),
        ("c", &["c 2.6666667"]),
        ("opencl", &["Load", "/nonexistent/libOpenCL.so.1"]),
        ("cuda", &["Load", "/nonexistent/libcuda.so.1"]),
        ("hip", &["Load", "/nonexistent/libamdhip64.so"]),
    ] {
        let arguments: &[&str] = if backend.is_empty() {
            &[]
        } else {
            &["--", backend]
        };
        let output = package.cargo("run", arguments, &NO_DRIVERS);
        assert!(
            output.status.success(),
            "{backend}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_says(&String::from_utf8_lossy(&output.stdout), answer);
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside-target");
    let needed = Command::new("ldd")
        .arg(target.join("debug/outside-five"))
        .output()
        .unwrap();
    let needed = String::from_utf8(needed.stdout).unwrap();
    assert!(needed.contains("libc.so"), "{needed}");
    for library in ["OpenCL", "cuda", "nvrtc", "hip"] {
        assert!(!needed.contains(library), "{library} is needed:\n{needed}");
    }
}

#[test]
fn no_futhark_compiler() {
    let package = Package::new("outside-no-compiler");
    let path = path_without_futhark();
    let text = package.fails(&[
        ("PATH", &path),
        ("FUTHARK", ""),
        ("FUTHARK_TOOLCHAIN", "/nonexistent"),
    ]);
    assert_says(
        &text,
        &[
            "no Futhark compiler was found",
            "apt-get install",
            "brew",
            "FUTHARK",
        ],
    );
    let text = package.fails(&[("FUTHARK", "/nonexistent/futhark")]);
    assert_says(
        &text,
        &["cannot use /nonexistent/futhark as a Futhark compiler"],
    );
    // Something else of that name.
    let text = package.fails(&[("FUTHARK", "/bin/echo")]);
    assert_says(
        &text,
        &["cannot use /bin/echo as a Futhark compiler", "--version"],
    );
}

#[test]
fn a_type_error_is_shown_with_its_place() {
    let package = Package::new("outside-type-error");
    package.write("stats.fut", "entry f (x: i32) : i32 = x + true\n");
    assert_says(
        &package.fails(&[]),
        &["Error at stats.fut:1:", "refused the program"],
    );
    package.write("stats.fut", "entry f (x: i32) : i32 = x\nentry g = (\n");
    assert_says(&package.fails(&[]), &["Error at stats.fut:3:"]);
}

#[test]
fn a_source_that_is_not_there() {
    let package = Package::new("outside-no-source");
    package.write("build.rs", &BUILD.replace("stats.fut", "other.fut"));
    assert_says(&package.fails(&[]), &["no Futhark source file other.fut"]);
}

#[test]
fn no_headers_for_a_gpu_backend() {
    if Path::new("/usr/include/CL/cl.h").exists() {
        println!("skipped: this machine has the OpenCL headers where every C compiler finds them");
        return;
    }
    let package = Package::new("outside-no-headers");
    let futhark = futhark_safe::compile::Compiler::find().unwrap();
    let futhark = futhark.program().to_str().unwrap().to_owned();
    let text = package.fails(&[("FUTHARK", &futhark), ("FUTHARK_TOOLCHAIN", "/nonexistent")]);
    assert_says(
        &text,
        &[
            "the opencl backend needs the OpenCL headers",
            "opencl-headers",
        ],
    );
    // A backend whose compiler is missing.
    package.write(
        "build.rs",
        &BUILD.replace("Backend::OpenCl", "Backend::Ispc"),
    );
    assert_says(
        &package.fails(&[("ISPC", "/nonexistent/ispc")]),
        &["cannot run ISPC", "/nonexistent/ispc", "install ispc"],
    );
}

#[test]
fn no_c_compiler() {
    let package = Package::new("outside-no-cc");
    // Cargo itself links with the system's `cc`; the build script looks at CC.
    let text = package.fails(&[("CC", "/nonexistent/cc")]);
    assert_says(
        &text,
        &[
            "cannot run a C compiler",
            "/nonexistent/cc",
            "install gcc or clang",
        ],
    );
}

/// A compiler that says it is newer than any known one is used, with a warning.
#[cfg(unix)]
#[test]
fn a_compiler_of_an_unknown_version() {
    use std::os::unix::fs::PermissionsExt;
    let package = Package::new("outside-newer");
    let real = futhark_safe::compile::Compiler::find().unwrap();
    // Its manifest says so too, and something that nobody knows yet.
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$1\" != --version ] || {{ echo 'Futhark 0.99.1.'; exit; }}\n'{}' \"$@\"\n\
         [ \"$2\" != --library ] || sed -i 's/\"version\":\"[0-9.]*/\"abi\":3,\"version\":\"0.99.1./' \"$5.json\"\n",
        real.program().display()
    );
    package.write("futhark-newer", &script);
    let wrapper = package.folder.join("futhark-newer");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["run", "--offline", "--", "c"])
        .current_dir(&package.folder)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside-target"),
        )
        .env("FUTHARK", &wrapper);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_says(
        &text,
        &[
            "Futhark 0.99.1 is newer",
            "the manifest of the program: at /abi: ",
        ],
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.trim(), "c 2.6666667 [0.125, 0.25, 0.625]");
    // One that takes its place is run again.
    package.write("futhark-newer", "#!/bin/sh\necho 'not Futhark'\n");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_says(&text, &["`--version` prints `not Futhark`"]);
    // One that is too old is refused.
    let old = script.replace("0.99.1", "0.19.4");
    package.write("futhark-old", &old);
    let wrapper = package.folder.join("futhark-old");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = package.fails(&[("FUTHARK", wrapper.to_str().unwrap())]);
    assert_says(&text, &["expected version 0.25.19 or later", "got 0.19.4"]);
}
