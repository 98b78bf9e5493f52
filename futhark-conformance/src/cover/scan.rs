//! Finds the constructs of programs: runs the Futhark compiler for their manifests.

use super::construct::{Compiled, Features};
use super::kept::{Kept, Sources, Stamp};
use crate::parallel;
use crate::say::errln;
use crate::toolchain::{self, Futhark};
use anyhow::Context as _;
use futhark_manifest::Manifest;
use futhark_safe::compile::Compiler;
use futhark_safe::compile::process;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the search for constructs says nothing.
const SILENCE: Duration = Duration::from_secs(5);

/// The features of each source, in order, by this compiler.
///
/// Programs of which a file has the constructs are not compiled; the others are added to the updated
/// file. A program that cannot be compiled now, because the compiler is a recording or the time is up,
/// has the constructs of its source only.
///
/// # Errors
/// If a source or a file of constructs cannot be read. A program that does not compile is not an
/// error, nor is a file that cannot be written.
pub fn scan(
    sources: &[&Path],
    compiler: &Path,
    constructs: &Sources<'_>,
) -> anyhow::Result<Vec<Features>> {
    let futhark = toolchain::open(compiler, &[])?;
    let version = futhark.version();
    let given = constructs.read.iter();
    let given: anyhow::Result<Vec<Kept>> = given.map(|file| Kept::read(file, version)).collect();
    let mut kept = Kept::read(constructs.updated, version)?;
    let scan = Scan {
        futhark: &futhark,
        given: given?,
        until: constructs.until,
        last_line: Mutex::new(Instant::now()),
    };
    let done = AtomicUsize::new(0);
    let scanned = parallel::map(sources, constructs.threads, |source| {
        let features = scan.one(source, &kept);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        scan.show(done, sources.len());
        features.with_context(|| format!("failed to scan {}", source.display()))
    });
    let mut all = Vec::new();
    for scanned in scanned {
        all.push(scanned.map(|(features, new)| {
            if let Some((stamp, compiled)) = new {
                kept.add(stamp, compiled);
            }
            features
        }));
    }
    if let Err(error) = kept.write() {
        errln!("warning: {error:#}; the next run compiles these programs again");
    }
    all.into_iter().collect()
}

/// The features of a program, and what is to be kept.
type Scanned = (Features, Option<(Stamp, Option<Compiled>)>);

struct Scan<'a> {
    futhark: &'a Futhark,
    given: Vec<Kept>,
    until: Option<Instant>,
    last_line: Mutex<Instant>,
}

impl Scan<'_> {
    /// Prints how many programs are done, from time to time: to compile a large corpus takes minutes.
    fn show(&self, done: usize, all: usize) {
        let mut last = self
            .last_line
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= SILENCE && done < all {
            *last = Instant::now();
            let version = self.futhark.version();
            errln!(
                "[{done}/{all}] compiling programs for their constructs, once for Futhark {version}"
            );
        }
    }

    fn one(&self, source: &Path, kept: &Kept) -> anyhow::Result<Scanned> {
        let text = std::fs::read_to_string(source)?;
        let mut files = self.given.iter().chain([kept]);
        if let Some(compiled) = files.find_map(|kept| kept.find(source)) {
            return Ok((Features::of(&text, compiled), None));
        }
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        let compiler = self.futhark.compiler();
        let Some(compiler) = compiler.ok().filter(|_| !is_late) else {
            return Ok((Features::of_source(&text), None));
        };
        let files = match compiler.imports(source) {
            Ok(files) => Some(files),
            // The mistake can be in an import, which is then unknown.
            Err(_) if text.contains("import") => None,
            Err(_) => Some(vec![source.to_owned()]),
        };
        // Before the compiler reads the files: a change while it runs must count as a change.
        let stamp = files.and_then(|files| kept.stamp(source, &files));
        let compiled = compile(source, compiler)?;
        let features = Features::of(&text, compiled.as_ref());
        Ok((features, stamp.map(|stamp| (stamp, compiled))))
    }
}

/// What the manifest of a program shows, or nothing if it does not compile or its manifest is wrong,
/// which are findings of the checks.
fn compile(source: &Path, compiler: &Compiler) -> anyhow::Result<Option<Compiled>> {
    let work = tempfile::tempdir()?;
    let mut command = Command::new(compiler.program());
    command.args(["c", "--library", "-o"]);
    command.args([&work.path().join("program"), source]);
    match process::run(&mut command) {
        Ok(output) if output.status.success() => {}
        Err(error) if error.kind() != io::ErrorKind::TimedOut => return Err(error.into()),
        _ => return Ok(None),
    }
    let text = std::fs::read_to_string(work.path().join("program.json"))?;
    let program = Manifest::parse(&text).and_then(Manifest::into_program);
    Ok(program.ok().map(|program| Compiled::of(&program)))
}
