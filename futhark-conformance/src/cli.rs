//! The command line: parses arguments, and does nothing else.

use crate::devices::Emulate;
use crate::jobs::Shard;
use crate::pattern::{CheckPattern, Pattern};
use clap::{Args, Parser, Subcommand};
use futhark_manifest::Backend;
use futhark_safe::compile::BACKENDS;
use std::path::PathBuf;
use std::time::Duration;

/// Checks which promises of the Futhark C API hold for your programs, on every backend that this
/// machine can run, with every installed compiler
#[derive(Debug, Parser)]
#[command(name = "futhark-conformance", version, after_help = EXIT_CODES)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every promise held, or failed as expected; nothing broke; every build is recorded
  1  something failed, passed unexpectedly, or, for diff, fails now and did not before
  2  wrong usage: an option, a path or a file that cannot be used
  3  nothing was checked or compared, no device works, or the results are incomplete or
     could not be written";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile programs, check them, and report
    Run(Box<RunArgs>),
    /// List the programs to check and their test cases, or list the checks
    List(ListArgs),
    /// Explain a check: its method, the sections of the C API reference that it proves, and its
    /// limits
    Explain {
        /// Name of the check, from `list --checks`
        #[arg(value_name = "CHECK")]
        check: String,
    },
    /// Show the results of earlier runs, and merge the parts of a run
    Report(ReportArgs),
    /// Show what changed between two runs, or between two compilers of one run
    Diff(DiffArgs),
    /// Compile programs to check them on machines without compilers
    Prepare(PrepareArgs),
    /// Show what this machine can build and run, what fails, and how to get what is missing
    Devices(DevicesArgs),
    /// Check one program on one device (started by `run`)
    #[command(hide = true, name = crate::child::COMMAND)]
    Child,
    /// Kill what is left of a run when it ends (started by `run`)
    #[command(hide = true, name = crate::jobs::GUARD)]
    Guard,
}

impl Command {
    /// The limits of the processes that a command starts; `None` if it starts none.
    #[must_use]
    pub fn work(&self) -> Option<&WorkArgs> {
        match self {
            Command::Run(args) => Some(&args.config.work),
            Command::Prepare(args) => Some(&args.work),
            Command::Devices(args) => Some(&args.work),
            _ => None,
        }
    }
}

/// The most jobs to run at a time. Each has a thread and processes.
const MOST_JOBS: i64 = 1024;

/// The longest time limit in seconds, a year.
const YEAR: u64 = 365 * 24 * 3600;

/// The highest memory limit in MiB, more than any machine has.
const EXBIBYTE: u64 = 1 << 40;

/// The headings of options.
const SELECTION: &str = "What to check";
const MACHINE: &str = "Compilers and devices";
const LIMITS: &str = "Inputs and limits";
const REPORTS: &str = "Results";

/// The arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Futhark programs, or folders of programs
    #[arg(value_name = "PATH", default_value = "programs")]
    pub paths: Vec<PathBuf>,

    /// Leave out programs whose path matches; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = SELECTION)]
    pub exclude: Vec<Pattern>,

    /// How the programs are checked.
    #[command(flatten)]
    pub config: Config,

    /// Report files.
    #[command(flatten)]
    pub reports: ReportFiles,
}

/// How a run checks a corpus. By default: all checks, with every compiler, on every backend and
/// device of this machine.
///
/// ```
/// use futhark_conformance::{Config, manifest::Backend};
///
/// let mut config = Config::default();
/// config.machine.backends = vec![Backend::C, Backend::Multicore];
/// config.checks = vec!["blocks".to_owned().into(), "leaks".to_owned().into()];
/// config.work.timeout = 30;
/// config.json = Some("results.jsonl".into());
/// ```
#[derive(Clone, Debug, Args)]
pub struct Config {
    /// CHECK or CHECK:CASE, where `*` matches any text; may be repeated
    #[arg(long = "check", value_name = "PATTERN", help_heading = SELECTION)]
    pub checks: Vec<CheckPattern>,

    /// Check a bridge, by a driver that this shell command starts (docs/bridges.md)
    #[arg(long, value_name = "COMMAND", help_heading = SELECTION)]
    pub bridge: Option<String>,

