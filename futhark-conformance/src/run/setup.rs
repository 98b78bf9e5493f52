//! Settings that several subcommands derive from their arguments.

use super::{Ended, could_not_run, usage};
use crate::cli::{MachineArgs, WorkArgs};
use crate::devices::{self, Device, Search};
use crate::files;
use crate::harness::build::CANNOT_COMPILE;
use crate::jobs::{self, Settings};
use crate::parallel;
use crate::protocol::RunSpec;
use crate::record::CompilerInfo;
use crate::report::shown;
use crate::say::errln;
use crate::toolchain;
use anyhow::{Context as _, anyhow};
use futhark_manifest::{Version, known};
use futhark_safe::compile::{BACKENDS, Compiler};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The settings of a run with no options but these, and without a compiler to compare with.
pub fn settings(work: &WorkArgs) -> Result<Settings, Ended> {
    let executable = std::env::current_exe()
        .context("failed to find the executable of this program")
        .map_err(could_not_run)?;
    let build_dir = match &work.build_dir {
        Some(folder) => folder.clone(),
        None => default_build_dir().map_err(could_not_run)?,
    };
    let is_file = build_dir.exists() && !build_dir.is_dir();
    // Child processes get the path as JSON.
    if is_file || build_dir.to_str().is_none() {
        let why = if is_file { "a folder" } else { "UTF-8" };
        let folder = build_dir.display();
        return Err(usage(anyhow!("--build-dir {folder} is not {why}")));
    }
    let scratch = files::TemporaryFolder::new(&std::env::temp_dir()).with_context(|| {
        let folder = std::env::temp_dir();
        format!(
            "failed to create a folder for temporary files in {}",
            folder.display()
        )
    });
    files::clean_builds(&build_dir);
    Ok(Settings {
        executable,
        scratch: Arc::new(scratch.map_err(could_not_run)?),
        timeout: Duration::from_secs(work.timeout),
        run: RunSpec {
            memory: work.memory,
            optimise: work.optimise,
            seed: 1,
            regressions: build_dir.join("regressions"),
            build_dir,
            // No data files outside of the corpus, which is chosen later.
            data_folders: Some(Vec::new()),
            ..RunSpec::default()
        },
    })
}

/// The folder for compiled programs, which later runs use again: below `target` in a Rust project,
/// otherwise in the user's cache, where only the user has access.
fn default_build_dir() -> anyhow::Result<PathBuf> {
    let name = "futhark-conformance";
    if let Some(target) = std::env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(target).join(name));
    }
    if PathBuf::from("Cargo.toml").is_file() {
        return Ok(PathBuf::from("target").join(name));
    }
    futhark_safe::compile::cache_folder(name)
        .context("no folder for compiled programs; choose one with --build-dir")
}

/// The number of jobs to run at a time.
pub fn threads(jobs: Option<u16>) -> usize {
    jobs.map_or_else(parallel::processors, usize::from)
}

/// The compilers to use: the given ones, or all that this machine has. Adds them to the settings.
pub fn find_compilers(
    named: &[PathBuf],
    settings: &mut Settings,
) -> Result<Vec<CompilerInfo>, Ended> {
    let compilers = toolchain::compilers(named, &mut settings.run).map_err(usage)?;
    if compilers.is_empty() {
        // This error says how to install one.
        Compiler::find().map_err(could_not_run)?;
        return Err(could_not_run(anyhow!("found no Futhark compiler")));
    }
    for compiler in &compilers {
        let version = Version::new(&compiler.version);
        if version.number.is_none_or(|number| number > known::NEWEST) {
            let (major, minor, patch) = known::NEWEST;
            let text = format!(
                "Futhark {} is newer than {major}.{minor}.{patch}, the newest known version; an update of \
                 this program may support it better",
                compiler.version
            );
            errln!("warning: {}", shown(&text));
        }
    }
    Ok(compilers)
}

/// Finds the devices of the given backends, or of all backends, by a small program that runs on each.
pub fn probe_devices(
    args: &MachineArgs,
    compilers: &[CompilerInfo],
    settings: &Settings,
) -> Vec<Device> {
    let backends = match args.backends.as_slice() {
        [] => &BACKENDS,
        named => named,
    };
    let search = Search {
        backends,
        emulate: args.emulate,
        build_dir: &settings.run.build_dir,
        memory: settings.run.memory,
        probe: &|candidate| jobs::probe_device(candidate, compilers, settings),
    };
    // A slow driver or compiler can take a minute.
    errln!("trying a small program on each backend");
    devices::find(&search)
}

/// Prints the devices on which a small program fails.
pub fn warn(devices: &[Device]) {
    for device in devices.iter().filter(|device| device.fails()) {
        errln!("warning: {}", shown(&device.described()));
    }
}

/// Fails if this machine compiles no program at all, for example for want of a C compiler or of
/// space on the disk. Otherwise every job would fail for that reason.
pub fn must_compile(devices: &[Device]) -> Result<(), Ended> {
    if devices.iter().any(Device::works) {
        return Ok(());
    }
    let mut reasons = devices.iter().map(Device::problem);
    match reasons.find(|reason| reason.contains(CANNOT_COMPILE)) {
        Some(reason) => Err(could_not_run(anyhow!("{reason}"))),
        None => Ok(()),
    }
}
