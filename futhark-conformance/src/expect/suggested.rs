//! A list of expectations for the failures of a run, for the owner of a corpus to edit.

use crate::devices::{HOST, parts};
use crate::identity::version_of;
use crate::record::{Cause, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::mem;
use std::path::Path;
use std::time::SystemTime;

/// The most cases of a check that are listed one by one.
const MOST_CASES: usize = 8;

/// The longest message in a reason.
const LONGEST: usize = 150;

const HEAD: &str = "\
# Known failures, written by `futhark-conformance init`.
#
# A check that an entry lists must fail: then it counts as an expected failure, and if it passes, the
# run fails. Replace each reason by the cause, and delete the entry when that is fixed. With
# `sometimes = true` the check may also pass. With `timeout = 10` it has failed after ten seconds.
#
#   program   path in this folder; `*` matches any text
#   check     CHECK or CHECK:CASE; `*` as above
#   backend, compiler, device   where it fails; everywhere without them
";

/// The text of a list in `folder`, and the number of its entries.
#[must_use]
pub fn list_of(failures: &[Record], folder: &Path) -> (String, usize) {
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let date = date.get(..10).unwrap_or_default();
    let entries = entries(failures, folder);
    let mut text = HEAD.to_owned();
    for entry in &entries {
        let _ = write!(text, "\n[[expect]]\n{}", entry.text(date));
    }
    (text, entries.len())
}

/// The keys of an entry with lists of patterns, and their numbers.
const KEYS: [&str; 5] = ["program", "check", "backend", "compiler", "device"];
const PROGRAM: usize = 0;
const CHECK: usize = 1;
const BACKEND: usize = 2;
const COMPILER: usize = 3;
const DEVICE: usize = 4;

/// An entry: the list of each key, none for a key that it lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    lists: [BTreeSet<String>; 5],
    message: String,
    sometimes: bool,
}

/// The entries, such that each only lists what failed.
fn entries(failures: &[Record], folder: &Path) -> BTreeSet<Entry> {
    let mut jobs: BTreeMap<[String; 5], BTreeSet<String>> = BTreeMap::new();
    let mut checks: BTreeMap<(String, String), (String, bool)> = BTreeMap::new();
    for Record { place, finding } in failures {
        let program = Path::new(&place.program);
        let program = program.strip_prefix(folder).unwrap_or(program);
        let program = program.display().to_string();
        let check = checks.entry((program.clone(), finding.check.clone()));
        let (_, sometimes) = check.or_insert_with(|| (first_line(&finding.message), false));
        // On a slower or faster machine it may pass.
        *sometimes |= finding.cause == Some(Cause::Timeout);
        let job = [
            program,
            finding.check.clone(),
            place.backend.clone(),
            version_of(&place.compiler).to_owned(),
            device(&place.device),
        ];
        jobs.entry(job).or_default().insert(finding.case.clone());
    }
    let entries = jobs.into_iter().map(|(job, cases)| {
        let (message, sometimes) = checks[&(job[PROGRAM].clone(), job[CHECK].clone())].clone();
        let patterns = patterns(&job[CHECK], &cases);
        let mut lists = job.map(|word| BTreeSet::from([word]));
        lists[CHECK] = patterns;
        lists[DEVICE].remove("");
        Entry {
            lists,
            message,
            sometimes,
        }
    });
    [BACKEND, COMPILER, PROGRAM]
        .into_iter()
        .fold(entries.collect(), joined)
}

/// The entries, with those joined that differ only in the list of this key.
fn joined(entries: BTreeSet<Entry>, key: usize) -> BTreeSet<Entry> {
    let mut others: BTreeMap<Entry, BTreeSet<String>> = BTreeMap::new();
    for mut entry in entries {
        let list = mem::take(&mut entry.lists[key]);
        others.entry(entry).or_default().extend(list);
    }
    let joined = others.into_iter().map(|(mut entry, list)| {
        entry.lists[key] = list;
        entry
    });
    joined.collect()
}

/// The patterns of these cases, or of the whole check if they are many.
fn patterns(check: &str, cases: &BTreeSet<String>) -> BTreeSet<String> {
    // Without a case, the failure is of the check as a whole.
    if cases.len() > MOST_CASES || cases.contains("") {
        return [check.to_owned()].into();
    }
    let patterns = cases.iter().map(|case| format!("{check}:{case}"));
    patterns.collect()
}

/// The pattern of a device; empty for the host.
fn device(name: &str) -> String {
    match name {
        HOST => String::new(),
        // The rest of the name can contain that of the machine's processor.
        name if name.contains(": ") => format!("{}*", parts(name).0),
        name => name.to_owned(),
    }
}

