//! A user's package that depends on futhark-safe by path, built by Cargo: with all requirements, and
//! with one of them missing at a time.

use std::path::Path;
use std::process::Command;

use super::package::{BUILD, Package, assert_says, compiler};

/// `PATH` without folders with a Futhark compiler.
pub fn no_futhark() -> String {
    let path = std::env::var_os("PATH").unwrap();
    let kept = std::env::split_paths(&path).filter(|folder| !folder.join("futhark").exists());
    std::env::join_paths(kept).unwrap().into_string().unwrap()
}

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
        let output = package.cargo("run", &arguments, environment);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{backend}: {stderr}");
        assert_says(&String::from_utf8_lossy(&output.stdout), words);
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

#[test]
fn an_unsupported_target_is_refused_in_one_line() {
    let package = Package::new("outside-broken");
    for (name, value) in [
        ("CARGO_CFG_TARGET_OS", "freebsd"),
        ("CARGO_CFG_TARGET_OS", "unknown"),
        ("CARGO_CFG_TARGET_POINTER_WIDTH", "32"),
    ] {
        // Cargo sets these variables for the build script.
        let set = format!(
            "fn main() -> Result<(), Error> {{ unsafe {{ std::env::set_var({name:?}, {value:?}) }};"
        );
        package.write(
            "build.rs",
            &BUILD.replace("fn main() -> Result<(), Error> {", &set),
        );
        let text = package.fails(&[]);
        let supported = "Linux, macOS and Windows (x86_64-pc-windows-gnu)";
        assert_says(&text, &["cannot compile for", supported]);
        assert!(!text.contains("cc:"), "{text}");
    }
}

#[test]
fn code_for_this_processor_is_refused_for_another_target() {
    let package = Package::new("outside-broken");
    // Cargo sets this variable for the build script.
    let script = BUILD.replace(
        "fn main() -> Result<(), Error> {",
        "fn main() -> Result<(), Error> { unsafe { std::env::set_var(\"HOST\", \"riscv64gc-unknown-linux-gnu\") };",
    );
    let native = script.replace(".compile()", ".native().compile()");
    assert_ne!(native, script);
    package.write("build.rs", &native);
    let text = package.fails(&[]);
    assert_says(&text, &["cannot compile for", "`native()`", "-march="]);
}

#[test]
fn a_missing_futhark_compiler_is_a_build_error() {
    let package = Package::new("outside-broken");
    let path = no_futhark();
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
    // Another program.
    let text = package.fails(&[("FUTHARK", "/bin/echo")]);
    assert_says(
        &text,
        &["cannot use /bin/echo as a Futhark compiler", "--version"],
    );
}

#[test]
fn a_type_error_reports_its_position() {
    if compiler().is_none() {
        return;
    }
    let package = Package::new("outside-broken");
    package.write("stats.fut", "entry f (x: i32) : i32 = x + true\n");
    assert_says(
        &package.fails(&[]),
        &["Error at stats.fut:1:", "rejected the program"],
    );
    package.write("stats.fut", "entry f (x: i32) : i32 = x\nentry g = (\n");
    assert_says(&package.fails(&[]), &["Error at stats.fut:3:"]);
}

#[test]
fn a_missing_source_file_is_a_build_error() {
    if compiler().is_none() {
        return;
    }
    let package = Package::new("outside-broken");
    package.write("build.rs", &BUILD.replace("stats.fut", "other.fut"));
    assert_says(
        &package.fails(&[]),
        &["the Futhark source file other.fut does not exist"],
    );
}

#[test]
fn missing_headers_and_backends_are_build_errors() {
    if Path::new("/usr/include/CL/cl.h").exists() {
        println!("skipped: this machine has the OpenCL headers where every C compiler finds them");
        return;
    }
    let Some(futhark) = compiler() else {
        return;
    };
    let package = Package::new("outside-broken");
    let futhark = futhark.program().to_str().unwrap().to_owned();
    let text = package.fails(&[("FUTHARK", &futhark), ("FUTHARK_TOOLCHAIN", "/nonexistent")]);
    assert_says(
        &text,
        &[
            "the backend opencl needs the OpenCL headers",
            "opencl-headers",
        ],
    );
    // A backend that no build supports.
    package.write(
        "build.rs",
        &BUILD.replace("Backend::OpenCl", "Backend::Ispc"),
    );
    assert_says(
        &package.fails(&[]),
        &["cannot compile for the backend ispc", "use multicore"],
    );
}

#[test]
fn a_missing_c_compiler_is_a_build_error() {
    if compiler().is_none() {
        return;
    }
    let package = Package::new("outside-broken");
    // Only the build script uses CC; Cargo links with `cc`.
    let text = package.fails(&[("CC", "/nonexistent/cc")]);
    assert_says(
        &text,
        &[
            "cannot run a C compiler",
            "/nonexistent/cc",
            "install gcc or clang",
        ],
    );
    let text = package.fails(&[("AR", "/nonexistent/ar")]);
    assert_says(&text, &["/nonexistent/ar", "install gcc or clang"]);
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
    package.write(
        "build.rs",
        &BUILD.replace(
            "[Backend::OpenCl, Backend::Multicore, Backend::C]",
            "[Backend::C]",
        ),
    );
    // Its manifest has this version and an unknown member.
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$1\" != --version ] || {{ echo 'Futhark 0.99.1.'; exit; }}\n'{}' \"$@\"\n\
         [ \"$2\" != --library ] || sed -i 's/\"version\":\"[0-9.]*/\"abi\":3,\"version\":\"0.99.1./' \"$5.json\"\n",
        real.program().display()
    );
    package.write("futhark-newer", &script);
    let wrapper = package.folder.join("futhark-newer");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = || {
        let futhark = wrapper.to_str().unwrap();
        package.command("run", &["--", "c"], &[("FUTHARK", futhark)])
    };
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
    // A replaced compiler is run again.
    package.write("futhark-newer", "#!/bin/sh\necho 'not Futhark'\n");
    let output = run().output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_says(&text, &["`--version` prints `not Futhark`"]);
    // A compiler that is too old.
    let old = script.replace("0.99.1", "0.19.4");
    package.write("futhark-old", &old);
    let wrapper = package.folder.join("futhark-old");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = package.fails(&[("FUTHARK", wrapper.to_str().unwrap())]);
    let (major, minor, patch) = futhark_manifest::known::OLDEST;
    let oldest = format!("expected Futhark {major}.{minor}.{patch} or later");
    assert_says(&text, &[&oldest, "got 0.19.4"]);
}
