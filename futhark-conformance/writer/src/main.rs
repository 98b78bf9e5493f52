//! Writes random Futhark programs, runs them with every compiler and backend, and reduces those that fail.

#![forbid(unsafe_code)]

mod generate;
mod matrix;
mod reduce;
mod report;
mod source;

use anyhow::{Context as _, Result};
use clap::Parser;
use matrix::{Failure, Matrix};
use report::{Class, Totals, alike, class_of, finding};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Writes random Futhark programs, and compares what compilers, backends and the interpreter make of them
#[derive(Parser)]
#[command(after_help = "Exit code: 0 nothing new was found, 1 something was, 2 an error")]
struct Options {
    /// Seed of the first program; the next has the next number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Programs to write
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    count: u64,
    /// Start no further programs after this time
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    minutes: u64,
    /// Folder for findings and temporary files
    #[arg(long, default_value = "target/written")]
    into: PathBuf,
    /// Only print the program of the seed
    #[arg(long)]
    print: bool,
    /// Backends, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "c,multicore,opencl,cuda")]
    backend: Vec<String>,
    /// Futhark compilers; the last one also interprets [default: both of ci/setup]
    #[arg(long, value_delimiter = ',')]
    compiler: Vec<PathBuf>,
}

/// Programs per run of the matrix.
const BATCH: u64 = 5;

/// The time to reduce a finding.
const PATIENCE: Duration = Duration::from_secs(300);

struct Writer {
    options: Options,
    matrix: Matrix,
    interpreter: PathBuf,
    totals: Totals,
}

