//! The subcommands, and the codes that the program ends with.

use crate::checks::device_code;
use crate::cli::{
    Command, DevicesArgs, JudgeArgs, ListArgs, MachineArgs, PrepareArgs, ReportArgs, RunArgs,
};
use crate::corpus::{self, Program};
use crate::devices::{self, Device, Emulate, Kind};
use crate::expect::{Expectation, Expectations};
use crate::jobs::{self, Job, Settings, Update};
use crate::pattern::CheckPattern;
use crate::record::{CompilerInfo, Finding, Header, Outcome, Place, Record};
use crate::report::Counts;
use crate::report::column::Column;
use crate::report::json::SCHEMA;
use crate::report::matrix::Matrix;
use crate::report::merge::{Merged, merge};
use crate::report::output::Output;
use crate::report::progress::Progress;
use crate::report::quoted;
use crate::{blocks, checks, child, judge, prepare, toolchain};
use anyhow::{Context as _, anyhow};
use futhark_manifest::Backend;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every promise held, or failed as expected.
    Held = 0,
    /// Something failed.
    Failed = 1,
    /// An option, a path or a file cannot be used.
    Usage = 2,
    /// Nothing could be run.
    CouldNotRun = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// What ends the program before its time: a code and what to tell.
#[derive(Debug)]
pub struct Ended(pub Exit, pub anyhow::Error);

fn usage(error: impl Into<anyhow::Error>) -> Ended {
    Ended(Exit::Usage, error.into())
}

fn could_not_run(error: impl Into<anyhow::Error>) -> Ended {
    Ended(Exit::CouldNotRun, error.into())
}

/// Does what the command line says.
///
/// # Errors
/// If that is not possible.
pub fn run(command: &Command) -> Result<Exit, Ended> {
    match command {
        Command::Run(args) => check_programs(args),
        Command::List(args) => list(args),
        Command::Explain(args) => {
            print!("{}", args.check.page);
            Ok(Exit::Held)
        }
        Command::Report(args) => report(args),
        Command::Prepare(args) => prepare_programs(args),
        Command::Judge(args) => judge_programs(args),
        Command::Devices(args) => devices(args),
        Command::Child(args) => {
            child::main(args);
            Ok(Exit::Held)
        }
    }
}

