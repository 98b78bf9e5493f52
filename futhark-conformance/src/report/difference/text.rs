//! The differences as text.

use super::{Change, Comparison, Difference};
use crate::report::text::{WIDTH, folded};
use crate::report::{counted, shown};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in Change::ALL {
            let list: Vec<&Difference> = self.of(change).collect();
            if list.is_empty() {
                continue;
            }
            writeln!(f, "{change}:")?;
            let lines = by_message(&list).into_iter();
            let lines = lines.map(|(indent, line)| format!("{indent}{}\n", shown(&line)));
            writeln!(f, "{}", folded(&lines.collect::<String>(), WIDTH))?;
        }
        let [old, new] = &self.names;
        let is_shown = |change: &Change| *change != Change::Unexpected || self.count(*change) > 0;
        let counts = Change::ALL.into_iter().filter(is_shown);
        let counts = counts.map(|change| format!("{} {change}", self.count(change)));
        let counts: Vec<String> = counts.collect();
        let mut sum = format!(
            "{} -> {}: {}; {}\n",
            shown(old),
            shown(new),
            counts.join(", "),
            counted(self.common, "common result")
        );
        if let Some(selection) = &self.selection {
            sum += &shown(selection);
        }
        f.write_str(&folded(&sum, WIDTH))
    }
}

impl Comparison {
    /// The differences of a kind.
    pub(super) fn of(&self, change: Change) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |d| d.change == change)
    }
}

/// Per message, a line for each program with its backends and cases. The first of them has the
/// message, and the others are indented more.
fn by_message(list: &[&Difference]) -> Vec<(&'static str, String)> {
    let mut messages: Vec<&str> = Vec::new();
    let mut programs: HashMap<&str, BTreeMap<&str, Vec<&Difference>>> = HashMap::new();
    for &one in list {
        let message = programs.entry(&one.message).or_insert_with(|| {
            messages.push(&one.message);
            BTreeMap::new()
        });
        message.entry(&one.program).or_default().push(one);
    }
    let mut lines = Vec::new();
    for message in messages {
        for (number, (program, cases)) in programs[message].iter().enumerate() {
            let targets: BTreeSet<&str> = cases.iter().map(|one| &*one.target).collect();
            let targets = Vec::from_iter(targets).join(", ");
            let mut line = format!("{program} on {targets} {}", cases[0].case);
            if cases.len() > 1 {
                line += &format!(" and {} more", cases.len() - 1);
            }
            match (number, message) {
                (0, "") => lines.push(("  ", line)),
                (0, _) => lines.push(("  ", format!("{line}: {message}"))),
                _ => lines.push(("    ", line)),
            }
        }
    }
    lines
}
