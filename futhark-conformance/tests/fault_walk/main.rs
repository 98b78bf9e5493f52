//! Failures of a device, one at a time. A script uses every operation of a context, on an emulated
//! device whose first allocation fails, then in another process on one whose second allocation
//! fails, and so on until the script ends without a failure. Then the same for copies, launches,
//! events, setting the current device, and loss of the device, by the strides in [`FAILURES`].
//!
//! Either the current operation returns an error, or all later results are correct. The process
//! survives. The context returns correct results afterwards, or it is lost and a new one works,
//! unless the device itself was lost.
//!
//! `cargo test --test fault_walk -- --nocapture` prints the operation and error of each failure.

mod child;
mod outcome;
mod script;
#[path = "../support/mod.rs"]
mod support;

use child::{LIBRARY, REPORT};
use futhark_conformance::emulated::{Emulated, FINDINGS};
use futhark_safe::Backend;
use outcome::{Ending, Outcome, Table};
use std::path::PathBuf;
use std::process::Command;

/// If set, the strides in [`FAILURES`] are 1.
const FULL: &str = "FUTHARK_TESTS_FULL";

/// The setting of the device for a failure, further settings, and the stride between the calls that
/// fail, because there are hundreds of calls.
const FAILURES: [(&str, &str, usize); 6] = [
    ("fail-allocation", "", 1),
    ("fail-copy", "", 1),
    ("fail-launch", "", 1),
    ("fail-event", "", 7),
    ("fail-set-device", "devices=2", 7),
    (LOSE_DEVICE, "", 29),
];

/// The device is lost for the rest of the process.
const LOSE_DEVICE: &str = "lose-device";

/// An upper bound on the number of calls of each kind in the script.
const ENOUGH: usize = 5000;

#[test]
fn every_failure_of_a_cuda_device_is_an_error_or_harmless() {
    walk(Backend::Cuda);
}

#[test]
fn every_failure_of_a_hip_device_is_an_error_or_harmless() {
    walk(Backend::Hip);
}

fn walk(backend: Backend) {
    if child::is_wanted() {
        return child::run();
    }
    let Some(walker) = Walker::new(backend) else {
        return;
    };
    let mut table = Table::default();
    let mut complaints = Vec::new();
    for (failure, settings, stride) in FAILURES {
        // CUDA's calls use the current context; they never choose a device.
        if failure == "fail-set-device" && backend == Backend::Cuda {
            continue;
        }
        let stride = if std::env::var_os(FULL).is_some() {
            1
        } else {
            stride
        };
        let met = (1..ENOUGH).step_by(stride).take_while(|number| {
            let (met, outcome) = walker.step(failure, *number, settings);
            if met {
                println!("{backend} {failure}={number}: {}", outcome.ending);
                table.add(failure, &outcome);
            }
            complaints.extend(outcome.complaint(&format!("{failure}={number}")));
            met
        });
        let met = met.count();
        assert!(
            (1..ENOUGH / stride).contains(&met),
            "{failure} was met {met} times"
        );
    }
    println!("{backend}\n\n{table}");
    assert!(
        complaints.is_empty(),
        "{backend}:\n{}",
        complaints.join("\n")
    );
}

/// Runs this program again, on a device that fails.
struct Walker {
    library: PathBuf,
    emulated: Emulated,
    folder: tempfile::TempDir,
}

impl Walker {
    fn new(backend: Backend) -> Option<Walker> {
        let compiler = support::needs::compiler()?;
        let emulated = support::emulated()?;
        let walker = Walker {
            library: child::build(backend, compiler).library(),
            emulated,
            folder: tempfile::tempdir().expect("a temporary folder can be created"),
        };
        let (met, outcome) = walker.step("fail-launch", 0, "");
        let complaint = outcome.complaint("without a failure");
        assert!(!met && complaint.is_none(), "{complaint:?}");
        Some(walker)
    }

    /// Whether the failure occurred, and its outcome.
    fn step(&self, failure: &str, number: usize, settings: &str) -> (bool, Outcome) {
        let (report, findings) = (self.file("report"), self.file("findings"));
        for file in [&report, &findings] {
            std::fs::write(file, "").expect("the folder can be written");
        }
        let test = std::thread::current().name().map(str::to_owned);
        let output = Command::new(std::env::current_exe().expect("this program has a path"))
            .args(["--exact", &test.expect("tests have names"), "--nocapture"])
            .envs(
                self.emulated
                    .environment(&format!("{failure}={number},{settings}")),
            )
            .env(FINDINGS, &findings)
            .env(LIBRARY, &self.library)
            .env(REPORT, &report)
            .output()
            .expect("this program can be run again");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let read = |file: &PathBuf| std::fs::read_to_string(file).unwrap_or_default();
        let outcome = Outcome {
            ending: if output.status.success() {
                Ending::read(&read(&report))
            } else {
                Ending::Died(format!("{}\n{said}", output.status))
            },
            findings: read(&findings),
        };
        (said.contains("fails, as requested"), outcome)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
