//! Failures of the system and of a device, one at a time. A script uses every operation of a context
//! in a process in which the first allocation of the C side fails, then in another process in which
//! the second one fails, and so on until the script ends without a failure. On an emulated device the
//! same for allocations of the device, copies, launches, events, setting the current device, and loss
//! of the device, by the strides in [`ON_DEVICES`].
//!
//! Either the current operation returns an error, or all later results are correct. The process
//! survives. The context returns correct results afterwards, or it is lost and a new one works,
//! unless the device itself was lost. On host backends, all memory is freed at the end.
//!
//! `cargo test --test fault_walk -- --nocapture` prints the operation and error of each failure.

mod child;
mod outcome;
mod script;
mod starts;
#[macro_use]
#[path = "../support/mod.rs"]
mod support;

use child::{LIBRARY, REPORT};
use futhark_conformance::emulated::{Emulated, MISUSE_REPORTS};
use futhark_safe::Backend;
use futhark_safe::compile::{Compiler, process};
use outcome::{Ending, NEVER_FREED, Outcome, Table};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// If set, the strides are 1, and host backends use every installed compiler.
const FULL: &str = "FUTHARK_TESTS_FULL";

/// What fails, further settings of the device, and the stride between the calls that fail.
type Failure = (&'static str, &'static str, usize);

/// One allocation of the C side, or one and all later ones of the same call: see
/// `futhark-sys/c/fut_failing.h`.
const ONE_ALLOCATION: &str = "allocation";
const ALLOCATIONS: &str = "allocations";
const VARIABLE: &str = "FUTHARK_SYS_FAIL_ALLOCATION";

const ON_HOSTS: [Failure; 2] = [(ONE_ALLOCATION, "", 1), (ALLOCATIONS, "", 1)];

/// A process with Oclgrind takes seconds.
const ON_OPENCL: [Failure; 1] = [(ONE_ALLOCATION, "", 61)];

/// The other names are settings of the device. There are hundreds of calls of some kinds.
const ON_DEVICES: [Failure; 7] = [
    ("fail-allocation", "", 1),
    ("fail-copy", "", 1),
    ("fail-launch", "", 1),
    ("fail-event", "", 7),
    ("fail-set-device", "devices=2", 7),
    (LOSE_DEVICE, "", 29),
    (ONE_ALLOCATION, "", 29),
];

/// The device is lost for the rest of the process.
const LOSE_DEVICE: &str = "lose-device";

/// An upper bound on the number of calls of each kind in the script.
const ENOUGH: usize = 5000;

/// A process that takes longer is blocked.
const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn every_failed_allocation_on_c_is_an_error_or_harmless() {
    walk(Backend::C);
}

#[test]
fn every_failed_allocation_on_multicore_is_an_error_or_harmless() {
    needed!(support::needs::full());
    walk(Backend::Multicore);
}

#[test]
fn failed_host_allocations_on_opencl_are_errors_or_harmless() {
    needed!(support::needs::full());
    walk(Backend::OpenCl);
}

#[test]
fn every_failure_of_a_cuda_device_is_an_error_or_harmless() {
    walk(Backend::Cuda);
}

#[test]
fn every_failure_of_a_hip_device_is_an_error_or_harmless() {
    needed!(support::needs::full());
    walk(Backend::Hip);
}

fn walk(backend: Backend) {
    if child::is_wanted() {
        return child::run();
    }
    let compilers = match backend.is_gpu() {
        true => support::needs::compiler().into_iter().collect(),
        false => support::needs::compilers(),
    };
    for compiler in compilers {
        let version = compiler.version().to_string();
        if let Some(walker) = Walker::new(backend, compiler) {
            walker.walk(&version);
        }
    }
}

/// Runs this program again, in a process in which something fails.
struct Walker {
    backend: Backend,
    library: PathBuf,
    emulated: Option<Emulated>,
    folder: tempfile::TempDir,
}

