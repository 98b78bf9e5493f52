//! The command line.

use crate::checks::{self, Check};
use crate::devices::{Device, Emulate};
use crate::pattern::{CheckPattern, Pattern};
use clap::{Args, Parser, Subcommand};
use futhark_manifest::Backend;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Checks which promises of the Futhark C API hold: for your programs, on
/// every backend that this machine can run, with every compiler at hand.
#[derive(Debug, Parser)]
#[command(name = "futhark-conformance", version, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every promise held, or failed as expected
  1  something failed, or passed unexpectedly
  2  wrong usage: an option, a path or a file that cannot be used
  3  nothing could be run: no compiler, no usable backend, no program";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile programs, check them, and report
    Run(RunArgs),
    /// Show the programs that would be checked, and their test cases, or the checks
    List(ListArgs),
    /// Tell what a check asks, which sections of the C API reference it proves, and what it cannot
    Explain(ExplainArgs),
    /// Show again what runs have found, and put their parts together
    Report(ReportArgs),
    /// Compile programs for machines that have no compilers, and check them there
    Prepare(PrepareArgs),
    /// Compare with `futhark test`, test case by test case
    Judge(JudgeArgs),
    /// Show which backends this machine can run, and on which devices
    Devices(DevicesArgs),
    /// Work on one program for one backend, in a process of its own
    #[command(hide = true)]
    Child(ChildArgs),
}

/// What `run` takes.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    /// Futhark programs, or folders that hold some [default: programs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Compilers and backends.
    #[command(flatten)]
    pub machine: MachineArgs,

    /// Run only checks that match: CHECK or CHECK:CASE, `*` for anything
    #[arg(long = "check", value_name = "PATTERN")]
    pub checks: Vec<CheckPattern>,

    /// Run the I-th of N parts, counted from 1
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,

    /// How many processes work at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    /// Where generated inputs begin; the same seed gives the same inputs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// The list of expected failures [default: expectations.toml in or above PATH]
    #[arg(long, value_name = "FILE")]
    pub expectations: Option<PathBuf>,

    /// Compile kernels for these, too, with the real NVRTC and hiprtc: such as sm_90,gfx90a
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub architectures: Vec<String>,

    /// A Futhark compiler to compare with, without checking what it makes; may be repeated
    #[arg(long, value_name = "PATH")]
    pub against: Vec<PathBuf>,

    /// What is generated.
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Where reports go.
    #[command(flatten)]
    pub reports: ReportFiles,

    /// How child processes work.
    #[command(flatten)]
    pub work: WorkArgs,
}

const RUN_HELP: &str = "\
Examples:
  futhark-conformance run
  futhark-conformance run my.fut --backend c,multicore
  futhark-conformance run lib/ --futhark ~/bin/futhark --json report.jsonl
  futhark-conformance run my.fut --backend c --check 'blocks:main #0'
  futhark-conformance run my.fut --backend opencl --device 'NVIDIA*'

Every program is compiled once per backend and compiler, and checked in a
process of its own: one that crashes or hangs is a finding, not the end.

Exit codes: 0 all held, 1 something failed, 2 wrong usage, 3 could not run.";

/// Files to write reports to.
#[derive(Clone, Debug, Default, Args)]
pub struct ReportFiles {
    /// Write every finding to FILE, one JSON text per line; `report` reads such files
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write a report as JUnit XML to FILE, for continuous integration
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write a report as one HTML page to FILE, for people
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Compilers and backends.
#[derive(Clone, Debug, Args)]
pub struct MachineArgs {
    /// Backends, separated by commas [default: those that this machine can run]
    #[arg(long = "backend", value_name = "BACKEND", value_delimiter = ',', value_parser = backend)]
    pub backends: Vec<Backend>,

    /// Only devices with this name, `*` for anything; may be repeated [default: all that `devices` shows]
    #[arg(long = "device", value_name = "PATTERN")]
    pub devices: Vec<Pattern>,

    /// A Futhark compiler; may be repeated [default: FUTHARK, PATH, and those of FUTHARK_TOOLCHAIN]
    #[arg(long, value_name = "PATH")]
    pub futhark: Vec<PathBuf>,

    /// Whether cuda and hip run on the emulated device, which needs a C++ compiler
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub emulate: Emulate,

    /// How the emulated device behaves: a list such as delayed,order=reversed (see emulated/README.md)
    #[arg(long, value_name = "SETTINGS", default_value = "")]
    pub emulated: String,
}

/// How a child process works.
#[derive(Clone, Debug, Args)]
pub struct WorkArgs {
    /// How long one step may take, compiling included
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// How much memory a program on the host may use; 0 for no limit
    #[arg(long, value_name = "MIB", default_value_t = 8192)]
    pub memory: u64,

    /// Compile as for users; by default the C compiler optimises only programs that run into the
    /// time limit, as that is faster
    #[arg(long)]
    pub optimise: bool,

    /// Where compiled programs are kept for the next run [default: below target, or the user's cache]
    #[arg(long, value_name = "DIR")]
    pub build_dir: Option<PathBuf>,
}

/// Generated inputs.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArgs {
    /// How many inputs are generated for an entry point [default: 24, fewer on simulated devices]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub cases: Option<u32>,

    /// Where inputs that showed a failure are kept, and tried first next time [default: regressions in the build directory]
    #[arg(long, value_name = "DIR")]
    pub regressions: Option<PathBuf>,

    /// Try the input in FILE, which was kept, and no other
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
}

/// What `list` takes.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Futhark programs, or folders that hold some [default: programs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Show the checks instead
    #[arg(long)]
    pub checks: bool,

    /// Show the test cases as well, as `--check` takes them
    #[arg(long, conflicts_with = "checks")]
    pub cases: bool,
}

