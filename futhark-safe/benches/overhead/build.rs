//! Compiles bench.fut three times per backend: as users do, without hardening, and as unmodified
//! plain C, the baseline.

use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_safe::compile::Compiler;
use futhark_safe::{Backend, Error, build::Program};

const SOURCE: &str = "bench.fut";
const BACKENDS: [Backend; 2] = [Backend::C, Backend::Multicore];

fn main() -> Result<(), Error> {
    // The program of the bench `costs`, also for the backends of the package's features.
    let devices = [Backend::OpenCl, Backend::Cuda, Backend::Hip];
    let is_enabled = |backend: &Backend| {
        let feature = format!("CARGO_FEATURE_{}", backend.as_str().to_uppercase());
        std::env::var_os(feature).is_some()
    };
    let enabled = devices.into_iter().filter(is_enabled);
    Program::new("ways.fut")
        .flag(level())
        .backends(BACKENDS.into_iter().chain(enabled))
        .compile()?;

    Program::new(SOURCE)
        .flag(level())
        .backends(BACKENDS)
        .compile()?;
    Program::new(SOURCE)
        .flag(level())
        .name("bench_untrapped")
        .hardened(false)
        .backends(BACKENDS)
        .compile()?;
    for backend in BACKENDS {
        if let Err(message) = plain(backend) {
            println!("cargo::error=plain C for {backend}: {message}");
            std::process::exit(1);
        }
    }
    Ok(())
}

/// Debug builds are compiled and never measured.
fn level() -> &'static str {
    let debug = std::env::var_os("PROFILE").is_some_and(|profile| profile == "debug");
    if debug { "-O0" } else { "-O3" }
}

/// Makes a static library of the unmodified output of `futhark`. Both backends define
/// the same names, so each gets a prefix: `plain_c_futhark_context_new`.
fn plain(backend: Backend) -> Result<(), String> {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let name = format!("plain_{backend}");
    let base = folder.join(&name);
    let compiler = Compiler::find().map_err(|error| error.to_string())?;
    run(Command::new(compiler.program())
        .args([backend.as_str(), "--library", SOURCE, "-o"])
        .arg(&base))?;

    // The flags of futhark-sys, so that only the bridge differs.
    let objects = cc::Build::new()
        .file(base.with_extension("c"))
        .no_default_flags(true)
        .flags([
            level(),
            "-std=c11",
            "-fPIC",
            "-fvisibility=hidden",
            "-pthread",
            "-w",
        ])
        .flags(["-ffp-contract=off", "-fno-fast-math", "-fno-lto"])
        .cargo_metadata(false)
        .try_compile_intermediates()
        .map_err(|error| error.to_string())?;
    for object in &objects {
        rename(object, &base, &format!("{name}_"))?;
    }
    let mut archive = cc::Build::new();
    archive.objects(&objects).cargo_metadata(false);
    archive
        .try_compile(&name)
        .map_err(|error| error.to_string())?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static={name}");
    Ok(())
}

/// Gives every function of the header a prefix, and hides all other symbols.
fn rename(object: &Path, base: &Path, prefix: &str) -> Result<(), String> {
    let header = std::fs::read_to_string(base.with_extension("h")).map_err(|e| e.to_string())?;
    let names = functions(&header);
    let write = |file: &Path, line: &dyn Fn(&str) -> String| {
        let text: String = names.iter().map(|name| line(name)).collect();
        std::fs::write(file, text).map_err(|error| error.to_string())
    };
    let (renamed, kept) = (base.with_extension("renamed"), base.with_extension("kept"));
    write(&renamed, &|name| format!("{name} {prefix}{name}\n"))?;
    write(&kept, &|name| format!("{prefix}{name}\n"))?;
    let objcopy = std::env::var_os("OBJCOPY").unwrap_or_else(|| "objcopy".into());
    for (option, file) in [
        ("--redefine-syms", renamed),
        ("--keep-global-symbols", kept),
    ] {
        run(Command::new(&objcopy)
            .arg(format!("{option}={}", file.display()))
            .arg(object))?;
    }
    Ok(())
}

/// The names in `header` before an opening parenthesis.
fn functions(header: &str) -> Vec<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names: Vec<String> = header
        .split('(')
        .filter_map(|before| before.rsplit(|c| !word(c)).next())
        .filter(|name| name.starts_with("futhark_"))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{program} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}
