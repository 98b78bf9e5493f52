//! The installed compilers, and the manifests that they write for the corpus.
//!
//! Compilers are `bin/futhark-*` below the folder that `FUTHARK_TOOLCHAIN` names, the program
//! that `FUTHARK` names, and `futhark` on `PATH`. Without a compiler, the tests are skipped with
//! a message.

use std::collections::{HashMap, HashSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::thread;

use crate::corpus;
use futhark_manifest::Backend;

/// The newest compiler, or every one with `FUTHARK_TESTS_FULL`, each once, oldest first.
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
    // `futhark` may be a link to a compiler that was found before.
    let mut seen = HashSet::new();
    found.retain(|path| seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
    if found.is_empty() {
        let needed = env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
        assert!(!needed, "no compiler in FUTHARK_TOOLCHAIN, FUTHARK or PATH");
        println!("skipped: no compiler in FUTHARK_TOOLCHAIN, FUTHARK or PATH");
    }
    if env::var_os("FUTHARK_TESTS_FULL").is_none() {
        found = found.pop().into_iter().collect();
    }
    found
}

/// Compiles a program to C, once per process, and returns the path of its manifest, beside the C
/// code and the header. An error is the compiler's message.
pub fn generate(compiler: &Path, backend: Backend, source: &Path) -> Result<PathBuf, String> {
    type Key = (PathBuf, Backend, PathBuf);
    type Made = Arc<OnceLock<Result<PathBuf, String>>>;
    static MADE: LazyLock<Mutex<HashMap<Key, Made>>> = LazyLock::new(Mutex::default);
    let key = (compiler.to_owned(), backend, source.to_owned());
    let made = Arc::clone(MADE.lock().expect("no panic").entry(key).or_default());
    made.get_or_init(|| compile(compiler, backend, source))
        .clone()
}

fn compile(compiler: &Path, backend: Backend, source: &Path) -> Result<PathBuf, String> {
    // The whole path, since programs in different folders may have the same name.
    let name = source.with_extension("").display().to_string();
    let name = name.replace(|c: char| !c.is_alphanumeric(), "_");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("compilers")
        .join(compiler.file_name().expect("a file name"))
        .join(backend.as_str())
        .join(name);
    fs::create_dir_all(&folder).expect("a writable folder");
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

/// The manifests that each compiler writes for the corpus, compiled by all at the same time. Programs that a
/// compiler rejects are left out with a message: conformance tests judge those.
pub fn manifests_of_the_corpus() -> &'static [PathBuf] {
    static MADE: LazyLock<Vec<PathBuf>> = LazyLock::new(compile_corpus);
    &MADE
}

fn compile_corpus() -> Vec<PathBuf> {
    let sources = corpus::sources();
    thread::scope(|scope| {
        let start = |compiler| scope.spawn(|| compile_all(compiler, &sources));
        let compilers: Vec<_> = compilers().into_iter().map(start).collect();
        let manifests = compilers
            .into_iter()
            .flat_map(|one| one.join().expect("no panic"));
        manifests.collect()
    })
}

fn compile_all(compiler: PathBuf, sources: &[PathBuf]) -> Vec<PathBuf> {
    let mut manifests = Vec::new();
    let compiler_name = compiler.display();
    for source in sources {
        match generate(&compiler, Backend::C, source) {
            Ok(manifest) => manifests.push(manifest),
            Err(text) => {
                let first = text.lines().next().unwrap_or("no message");
                println!(
                    "{compiler_name}: {}: not compiled: {first}",
                    source.display()
                );
            }
        }
    }
    assert!(!manifests.is_empty(), "{compiler_name} compiles nothing");
    println!(
        "{compiler_name}: {} of {} programs compiled",
        manifests.len(),
        sources.len()
    );
    manifests
}
