//! Runs `futhark-conformance` as its users do, and reads its report.

use crate::fault::{Fault, Place, is_emulated};
use crate::plant::{Nursery, PLANTED};
use crate::programs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The report of a run.
pub struct Run {
    records: Vec<Value>,
    shown: String,
    seconds: f64,
}

impl Run {
    /// Runs the program, which writes the report.
    fn new(mut command: Command, report: &Path) -> Run {
        let output = command.output().expect("the program starts");
        let text = std::fs::read_to_string(report).unwrap_or_default();
        // All lines except the header and the end.
        let records = text
            .lines()
            .skip(1)
            .filter(|line| line.starts_with("{\"program\""));
        Run {
            records: records
                .map(|line| serde_json::from_str(line).expect("each line is JSON"))
                .collect(),
            shown: String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            seconds: 0.0,
        }
    }

    /// Check, case, cause and message of each failure.
    pub fn failures(&self) -> Vec<[&str; 4]> {
        let failed = self
            .records
            .iter()
            .filter(|record| record["outcome"] == "fail");
        failed
            .map(|record| {
                ["check", "case", "cause", "message"].map(|key| record[key].as_str().unwrap_or(""))
            })
            .collect()
    }

    /// Whether the run reported a result of this case of the fault's check, on its program and
    /// device.
    pub fn has(&self, fault: &Fault, case: &str) -> bool {
        // Others need a run with settings of the emulated device.
        fault.device.is_empty()
            && self.records.iter().any(|record| {
                let text = |key: &str| record[key].as_str().unwrap_or("");
                let on_device = fault.backend != "opencl" || text("device").starts_with("Oclgrind");
                on_device
                    && text("outcome") == "pass"
                    && text("program").ends_with(&fault.program)
                    && [text("backend"), text("check"), text("case")]
                        == [&*fault.backend, &fault.check, case]
            })
    }

    /// The number of cases that passed.
    pub fn passed(&self) -> usize {
        let passed = self
            .records
            .iter()
            .filter(|record| record["outcome"] == "pass");
        passed.count()
    }

    /// The output of the program.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

/// The outcome of a fault.
pub enum Verdict {
    /// The program ran.
    Ran(Run),
    /// A rule did not match the generated text.
    NotPlanted(String),
}

impl Verdict {
    /// The first failure of the check that should find the fault.
    pub fn found<'a>(&'a self, fault: &Fault) -> Option<[&'a str; 4]> {
        let Verdict::Ran(run) = self else { return None };
        let mut failures = run.failures().into_iter();
        failures.find(|[check, _, cause, _]| {
            *check == fault.check && fault.causes().any(|known| known == *cause)
        })
    }

    /// The run's duration.
    pub fn seconds(&self) -> f64 {
        match self {
            Verdict::Ran(run) => run.seconds,
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
            Verdict::Ran(run) => run,
            Verdict::NotPlanted(why) => return Some(format!("{}: {why}", fault.name)),
        };
        if self.found(fault).is_some() {
            return None;
        }
        let Fault {
            name, check, cause, ..
        } = fault;
        let instead = if run.failures().is_empty() {
            format!("nothing failed:\n{}", run.shown)
        } else {
            format!("failures: {:#?}", run.failures())
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
    let mut run = if fault.cause == "timeout" {
        // Compile in a separate run with the usual time limit, and optimised, because otherwise a
        // case that times out is compiled and run again with optimisation.
        setting.run(nursery, &["--check", "compile", "--optimise"]);
        let limited = ["--check", &check, "--timeout", TIMEOUT, "--optimise"];
        setting.run(nursery, &limited)
    } else {
        setting.run(nursery, &["--check", &check])
    };
    run.seconds = begun.elapsed().as_secs_f64();
    Verdict::Ran(run)
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
    let mut command = Command::new(env!("CARGO_BIN_EXE_futhark-conformance"));
    command.arg("run").arg(programs());
    command.args(["--emulate", "always", "--futhark"]);
    command.arg(nursery.compiler());
    command.arg("--build-dir").arg(nursery.builds());
    command.arg("--json").arg(&report);
    Run::new(command, &report)
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_futhark-conformance"));
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
        command.arg("--futhark").arg(nursery.compiler());
        // Shared, so that the program that probes the device is compiled once.
        command.arg("--build-dir").arg(nursery.builds());
        command.arg("--json").arg(&report).args(arguments);
        Run::new(command, &report)
    }
}
