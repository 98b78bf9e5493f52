//! The subcommand `run`: selects jobs, runs them, and reports.

use super::setup::{
    files, find_compilers, must_compile, paths_or_default, probe, settings, threads, warn,
};
use super::{Ended, Exit, could_not_run, options, usage, verdict};
use crate::checks::{self, Check, device_code};
use crate::cli::RunArgs;
use crate::corpus::{self, Program};
use crate::cover;
use crate::devices::{self, Device};
use crate::expect::{Expectation, Expectations};
use crate::jobs::{self, Job, Settings, Update};
use crate::pattern::CheckPattern;
use crate::protocol::RunSpec;
use crate::record::{
    Cause, CompilerInfo, Finding, Header, NOWHERE, Outcome, Place, Record, new_run,
};
use crate::report::column::Column;
use crate::report::difference::Compilers;
use crate::report::json::SCHEMA;
use crate::report::matrix::Matrix;
use crate::report::output::Output;
use crate::report::progress::Progress;
use crate::report::{counted, shown, shown_lines};
use crate::say::{self, errln, outln};
use crate::toolchain;
use anyhow::anyhow;
use std::io::IsTerminal;
use std::path::PathBuf;

/// The reports, and the differences between the compilers.
type Reports<'a> = (&'a mut Output, &'a mut Compilers);

/// Checks programs, and prints and writes reports.
pub fn run(args: &RunArgs) -> Result<Exit, Ended> {
    checks::must_exist(&args.checks).map_err(|error| usage(anyhow!(error)))?;
    options::check(args)?;
    let paths = paths_or_default(&args.paths);
    let programs = corpus::find(&paths).map_err(usage)?;
    let expectations = expectations(args, &paths)?;
    let mut settings = settings(&args.work)?;
    let mut compilers = find_compilers(&args.machine.futhark, &mut settings)?;
    let against =
        toolchain::others(&args.against, &mut compilers, &mut settings.run).map_err(usage)?;
    let devices = probe(&args.machine, &compilers, &settings);
    must_compile(&devices)?;
    warn(&devices);
    let settings = Settings {
        run: run_spec(
            args,
            settings.run,
            compilers.iter().chain(&against),
            &devices,
        ),
        ..settings
    };
    devices::insist(args.machine.emulate, &devices).map_err(could_not_run)?;
    let devices = devices::pick(devices, &args.machine.devices).map_err(usage)?;
    let chosen = devices::columns(&devices, &args.machine.backends).map_err(could_not_run)?;
    let mut jobs = jobs_of(&programs, &chosen, &compilers, &args.checks);
    if args.cover {
        cover_jobs(args, &mut jobs, &expectations, &settings)?;
    }
    let jobs = select(args, jobs);
    let matrix = Matrix::new(columns(&chosen, &compilers));
    // Only a whole run has the same cases for every compiler.
    let versions = compilers.iter().map(|compiler| compiler.label.as_str());
    let mut differences = match args.cover || args.shard.is_some() {
        true => Compilers::default(),
        false => Compilers::new(versions),
    };
    let header = Header {
        schema: SCHEMA,
        generator: concat!("futhark-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
        run: new_run(),
        seed: args.seed,
        shard: args.shard,
        against,
        compilers,
        options: args.options_to_repeat(),
        devices,
    };
    announce(&header, &programs, jobs.len());
    let mut output = Output::create(&files(&args.reports), header, matrix).map_err(usage)?;
    for record in skipped_files(&programs) {
        output.add(&record);
    }
    let mut reports = (&mut output, &mut differences);
    let expectations = run_jobs(args, &jobs, &settings, expectations, &mut reports);

    say::out(format_args!("{}", output.render()));
    for comparison in differences.end() {
        say::out(format_args!("\n{comparison}"));
    }
    // A run of only some checks or jobs cannot judge whether an entry is still needed.
    if args.checks.is_empty() && args.shard.is_none() && !args.cover {
        // Without `--architectures`, `device-code` has no cases.
        let could_match = |entry: &&Expectation| {
            !args.architectures.is_empty() || !entry.is_for(device_code::NAME)
        };
        for entry in expectations.unmatched().filter(could_match) {
            let entry = entry.to_string();
            outln!("an expectation that nothing matched: {}", shown(&entry));
        }
    }
    let total = output.matrix.total();
    output.finish(true).map_err(could_not_run)?;
    verdict(total)
}

/// Keeps the jobs that together cover every construct, and prints which these are.
fn cover_jobs(
    args: &RunArgs,
    jobs: &mut Vec<Job>,
    expectations: &Expectations,
    settings: &Settings,
) -> Result<(), Ended> {
    let is_selected = |check: &&Check| {
        let is_possible = !args.architectures.is_empty() || check.name != device_code::NAME;
        let named = |pattern: &CheckPattern| pattern.concerns(check.name);
        is_possible && (args.checks.is_empty() || args.checks.iter().any(named))
    };
    let checks: Vec<&Check> = checks::ALL.iter().filter(is_selected).collect();
    let threads = threads(args.jobs);
    let file = match &args.constructs {
        Some(file) => file.clone(),
        None => settings.run.build_dir.join("constructs.jsonl"),
    };
    let plan = cover::of_jobs(jobs, &checks, expectations, &file, threads).map_err(usage)?;
    say::err(format_args!("{}", shown_lines(&plan.to_string(), "")));
    Ok(())
}

/// The settings for the child processes of this run.
fn run_spec<'a>(
    args: &RunArgs,
    defaults: RunSpec,
    compilers: impl Iterator<Item = &'a CompilerInfo>,
    devices: &[Device],
) -> RunSpec {
    let regressions = args.inputs.regressions.clone();
    let (compilers, labels) = compilers
        .map(|compiler| (PathBuf::from(&compiler.path), compiler.label.clone()))
        .unzip();
    RunSpec {
        seed: args.seed,
        cases: args.inputs.cases,
        regressions: regressions.unwrap_or_else(|| defaults.regressions.clone()),
        input: args.inputs.input.clone(),
        compilers,
        labels,
        architectures: args.architectures.clone(),
        at_hand: devices::at_hand(devices),
        ..defaults
    }
}

