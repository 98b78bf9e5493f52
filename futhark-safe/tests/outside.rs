//! What a user sees: a crate of its own that depends on ours by path, built by Cargo,
//! with everything as it should be and with one thing missing at a time.
#![cfg(feature = "build")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A package in a temporary folder.
struct Package {
    folder: PathBuf,
}

const PROGRAM: &str = "\
entry mean [n] (xs: [n]f32) : f32 = f32.sum xs / f32.i64 n

entry normalise [n] (xs: *[n]f32) : *[n]f32 =
  let total = f32.sum xs in map (/ total) xs
";

const BUILD: &str = r#"
use futhark_safe::{Backend, build::Program};

fn main() {
    Program::new("stats.fut").backends([Backend::OpenCl, Backend::Multicore, Backend::C]).compile();
}
"#;

const MAIN: &str = r#"
#![forbid(unsafe_code)]
#![deny(warnings)]

use futhark_safe::{Backend, Config};

futhark_safe::include_program!(stats);

fn main() -> Result<(), futhark_safe::Error> {
    let mut config = Config::new();
    if let Some(name) = std::env::args().nth(1) {
        config = config.backend(name.parse::<Backend>().expect("a backend"));
    }
    let ctx = match stats::Context::new(&config) {
        Ok(ctx) => ctx,
        Err(error) => {
            println!("{:?} {error}", error.kind());
            return Ok(());
        }
    };
    let xs = ctx.array(&[1.0f32, 2.0, 5.0])?;
    let mean: f32 = ctx.entry().mean(&xs)?;
    let ys = ctx.entry().normalise(xs)?;
    println!("{} {mean} {:?}", ctx.backend(), ys.to_vec()?);
    Ok(())
}
"#;

impl Package {
    fn new(name: &str) -> Package {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("outside")
            .join(name);
        let package = Package { folder };
        let safe = env!("CARGO_MANIFEST_DIR");
        package.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [dependencies]\nfuthark-safe = {{ path = {safe:?} }}\n\n\
                 [build-dependencies]\nfuthark-safe = {{ path = {safe:?}, features = [\"build\"] }}\n\n\
                 [workspace]\n"
            ),
        );
        package.write("build.rs", BUILD);
        package.write("src/main.rs", MAIN);
        package.write("stats.fut", PROGRAM);
        let lock = Path::new(safe).join("../Cargo.lock");
        // Our lock file holds every version that is needed, so nothing is fetched.
        std::fs::copy(lock, package.folder.join("Cargo.lock")).unwrap();
        package
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return;
        }
        std::fs::write(path, text).unwrap();
    }

    fn cargo(&self, action: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO"));
        command
            .arg(action)
            .args(["--quiet", "--offline"])
            .args(arguments)
            .current_dir(&self.folder);
        // One folder for all packages: our crates are compiled once.
        command.env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside-target"),
        );
        // What the workspace's own settings give to tests.
        command.env_remove("OUT_DIR").env_remove("TARGET");
        for (name, value) in environment {
            command.env(name, value);
        }
        command.output().unwrap()
    }

    fn fails(&self, environment: &[(&str, &str)]) -> String {
        let output = self.cargo("build", &[], environment);
        assert!(!output.status.success(), "the build should fail");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// `PATH` without any folder that has a Futhark compiler.
fn path_without_futhark() -> String {
    let path = std::env::var_os("PATH").unwrap();
    let kept = std::env::split_paths(&path).filter(|folder| !folder.join("futhark").exists());
    std::env::join_paths(kept).unwrap().into_string().unwrap()
}

fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(
            text.contains(word),
            "the message does not say `{word}`:\n{text}"
        );
    }
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
        &["/nonexistent/futhark is no Futhark compiler that can be used"],
    );
    // Something else of that name.
    let text = package.fails(&[("FUTHARK", "/bin/echo")]);
    assert_says(&text, &["/bin/echo is no Futhark compiler", "--version"]);
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
    // A backend that nobody compiles.
    package.write(
        "build.rs",
        &BUILD.replace("Backend::OpenCl", "Backend::Ispc"),
    );
    assert_says(&package.fails(&[]), &["the backend ispc is not supported"]);
}

#[test]
fn no_c_compiler() {
    let package = Package::new("outside-no-cc");
    // Cargo itself links with the system's `cc`; the build script looks at CC.
    let text = package.fails(&[("CC", "/nonexistent/cc")]);
    assert_says(
        &text,
        &[
            "no C compiler can be run",
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
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo 'Futhark 0.99.1.' ;; *) exec '{}' \"$@\" ;; esac\n",
        real.program().display()
    );
    package.write("futhark-newer", &script);
    let wrapper = package.folder.join("futhark-newer");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["build", "--offline"])
        .current_dir(&package.folder)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside-target"),
        )
        .env("FUTHARK", &wrapper);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_says(&text, &["Futhark 0.99.1 is newer"]);
    // One that is too old is refused.
    let old = script.replace("0.99.1", "0.19.4");
    package.write("futhark-old", &old);
    let wrapper = package.folder.join("futhark-old");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = package.fails(&[("FUTHARK", wrapper.to_str().unwrap())]);
    assert_says(
        &text,
        &["its version is 0.19.4", "0.25.19 or later is needed"],
    );
}
