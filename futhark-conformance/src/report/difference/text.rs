//! The differences as text.

use super::{Change, Comparison, Difference};
use crate::report::terminal::WIDTH;
use crate::report::terminal::fit::wrap;
use crate::report::{counted, shown};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in Change::ALL {
            let list: Vec<&Difference> = self.of(change).collect();
            if list.is_empty() {
                continue;
            }
            writeln!(f, "{change}:")?;
            let lines = match change {
                // Each is a finding of its own.
                Change::Broken | Change::Known | Change::Fixed => by_message(&list),
                Change::Lost | Change::Gained => by_reason(&list),
            };
            let mut text = String::new();
            for line in lines {
                wrap(&mut text, &shown(&line), "  ", WIDTH);
            }
            f.write_str(&text)?;
            writeln!(f)?;
        }
        let [old, new] = &self.names;
        let counts = Change::ALL.map(|change| format!("{} {change}", self.count(change)));
        let sum = format!(
            "{} -> {}: {}; {}",
            shown(old),
            shown(new),
            counts.join(", "),
            counted(self.common, "common result")
        );
        let mut text = String::new();
        wrap(&mut text, &sum, "", WIDTH);
        f.write_str(&text)
    }
}

impl Comparison {
    /// The differences of a kind.
    pub(super) fn of(&self, change: Change) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |d| d.change == change)
    }
}

/// A line per message, with its first place and case, and the number of others.
fn by_message(list: &[&Difference]) -> Vec<String> {
    let mut groups: Vec<(&Difference, usize)> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    for one in list {
        let number = *index.entry(&one.message).or_insert_with(|| {
            groups.push((one, 0));
            groups.len() - 1
        });
        groups[number].1 += 1;
    }
    let lines = groups.into_iter().map(|(one, count)| {
        let more = match count {
            1 => String::new(),
            _ => format!(" and {} more", count - 1),
        };
        format!("{} {}{more}: {}", one.place, one.case, one.message)
    });
    lines.collect()
}

/// A line per place and reason, with its number of cases.
fn by_reason(list: &[&Difference]) -> Vec<String> {
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for one in list {
        let group = groups.entry((&one.place, &one.message)).or_default();
        group.push(&one.case);
    }
    let lines = groups.into_iter().map(|((place, reason), cases)| {
        let more = match cases.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        let reason = match reason {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        format!("{place} {}{more}{reason}", cases[0])
    });
    lines.collect()
}