    /// Everything, not only a part that has each construct of constructs.jsonl
    #[arg(long, help_heading = SELECTION)]
    pub all: bool,

    /// Only jobs that probably end within this time, such as 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = SELECTION)]
    pub budget: Option<Duration>,

    /// Part I of N parts, counted from 1
    #[arg(long, value_name = "I/N", help_heading = SELECTION)]
    pub shard: Option<Shard>,

    /// Expected failures [default: expectations.toml in or above PATH]
    #[arg(long, value_name = "FILE", help_heading = SELECTION)]
    pub expectations: Option<PathBuf>,

    /// Let test blocks read files outside of the folders PATH
    #[arg(long, help_heading = SELECTION)]
    pub allow_outside_data: bool,

    /// Compilers and backends.
    #[command(flatten)]
    pub machine: MachineArgs,

    /// A compiler to compare with, but not to check; may be repeated
    #[arg(long, value_name = "PATH", help_heading = MACHINE)]
    pub against: Vec<PathBuf>,

    /// Compile kernels by NVRTC and hiprtc for these, such as sm_90,gfx90a
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = architecture, help_heading = MACHINE)]
    pub architectures: Vec<String>,

    /// Seed of generated inputs
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = LIMITS)]
    pub seed: u64,

    /// Generated inputs.
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Jobs at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS), help_heading = LIMITS)]
    pub jobs: Option<u16>,

    /// Limits and build options of child processes.
    #[command(flatten)]
    pub work: WorkArgs,

    /// Write each result as JSON Lines, for `report` and `diff`
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub json: Option<PathBuf>,

    /// Continue the interrupted run that has written the --json FILE
    #[arg(long, requires = "json", help_heading = REPORTS)]
    pub resume: bool,

    /// Show what changed since an earlier --json FILE, and use its times
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub baseline: Option<PathBuf>,
}

/// Files to write reports to.
#[derive(Clone, Debug, Default, Args)]
pub struct ReportFiles {
    /// Write a page
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub html: Option<PathBuf>,

    /// Write JUnit XML, for continuous integration
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub junit: Option<PathBuf>,

    /// Write a summary as Markdown, such as for GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub summary: Option<PathBuf>,
}

/// Compilers and backends.
#[derive(Clone, Debug, Args)]
pub struct MachineArgs {
    /// Backends, separated by commas [default: all for which this machine has a device]
    #[arg(long = "backend", value_name = "BACKEND", value_delimiter = ',', value_parser = backend, help_heading = MACHINE)]
    pub backends: Vec<Backend>,

    /// Only devices with such a name; may be repeated [default: all]
    #[arg(long = "device", value_name = "PATTERN", help_heading = MACHINE)]
    pub devices: Vec<Pattern>,

    /// A compiler; may be repeated [default: FUTHARK, PATH, FUTHARK_TOOLCHAIN]
    #[arg(long, value_name = "PATH", help_heading = MACHINE)]
    pub futhark: Vec<PathBuf>,

    /// Emulate a GPU for cuda and hip: always, never, or without a GPU (auto)
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", hide_possible_values = true, help_heading = MACHINE)]
    pub emulate: Emulate,
}

/// Limits and build options of child processes.
#[derive(Clone, Debug, Args)]
pub struct WorkArgs {
    /// Time limit of a case, compiling included; a busy machine extends it
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=YEAR), help_heading = LIMITS)]
    pub timeout: u64,

    /// Memory limit of each process, and of each file; 0 for none
    #[arg(long, value_name = "MIB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(..=EXBIBYTE), help_heading = LIMITS)]
    pub memory: u64,

    /// Let the C compiler optimise, for programs that exceed the time limit
    #[arg(long, help_heading = LIMITS)]
    pub optimise: bool,

    /// Compiled programs [default: below target, or in the user's cache]
    #[arg(long, value_name = "DIR", help_heading = LIMITS)]
    pub build_dir: Option<PathBuf>,
}

/// Generated inputs.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArgs {
    /// Generated inputs per entry point [default: 24, fewer if slow]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = LIMITS)]
    pub cases: Option<u32>,

    /// Try only the saved input in FILE
    #[arg(long, value_name = "FILE", help_heading = LIMITS)]
    pub input: Option<PathBuf>,
}

