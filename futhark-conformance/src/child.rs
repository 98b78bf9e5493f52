//! The child process: checks one program on one device with one compiler.

use crate::blocks::TestBlocks;
use crate::checks::{self, Compiled};
use crate::devices::{Device, HOST};
use crate::harness::answers::Costs;
use crate::harness::build::{self, BuildLock, CANNOT_COMPILE};
use crate::harness::cases::{Cases, CheckResult, Stop, mismatch};
use crate::harness::env::{Env, SharedContext, find_unsafe, read_tuning};
use crate::harness::limits;
use crate::jobs;
use crate::protocol::{Event, JobSpec};
use crate::toolchain;
use anyhow::Context as _;
use futhark_manifest::Backend;
use futhark_safe::ErrorKind;
use futhark_safe::compile::{self, Build};
use futhark_safe::dynamic::{Arg, Context, Library, Scalar, Value};
use std::io;
use std::path::Path;
use std::sync::Mutex;

/// The subcommand of a child process. It starts with `@`, so that it is never taken for a test filter.
pub const COMMAND: &str = "@job";

/// Runs the job that the first line of the standard input describes, and reports events on the standard output.
pub fn main() -> anyhow::Result<()> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let spec: JobSpec = serde_json::from_str(&line).context("invalid job specification")?;
    jobs::end_with_parent();
    limits::limit_job(spec.run.memory);
    let mut out = io::stdout().lock();
    let mut cases = Cases::new(&mut out, &spec.checks, &spec.earlier);
    match &spec.program {
        Some(program) => check_program(program, &spec, &mut cases),
        None => check_device(&spec, &mut cases),
    }
    cases.say(&Event::Done);
    Ok(())
}

/// Compiles and loads a program, and runs the checks. Without a library or a device, it reports the checks that need a
/// context as skipped, except after an expected failure of the compiler.
fn check_program(program: &Path, spec: &JobSpec, cases: &mut Cases<'_>) {
    let blocks = cases.obtain("blocks", "syntax", || read_blocks(program));
    let blocks = blocks.unwrap_or_default();
    let Some(build) = cases.obtain("compile", "compiler", || build_of(program, spec)) else {
        return;
    };
    let lock = BuildLock::take(
        &spec.run.build_dir,
        program,
        spec.device.backend,
        &spec.compiler.path,
    );
    let compiled = checks::compile_and_check(&build, &blocks, cases);
    drop(lock);
    let artifact = match compiled {
        Compiled::Yes(artifact) => artifact,
        Compiled::NoAsExpected => return,
        Compiled::No => return checks::skip_in_context(cases, "the program did not compile"),
    };
    let unchecked = cases.obtain("compile", "sources", || {
        Ok(find_unsafe(artifact.sources())?)
    });
    let device = &spec.device;
    if !device.usable {
        let reason = format!("no device: {}", device.why());
        return checks::skip_in_context(cases, &reason);
    }
    let no_backend = format!("no_{}", device.backend);
    if blocks.tags.contains(&no_backend) {
        return checks::skip_in_context(cases, &format!("tagged {no_backend}"));
    }
    lift_limits(device);
    let library = cases.obtain("lifecycle", "load", || Ok(Library::build(&build)?));
    let Some(library) = library else {
        return checks::skip_in_context(cases, "the library does not load");
    };
    if !device.backend.is_gpu() {
        limits::limit_memory(spec.run.memory);
    }
    // Without a cache file, contexts only take longer to create.
    let folder = device.needs_cache_file().then(tempfile::tempdir);
    let folder = folder.and_then(Result::ok);
    let env = Env {
        source: program,
        spec,
        artifact: &artifact,
        library: &library,
        blocks: &blocks,
        cache: folder.as_ref().map(|folder| folder.path().join("kernels")),
        unchecked: unchecked.flatten(),
        tuning: read_tuning(program, spec.run.data_folders.as_deref(), &library),
        remark: cases.remark.clone(),
        costs: Costs::default(),
        others: Mutex::default(),
        context: SharedContext::default(),
    };
    checks::check_in_context(&env, cases);
}

