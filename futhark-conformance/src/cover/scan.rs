//! Finds the constructs of programs: runs the Futhark compiler for their manifests.

use super::construct::Features;
use crate::key::key;
use crate::parallel;
use anyhow::{Context as _, bail};
use futhark_manifest::{Manifest, Program};
use futhark_safe::compile::Compiler;
use std::path::Path;
use std::process::{Command, Stdio};

/// The features of each source, in order, by this compiler, `threads` at a time.
///
/// Manifests are cached in `build_dir`. The cache key is a hash of the source, its imports and the
/// compiler's version.
///
/// # Errors
/// If a file cannot be read or written, or the compiler is a recording, which cannot generate
/// manifests. A program that does not compile is not an error.
pub fn scan(
    sources: &[&Path],
    compiler: &Path,
    build_dir: &Path,
    threads: usize,
) -> anyhow::Result<Vec<Features>> {
    let compiler = Compiler::at(compiler)?;
    if compiler.recording().is_some() {
        bail!(
            "--cover needs a Futhark compiler, and {} is a recording",
            compiler.program().display()
        );
    }
    let folder = build_dir.join("manifests");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("failed to create {}", folder.display()))?;
    let features = parallel::map(sources, threads, |source| {
        features(source, &compiler, &folder)
    });
    features.into_iter().collect()
}

fn features(source: &Path, compiler: &Compiler, folder: &Path) -> anyhow::Result<Features> {
    let text = std::fs::read_to_string(source)
        .with_context(|| format!("failed to read {}", source.display()))?;
    let program = manifest(source, compiler, folder)
        .with_context(|| format!("failed to get the manifest of {}", source.display()))?;
    Ok(Features::of(&text, program.as_ref()))
}

/// The manifest of a program, or nothing if it does not compile or its manifest is wrong, which
/// are findings of the checks.
fn manifest(source: &Path, compiler: &Compiler, folder: &Path) -> anyhow::Result<Option<Program>> {
    let Ok(hash) = compiler.hash(source) else {
        return Ok(None);
    };
    let key = key(&[hash.as_bytes(), compiler.version().text.as_bytes()]);
    let kept = folder.join(format!("{key}.json"));
    if !kept.is_file() {
        let work = tempfile::tempdir_in(folder)?;
        let status = Command::new(compiler.program())
            .args(["c", "--library", "-o"])
            .args([&work.path().join("program"), source])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if !status.success() {
            return Ok(None);
        }
        // A rename, so that an interrupted run leaves no incomplete file.
        std::fs::rename(work.path().join("program.json"), &kept)?;
    }
    let text = std::fs::read_to_string(&kept)?;
    Ok(Manifest::parse(&text).and_then(Manifest::into_program).ok())
}