fn check_programs(args: &RunArgs) -> Result<Exit, Ended> {
    checks::must_exist(&args.checks).map_err(|error| usage(anyhow!(error)))?;
    let paths = paths_or_default(&args.paths);
    let programs = corpus::find(&paths).map_err(usage)?;
    let mut expectations = expectations(args, &paths)?;
    let compilers = find_compilers(&args.machine.futhark)?;
    let mut settings = settings(args)?;
    let devices = probe(&args.machine, &compilers, &settings);
    settings.compilers.clone_from(&compilers);
    if !args.against.is_empty() {
        let against = toolchain::compilers(&args.against).map_err(usage)?;
        settings.compilers.extend(against);
    }
    settings.inputs = args.inputs.clone();
    settings.architectures.clone_from(&args.architectures);
    settings.at_hand = devices::at_hand(&devices);
    devices::insist(args.machine.emulate, &devices).map_err(could_not_run)?;
    let devices = devices::pick(devices, &args.machine.devices).map_err(usage)?;
    let chosen = devices::columns(&devices, &args.machine.backends).map_err(could_not_run)?;

    let all = jobs_of(&programs, &chosen, &compilers);
    let jobs: Vec<Job> = match args.shard {
        Some(shard) => all
            .into_iter()
            .enumerate()
            .filter(|(number, _)| shard.takes(*number))
            .map(|(_, job)| job)
            .collect(),
        None => all,
    };
    let columns = chosen.iter().flat_map(|device| {
        compilers.iter().map(|compiler| Column {
            backend: device.backend.to_string(),
            device: device.name.clone(),
            compiler: compiler.version.clone(),
        })
    });
    let matrix = Matrix::new(columns.collect());
    let header = Header {
        schema: SCHEMA,
        generator: concat!("futhark-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
        seed: args.seed,
        shard: args.shard,
        compilers: compilers.clone(),
        against: settings
            .compilers
            .iter()
            .filter(|compiler| !compilers.contains(compiler))
            .cloned()
            .collect(),
        options: for_repetition(args),
        devices,
    };
    announce(&header, &programs, jobs.len());
    let mut output = Output::create(&args.reports, header, matrix).map_err(usage)?;
    for record in skipped_files(&programs) {
        output.add(&record);
    }
    let threads = threads(args.jobs);
    let mut progress = Progress::new(jobs.len());
    jobs::run(&jobs, &settings, threads, |number, update| {
        let place = &jobs[number].place;
        match update {
            Update::Started => {
                progress.started(number);
                expectations.visit(place);
            }
            Update::Step { check, case } => progress.step(place, &check, &case),
            Update::Found(finding) => {
                let mut record = Record {
                    place: place.clone(),
                    finding,
                };
                expectations.judge(&mut record);
                let Finding {
                    check,
                    case,
                    outcome,
                    ..
                } = &record.finding;
                progress.found(number, place, check, case, *outcome);
                output.add(&record);
            }
            Update::Finished => {
                // Where only some cases ran, a check cannot be judged as a whole.
                let whole = args.checks.iter().all(CheckPattern::is_whole);
                for record in expectations.close(place).iter().filter(|_| whole) {
                    let Finding {
                        check,
                        case,
                        outcome,
                        ..
                    } = &record.finding;
                    progress.found(number, place, check, case, *outcome);
                    output.add(record);
                }
                progress.finished(number, place);
            }
        }
    });
    progress.close();

    print!("{}", output.render());
    // Entries can only be missed by a run that could have met them.
    if args.checks.is_empty() && args.shard.is_none() {
        // Without architectures there is no device code.
        let is_asked = |entry: &&Expectation| {
            !args.architectures.is_empty() || !entry.is_for(device_code::NAME)
        };
        for entry in expectations.unmatched().filter(is_asked) {
            println!("an expectation that nothing matched: {entry}");
        }
    }
    let total = output.matrix.total();
    output.finish(true).map_err(could_not_run)?;
    verdict(total)
}

/// What a run, or several parts of one, come to.
fn verdict(total: Counts) -> Result<Exit, Ended> {
    if total.failed > 0 {
        Ok(Exit::Failed)
    } else if total.passed + total.expected == 0 {
        Err(could_not_run(anyhow!(
            "nothing was checked: every program or check was skipped or filtered out"
        )))
    } else {
        Ok(Exit::Held)
    }
}

fn report(args: &ReportArgs) -> Result<Exit, Ended> {
    let Merged {
        header,
        records,
        missing,
    } = merge(&args.files).map_err(usage)?;
    let matrix = Matrix::of(&records);
    let mut output = Output::create(&args.reports, header, matrix).map_err(usage)?;
    for record in &records {
        output.add(record);
    }
    print!("{}", output.render());
    let total = output.matrix.total();
    output.finish(missing.is_empty()).map_err(could_not_run)?;
    if total.failed == 0 && !missing.is_empty() {
        return Err(could_not_run(anyhow!(
            "the run is not whole; missing: {}",
            missing.join(", ")
        )));
    }
    verdict(total)
}

fn list(args: &ListArgs) -> Result<Exit, Ended> {
    if args.checks {
        let width = checks::ALL
            .iter()
            .map(|check| check.name.len())
            .max()
            .unwrap_or(0);
        for check in checks::ALL {
            println!("{:width$}  {}", check.name, check.about);
            println!("{:width$}  proves: {}", "", check.sections.join(", "));
        }
        return Ok(Exit::Held);
    }
    for program in corpus::find(&paths_or_default(&args.paths)).map_err(usage)? {
        let about = match &program.skip {
            Some(reason) => format!("skipped: {reason}"),
            None => describe(&program.path),
        };
        println!("{}: {about}", program.name());
        if args.cases && program.skip.is_none() {
            list_cases(&program.path);
        }
    }
    Ok(Exit::Held)
}

/// Each test case as a pattern that matches it and nothing else.
fn list_cases(program: &Path) {
    let source = std::fs::read_to_string(program).unwrap_or_default();
    for case in blocks::TestBlocks::parse(&source).unwrap_or_default().cases {
        let pattern = format!("blocks:{}", case.title());
        println!("  --check {}", quoted(&pattern));
    }
}

fn describe(path: &Path) -> String {
    let blocks = std::fs::read_to_string(path)
        .map_err(|error| error.to_string())
        .and_then(|source| blocks::TestBlocks::parse(&source).map_err(|error| error.to_string()));
    match blocks {
        Ok(blocks) if blocks.compile_error.is_some() => "must not compile".to_owned(),
        Ok(blocks) => counted(blocks.cases.len(), "test case"),
        Err(error) => format!("its test blocks cannot be read: {error}"),
    }
}

fn judge_programs(args: &JudgeArgs) -> Result<Exit, Ended> {
    let programs = judge::programs(&args.paths_or_default()).map_err(usage)?;
    let settings =
        Settings::new(executable()?, &args.work, 1, Vec::new()).map_err(could_not_run)?;
    let threads = threads(args.jobs);
    let mut agreed = true;
    for compiler in find_compilers(&args.futhark)? {
        let one = judge::run(args, &programs, &compiler, &settings, threads);
        agreed &= one.map_err(could_not_run)?;
    }
    Ok(if agreed { Exit::Held } else { Exit::Failed })
}

fn prepare_programs(args: &PrepareArgs) -> Result<Exit, Ended> {
    let programs = corpus::find(&paths_or_default(&args.paths)).map_err(usage)?;
    let compilers = find_compilers(&args.futhark)?;
    let settings =
        Settings::new(executable()?, &args.work, 1, Vec::new()).map_err(could_not_run)?;
    let threads = threads(args.jobs);
    prepare::run(args, &programs, &compilers, &settings, threads).map_err(could_not_run)?;
    Ok(Exit::Held)
}

fn threads(asked: Option<u16>) -> usize {
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(available, usize::from)
}

fn devices(args: &DevicesArgs) -> Result<Exit, Ended> {
    let compilers = find_compilers(&args.machine.futhark)?;
    let executable = executable()?;
    let settings = Settings::new(executable, &args.work, 1, Vec::new()).map_err(could_not_run)?;
    for compiler in &compilers {
        println!("compiler {} ({})", compiler.version, compiler.path);
    }
    let devices = probe(&args.machine, &compilers, &settings);
    let devices = devices::pick(devices, &args.machine.devices).map_err(usage)?;
    for device in &devices {
        let backend = device.backend.as_str();
        let reason = device.why();
        match (device.usable, device.kind) {
            (true, Kind::Real) => println!("{backend:10} usable: {}", device.name),
            (true, Kind::Simulated) => println!("{backend:10} usable, simulated: {}", device.name),
            (true, Kind::Emulated) => println!(
                "{backend:10} usable, emulated: {} (no real one: {reason})",
                device.name
            ),
            (false, _) => println!("{backend:10} not usable: {reason}"),
        }
    }
    if devices.iter().any(|device| device.usable) {
        Ok(Exit::Held)
    } else {
        Ok(Exit::CouldNotRun)
    }
}

fn paths_or_default(paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() {
        vec![PathBuf::from("programs")]
    } else {
        paths.to_vec()
    }
}

fn expectations(args: &RunArgs, paths: &[PathBuf]) -> Result<Expectations, Ended> {
    let mut files: Vec<PathBuf> = match &args.expectations {
        Some(file) => vec![file.clone()],
        None => paths
            .iter()
            .filter_map(|path| Expectations::find(path))
            .collect(),
    };
    files.dedup();
    let mut all = Expectations::default();
    for file in files {
        all.add(Expectations::read(&file).map_err(usage)?);
    }
    Ok(all)
}

fn find_compilers(named: &[PathBuf]) -> Result<Vec<CompilerInfo>, Ended> {
    let compilers = toolchain::compilers(named).map_err(usage)?;
    if compilers.is_empty() {
        let error = match futhark_safe::compile::Compiler::find() {
            Err(error) => anyhow!(error),
            Ok(_) => anyhow!("no Futhark compiler was found"),
        };
        return Err(could_not_run(error));
    }
    Ok(compilers)
}

fn executable() -> Result<PathBuf, Ended> {
    std::env::current_exe()
        .context("failed to find this program's own file")
        .map_err(could_not_run)
}

fn settings(args: &RunArgs) -> Result<Settings, Ended> {
    Settings::new(executable()?, &args.work, args.seed, args.checks.clone()).map_err(could_not_run)
}

/// Tries the backends that are asked for, or all of them.
fn probe(asked: &MachineArgs, compilers: &[CompilerInfo], settings: &Settings) -> Vec<Device> {
    let backends = match asked.backends.as_slice() {
        [] => Backend::ALL,
        named => named,
    };
    // The newest compiler knows the most backends.
    let Some(compiler) = compilers.last() else {
        return Vec::new();
    };
    devices::find(backends, compiler, settings, asked.emulate, &asked.emulated)
}

/// The options of this run that a repetition of one of its findings needs as well.
fn for_repetition(args: &RunArgs) -> Vec<String> {
    let mut words = Vec::new();
    // The name of the emulated device tells how it was to behave.
    if !args.machine.emulated.is_empty() {
        words.extend(["--emulated".to_owned(), args.machine.emulated.clone()]);
    }
    if args.machine.emulate == Emulate::Always {
        words.extend(["--emulate".to_owned(), "always".to_owned()]);
    }
    if let Some(cases) = args.inputs.cases {
        words.extend(["--cases".to_owned(), cases.to_string()]);
    }
    for (name, path) in [
        ("--regressions", &args.inputs.regressions),
        ("--input", &args.inputs.input),
        ("--build-dir", &args.work.build_dir),
    ] {
        if let Some(path) = path {
            words.extend([name.to_owned(), path.display().to_string()]);
        }
    }
    words
}

/// Programs first: what fails for one backend often fails for the others, and
/// is then seen side by side.
fn jobs_of(programs: &[Program], devices: &[Device], compilers: &[CompilerInfo]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for program in programs.iter().filter(|program| program.skip.is_none()) {
        for device in devices {
            for compiler in compilers {
                jobs.push(Job {
                    program: program.path.clone(),
                    place: device.place(program.name(), compiler.version.clone()),
                    device: device.clone(),
                    compiler: compiler.clone(),
                });
            }
        }
    }
    jobs
}

/// One record for each file that is no program of its own.
fn skipped_files(programs: &[Program]) -> Vec<Record> {
    let nowhere = || "-".to_owned();
    let skipped = programs
        .iter()
        .filter_map(|program| Some((program, program.skip.as_ref()?)));
    let records = skipped.map(|(program, reason)| Record {
        place: Place {
            program: program.name(),
            backend: nowhere(),
            device: nowhere(),
            compiler: nowhere(),
        },
        finding: Finding {
            check: "compile".to_owned(),
            case: String::new(),
            outcome: Outcome::Skip,
            cause: None,
            message: reason.clone(),
            seconds: 0.0,
        },
    });
    records.collect()
}

fn announce(header: &Header, programs: &[Program], jobs: usize) {
    let versions: Vec<&str> = header
        .compilers
        .iter()
        .map(|compiler| compiler.version.as_str())
        .collect();
    let usable = header.devices.iter().filter(|device| device.usable);
    let mut usable: Vec<&str> = usable.map(|device| device.backend.as_str()).collect();
    // How many devices it has is seen in the table.
    usable.dedup();
    eprintln!(
        "{}, {}: Futhark {}; {}",
        counted(programs.len(), "program"),
        counted(jobs, "job"),
        versions.join(", "),
        usable.join(", ")
    );
    // Seen on a terminal only: elsewhere it is in the report.
    if std::io::stderr().is_terminal() {
        for device in header.devices.iter().filter(|device| !device.usable) {
            eprintln!("not usable: {}: {}", device.backend, device.why());
        }
    }
}

/// A number of things, as one says it.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
