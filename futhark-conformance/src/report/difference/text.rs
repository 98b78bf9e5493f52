//! The differences as text.

use super::{Change, Comparison, Difference};
use crate::report::{counted, shown};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in Change::ALL {
            let list: Vec<&Difference> = self.of(change).collect();
            if list.is_empty() {
                continue;
            }
            writeln!(f, "{change}:")?;
            match change {
                // Each is a finding of its own.
                Change::Broken | Change::Known | Change::Healed => {
                    for one in list {
                        let line = format!("{} {}: {}", one.place, one.case, one.message);
                        writeln!(f, "  {}", shown(&line))?;
                    }
                }
                Change::Lost | Change::Gained => f.write_str(&by_reason(&list))?,
            }
            writeln!(f)?;
        }
        let [old, new] = &self.names;
        let counts = Change::ALL.map(|change| format!("{} {change}", self.count(change)));
        writeln!(
            f,
            "{} -> {}: {}; {}",
            shown(old),
            shown(new),
            counts.join(", "),
            counted(self.common, "common result")
        )
    }
}

impl Comparison {
    /// The differences of a kind.
    pub(super) fn of(&self, change: Change) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |d| d.change == change)
    }
}

/// A line per place and reason, with its number of cases.
fn by_reason(list: &[&Difference]) -> String {
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for one in list {
        let group = groups.entry((&one.place, &one.message)).or_default();
        group.push(&one.case);
    }
    let mut text = String::new();
    for ((place, reason), cases) in groups {
        let which = match cases.as_slice() {
            [one] => (*one).to_owned(),
            [first, ..] => format!("{first} and {} more", cases.len() - 1),
            [] => continue,
        };
        let reason = if reason.is_empty() {
            ""
        } else {
            &format!(": {reason}")
        };
        let line = format!("{place} {which}{reason}");
        let _ = writeln!(text, "  {}", shown(&line));
    }
    text
}
