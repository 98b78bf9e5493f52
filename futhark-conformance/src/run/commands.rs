//! The other subcommands for users: each returns the exit code of the program.

use super::setup::{find_compilers, probe_devices, settings, threads};
use super::{Ended, Exit, could_not_run, usage, verdict};
use crate::blocks::TestBlocks;
use crate::checks::{self, Check};
use crate::cli::{DevicesArgs, DiffArgs, ListArgs, PrepareArgs, ReportArgs};
use crate::corpus::Corpus;
use crate::devices::{self, Device, Kind};
use crate::report::difference::{self, Change};
use crate::report::{Report, counted, quoted, shown, shown_lines};
use crate::say::{self, outln};
use anyhow::anyhow;
use futhark_manifest::Backend;
use futhark_safe::compile::Toolchain;
use std::path::Path;

/// Shows and writes the results of earlier runs.
pub fn report(args: &ReportArgs) -> Result<Exit, Ended> {
    let targets = args.reports.targets(args.json.as_deref()).map_err(usage)?;
    let mut report = Report::read(&args.files).map_err(usage)?;
    if let Some(file) = &args.baseline {
        report.baseline = Some(Box::new(Report::read([file]).map_err(usage)?));
    }
    report.targets = targets;
    say::out(format_args!("{}", report.as_text()));
    report.finish().map_err(could_not_run)?;
    let total = report.counts();
    let is_complete = report.missing.is_empty();
    if total.failed == 0 && !is_complete {
        return Err(could_not_run(anyhow!(
            "the report is incomplete; missing: {}",
            report.missing.join(", ")
        )));
    }
    verdict(total)
}

/// Compares two reports, or the compilers of one.
pub fn diff(args: &DiffArgs) -> Result<Exit, Ended> {
    let read = |path: &Path| Report::read([path]).map_err(usage);
    let old = read(&args.old)?;
    let new = args.new.as_deref().map(read).transpose()?;
    let comparisons = match &new {
        Some(new) => difference::of_runs(&old, new),
        None => difference::of_compilers(&old),
    };
    if comparisons.is_empty() {
        return Err(could_not_run(anyhow!(
            "nothing to compare: the reports have no compiler in common, or the only report has one compiler"
        )));
    }
    for comparison in &comparisons {
        say::out(format_args!("{comparison}"));
    }
    let broken = comparisons.iter().any(|one| one.count(Change::Broken) > 0);
    Ok(if broken { Exit::Failed } else { Exit::Held })
}

/// Prints the page of a check.
pub fn explain(name: &str) -> Result<Exit, Ended> {
    let check = Check::named(name).ok_or_else(|| {
        let names: Vec<&str> = checks::ALL.iter().map(|check| check.name).collect();
        usage(anyhow!(
            "no check is called {name:?}; the checks are: {}",
            names.join(", ")
        ))
    })?;
    say::out(format_args!("{}", check.page));
    Ok(Exit::Held)
}

/// Prints the checks, or the programs and their test cases.
pub fn list(args: &ListArgs) -> Result<Exit, Ended> {
    if args.checks {
        let width = checks::ALL.iter().map(|check| check.name.len()).max();
        let width = width.unwrap_or_default();
        for check in checks::ALL {
            outln!("{:width$}  {}", check.name, check.about());
            let sections: Vec<&str> = check.sections().collect();
            outln!("{:width$}  proves: {}", "", sections.join(", "));
        }
        return Ok(Exit::Held);
    }
    for program in Corpus::find(&args.paths).map_err(usage)?.files() {
        let blocks = match &program.skip {
            Some(reason) => Err(format!("skipped: {reason}")),
            None => blocks(&program.path),
        };
        let about = match &blocks {
            Ok(blocks) if blocks.compile_error.is_some() => "must not compile".to_owned(),
            Ok(blocks) => counted(blocks.cases.len(), "test case"),
            Err(error) => error.clone(),
        };
        outln!("{}: {}", shown(&program.name()), shown(&about));
        let blocks = blocks.ok().filter(|_| args.cases);
        for case in blocks.into_iter().flat_map(|blocks| blocks.cases) {
            // The pattern below matches only this case.
            let pattern = format!("blocks:{}", case.title());
            outln!("  --check {}", quoted(&pattern));
        }
    }
    Ok(Exit::Held)
}

