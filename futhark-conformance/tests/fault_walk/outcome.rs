//! What came of a failure of the device.

use std::collections::BTreeMap;
use std::fmt;

/// How a process that met a failure ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every result was right.
    Fine,
    /// An operation told of it, with an error.
    Told {
        /// What had begun last.
        operation: String,
        /// The error's kind.
        kind: String,
        /// The error's text.
        text: String,
        /// What then went wrong in the context that goes on, or in the next one.
        again: String,
    },
    /// An operation gave a wrong result and said nothing.
    Wrong(String, String),
    /// The process did not live to tell.
    Died(String),
}

const BETWEEN: char = '\u{1f}';

impl Ending {
    /// Reads what [`Ending::fmt`] wrote.
    pub fn read(text: &str) -> Ending {
        let parts: Vec<&str> = text.split(BETWEEN).collect();
        let own = |part: &str| part.to_owned();
        match parts.as_slice() {
            ["fine"] => Ending::Fine,
            ["told", operation, kind, text, again] => Ending::Told {
                operation: own(operation),
                kind: own(kind),
                text: own(text),
                again: own(again),
            },
            ["wrong", operation, what] => Ending::Wrong(own(operation), own(what)),
            _ => Ending::Died(format!("it left no word, but {text:?}")),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = match self {
            Ending::Fine => vec!["fine"],
            Ending::Told {
                operation,
                kind,
                text,
                again,
            } => vec!["told", operation, kind, text, again],
            Ending::Wrong(operation, what) => vec!["wrong", operation, what],
            Ending::Died(how) => vec!["died", how],
        };
        write!(f, "{}", parts.join(&BETWEEN.to_string()))
    }
}

/// How it ended, and what the device had to tell meanwhile.
pub struct Outcome {
    pub ending: Ending,
    pub findings: String,
}

/// Kinds that blame the device, or its memory. Any other would blame the program, or whoever
/// calls it.
const OF_THE_DEVICE: [&str; 5] = ["Backend", "OutOfMemory", "ContextLost", "Start", "Load"];

/// What the generated code does not free where a device fails, and nobody else can: the
/// operation (empty: any), what fails, and why it stays.
const NEVER_FREED: [(&str, &str, &str); 3] = [
    (
        "",
        "fail-copy",
        "`new` frees an array whose copy failed, but not its memory",
    ),
    (
        "context",
        "fail-allocation",
        "the constants that were begun are not freed with their context",
    ),
    (
        "context",
        "fail-launch",
        "the constants that were begun are not freed with their context",
    ),
];

/// What a driver says of a card that is gone.
const GONE: &str = "999";

impl Outcome {
    /// What is wrong with it.
    pub fn complaint(&self, failure: &str) -> Option<String> {
        let wrong = match &self.ending {
            Ending::Fine => String::new(),
            Ending::Told { text, .. } if text.trim().is_empty() => "no message".to_owned(),
            Ending::Told { kind, again, .. }
                if OF_THE_DEVICE.contains(&kind.as_str())
                    && match failure.starts_with(crate::LOSE_DEVICE) {
                        true => again.contains(GONE),
                        false => again.is_empty(),
                    } =>
            {
                String::new()
            }
            Ending::Told { .. } | Ending::Wrong(..) | Ending::Died(_) => {
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
        let Ending::Told { operation, .. } = &self.ending else {
            return false;
        };
        finding.ends_with("never freed")
            && NEVER_FREED.iter().any(|(known, fails, _)| {
                failure.starts_with(fails) && (known.is_empty() || known == operation)
            })
    }
}

/// How often an operation met a failure, and with which outcome.
#[derive(Default)]
pub struct Table(BTreeMap<(String, String, String), usize>);

impl Table {
    pub fn add(&mut self, failure: &str, outcome: &Outcome) {
        let (operation, what) = match &outcome.ending {
            Ending::Fine => (String::new(), "no harm".to_owned()),
            Ending::Told {
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
