//! Finds the constructs of programs: runs the Futhark compiler for their manifests.

use super::construct::Features;
use super::kept::{Files, Kept};
use crate::parallel;
use anyhow::{Context as _, bail};
use futhark_manifest::{Manifest, Program};
use futhark_safe::compile::Compiler;
use std::path::Path;
use std::process::{Command, Stdio};

/// The features of each source, in order, by this compiler, `threads` at a time.
///
/// Programs of which `file` has the features are not compiled; the others are added to it.
///
/// # Errors
/// If a file cannot be read or written, or the compiler is a recording, which cannot generate
/// manifests. A program that does not compile is not an error.
pub fn scan(
    sources: &[&Path],
    compiler: &Path,
    file: &Path,
    threads: usize,
) -> anyhow::Result<Vec<Features>> {
    let compiler = Compiler::at(compiler)?;
    if compiler.recording().is_some() {
        bail!(
            "--cover needs a Futhark compiler, and {} is a recording",
            compiler.program().display()
        );
    }
    let mut kept = Kept::read(file, compiler.version())?;
    let scanned = parallel::map(sources, threads, |source| match kept.find(source) {
        Some(features) => Ok((features, None)),
        None => features(source, &compiler).map(|(features, files)| (features, Some(files))),
    });
    let mut all = Vec::new();
    for (source, scanned) in sources.iter().zip(scanned) {
        let (features, files) = scanned?;
        if let Some(files) = files {
            kept.add(source, &files, features.clone())?;
        }
        all.push(features);
    }
    kept.write()?;
    Ok(all)
}

/// The features of a program, and the files that they depend on.
fn features(source: &Path, compiler: &Compiler) -> anyhow::Result<(Features, Files)> {
    let text = std::fs::read_to_string(source)
        .with_context(|| format!("failed to read {}", source.display()))?;
    let imports = compiler.imports(source);
    let files = imports.unwrap_or_else(|_| vec![source.to_owned()]);
    let program = manifest(source, compiler)
        .with_context(|| format!("failed to get the manifest of {}", source.display()))?;
    Ok((Features::of(&text, program.as_ref()), files))
}

/// The manifest of a program, or nothing if it does not compile or its manifest is wrong, which
/// are findings of the checks.
fn manifest(source: &Path, compiler: &Compiler) -> anyhow::Result<Option<Program>> {
    let work = tempfile::tempdir()?;
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
    let text = std::fs::read_to_string(work.path().join("program.json"))?;
    Ok(Manifest::parse(&text).and_then(Manifest::into_program).ok())
}
