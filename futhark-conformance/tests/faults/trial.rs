//! Runs `futhark-conformance` as its users do, and reads its report.

use crate::fault::{Fault, Place, is_emulated};
use crate::plant::{Nursery, PLANTED};
use crate::programs;
use crate::run::{self, Run};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// Check, case, cause and message of each failure.
pub fn failures(run: &Run) -> Vec<[&str; 4]> {
    let texts = run.texts(["outcome", "check", "case", "cause", "message"]);
    let failed = texts.into_iter().filter(|[outcome, ..]| *outcome == "fail");
    failed.map(|[_, rest @ ..]| rest).collect()
}

/// The number of cases that passed.
pub fn passed(run: &Run) -> usize {
    let passed = run.records().filter(|record| record["outcome"] == "pass");
    passed.count()
}

/// Whether the run reported a result of this case of the fault's check, on its program and device.
pub fn has(run: &Run, fault: &Fault, case: &str) -> bool {
    let keys = ["outcome", "program", "device", "backend", "check", "case"];
    // Others need a run with settings of the emulated device.
    fault.device.is_empty()
        && run
            .texts(keys)
            .iter()
            .any(|[outcome, program, device, place @ ..]| {
                let on_device = fault.backend != "opencl" || device.starts_with("Oclgrind");
                on_device
                    && *outcome == "pass"
                    && program.ends_with(&fault.program)
                    && *place == [&*fault.backend, &fault.check, case]
            })
}

/// The outcome of a fault.
pub enum Verdict {
    /// The program ran, for this number of seconds.
    Ran(Run, f64),
    /// A rule did not match the generated text.
    NotPlanted(String),
}

impl Verdict {
    /// The first failure of the check that should find the fault.
    pub fn found<'a>(&'a self, fault: &Fault) -> Option<[&'a str; 4]> {
        let Verdict::Ran(run, _) = self else {
            return None;
        };
        let mut failures = failures(run).into_iter();
        failures.find(|[check, _, cause, _]| {
            *check == fault.check && fault.causes().any(|known| known == *cause)
        })
    }

    /// The run's duration.
    pub fn seconds(&self) -> f64 {
        match self {
            Verdict::Ran(_, seconds) => *seconds,
            Verdict::NotPlanted(_) => 0.0,
        }
    }

    /// The outcome and the duration, for the output of the test.
    pub fn line(&self, fault: &Fault) -> String {
        let found = match self.found(fault) {
            Some([check, case, cause, message]) => {
                let line = message.lines().next().unwrap_or("");
                format!("{check} {case} ({cause}): {line}")
            }
            None => "NOT FOUND".to_owned(),
        };
        let Fault {
            name,
            backend,
            what,
            ..
        } = fault;
        format!(
            "{name:34} {backend:9} {:5.1} s  {what}\n    {found}",
            self.seconds()
        )
    }

    /// Why the test fails, if the fault was not found.
    pub fn complaint(&self, fault: &Fault) -> Option<String> {
        let run = match self {
            Verdict::Ran(run, _) => run,
            Verdict::NotPlanted(why) => return Some(format!("{}: {why}", fault.name)),
        };
        if self.found(fault).is_some() {
            return None;
        }
        let Fault {
            name, check, cause, ..
        } = fault;
        let instead = match &failures(run)[..] {
            [] => format!("nothing failed:\n{}", run.shown()),
            failures => format!("failures: {failures:#?}"),
        };
        Some(format!("{name}: expected a {cause} in {check}; {instead}"))
    }
}

/// The time limit, in seconds, of a case that must exceed it.
const TIMEOUT: &str = "3";

/// Plants a fault and runs the check that must find it.
pub fn plant_and_run(nursery: &Nursery, fault: &Fault) -> Verdict {
    let planted = match nursery.plant(fault) {
        Ok(planted) => planted,
        Err(why) => return Verdict::NotPlanted(why),
    };
    let begun = Instant::now();
    let setting = Setting {
        planted: &planted,
        program: &fault.program,
        backend: &fault.backend,
        device: &fault.device,
        name: &fault.name,
    };
    let check = match &*fault.case {
        "" => fault.check.clone(),
        case => format!("{}:{case}", fault.check),
    };
    let run = if fault.cause == "timeout" {
        // Compiles in a separate run with the usual time limit.
        setting.run(nursery, &["--check", "compile"]);
        setting.run(nursery, &["--check", &check, "--timeout", TIMEOUT])
    } else {
        setting.run(nursery, &["--check", &check])
    };
    Verdict::Ran(run, begun.elapsed().as_secs_f64())
}

/// Runs a program without a fault, with every check that must find a fault in it.
///
/// # Errors
/// If the compiler rejects the program.
pub fn run_healthy(nursery: &Nursery, faults: &[Fault], place: &Place) -> Result<Run, String> {
    let [program, backend, device] = place;
    let here = faults.iter().filter(|fault| fault.place() == *place);
    let checks: BTreeSet<&str> = here.map(|fault| &*fault.check).collect();
    let arguments: Vec<&str> = checks
        .into_iter()
        .flat_map(|check| ["--check", check])
        .collect();
    let setting = Setting {
        planted: &nursery.unchanged(program, backend)?,
        program,
        backend,
        device,
        name: &format!("healthy-{program}-{backend}-{device}"),
    };
    Ok(setting.run(nursery, &arguments))
}

/// Runs the checks that a run without `--all` selects in the folder of the programs, without a fault.
pub fn run_quick(nursery: &Nursery) -> Run {
    let report = nursery.folder("quick.jsonl");
    let mut command = run::command();
    command.arg("run").arg(programs());
    command.args(["--emulate", "always", "--futhark"]);
    command.arg(nursery.compiler());
    command.arg("--build-dir").arg(nursery.builds());
    command.arg("--json").arg(&report);
    Run::new(&mut command, &report)
}

/// A program and the files that the compiler writes for it.
struct Setting<'a> {
    planted: &'a Path,
    program: &'a str,
    backend: &'a str,
    device: &'a str,
    name: &'a str,
}

impl Setting<'_> {
    fn run(&self, nursery: &Nursery, arguments: &[&str]) -> Run {
        let report = nursery.folder(&format!("{}.jsonl", self.name));
        let mut command = run::command();
        command.arg("run").arg(self.planted.join(self.program));
        command.args(["--backend", self.backend, "--jobs", "1"]);
        if self.backend == "opencl" {
            // PoCL computes some results wrongly.
            command.args(["--device", "Oclgrind*"]);
        }
        if is_emulated(self.backend) {
            command.args(["--emulate", "always"]);
            command.env("FUTHARK_EMULATED", self.device);
        }
        command.env(PLANTED, self.planted);
        // A fault in the runtime must be found by its check, not by the unknown text.
        command.env("FUTHARK_UNKNOWN_COMPILER", "allow");
        command.arg("--futhark").arg(nursery.compiler());
        // Shared, so that the program that probes the device is compiled once.
        command.arg("--build-dir").arg(nursery.builds());
        command.arg("--json").arg(&report).args(arguments);
        Run::new(&mut command, &report)
    }
}
