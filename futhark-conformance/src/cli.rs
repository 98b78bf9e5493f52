//! The command line: parses arguments, and does nothing else.

use crate::devices::Emulate;
use crate::pattern::{CheckPattern, Pattern};
use crate::shard::Shard;
use clap::{Args, Parser, Subcommand};
use futhark_manifest::Backend;
use std::path::PathBuf;

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

    /// Run the part of the programs that covers each construct with each check, backend and compiler
    #[arg(long)]
    pub cover: bool,

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

impl RunArgs {
    /// The options that a command which repeats one finding of this run needs as well.
    ///
    /// Program, backend, device, compiler, check and seed come from the finding and the header of
    /// the report. The options that remain choose how and from what inputs are generated, how the
    /// emulated device behaves, and the build folder.
    #[must_use]
    pub fn options_to_repeat(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if !self.machine.emulated.is_empty() {
            add("--emulated", self.machine.emulated.clone());
        }
        if self.machine.emulate == Emulate::Always {
            add("--emulate", "always".to_owned());
        }
        if let Some(cases) = self.inputs.cases {
            add("--cases", cases.to_string());
        }
        for (option, path) in [
            ("--regressions", &self.inputs.regressions),
            ("--input", &self.inputs.input),
            ("--build-dir", &self.work.build_dir),
        ] {
            if let Some(path) = path {
                add(option, path.display().to_string());
            }
        }
        words
    }
}

const RUN_HELP: &str = "\
Examples:
  futhark-conformance run
  futhark-conformance run my.fut --backend c,multicore
  futhark-conformance run lib/ --futhark ~/bin/futhark --json report.jsonl
  futhark-conformance run my.fut --backend c --check 'blocks:main #0'
  futhark-conformance run my.fut --backend opencl --device 'NVIDIA*'
  futhark-conformance run --cover

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
    #[arg(value_name = "CHECK")]
    pub check: String,
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

    /// Judge the part of the programs that covers each construct of test blocks
    #[arg(long)]
    pub cover: bool,

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

/// The arguments of the hidden subcommand `child`.
#[derive(Debug, Args)]
pub struct ChildArgs {
    /// The work, as JSON (see `protocol::JobSpec`)
    #[arg(value_name = "JSON")]
    pub spec: String,
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

    #[test]
    fn options_to_repeat_are_options_of_run() {
        let options = [
            "--emulated",
            "delayed",
            "--emulate",
            "always",
            "--cases",
            "3",
            "--regressions",
            "r",
            "--input",
            "i",
            "--build-dir",
            "b",
        ];
        let cli = Cli::try_parse_from(["x", "run"].iter().chain(&options)).unwrap();
        let Command::Run(args) = cli.command else {
            panic!()
        };
        assert_eq!(args.options_to_repeat(), options);
    }
}
