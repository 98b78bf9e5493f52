//! The table of faults, as people read it.

use crate::fault::Fault;
use crate::trial::Verdict;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Set, the document is written instead of compared.
const UPDATE: &str = "FUTHARK_UPDATE_DOCS";

const BEGIN: &str = "<!-- the table begins -->";
const END: &str = "<!-- the table ends -->";

const HEAD: &str = "\
| fault | what is wrong | backend | found by | as | noticed by, too |
|---|---|---|---|---|---|
";

fn document() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/faults.md"))
}

/// What a run found, with times, for the test's output.
pub fn of_verdicts(verdicts: &[(&Fault, &Verdict)]) -> String {
    let mut text = String::new();
    for (fault, verdict) in verdicts {
        let found = match verdict.found(fault) {
            Some([check, case, cause, message]) => {
                let line = message.lines().next().unwrap_or("");
                format!("{check} {case} ({cause}): {line}")
            }
            None => "NOT FOUND".to_owned(),
        };
        let others: Vec<_> = verdict.noticed_by().into_iter().collect();
        let _ = writeln!(
            text,
            "{:34} {:9} {:5.1} s  {found}  [{}]",
            fault.name,
            fault.backend,
            verdict.seconds(),
            others.join(", ")
        );
    }
    text
}

/// Writes the table into the document, if `FUTHARK_UPDATE_DOCS` is set and every fault ran.
pub fn update_if_asked(verdicts: &[(&Fault, &Verdict)], complete: bool) {
    if !complete || std::env::var_os(UPDATE).is_none() {
        return;
    }
    let rows = verdicts.iter().map(|(fault, verdict)| {
        let others = verdict.noticed_by();
        let others = others.into_iter().filter(|check| *check != fault.check);
        format!(
            "{} {} |\n",
            row(fault),
            others.collect::<Vec<_>>().join(", ")
        )
    });
    let table = format!("{BEGIN}\n\n{HEAD}{}\n{END}", rows.collect::<String>());
    let text = std::fs::read_to_string(document()).expect("docs/faults.md can be read");
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (_, after) = rest.split_once(END).expect("the table ends");
    std::fs::write(document(), format!("{before}{table}{after}")).expect("it can be written");
}

/// Whether the document shows this catalogue. Which other checks notice a fault is what a
/// run saw, and no promise.
pub fn compare(faults: &[Fault]) {
    if std::env::var_os(UPDATE).is_some() {
        return;
    }
    let text = std::fs::read_to_string(document()).expect("docs/faults.md can be read");
    let (_, rest) = text.split_once(BEGIN).expect("the table begins");
    let (table, _) = rest.split_once(END).expect("the table ends");
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let stale = "docs/faults.md is stale: run this test with FUTHARK_UPDATE_DOCS=1";
    assert_eq!(rows.len(), faults.len(), "{stale}");
    for (fault, shown) in faults.iter().zip(rows) {
        assert!(
            shown.starts_with(&row(fault)),
            "{stale}\n{shown}\n{}",
            row(fault)
        );
    }
}

/// All columns but the last.
fn row(fault: &Fault) -> String {
    let Fault {
        name,
        what,
        check,
        cause,
        ..
    } = fault;
    format!(
        "| `{name}` | {what} | {} | {check} | {cause} |",
        fault.place()
    )
}
