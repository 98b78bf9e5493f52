//! A package of a user: a Futhark program, a build script and a main program.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use futhark_safe::compile::Compiler;

/// A package in a temporary folder.
///
/// One at a time: packages share a target folder, which Cargo locks, and tests share packages,
/// so that build scripts are linked once.
pub struct Package {
    pub folder: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

/// The compiler that packages use. `None`, and a line on stderr, if the tests that need one are
/// skipped.
pub fn compiler() -> Option<Compiler> {
    let error = match Compiler::find() {
        Ok(compiler) => return Some(compiler),
        Err(error) => error,
    };
    skip(&error.to_string());
    None
}

/// Reports a missing requirement on stderr, directly, since the test harness captures `eprintln!`.
fn skip(missing: &str) {
    let needed = std::env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
    assert!(!needed, "{missing}");
    let _ = writeln!(std::io::stderr(), "skipped a test of a package: {missing}");
}

/// Whether tests that take long run.
pub fn full() -> bool {
    std::env::var_os("FUTHARK_TESTS_FULL").is_some()
}

pub const PROGRAM: &str = include_str!("../../template/stats.fut");

pub const BUILD: &str = r#"
use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("stats.fut").backends([Backend::OpenCl, Backend::Multicore, Backend::C]).compile()
}
"#;

pub const MAIN: &str = r#"
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
    /// A folder with our lock file, so that Cargo needs no network.
    pub fn empty(name: &str) -> Package {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("outside")
            .join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        std::fs::copy(lock, folder.join("Cargo.lock")).unwrap();
        Package {
            folder,
            _turn: turn,
        }
    }

    pub fn new(name: &str) -> Package {
        let package = Package::empty(name);
        let safe = env!("CARGO_MANIFEST_DIR");
        let dependencies = format!(
            "[dependencies]\nfuthark-safe = {{ path = {safe:?} }}\n\n[build-dependencies]\n\
             futhark-safe = {{ path = {safe:?}, default-features = false, features = [\"build\"] }}\n"
        );
        package.write("Cargo.toml", &manifest(name, 2024, &dependencies));
        package.write("build.rs", BUILD);
        package.write("src/main.rs", MAIN);
        package.write("stats.fut", PROGRAM);
        package
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return;
        }
        std::fs::write(path, text).unwrap();
    }

    pub fn cargo(&self, action: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = self.command(action, &[&["--quiet"], arguments].concat(), environment);
        command.output().unwrap()
    }

    /// Runs Cargo, which succeeds. Returns what it prints.
    pub fn succeeds(
        &self,
        action: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> String {
        let output = self.cargo(action, arguments, environment);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{action} {environment:?}: {text}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn command(
        &self,
        action: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command
            .args([action, "--offline"])
            .args(arguments)
            .current_dir(&self.folder);
        // One target folder for all packages, so that our crates are compiled once.
        command.env("CARGO_TARGET_DIR", Package::target());
        // The package is built once and never debugged.
        command.env("CARGO_INCREMENTAL", "0");
        command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        // Variables that Cargo sets for tests.
        command.env_remove("OUT_DIR").env_remove("TARGET");
        for (name, value) in environment {
            command.env(name, value);
        }
        command
    }

    pub fn target() -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside-target")
    }

    /// Builds the package. `false`, and lines on stderr, if headers are missing and the test is
    /// skipped.
    pub fn builds(&self) -> bool {
        let output = self.cargo("build", &[], &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return true;
        }
        assert!(text.contains(" headers"), "{text}");
        skip(&text);
        false
    }

    pub fn fails(&self, environment: &[(&str, &str)]) -> String {
        let output = self.cargo("build", &[], environment);
        assert!(!output.status.success(), "the build should fail");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// Variables that hide the Futhark compilers of this machine.
pub fn no_futhark() -> [(&'static str, &'static str); 3] {
    static PATH: LazyLock<String> = LazyLock::new(|| {
        let path = std::env::var_os("PATH").unwrap();
        let kept = std::env::split_paths(&path).filter(|folder| !folder.join("futhark").exists());
        std::env::join_paths(kept).unwrap().into_string().unwrap()
    });
    [
        ("PATH", &PATH),
        ("FUTHARK", ""),
        ("FUTHARK_TOOLCHAIN", "/nonexistent"),
    ]
}

/// The manifest of a package.
pub fn manifest(name: &str, edition: u32, dependencies: &str) -> String {
    format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"{edition}\"\nlicense = \"MIT\"\n\
         description = \"For a test\"\n\n{dependencies}\n[workspace]\n"
    )
}

pub fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no `{word}` in the message:\n{text}");
    }
}