fn blocks(program: &Path) -> Result<TestBlocks, String> {
    let source = std::fs::read_to_string(program).map_err(|error| error.to_string());
    let blocks =
        source.and_then(|text| TestBlocks::parse(&text).map_err(|error| error.to_string()));
    blocks.map_err(|error| format!("failed to parse its test blocks: {error}"))
}

/// Compiles programs to check them on machines without compilers.
pub fn prepare(args: &PrepareArgs) -> Result<Exit, Ended> {
    let corpus = Corpus::find(&args.paths).map_err(usage)?;
    corpus.must_be_readable().map_err(usage)?;
    let mut settings = settings(&args.work)?;
    let compilers = find_compilers(&args.futhark, &mut settings)?;
    let threads = threads(args.jobs);
    crate::prepare::record_builds(args, corpus.files(), &compilers, &settings, threads)
        .map_err(could_not_run)?;
    Ok(Exit::Held)
}

/// Prints what this machine can build and run, and what is missing.
pub fn devices(args: &DevicesArgs) -> Result<Exit, Ended> {
    for name in Toolchain::VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            outln!("{name}={}", shown(&value.to_string_lossy()));
        }
    }
    let mut settings = settings(&args.work)?;
    let compilers = find_compilers(&args.machine.futhark, &mut settings).inspect_err(|_| {
        outln!("The backends are tried with a Futhark program, so install a compiler first.");
    })?;
    for compiler in &compilers {
        let text = format!("Futhark {} ({})", compiler.version, compiler.path);
        outln!("{}", shown(&text));
    }
    let devices = probe_devices(&args.machine, &compilers, &settings);
    let devices = devices::pick(devices, &args.machine.devices).map_err(usage)?;
    for device in &devices {
        outln!("{}", line(device));
        if device.fails() {
            outln!("{}", shown_lines(&device.failure, &" ".repeat(11)));
        }
        if let Some(advice) = advice(device) {
            outln!("{:10} {advice}", "");
        }
    }
    match devices.iter().any(Device::works) {
        true if devices.iter().any(Device::fails) => Ok(Exit::Failed),
        true => Ok(Exit::Held),
        false => Ok(Exit::CouldNotRun),
    }
}

/// The backend, the device, and whether it works.
fn line(device: &Device) -> String {
    let (name, reason) = (&device.name, device.why());
    let options = device.options.iter();
    let options: String = options.map(|option| format!(" with {option}")).collect();
    let kind = match device.kind {
        Kind::Real if device.known_bad => ", known to compute wrong results",
        Kind::Real => "",
        Kind::Simulated => ", simulated",
        Kind::Emulated => ", emulated",
    };
    let text = match (device.usable, device.kind) {
        _ if device.fails() => format!("fails: {name}"),
        (true, Kind::Emulated) => format!("usable{kind}: {name} (no real one: {reason})"),
        (true, _) => format!("usable{options}{kind}: {name}"),
        (false, _) if device.is_unfit() => format!("not usable: {name}: {reason}"),
        (false, _) => format!("not usable: {reason}"),
    };
    shown(format!("{:10} {text}", device.backend.as_str()).trim_end()).into_owned()
}

/// What to install, if a real GPU is missing.
fn advice(device: &Device) -> Option<&'static str> {
    if device.fails() || device.kind != Kind::Emulated && device.usable {
        return None;
    }
    match device.backend {
        // Its driver is installed, but does not fit.
        Backend::OpenCl if device.is_unfit() => None,
        Backend::OpenCl => Some(
            "to use it: the OpenCL driver of your card, or PoCL for the processor (Debian: apt-get install \
             opencl-headers pocl-opencl-icd)",
        ),
        Backend::Cuda => Some(
            "to use it: the driver of an NVIDIA card, and CUDA 12 or 13 with NVRTC (Debian 13: apt-get install \
             nvidia-driver nvidia-cuda-toolkit, from non-free; Debian 12: `ci/setup` installs CUDA 12; otherwise set \
             CUDA_HOME)",
        ),
        Backend::Hip => Some(
            "to use it: the driver of an AMD card, and ROCm with hiprtc (Debian: apt-get install libamdhip64-dev; \
             otherwise set ROCM_PATH)",
        ),
        // The reason says what to install.
        _ => None,
    }
}
