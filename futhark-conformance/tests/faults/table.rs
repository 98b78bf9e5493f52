//! The table of faults in `docs/faults.md`, and the output of a run.

use crate::fault::Fault;
use crate::trial::Verdict;
use std::path::PathBuf;

/// If set, the test writes the table instead of comparing it.
const UPDATE: &str = "FUTHARK_UPDATE_DOCS";

const BEGIN: &str = "<!-- the table begins -->";
const END: &str = "<!-- the table ends -->";

const HEAD: &str = "\
| fault | effect | backend | found by | cause |
|---|---|---|---|---|
";

/// The outcome and duration of a fault, for the output of the test.
pub fn outcome(fault: &Fault, verdict: &Verdict) -> String {
    let found = match verdict.found(fault) {
        Some([check, case, cause, message]) => {
            let line = message.lines().next().unwrap_or("");
            format!("{check} {case} ({cause}): {line}")
        }
        None => "NOT FOUND".to_owned(),
    };
    let (name, backend, seconds) = (fault.name, fault.backend, verdict.seconds());
    format!("{name:34} {backend:9} {seconds:5.1} s  {found}")
}

/// Compares the table in the document with the catalogue, or writes it.
pub fn compare_or_update(faults: &[Fault]) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/faults.md"));
    let text = std::fs::read_to_string(&path).expect("docs/faults.md can be read");
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (_, after) = rest.split_once(END).expect("the table ends");
    let rows: String = faults.iter().map(row).collect();
    let current = format!("{before}{BEGIN}\n\n{HEAD}{rows}\n{END}{after}");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, current).expect("docs/faults.md can be written");
    } else {
        assert!(
            text == current,
            "the table in docs/faults.md is out of date: run this test with {UPDATE}=1"
        );
    }
}

fn row(fault: &Fault) -> String {
    let Fault {
        name,
        what,
        check,
        cause,
        backend,
        device,
        ..
    } = fault;
    let comma = if device.is_empty() { "" } else { ", " };
    format!("| `{name}` | {what} | {backend}{comma}{device} | {check} | {cause} |\n")
}