/// What `report` takes.
#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub struct ReportArgs {
    /// What `run --json` wrote; several files if they are parts of one run
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Where reports go.
    #[command(flatten)]
    pub reports: ReportFiles,
}

const REPORT_HELP: &str = "\
Examples:
  futhark-conformance report results.jsonl --html results.html
  futhark-conformance report part-*.jsonl --json all.jsonl --junit junit.xml

Exit codes: 0 all held, 1 something failed, 2 wrong usage or a damaged file,
3 nothing was checked, or a part of the run is missing.";

/// What `explain` takes.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The check, as `list --checks` names it
    #[arg(value_name = "CHECK", value_parser = check)]
    pub check: &'static Check,
}

/// What `judge` takes.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Futhark programs, or folders that hold some [default: programs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// A Futhark compiler; may be repeated [default: FUTHARK, PATH, and those of FUTHARK_TOOLCHAIN]
    #[arg(long, value_name = "PATH")]
    pub futhark: Vec<PathBuf>,

    /// Leave out programs with this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    pub exclude: Vec<String>,

    /// Ask about each test case a second time, with something wrong in it
    #[arg(long)]
    pub altered: bool,

    /// How many processes work at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    /// How child processes work.
    #[command(flatten)]
    pub work: WorkArgs,
}

impl JudgeArgs {
    /// The paths that are meant.
    #[must_use]
    pub fn paths_or_default(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() {
            vec![PathBuf::from("programs")]
        } else {
            self.paths.clone()
        }
    }
}

/// What `prepare` takes.
#[derive(Debug, Args)]
#[command(after_help = PREPARE_HELP)]
pub struct PrepareArgs {
    /// Futhark programs, or folders that hold some [default: programs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Where the recordings go, one folder per compiler
    #[arg(long, value_name = "DIR", required = true)]
    pub into: PathBuf,

    /// Backends, separated by commas; c, which others are compared with, is always among them
    #[arg(long = "backend", value_name = "BACKEND", value_delimiter = ',', value_parser = backend, required = true)]
    pub backends: Vec<Backend>,

    /// A Futhark compiler; may be repeated [default: FUTHARK, PATH, and those of FUTHARK_TOOLCHAIN]
    #[arg(long, value_name = "PATH")]
    pub futhark: Vec<PathBuf>,

    /// How many processes work at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    /// How child processes work.
    #[command(flatten)]
    pub work: WorkArgs,
}

const PREPARE_HELP: &str = "\
Example:
  futhark-conformance prepare programs --backend cuda --into recordings
and, where programs/ and recordings/ are, with neither Futhark nor a C compiler:
  futhark-conformance run programs --backend cuda --futhark recordings/futhark-0.25.32

Exit codes: 0 everything is recorded, also that some programs do not compile; 2 wrong
usage, 3 something could not be recorded.";

/// What `devices` takes.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Compilers and backends.
    #[command(flatten)]
    pub machine: MachineArgs,

    /// How child processes work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// What the hidden `child` takes.
#[derive(Debug, Args)]
pub struct ChildArgs {
    /// The program; without one, the device is tried.
    #[arg(long)]
    pub program: Option<PathBuf>,
    /// The device, as JSON.
    #[arg(long)]
    pub device: Device,
    /// The compiler.
    #[arg(long)]
    pub futhark: PathBuf,
    /// Where compiled programs are kept.
    #[arg(long)]
    pub build_dir: PathBuf,
    /// The seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The checks that are asked for; none means all.
    #[arg(long = "check")]
    pub checks: Vec<CheckPattern>,
    /// The last step that another process has been through.
    #[arg(long)]
    pub resume_after: Option<usize>,
    /// The other compilers of the run, oldest first.
    #[arg(long = "against")]
    pub against: Vec<PathBuf>,
    /// An architecture that kernels are to be compiled for.
    #[arg(long = "architecture")]
    pub architectures: Vec<String>,
    /// The backends that processes can run whatever their device is.
    #[arg(long, value_delimiter = ',', value_parser = backend)]
    pub at_hand: Vec<Backend>,
    /// What is generated.
    #[command(flatten)]
    pub inputs: InputArgs,
    /// The limit on memory in MiB, 0 for none.
    #[arg(long, default_value_t = 0)]
    pub memory: u64,
    /// Whether to compile as for users.
    #[arg(long)]
    pub optimise: bool,
}

/// One part of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// Which part, counted from 1.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

impl Shard {
    /// Whether the job of this number, counted from 0, belongs to the part.
    #[must_use]
    pub fn takes(self, job: usize) -> bool {
        job % self.count == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err("expected I/N with I from 1 to N, such as 1/4".to_owned()),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

fn check(name: &str) -> Result<&'static Check, String> {
    Check::named(name).ok_or_else(|| {
        let names: Vec<&str> = checks::ALL.iter().map(|check| check.name).collect();
        format!("there is no such check; there are {}", names.join(", "))
    })
}

fn backend(name: &str) -> Result<Backend, futhark_manifest::UnknownBackend> {
    name.trim().parse()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn shards_cover_every_job_once() {
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"]
            .iter()
            .map(|s| s.parse().unwrap())
            .collect();
        for job in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.takes(job)).count(), 1);
        }
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn backends_are_lists() {
        let cli =
            Cli::try_parse_from(["x", "run", "--backend", "c,opencl", "--backend", "hip"]).unwrap();
        let Command::Run(args) = cli.command else {
            panic!()
        };
        assert_eq!(
            args.machine.backends,
            [Backend::C, Backend::OpenCl, Backend::Hip]
        );
        let error = Cli::try_parse_from(["x", "run", "--backend", "vulkan"]).unwrap_err();
        assert!(error.to_string().contains("opencl"), "{error}");
    }
}