fn first_line(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let line = lines.into_iter().find(|line| !line.is_empty());
    let line: String = (line.unwrap_or("failed").chars())
        .filter(|c| !c.is_control())
        .collect();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

impl Entry {
    fn text(&self, date: &str) -> String {
        let compilers: Vec<&str> = self.lists[COMPILER].iter().map(String::as_str).collect();
        let mut text = String::new();
        for (key, list) in KEYS.iter().zip(&self.lists) {
            let words: Vec<String> = list.iter().map(|word| quoted(word)).collect();
            let _ = match words.as_slice() {
                [] => Ok(()),
                [one] => writeln!(text, "{key} = {one}"),
                several => writeln!(text, "{key} = [{}]", several.join(", ")),
            };
        }
        if self.sometimes {
            text.push_str("sometimes = true\n");
        }
        let reason = format!(
            "observed {date} with Futhark {}: {}",
            compilers.join(", "),
            self.message
        );
        text + &format!("reason = {}\n", quoted(&reason))
    }
}

/// A string of TOML, which has the escapes of JSON, and also forbids the character DEL.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json.replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests {
    use super::super::Expectations;
    use super::*;
    use crate::record::{Finding, Outcome, Place};
    use std::sync::Arc;

    fn failure(program: &str, check: &str, case: &str, place: [&str; 3]) -> Record {
        let [backend, device, compiler] = place.map(str::to_owned);
        Record {
            place: Arc::new(Place {
                program: format!("corpus/{program}"),
                backend,
                device,
                compiler,
            }),
            finding: Finding {
                check: check.to_owned(),
                case: case.to_owned(),
                outcome: Outcome::Fail,
                cause: Some(Cause::Mismatch),
                message: "\nexpected \"7\", got 0\nmore".to_owned(),
                seconds: 0.0,
            },
        }
    }

    /// Checks that the list expects exactly these failures.
    fn round_trip(failures: &[Record], entries: usize) -> String {
        let (text, count) = list_of(failures, Path::new("corpus"));
        assert_eq!(count, entries, "{text}");
        let mut list = Expectations::parse(&text, Path::new("corpus")).unwrap();
        for failure in failures {
            let mut judged = failure.clone();
            list.visit(&failure.place);
            list.judge(&mut judged);
            assert_eq!(judged.finding.outcome, Outcome::ExpectedFail, "{text}");
        }
        assert_eq!(list.unmatched().count(), 0, "{text}");
        text
    }

    #[test]
    fn failures_with_one_message_are_one_entry() {
        let mut failures = Vec::new();
        for program in ["a.fut", "b.fut"] {
            for backend in ["c", "multicore"] {
                for compiler in ["1", "2"] {
                    let place = [backend, "cpu", compiler];
                    failures.push(failure(program, "blocks", "f #0", place));
                }
            }
        }
        let text = round_trip(&failures, 1);
        for line in [
            r#"program = ["a.fut", "b.fut"]"#,
            r#"check = "blocks:f #0""#,
            r#"backend = ["c", "multicore"]"#,
            r#"compiler = ["1", "2"]"#,
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(
            text.contains(r#" with Futhark 1, 2: expected \"7\", got 0""#),
            "{text}"
        );
        assert!(!text.contains("device ="), "{text}");
    }

    #[test]
    fn an_entry_lists_only_what_failed() {
        let host = |backend, compiler| [backend, "cpu", compiler];
        let pocl = "Portable Computing Language: pthread-x \u{7f}\"";
        let failures = [
            failure("a.fut", "blocks", "f #0", host("c", "1")),
            failure("a.fut", "blocks", "f #0", host("c", "2")),
            // Not with compiler 1.
            failure("a.fut", "blocks", "f #0", host("multicore", "2")),
            failure("a.fut", "arrays", "", host("c", "1")),
            failure("a.fut", "blocks", "f #0", ["opencl", pocl, "1"]),
        ];
        let text = round_trip(&failures, 4);
        let mut list = Expectations::parse(&text, Path::new("corpus")).unwrap();
        let mut other = failure("a.fut", "blocks", "f #0", host("multicore", "1"));
        list.judge(&mut other);
        assert_eq!(other.finding.outcome, Outcome::Fail, "{text}");
        assert!(text.contains(r#"device = "Portable Computing Language*""#));
    }

    #[test]
    fn many_cases_are_a_whole_check_and_timeouts_may_pass() {
        let mut failures: Vec<Record> = (0..20)
            .map(|n| failure("a.fut", "blocks", &format!("f #{n}"), ["c", "cpu", "1"]))
            .collect();
        failures[3].finding.cause = Some(Cause::Timeout);
        let text = round_trip(&failures, 1);
        assert!(text.contains("check = \"blocks\"\n"), "{text}");
        assert!(text.contains("sometimes = true\n"), "{text}");
    }
}