/// Lifts the memory limit of this process, because GPU drivers reserve more address space than they use.
fn lift_limits(device: &Device) {
    if device.backend.is_gpu() && !device.is_emulated() {
        limits::lift();
    }
}

fn read_blocks(program: &Path) -> CheckResult<TestBlocks> {
    let source = std::fs::read_to_string(program)?;
    TestBlocks::parse(&source).map_err(|error| Stop::error(error.to_string()))
}

fn build_of(program: &Path, spec: &JobSpec) -> CheckResult<Build> {
    let futhark = toolchain::open(&spec.compiler, &spec.run.seen)
        .map_err(|error| Stop::error(format!("{error:#}")))?;
    let build = build::build(program, spec.device.backend, spec.run.optimise);
    Ok(futhark.select(build).out_dir(&spec.run.build_dir))
}

/// Compiles and runs a small program on the device, and reports the device's name. The case is skipped if the machine
/// lacks something, or the driver reports an error: every failure is ours, or one of a compiler or the device.
fn check_device(spec: &JobSpec, cases: &mut Cases<'_>) {
    let (mut name, mut known_bad) = (String::new(), false);
    cases.run("compile", "probe", || {
        known_bad = run_probe(spec, &mut name)?;
        Ok(())
    });
    cases.say(&Event::Device { name, known_bad });
}

/// Whether the device is known to compute wrong results. Finds its name, also if the program fails.
fn run_probe(spec: &JobSpec, name: &mut String) -> CheckResult<bool> {
    let source = build::write_probe(&spec.run.build_dir).map_err(|error| {
        let folder = spec.run.build_dir.display();
        Stop::skip(format!(
            "{CANNOT_COMPILE}failed to write to {folder}: {error}"
        ))
    })?;
    let build = build_of(&source, spec)?;
    use compile::ErrorKind::{Io, NoCCompiler, NoCompiler, NoHeader};
    build.run().map_err(|error| match error.kind() {
        NoCCompiler | Io => Stop::skip(format!("{CANNOT_COMPILE}{error:#}")),
        // A recording has the probe only for some backends.
        NoHeader | NoCompiler => Stop::skip(format!("{error:#}")),
        _ => Stop::error(format!("{error:#}")),
    })?;
    lift_limits(&spec.device);
    let library = Library::build(&build)?;
    let backend = spec.device.backend;
    let named = |device: &futhark_safe::Device| match backend {
        Backend::OpenCl => format!("{}: {}", device.platform.trim(), device.name.trim()),
        Backend::Cuda | Backend::Hip => device.name.clone(),
        _ => HOST.to_owned(),
    };
    if backend.is_gpu() {
        let number = spec.device.choice.as_deref().unwrap_or("#0");
        let number: usize = number.trim_start_matches('#').parse().unwrap_or_default();
        // If there is none, creating the context fails.
        let devices = library.devices().unwrap_or_default();
        *name = devices.get(number).map(named).unwrap_or_default();
    }
    let config = spec.device.config();
    let missing = |error: futhark_safe::Error| Stop::skip(format!("{error:#}"));
    let context = Context::new(&library, &config.clone().allow_known_bad_device(false));
    let (context, known_bad) = match context {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            (Context::new(&library, &config).map_err(missing)?, true)
        }
        context => (context.map_err(missing)?, false),
    };
    // The best of several devices, if none is chosen.
    *name = named(&context.device().map_err(missing)?);
    let hundred = Value::Scalar(Scalar::I64(100));
    let outputs = context.call("probe", vec![Arg::Borrow(&hundred)]);
    match outputs.map_err(missing)?.as_slice() {
        [Value::Scalar(Scalar::I64(5050))] => {}
        _ => mismatch!("a small program returned a wrong result"),
    }
    Ok(known_bad)
}