/// Runs the jobs, judges their findings by the expectations, and adds them to the reports. Returns
/// the expectations with their matches.
fn run_jobs(
    args: &RunArgs,
    jobs: &[Job],
    settings: &Settings,
    mut expectations: Expectations,
    reports: &mut Reports<'_>,
) -> Expectations {
    let mut progress = Progress::new(jobs.len());
    jobs::run(jobs, settings, threads(args.jobs), |number, update| {
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
                report(&mut progress, reports, number, &record);
            }
            Update::Finished => {
                // If only some cases of a check ran, a missing failure proves nothing.
                let whole = args.checks.iter().all(CheckPattern::is_whole);
                for record in expectations.close(place).iter().filter(|_| whole) {
                    report(&mut progress, reports, number, record);
                }
                reports.1.finished(place);
                progress.finished(number, place);
            }
        }
    });
    progress.close();
    expectations
}

/// Shows a record of the job `number`, and adds it to the reports.
fn report(progress: &mut Progress, reports: &mut Reports<'_>, number: usize, record: &Record) {
    let Finding {
        check,
        case,
        outcome,
        ..
    } = &record.finding;
    progress.found(number, &record.place, check, case, *outcome);
    reports.0.add(record);
    reports.1.add(record);
}

/// The jobs of this shard, or all.
fn select(args: &RunArgs, jobs: Vec<Job>) -> Vec<Job> {
    let numbered = jobs.into_iter().enumerate();
    let selected =
        numbered.filter(|(number, _)| args.shard.is_none_or(|shard| shard.takes(*number)));
    selected.map(|(_, job)| job).collect()
}

fn columns(devices: &[Device], compilers: &[CompilerInfo]) -> Vec<Column> {
    let columns = devices.iter().flat_map(|device| {
        compilers.iter().map(|compiler| Column {
            backend: device.backend.to_string(),
            device: device.name.clone(),
            compiler: compiler.label.clone(),
        })
    });
    columns.collect()
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

/// One job per program, device and compiler, ordered by program: a failure on one backend often
/// occurs on the others, and these are then reported together.
fn jobs_of(
    programs: &[Program],
    devices: &[Device],
    compilers: &[CompilerInfo],
    checks: &[CheckPattern],
) -> Vec<Job> {
    let mut jobs = Vec::new();
    for program in programs.iter().filter(|program| program.skip.is_none()) {
        for device in devices {
            for compiler in compilers {
                jobs.push(Job {
                    program: program.path.clone(),
                    place: Place::new(device, program.name(), compiler.label.clone()),
                    device: device.clone(),
                    compiler: compiler.clone(),
                    checks: checks.to_vec(),
                });
            }
        }
    }
    jobs
}

/// One record for each file that is not a program, or cannot be read, with the reason.
fn skipped_files(programs: &[Program]) -> Vec<Record> {
    let nowhere = || NOWHERE.to_owned();
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
            outcome: match program.unreadable {
                true => Outcome::Fail,
                false => Outcome::Skip,
            },
            cause: program.unreadable.then_some(Cause::Error),
            message: reason.clone(),
            seconds: 0.0,
        },
    });
    records.collect()
}

fn announce(header: &Header, programs: &[Program], jobs: usize) {
    let compilers = header.compilers.iter();
    let versions: Vec<&str> = compilers.map(|compiler| compiler.label.as_str()).collect();
    let usable = header.devices.iter().filter(|device| device.usable);
    let mut usable: Vec<&str> = usable.map(|device| device.backend.as_str()).collect();
    // The table shows the devices of each backend.
    usable.dedup();
    errln!(
        "{}, {}: Futhark {}; {}",
        counted(programs.len(), "program"),
        counted(jobs, "job"),
        versions.join(", "),
        usable.join(", ")
    );
    let compilers = header.compilers.iter().chain(&header.against);
    for compiler in compilers.filter(|compiler| compiler.label != compiler.version) {
        let text = format!("{} is {}", compiler.label, compiler.path);
        errln!("{}", shown(&text));
    }
    // Only on a terminal; the report contains it, too.
    if std::io::stderr().is_terminal() {
        for device in header.devices.iter().filter(|device| !device.usable) {
            errln!("not usable: {}: {}", device.backend, shown(&device.why()));
        }
    }
}
