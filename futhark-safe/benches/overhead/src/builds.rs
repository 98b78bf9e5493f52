//! The builds that are compared: shared objects, kept in the build folder of this package.

use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_safe::Backend;
use futhark_safe::compile::{Artifact, Build, Linkage};

/// How a program is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The unmodified generated C, with the flags of `futhark c`.
    Plain,
    /// As users do.
    Default,
    /// With `hardened(false)`.
    Unhardened,
    /// With `flag("-march=native")`.
    Native,
    /// The hardened library for other languages, called like the plain one.
    Library,
}

impl Variant {
    /// The name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Plain => "plain",
            Variant::Default => "default",
            Variant::Unhardened => "hardened(false)",
            Variant::Native => "-march=native",
            Variant::Library => "hardened library",
        }
    }
}

/// The folder of all builds.
pub fn folder() -> PathBuf {
    Path::new(env!("OUT_DIR")).join("builds")
}

/// A build by futhark-safe.
pub fn ours(source: &Path, backend: Backend, variant: Variant) -> Build {
    let build = Build::new(source, backend).out_dir(folder());
    match variant {
        Variant::Plain | Variant::Default | Variant::Library => build,
        Variant::Unhardened => build.hardened(false),
        Variant::Native => build.flag("-march=native"),
    }
}

/// Compiles the unmodified generated C as `futhark c` does, but to a shared object. An earlier build is reused.
pub fn plain(source: &Path, backend: Backend) -> PathBuf {
    let build = ours(source, backend, Variant::Default);
    let artifact = build.run().expect("the program compiles");
    // The name has a hash of the program and the compilers.
    let library = artifact.folder().with_extension("plain.so");
    if !library.exists() {
        compile_plain(&artifact, &library, &[]);
    }
    library
}

/// The hardened library. An earlier build is reused.
pub fn library(source: &Path, backend: Backend) -> PathBuf {
    let build = ours(source, backend, Variant::Library);
    let artifact = build.clone().run().expect("the program compiles");
    let prefix = artifact.folder().with_extension("library").join("program");
    let made = prefix.with_file_name("libprogram.so");
    if !made.exists() {
        let made = futhark_sys::compile::library(&[build], &prefix, Linkage::Shared);
        made.expect("the library is made");
    }
    made
}

fn compile_plain(artifact: &Artifact, library: &Path, flags: &[&str]) {
    let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-O3", "-std=c99", "-fPIC", "-shared"])
        .args(flags)
        .arg(artifact.header().with_extension("c"))
        .arg("-o")
        .arg(library)
        .args(["-lm", "-pthread"])
        .output()
        .expect("a C compiler runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "plain C: {text}");
}

/// The processor time in seconds that gcc takes for the plain file and for a default build, without the linker.
pub fn compile_seconds(source: &Path, backend: Backend) -> [f64; 2] {
    let folder = folder().join("times");
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
        _ => {}
    }
    std::fs::create_dir_all(&folder).expect("the build folder is writable");
    let [plain, ours] = ["plain", "default"].map(|name| folder.join(name));
    let note = |file: &Path| format!("-time={}", file.display());
    let build = Build::new(source, backend)
        .out_dir(&folder)
        .flag(note(&ours));
    let artifact = build.run().expect("the program compiles");
    compile_plain(&artifact, &folder.join("plain.so"), &[&note(&plain)]);
    [plain, ours].map(|file| noted(&file))
}

/// The sum of what gcc noted, in lines such as "0.54 0.05 cc1 -quiet …": user, system, program.
fn noted(file: &Path) -> f64 {
    let text = std::fs::read_to_string(file).expect("gcc notes times (option -time)");
    let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let compilers = lines.filter(|words| ["cc1", "as"].contains(&words[2]));
    let seconds = compilers.flat_map(|words| [words[0], words[1]]);
    seconds
        .map(|word| word.parse::<f64>().expect("seconds"))
        .sum()
}
