//! Builds many programs with checks, and counts which of them futhark-sys refuses: see `ci/breadth`, which runs it with a
//! C compiler that checks types and generates no code.
//!
//! Usage: `breadth --futhark PATH --backends B,... --share I/N --programs N --seed N --jobs N --work FOLDER PATH...`

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, io, process, thread};

use futhark_manifest::Backend;
use futhark_sys::compile::{Build, Compiler, ErrorKind, Linkage};

fn main() {
    match run() {
        Ok(true) => {}
        Ok(false) => process::exit(1),
        Err(error) => {
            eprintln!("breadth: {error}");
            process::exit(2);
        }
    }
}

/// Returns whether every program builds that the Futhark compiler accepts.
fn run() -> Result<bool, Box<dyn Error>> {
    let options = Options::read()?;
    let all = options.programs()?;
    let limit = options.most.unwrap_or(all.len());
    println!(
        "Futhark {}: {} of {} programs (seed {}), until {limit} compile",
        options.compiler.version(),
        all.len().div_ceil(options.share),
        all.len(),
        options.seed,
    );
    let results = Mutex::new(Results {
        open: all.iter().take(all.len().div_ceil(options.share)).collect(),
        ..Results::default()
    });
    let lock = || results.lock().unwrap_or_else(PoisonError::into_inner);
    thread::scope(|scope| {
        for job in 0..options.jobs {
            let (options, lock) = (&options, &lock);
            scope.spawn(move || {
                loop {
                    let next = {
                        let mut results = lock();
                        let is_complete = results.compiled >= limit;
                        (!is_complete).then(|| results.open.pop_front()).flatten()
                    };
                    let Some(program) = next else { return };
                    let outcomes = options.build(program, job);
                    lock().add(program, outcomes);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    eprintln!();
    Ok(results.print(&options))
}

struct Options {
    compiler: Compiler,
    backends: Vec<Backend>,
    /// One in so many programs.
    share: usize,
    /// The number of programs that compile, after which the rest is left out.
    most: Option<usize>,
    seed: u64,
    jobs: usize,
    work: PathBuf,
    roots: Vec<PathBuf>,
}

impl Options {
    fn read() -> Result<Options, Box<dyn Error>> {
        let mut arguments = env::args().skip(1);
        let (Some("--futhark"), Some(futhark)) = (arguments.next().as_deref(), arguments.next())
        else {
            return Err("expected --futhark PATH first".into());
        };
        let mut options = Options {
            compiler: Compiler::at(futhark)?,
            backends: Vec::new(),
            share: 1,
            most: None,
            seed: 0,
            jobs: 1,
            work: env::temp_dir(),
            roots: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match &*argument {
                "--backends" => {
                    for name in value()?.split(',') {
                        options.backends.push(name.parse()?);
                    }
                }
                "--share" => options.share = value()?.parse::<usize>()?.max(1),
                "--programs" => options.most = Some(value()?.parse()?),
                "--seed" => options.seed = value()?.parse()?,
                "--jobs" => options.jobs = value()?.parse()?,
                "--work" => options.work = value()?.into(),
                _ => options.roots.push(argument.into()),
            }
        }
        Ok(options)
    }

    /// The programs under all roots, in an order that the seed determines.
    fn programs(&self) -> io::Result<Vec<PathBuf>> {
        let mut programs = Vec::new();
        for root in &self.roots {
            let mut found = Vec::new();
            find(root, &mut found)?;
            found.sort();
            // The same order wherever the folder is.
            programs.extend(found.into_iter().map(|path| {
                let name = path.strip_prefix(root).unwrap_or(&path);
                (self.hash(name), path)
            }));
        }
        programs.sort();
        Ok(programs.into_iter().map(|(_, path)| path).collect())
    }

    /// FNV-1a of the seed and a name, and one more round, after which all bits depend on the last character.
    fn hash(&self, name: &Path) -> u64 {
        let seed = self.seed.to_le_bytes();
        let bytes = seed.iter().chain(name.as_os_str().as_encoded_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// The outcome for each backend, and its text.
    fn build(&self, program: &Path, job: usize) -> Vec<(Backend, Outcome, String)> {
        let folder = self.work.join(format!("job-{job}"));
        let outcomes = self.backends.iter().map(|&backend| {
            let build = Build::new(program, backend)
                .compiler(self.compiler.clone())
                .out_dir(&folder)
                .linkage(Linkage::Static)
                .option("-w")
                .fast(true)
                .run();
            let (outcome, text) = match build {
                Ok(_) => (Outcome::Compiled, String::new()),
                Err(error) => (Outcome::of(error.kind()), format!("{error:#}")),
            };
            (backend, outcome, text)
        });
        let outcomes = outcomes.collect();
        // Thousands of results would fill a disk.
        let _ = fs::remove_dir_all(&folder);
        outcomes
    }
}

fn find(path: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            find(&entry?.path(), found)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "fut") {
        found.push(path.to_owned());
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Compiled,
    /// futhark-sys refuses the generated code or its manifest.
    Refused,
    /// The C compiler rejects our C file.
    RejectedC,
    /// The Futhark compiler rejects the program: a part of another one, or a test of an error.
    RejectedProgram,
    /// The Futhark compiler fails.
    CompilerFailed,
    /// For example, a header is missing.
    Other,
}

impl Outcome {
    const ALL: [(Outcome, &str); 6] = [
        (Outcome::Compiled, "compiled"),
        (Outcome::Refused, "refused by futhark-sys"),
        (Outcome::RejectedC, "rejected by the C compiler"),
        (Outcome::RejectedProgram, "rejected by Futhark"),
        (Outcome::CompilerFailed, "Futhark failed"),
        (Outcome::Other, "other errors"),
    ];

    fn of(kind: ErrorKind) -> Outcome {
        match kind {
            ErrorKind::Layout | ErrorKind::Manifest => Outcome::Refused,
            ErrorKind::C => Outcome::RejectedC,
            ErrorKind::Program => Outcome::RejectedProgram,
            ErrorKind::CompilerFailed => Outcome::CompilerFailed,
            _ => Outcome::Other,
        }
    }

    /// Whether it is a mistake of futhark-sys, or nothing was tried.
    fn is_failure(self) -> bool {
        matches!(self, Outcome::Refused | Outcome::RejectedC | Outcome::Other)
    }
}

#[derive(Default)]
struct Results<'p> {
    open: VecDeque<&'p PathBuf>,
    tried: usize,
    /// Programs that the Futhark compiler accepts for some backend.
    compiled: usize,
    counts: BTreeMap<(String, Outcome), usize>,
    failed: bool,
}

impl Results<'_> {
    fn add(&mut self, program: &Path, outcomes: Vec<(Backend, Outcome, String)>) {
        self.tried += 1;
        let is_valid = |(_, outcome, _): &(_, Outcome, _)| {
            !matches!(outcome, Outcome::RejectedProgram | Outcome::CompilerFailed)
        };
        self.compiled += usize::from(outcomes.iter().any(is_valid));
        for (backend, outcome, text) in outcomes {
            *self
                .counts
                .entry((backend.to_string(), outcome))
                .or_default() += 1;
            self.failed |= outcome.is_failure();
            if outcome.is_failure() || outcome == Outcome::CompilerFailed {
                let (_, name) = Outcome::ALL[outcome as usize];
                println!("\n{backend} {}: {name}: {text}", program.display());
            }
        }
        eprint!("\r{} programs, {} left ", self.tried, self.open.len());
        let _ = io::stderr().flush();
    }

    /// Prints a row for each backend. Returns whether nothing failed.
    fn print(&self, options: &Options) -> bool {
        println!("\n{} programs tried, {} compile", self.tried, self.compiled);
        print!("| backend |");
        Outcome::ALL
            .iter()
            .for_each(|(_, name)| print!(" {name} |"));
        println!("\n|---|{}", "---|".repeat(Outcome::ALL.len()));
        for backend in &options.backends {
            print!("| {backend} |");
            for (outcome, _) in Outcome::ALL {
                let count = self.counts.get(&(backend.to_string(), outcome));
                print!(" {} |", count.unwrap_or(&0));
            }
            println!();
        }
        !self.failed && self.compiled > 0
    }
}