fn main() -> ExitCode {
    // The matrix starts this program as futhark-conformance.
    futhark_conformance::child_process();
    if std::env::args().nth(1).is_some_and(|word| word == "run") {
        return futhark_conformance::main();
    }
    match work(Options::parse()) {
        Ok(has_new) => ExitCode::from(u8::from(has_new)),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn work(mut options: Options) -> Result<bool> {
    if options.print {
        print!("{}", generate::generate(options.seed));
        return Ok(false);
    }
    if options.compiler.is_empty() {
        let toolchain =
            std::env::var("FUTHARK_TOOLCHAIN").context("source .toolchain/env.sh first")?;
        let path = |version| format!("{toolchain}/bin/futhark-{version}").into();
        options.compiler = ["0.25.27", "0.25.32"].map(path).to_vec();
    }
    fs::create_dir_all(&options.into)?;
    options.into = options.into.canonicalize()?;
    let matrix = Matrix {
        compilers: options
            .compiler
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
        backends: options.backend.clone(),
        plain: options
            .backend
            .iter()
            .filter(|name| ["c", "multicore"].contains(&name.as_str()))
            .cloned()
            .collect(),
    };
    let interpreter = options.compiler.last().context("no compiler")?.clone();
    let begun = Instant::now();
    let (mut seed, end) = (options.seed, options.seed.saturating_add(options.count));
    let mut writer = Writer {
        options,
        matrix,
        interpreter,
        totals: Totals::default(),
    };
    while seed < end && begun.elapsed().as_secs() / 60 < writer.options.minutes {
        let next = end.min(seed.saturating_add(BATCH));
        writer.batch(seed..next)?;
        seed = next;
        println!(
            "seeds below {seed}, {} s: {}",
            begun.elapsed().as_secs(),
            writer.totals.text()
        );
    }
    Ok(writer
        .totals
        .found
        .keys()
        .any(|(class, _)| *class != Class::Plain))
}

impl Writer {
    /// An empty folder.
    fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.options.into.join("work").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn batch(&mut self, seeds: std::ops::Range<u64>) -> Result<()> {
        let folder = self.folder("programs")?;
        let mut sources = Vec::new();
        for seed in seeds {
            let (name, source) = (format!("w{seed}.fut"), generate::generate(seed));
            match source::write(&source, &folder.join(&name), &self.interpreter) {
                Ok(()) => sources.push((name, source)),
                Err(error) => {
                    println!("seed {seed}: the interpreter rejects the program: {error:#}")
                }
            }
        }
        let run = self.matrix.run(&folder)?;
        self.totals.programs += sources.len();
        self.totals.compared += run.compared;
        for (name, source) in &sources {
            self.totals.entries += source::entries(source).len();
            // One finding per kind of failure of a program.
            let mut kinds = BTreeSet::new();
            for failure in run.of(name) {
                if kinds.insert(failure.kind) {
                    self.find(source, failure)?;
                }
            }
        }
        // The builds of programs; those of probes and of the emulated device are used again.
        for build in fs::read_dir(self.options.into.join("work/build"))?.flatten() {
            if build.file_name().to_string_lossy().starts_with('w') {
                let _ = fs::remove_dir_all(build.path());
            }
        }
        Ok(())
    }

    /// Reduces a failure, classifies it, and writes its report.
    fn find(&mut self, source: &str, failure: &Failure) -> Result<()> {
        println!(
            "{} {}: {:?} with {}",
            failure.program, failure.case, failure.kind, failure.setup
        );
        let source = self.reduce(source.to_owned(), failure)?;
        let (folder, name) = (self.folder("minimal")?, "wminimal.fut");
        source::write(&source, &folder.join(name), &self.interpreter)?;
        let run = Matrix {
            plain: self.matrix.backends.clone(),
            ..self.matrix.clone()
        }
        .run(&folder)?;
        let failures: Vec<_> = run.of(name).collect();
        let class = class_of(&failures, &run.setups);
        *self.totals.found.entry((class, failure.kind)).or_default() += 1;
        let seed = failure.program.trim_matches(|c: char| !c.is_ascii_digit());
        let into = self
            .options
            .into
            .join("found")
            .join(format!("{seed}-{:?}", failure.kind));
        fs::create_dir_all(&into)?;
        fs::copy(folder.join(name), into.join("minimal.fut"))?;
        fs::write(
            into.join("report.md"),
            finding(class, failure, &failures, &run),
        )?;
        println!("  {class:?}: {}", into.display());
        Ok(())
    }

    fn reduce(&self, mut source: String, failure: &Failure) -> Result<String> {
        let begun = Instant::now();
        let mut tried = BTreeSet::new();
        while begun.elapsed() < PATIENCE {
            let folder = self.folder("reduce")?;
            let mut valid = Vec::new();
            for variant in reduce::variants(&source) {
                let path = folder.join(format!("w{}.fut", valid.len()));
                if tried.insert(variant.clone())
                    && source::write(&variant, &path, &self.interpreter).is_ok()
                {
                    valid.push(variant);
                }
                if valid.len() == 4 {
                    break;
                }
            }
            match self.fails(&folder, valid.len(), failure)? {
                Some(i) => source = valid.swap_remove(i),
                None if valid.is_empty() => break,
                None => {}
            }
        }
        Ok(source)
    }

    /// The first of some programs that fails in the same way with the same setup.
    fn fails(&self, folder: &Path, count: usize, failure: &Failure) -> Result<Option<usize>> {
        if count == 0 {
            return Ok(None);
        }
        let [compiler, backend, how] = failure.setup.split(' ').collect::<Vec<_>>()[..] else {
            anyhow::bail!("not a setup: {}", failure.setup);
        };
        let backends = |wanted| {
            if how == wanted {
                vec![backend.to_owned()]
            } else {
                Vec::new()
            }
        };
        let mut matrix = Matrix {
            backends: backends("hardened"),
            plain: backends("plain"),
            ..self.matrix.clone()
        };
        if matrix.compilers.len() > 1 {
            matrix.compilers.retain(|path| path.contains(compiler));
        }
        let run = matrix.run(folder)?;
        let fails = |i: &usize| {
            run.of(&format!("w{i}.fut"))
                .any(|other| alike(other, failure))
        };
        Ok((0..count).find(fails))
    }
}
