//! The differences as text.

use super::{Change, Comparison, Difference};
use crate::report::text::{WIDTH, folded};
use crate::report::{counted, shown};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in Change::ALL {
            if self.count(change) == 0 {
                continue;
            }
            writeln!(f, "{change}:")?;
            let lines = rows(self.of(change)).into_iter().map(|row| {
                let indent = if row.is_first { "  " } else { "    " };
                format!("{indent}{}\n", shown(&row.text))
            });
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
    /// The comparison of a run with the older one, in one line.
    #[must_use]
    pub fn since(&self) -> String {
        let lost = self.of(Change::Lost).filter(|one| one.was_run);
        let mut text = format!(
            "since {}: {}, {} fixed, {} unchanged",
            shown(&self.names[0]),
            counted(self.new_failures().count(), "new failure"),
            self.count(Change::Fixed),
            self.unchanged
        );
        for (count, what) in [
            (self.still, "still failing"),
            (self.count(Change::Known), "failing as expected now"),
            (lost.count(), "not checked any more"),
            (self.count(Change::Gained), "checked now"),
            (self.not_run, "not run"),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text
    }
}

/// The differences of one program with one message.
pub(in crate::report) struct Row {
    /// Whether it is the first one with its message.
    is_first: bool,
    pub(in crate::report) count: usize,
    /// The program with its backends and cases; the first row of a message has that, too.
    pub(in crate::report) text: String,
}

/// The differences by message and program.
pub(in crate::report) fn rows<'d>(list: impl Iterator<Item = &'d Difference>) -> Vec<Row> {
    let mut messages: Vec<&str> = Vec::new();
    let mut programs: HashMap<&str, BTreeMap<&str, Vec<&Difference>>> = HashMap::new();
    for one in list {
        let message = programs.entry(&one.message).or_insert_with(|| {
            messages.push(&one.message);
            BTreeMap::new()
        });
        message.entry(&one.place.program).or_default().push(one);
    }
    let mut rows = Vec::new();
    for message in messages {
        for (number, (program, cases)) in programs[message].iter().enumerate() {
            let targets: BTreeSet<String> = cases.iter().map(|one| one.target()).collect();
            let targets = Vec::from_iter(targets).join(", ");
            let mut text = format!("{program} on {targets} {}", cases[0].case);
            if cases.len() > 1 {
                text += &format!(" and {} more", cases.len() - 1);
            }
            if number == 0 && !message.is_empty() {
                text += &format!(": {message}");
            }
            rows.push(Row {
                is_first: number == 0,
                count: cases.len(),
                text,
            });
        }
    }
    rows
}