impl Walker {
    fn new(backend: Backend, compiler: Compiler) -> Option<Walker> {
        let emulated = match backend {
            Backend::Cuda | Backend::Hip => Some(support::emulated()?),
            _ => None,
        };
        let walker = Walker {
            backend,
            library: child::build(backend, compiler).library(),
            emulated,
            folder: tempfile::tempdir().expect("a temporary folder can be created"),
        };
        let (met, outcome) = walker.step(ONE_ALLOCATION, 0, "");
        let works = outcome.complaint("without a failure").map_or(Ok(()), Err);
        // A machine can have no OpenCL device.
        let skipped =
            backend == Backend::OpenCl && support::needs::or_skip(works.clone()).is_none();
        assert!(!met && (skipped || works.is_ok()), "{works:?}");
        (!skipped).then_some(walker)
    }

    fn walk(&self, version: &str) {
        let backend = self.backend;
        let mut table = Table::default();
        let mut complaints = Vec::new();
        let failures: &[Failure] = match backend {
            Backend::OpenCl => &ON_OPENCL,
            _ if backend.is_gpu() => &ON_DEVICES,
            _ => &ON_HOSTS,
        };
        for &(failure, settings, stride) in failures {
            // CUDA's calls use the current context; they never choose a device.
            if failure == "fail-set-device" && backend == Backend::Cuda {
                continue;
            }
            let full = std::env::var_os(FULL).is_some();
            let stride = if full { 1 } else { stride };
            let met = (1..ENOUGH).step_by(stride).take_while(|number| {
                let (met, outcome) = self.step(failure, *number, settings);
                if met {
                    println!("{backend} {failure}={number}: {:?}", outcome.ending);
                    table.add(failure, &outcome);
                }
                complaints.extend(outcome.complaint(&format!("{failure}={number}")));
                met
            });
            let met = met.count();
            println!("{version} {backend} {failure}: {met} failures");
            assert!(
                (1..ENOUGH / stride).contains(&met),
                "{failure} was met {met} times"
            );
        }
        println!("{version} {backend}\n\n{table}");
        assert!(
            complaints.is_empty(),
            "{version} {backend}:\n{}",
            complaints.join("\n")
        );
    }

    /// Whether the failure occurred, and its outcome.
    fn step(&self, failure: &str, number: usize, settings: &str) -> (bool, Outcome) {
        let (report, findings) = (self.file("report"), self.file("findings"));
        for file in [&report, &findings] {
            std::fs::write(file, "").expect("the folder can be written");
        }
        let test = std::thread::current().name().map(str::to_owned);
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command
            .args(["--exact", &test.expect("tests have names"), "--nocapture"])
            .env(MISUSE_REPORTS, &findings)
            .env(LIBRARY, &self.library)
            .env(REPORT, &report);
        let setting = match failure {
            ONE_ALLOCATION => command.env(VARIABLE, number.to_string()),
            ALLOCATIONS => command.env(VARIABLE, format!("{number}+")),
            _ => &mut command,
        };
        if let Some(emulated) = &self.emulated {
            let of_device = match failure {
                ONE_ALLOCATION | ALLOCATIONS => settings.to_owned(),
                _ => format!("{failure}={number},{settings}"),
            };
            setting.envs(emulated.environment(&of_device));
        }
        let (status, said) = match process::run_within(&mut command, Some(LIMIT)) {
            Ok(output) => (Some(output.status), output.stderr()),
            Err(blocked) => (None, blocked.to_string()),
        };
        let read = |file: &PathBuf| std::fs::read_to_string(file).unwrap_or_default();
        let ending = match status {
            Some(status) if status.success() => serde_json::from_str(&read(&report))
                .unwrap_or_else(|error| Ending::Died(format!("no report: {error}"))),
            Some(status) => Ending::Died(format!("{status}\n{said}")),
            None => Ending::Died(said.clone()),
        };
        let mut findings = read(&findings);
        if !self.backend.is_gpu() {
            findings.extend(said.lines().filter(|line| line.ends_with(NEVER_FREED)));
        }
        let met = said.contains("fails, as requested");
        (met, Outcome { ending, findings })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