/// The arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Futhark programs, or folders of programs
    #[arg(value_name = "PATH", default_value = "programs")]
    pub paths: Vec<PathBuf>,

    /// List the checks
    #[arg(long)]
    pub checks: bool,

    /// Also list the test cases, as `--check` options
    #[arg(long, conflicts_with = "checks")]
    pub cases: bool,
}

/// The arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Files that `run --json` wrote; several files must be parts of one run
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Write every result as JSON Lines
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub json: Option<PathBuf>,

    /// Show what changed since an earlier run, whose results are in FILE
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub baseline: Option<PathBuf>,

    /// Report files.
    #[command(flatten)]
    pub reports: ReportFiles,
}

/// The arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The older report, which `run --json` wrote
    #[arg(value_name = "OLD")]
    pub old: PathBuf,

    /// The newer report [default: the older one, whose compilers are compared]
    #[arg(value_name = "NEW")]
    pub new: Option<PathBuf>,
}

/// The arguments of `prepare`.
#[derive(Debug, Args)]
pub struct PrepareArgs {
    /// Futhark programs, or folders of programs
    #[arg(value_name = "PATH", default_value = "programs")]
    pub paths: Vec<PathBuf>,

    /// Folder for the recordings, one folder per compiler
    #[arg(long, value_name = "DIR", required = true)]
    pub into: PathBuf,

    /// Backends, separated by commas; c is always included, for comparison
    #[arg(long = "backend", value_name = "BACKEND", value_delimiter = ',', value_parser = backend, required = true)]
    pub backends: Vec<Backend>,

    /// A Futhark compiler; may be repeated [default: FUTHARK, PATH, FUTHARK_TOOLCHAIN]
    #[arg(long, value_name = "PATH")]
    pub futhark: Vec<PathBuf>,

    /// Number of jobs to run at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS))]
    pub jobs: Option<u16>,

    /// Limits and build options of child processes.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// The arguments of `devices`.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Compilers and backends.
    #[command(flatten)]
    pub machine: MachineArgs,

    /// Limits and build options of child processes.
    #[command(flatten)]
    pub work: WorkArgs,
}

fn backend(name: &str) -> Result<Backend, String> {
    let mut supported = BACKENDS.into_iter();
    let found = supported.find(|backend| backend.as_str() == name.trim());
    found.ok_or_else(|| format!("expected {}", BACKENDS.map(Backend::as_str).join(", ")))
}

fn architecture(name: &str) -> Result<String, String> {
    // A feature such as `:xnack+` can follow the name of an AMD architecture.
    let pattern = regex::Regex::new("^(sm_|compute_|gfx)[0-9][0-9A-Za-z]*(:.*)?$");
    match pattern.is_ok_and(|pattern| pattern.is_match(name)) {
        true => Ok(name.to_owned()),
        false => Err("expected an architecture such as sm_90, compute_90 or gfx90a".to_owned()),
    }
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
    fn backend_accepts_lists() {
        let cli =
            Cli::try_parse_from(["x", "run", "--backend", "c,opencl", "--backend", "hip"]).unwrap();
        let Command::Run(args) = cli.command else {
            panic!()
        };
        assert_eq!(
            args.config.machine.backends,
            [Backend::C, Backend::OpenCl, Backend::Hip]
        );
        for name in ["vulkan", "ispc"] {
            let error = Cli::try_parse_from(["x", "run", "--backend", name]).unwrap_err();
            assert!(error.to_string().contains("opencl"), "{error}");
        }
    }

    #[test]
    fn architectures_are_names_of_compilers() {
        let parsed = |names| Cli::try_parse_from(["x", "run", "--architectures", names]).is_ok();
        for names in [
            "sm_90",
            "sm_90a,compute_80",
            "gfx90a",
            "gfx90a:xnack+,gfx1100",
        ] {
            assert!(parsed(names), "{names}");
        }
        for names in [
            "",
            "sm90",
            "sm_",
            "gfx",
            "avx512",
            "sm_90,nonsense",
            "sm_9 0",
        ] {
            assert!(!parsed(names), "{names}");
        }
    }
}
