//! The builds that are compared: shared objects, kept in the build folder of this package.

use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_safe::Backend;
use futhark_safe::compile::Build;

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
}

impl Variant {
    /// The name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Plain => "plain",
            Variant::Default => "default",
            Variant::Unhardened => "hardened(false)",
            Variant::Native => "-march=native",
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
    let build = match variant {
        Variant::Plain | Variant::Default => build,
        Variant::Unhardened => build.hardened(false),
        Variant::Native => build.flag("-march=native"),
    };
    let times = times(source, backend, variant);
    build.flag(format!("-time={}", times.display()))
}

/// Compiles the unmodified generated C as `futhark c` does, but to a shared object. An earlier build is reused.
pub fn plain(source: &Path, backend: Backend) -> PathBuf {
    let build = ours(source, backend, Variant::Default);
    let artifact = build.run().expect("the program compiles");
    // The name has a hash of the program and the compilers.
    let library = artifact.folder().with_extension("plain.so");
    if !library.exists() {
        let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-O3", "-std=c99", "-fPIC", "-shared"])
            .arg(format!(
                "-time={}",
                times(source, backend, Variant::Plain).display()
            ))
            .arg(artifact.header().with_extension("c"))
            .arg("-o")
            .arg(&library)
            .args(["-lm", "-pthread"])
            .output()
            .expect("a C compiler runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "plain C of {}: {text}",
            source.display()
        );
    }
    library
}

/// The file in which gcc notes the processor time of its parts.
fn times(source: &Path, backend: Backend, variant: Variant) -> PathBuf {
    let program = source.file_stem().unwrap_or_default().to_string_lossy();
    let variant = variant.name();
    std::fs::create_dir_all(folder()).expect("the build folder is writable");
    folder().join(format!("{program}-{backend}-{variant}.time"))
}

/// The processor time in seconds of the last compilation of a program by gcc, without the linker.
pub fn compile_seconds(source: &Path, backend: Backend, variant: Variant) -> f64 {
    let text = std::fs::read_to_string(times(source, backend, variant));
    let text = text.expect("gcc notes times (option -time)");
    // Lines such as "0.54 0.05 cc1 -quiet …": user, system, program. Builds add to the file.
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let last = lines.iter().rposition(|words| words[2] == "cc1");
    let of_last = &lines[last.expect("the program was compiled")..];
    let compilers = of_last
        .iter()
        .filter(|words| ["cc1", "as"].contains(&words[2]));
    let seconds = compilers.flat_map(|words| &words[..2]);
    seconds
        .map(|word| word.parse::<f64>().expect("seconds"))
        .sum()
}
