//! The installed compilers, and what they are given.
//!
//! Compilers are `bin/futhark-*` below the folder that `FUTHARK_TOOLCHAIN`
//! names, the program that `FUTHARK` names, and `futhark` on the path. Without
//! any, the tests say so and pass.

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::files_below;
use futhark_manifest::Backend;

pub fn compilers() -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(toolchain) = env::var_os("FUTHARK_TOOLCHAIN") {
        let folder = Path::new(&toolchain).join("bin");
        let launchers = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_launcher = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("futhark-"))
        };
        found.extend(launchers.map(|entry| entry.path()).filter(is_launcher));
        found.sort();
    }
    let named = env::var_os("FUTHARK").filter(|name| !name.is_empty());
    found.extend(named.map(PathBuf::from));
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join("futhark"));
    found.extend(on_path.filter(|program| program.is_file()).take(1));
    // `futhark` may be a link to one that was found already.
    let mut seen = HashSet::new();
    found.retain(|path| seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
    if found.is_empty() {
        let needed = env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
        assert!(!needed, "no compiler in FUTHARK_TOOLCHAIN, FUTHARK or PATH");
        println!("skipped: no compiler in FUTHARK_TOOLCHAIN, FUTHARK or PATH");
    }
    found
}

/// Compiles a program and gives its manifest's file; or what the compiler said.
pub fn generate(
    compiler: &Path,
    backend: Backend,
    source: &Path,
    folder: &Path,
) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).expect("a writable folder");
    let target = folder.join(source.file_stem().expect("a file name"));
    let output = Command::new(compiler)
        .arg(backend.as_str())
        .arg("--library")
        .arg(source)
        .arg("-o")
        .arg(&target)
        .output()
        .map_err(|error| format!("{}: {error}", compiler.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(target.with_extension("json"))
}

/// What a compiler made of a program of the corpus.
pub struct Made {
    pub compiler: PathBuf,
    pub backend: Backend,
    /// The manifest's file, with the header beside it; or what the compiler said.
    pub manifest: Result<PathBuf, String>,
}

/// The corpus as every compiler compiles it, for a CPU and for a GPU: once for
/// all tests, on all cores. That a compiler rejects some programs is not for this
/// crate to judge.
pub fn made() -> &'static [Made] {
    static MADE: LazyLock<Vec<Made>> = LazyLock::new(make_corpus);
    &MADE
}

fn make_corpus() -> Vec<Made> {
    let (compilers, sources) = (compilers(), corpus());
    let mut jobs = Vec::new();
    for compiler in &compilers {
        for backend in [Backend::C, Backend::OpenCl] {
            let folder = scratch(compiler, "corpus").join(backend.as_str());
            // Programs in different folders may have the same name.
            let sources = sources.iter().enumerate();
            jobs.extend(
                sources.map(|(n, source)| (compiler, backend, source, folder.join(n.to_string()))),
            );
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (compiler, backend, source, folder) = job;
            let manifest = generate(compiler, *backend, source, folder);
            if let Err(text) = &manifest {
                let first = text.lines().next().unwrap_or("no message");
                let (compiler, source) = (compiler.display(), source.display());
                println!("{compiler} {backend}: {source}: not compiled: {first}");
            }
            done.push(Made {
                compiler: compiler.to_path_buf(),
                backend: *backend,
                manifest,
            });
        }
        done
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let made: Vec<Made> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let done = workers
            .into_iter()
            .map(|worker| worker.join().expect("no panic"));
        done.flatten().collect()
    });
    for compiler in &compilers {
        let some = made
            .iter()
            .any(|m| m.compiler == *compiler && m.manifest.is_ok());
        assert!(some, "{} compiles nothing", compiler.display());
    }
    made
}

/// The manifests that were made.
pub fn manifests_made() -> impl Iterator<Item = &'static Path> {
    made()
        .iter()
        .filter_map(|made| made.manifest.as_deref().ok())
}

/// Prints how many manifests each compiler made, which is how many a test saw.
pub fn tell(what: &str) {
    let mut counts: BTreeMap<(&Path, Backend), (usize, usize)> = BTreeMap::new();
    for made in made() {
        let (good, all) = counts.entry((&made.compiler, made.backend)).or_default();
        *good += usize::from(made.manifest.is_ok());
        *all += 1;
    }
    for ((compiler, backend), (good, all)) in counts {
        println!("{} {backend}: {good} of {all} {what}", compiler.display());
    }
}

/// A folder of its own for each pair of compiler and purpose.
pub fn scratch(compiler: &Path, purpose: &str) -> PathBuf {
    let name = compiler.file_name().expect("a file name");
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("compilers")
        .join(name)
        .join(purpose)
}

/// A variant whose name has a prime: no known compiler can write it in C.
const PRIMES: &str = "names/variants_with_primes.fut";

/// The programs of the corpus, but for the one that [`primes`] gives.
pub fn corpus() -> Vec<PathBuf> {
    let mut sources = files_below(&programs(), "fut");
    sources.retain(|source| !source.ends_with(PRIMES));
    sources
}

/// The program of which compilers write a manifest with C names that C cannot have.
pub fn primes() -> PathBuf {
    programs().join(PRIMES)
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs")
}
