//! The outcome of a failure of the device.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How a process ended in which the device failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// Every result was correct.
    Fine,
    /// An operation returned an error.
    Error {
        /// The operation.
        operation: String,
        /// The error's kind.
        kind: String,
        /// The error's text.
        text: String,
        /// The failure of the second run, in the same context or a new one; empty if none.
        again: String,
    },
    /// An operation returned a wrong result.
    Wrong(String, String),
    /// The process died.
    Died(String),
}

/// The ending, and the misuse that the device found.
pub struct Outcome {
    pub ending: Ending,
    pub findings: String,
}

/// The kinds of errors of missing memory.
const OF_MEMORY: [&str; 2] = ["OutOfMemory", "ContextLost"];

/// Parts of the texts of `Start`, for threads that cannot be created: the number of threads can be
/// limited as well, so it is not `OutOfMemory`.
const OF_THREADS: [&str; 2] = ["Failed to create worker", "no memory for its message"];

/// The kinds of errors of a device or its memory, as opposed to errors of the program or its
/// caller.
const OF_THE_DEVICE: [&str; 5] = ["Backend", "OutOfMemory", "ContextLost", "Start", "Load"];

/// Known leaks of the generated code if a device fails: the operation (empty for any), and the failure.
const KNOWN_LEAKS: [(&str, &str); 3] = [
    // `new` frees an array whose copy failed, but not its memory.
    ("", "fail-copy"),
    // The constants that were begun are not freed with their context.
    ("context", "fail-allocation"),
    ("context", "fail-launch"),
];

/// The end of a finding of a leak, by the device or by `futhark-sys/c/fut_failing.h`.
pub const NEVER_FREED: &str = "never freed";

/// The error code of a driver whose device is lost.
const GONE: &str = "999";

impl Outcome {
    /// Why the test fails, if it does.
    pub fn complaint(&self, failure: &str) -> Option<String> {
        let expected = |kind: &str, text: &str| {
            if !failure.starts_with(crate::ONE_ALLOCATION) {
                return OF_THE_DEVICE.contains(&kind);
            }
            let threads = kind == "Start" && OF_THREADS.iter().any(|part| text.contains(part));
            OF_MEMORY.contains(&kind) || threads
        };
        let wrong = match &self.ending {
            Ending::Fine => String::new(),
            Ending::Error { text, .. } if text.trim().is_empty() => "no message".to_owned(),
            Ending::Error {
                kind, text, again, ..
            } if expected(kind, text)
                && match failure.starts_with(crate::LOSE_DEVICE) {
                    true => again.contains(GONE),
                    false => again.is_empty(),
                } =>
            {
                String::new()
            }
            Ending::Error { .. } | Ending::Wrong(..) | Ending::Died(_) => {
                format!("{:?}", self.ending)
            }
        };
        let findings = self.findings.lines();
        let findings = findings.filter(|finding| !self.is_known(failure, finding));
        let complaints: Vec<&str> = [wrong.as_str()].into_iter().chain(findings).collect();
        let complaints = complaints.join(" ");
        (!complaints.trim().is_empty()).then(|| format!("{failure}: {}", complaints.trim()))
    }

    fn is_known(&self, failure: &str, finding: &str) -> bool {
        let Ending::Error { operation, .. } = &self.ending else {
            return false;
        };
        finding.ends_with(NEVER_FREED)
            && KNOWN_LEAKS.iter().any(|(known, fails)| {
                failure.starts_with(fails) && (known.is_empty() || known == operation)
            })
    }
}

/// Counts of failures by operation and outcome.
#[derive(Default)]
pub struct Table(BTreeMap<(String, String, String), usize>);

impl Table {
    pub fn add(&mut self, failure: &str, outcome: &Outcome) {
        let (operation, what) = match &outcome.ending {
            Ending::Fine => (String::new(), "no harm".to_owned()),
            Ending::Error {
                operation, kind, ..
            } => (operation.clone(), kind.clone()),
            Ending::Wrong(operation, _) => (operation.clone(), "WRONG".to_owned()),
            Ending::Died(_) => (String::new(), "DIED".to_owned()),
        };
        *self
            .0
            .entry((failure.to_owned(), operation, what))
            .or_default() += 1;
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((failure, operation, outcome), count) in &self.0 {
            writeln!(f, "| `{failure}` | {operation} | {outcome} | {count} |")?;
        }
        Ok(())
    }
}
