//! What happens when a device fails, at every place where one can: on the emulated device
//! the first allocation fails, then the second one, and so on until none is left that a
//! script with every operation asks for; the same for copies, launches, events and the choice of a
//! device, and for a card that disappears. Each time in a process of its own.
//!
//! Whatever fails is told by the operation during which it fails, or does no harm; the
//! process lives; the context goes on and computes rightly, or says that it is lost, and
//! then a new one works, if there still is a card.
//!
//! `cargo test --test fault_walk -- --nocapture` shows who told what.

#![forbid(unsafe_code)]

mod child;
mod outcome;
mod script;

use child::{BACKEND, REPORT};
use futhark_conformance::emulated::{Emulated, FINDINGS};
use futhark_safe::Backend;
use outcome::{Ending, Outcome, Table};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set, every single failure is met; otherwise one of so many, where there are hundreds.
const ALL: &str = "FUTHARK_WALK_ALL";

/// What can fail, as the device's settings name it, what else the device is told, and how far
/// one failure is from the next.
const FAILURES: [(&str, &str, usize); 6] = [
    ("fail-allocation", "", 1),
    ("fail-copy", "", 1),
    ("fail-launch", "", 1),
    ("fail-event", "", 7),
    ("fail-set-device", "devices=2", 7),
    (LOSE_DEVICE, "", 29),
];

/// The card is gone, and does not come back.
const LOSE_DEVICE: &str = "lose-device";

/// More than anybody asks for.
const ENOUGH: usize = 5000;

#[test]
fn cuda_tells_every_failure_of_its_device_and_lives() {
    walk(Backend::Cuda);
}

#[test]
fn hip_tells_every_failure_of_its_device_and_lives() {
    walk(Backend::Hip);
}

fn walk(backend: Backend) {
    if child::is_wanted() {
        return child::run();
    }
    let walker = Walker::new(backend);
    let mut table = Table::default();
    let mut complaints = Vec::new();
    for (failure, settings, stride) in FAILURES {
        // CUDA's calls go to whatever context is current: they never choose a device.
        if failure == "fail-set-device" && backend == Backend::Cuda {
            continue;
        }
        let stride = if std::env::var_os(ALL).is_some() {
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

/// Runs this program again and again, on a device that fails.
struct Walker {
    backend: Backend,
    emulated: Emulated,
    folder: tempfile::TempDir,
}

impl Walker {
    fn new(backend: Backend) -> Walker {
        let walker = Walker {
            backend,
            emulated: Emulated::build(&kept()).expect("a C++ compiler"),
            folder: tempfile::tempdir().expect("a folder for temporary files"),
        };
        // The first one compiles, and meets nothing.
        let (met, outcome) = walker.step("fail-launch", 0, "");
        let complaint = outcome.complaint("without a failure");
        assert!(!met && complaint.is_none(), "{complaint:?}");
        walker
    }

    /// Whether the failure was met, and what came of it.
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
            .env(BACKEND, self.backend.as_str())
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
        (said.contains("fails, as was asked for"), outcome)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// What is compiled once and kept: the device, its kernels, and the program.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated")
}
