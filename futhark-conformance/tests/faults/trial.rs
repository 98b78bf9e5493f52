//! Runs the program under test on a program of ours, as its users do, and reads its report.

use crate::fault::{Fault, is_emulated};
use crate::plant::Nursery;
use crate::programs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// What a run reported.
pub struct Run {
    records: Vec<Value>,
    shown: String,
    seconds: f64,
}

impl Run {
    /// Check, case, cause and message of what failed.
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

    /// How many cases passed.
    pub fn passed(&self) -> usize {
        let passed = self
            .records
            .iter()
            .filter(|record| record["outcome"] == "pass");
        passed.count()
    }

    /// What the program printed.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

/// How a fault fared.
pub enum Verdict {
    /// It ran.
    Ran(Run),
    /// It could not even be planted.
    NotPlanted(String),
}

impl Verdict {
    /// The checks that noticed it, in alphabetical order.
    pub fn noticed_by(&self) -> BTreeSet<&str> {
        match self {
            Verdict::Ran(run) => run
                .failures()
                .into_iter()
                .map(|[check, ..]| check)
                .collect(),
            Verdict::NotPlanted(_) => BTreeSet::new(),
        }
    }

    /// The first failure of the check that should find the fault.
    pub fn found<'a>(&'a self, fault: &Fault) -> Option<[&'a str; 4]> {
        let Verdict::Ran(run) = self else { return None };
        let mut failures = run.failures().into_iter();
        failures.find(|[check, _, cause, _]| {
            *check == fault.check && fault.causes().any(|known| known == *cause)
        })
    }

    /// How long it took.
    pub fn seconds(&self) -> f64 {
        match self {
            Verdict::Ran(run) => run.seconds,
            Verdict::NotPlanted(_) => 0.0,
        }
    }

    /// What is wrong with the checks, if the fault was not found.
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
            format!("what failed is {:#?}", run.failures())
        };
        Some(format!("{name}: expected a {cause} in {check}; {instead}"))
    }
}

/// How long a step may take where its time shall be up: what it waits for never comes.
const SHORT: &str = "6";

/// Plants a fault and runs.
pub fn plant_and_run(nursery: &Nursery, fault: &Fault) -> Verdict {
    let compiler = match nursery.plant(fault) {
        Ok(compiler) => compiler,
        Err(why) => return Verdict::NotPlanted(why),
    };
    let begun = Instant::now();
    let setting = Setting {
        compiler: &compiler,
        program: fault.program,
        backend: fault.backend,
        device: fault.device,
        name: fault.name,
    };
    let mut run = match fault.only {
        None => setting.run(nursery, &checks([fault.check])),
        Some(check) => {
            // Compiled beforehand, so that only the program needs its time; and optimised, so that
            // it is not waited for a second time in optimised code.
            setting.run(nursery, &["--check", "compile", "--optimise"]);
            setting.run(
                nursery,
                &["--check", check, "--timeout", SHORT, "--optimise"],
            )
        }
    };
    run.seconds = begun.elapsed().as_secs_f64();
    Verdict::Ran(run)
}

/// The same without a fault, with the checks that faults of the program name.
pub fn run_healthy(
    nursery: &Nursery,
    faults: &[Fault],
    (program, backend, device): (&str, &str, &str),
) -> Run {
    let here =
        |fault: &&Fault| (fault.program, fault.backend, fault.device) == (program, backend, device);
    let named = faults.iter().filter(here).map(|fault| fault.check);
    let setting = Setting {
        compiler: &nursery.healthy(),
        program,
        backend,
        device,
        name: &format!("healthy-{program}-{backend}-{device}"),
    };
    setting.run(nursery, &checks(named))
}

/// The checks that are run on every fault: all that do not take their time.
const QUICK: [&str; 9] = [
    "compile",
    "manifest",
    "lifecycle",
    "arrays",
    "shape",
    "index",
    "blocks",
    "consume",
    "opaque",
];

/// The arguments that ask for these checks besides the quick ones.
fn checks<'a>(named: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let all: BTreeSet<&str> = QUICK.into_iter().chain(named).collect();
    all.into_iter()
        .flat_map(|check| ["--check", check])
        .collect()
}

/// What is run.
struct Setting<'a> {
    compiler: &'a Path,
    program: &'a str,
    backend: &'a str,
    device: &'a str,
    name: &'a str,
}

impl Setting<'_> {
    fn run(&self, nursery: &Nursery, arguments: &[&str]) -> Run {
        let report = nursery.folder(&format!("{}.jsonl", self.name));
        let mut command = Command::new(env!("CARGO_BIN_EXE_futhark-conformance"));
        command.arg("run").arg(programs().join(self.program));
        command.args(["--backend", self.backend, "--jobs", "1"]);
        if self.backend == "opencl" {
            // PoCL has faults of its own.
            command.args(["--device", "Oclgrind*"]);
        }
        if is_emulated(self.backend) {
            command.args(["--emulate", "always", "--emulated", self.device]);
        }
        command.arg("--futhark").arg(self.compiler);
        // One folder for all: the probe is the same program for each of them.
        command.arg("--build-dir").arg(nursery.builds());
        command.arg("--json").arg(&report).args(arguments);
        let output = command.output().expect("the program starts");
        let text = std::fs::read_to_string(report).unwrap_or_default();
        // Between the header and the end.
        let records = text
            .lines()
            .skip(1)
            .filter(|line| !line.starts_with("{\"records\""));
        Run {
            records: records
                .map(|line| serde_json::from_str(line).expect("each line is JSON"))
                .collect(),
            shown: String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            seconds: 0.0,
        }
    }
}
