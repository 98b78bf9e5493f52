//! A list of expectations for the failures of a run, for the owner of a corpus to edit.

use crate::devices::{HOST, parts};
use crate::identity::version_of;
use crate::record::{Cause, Place, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
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
    for (entry, programs) in &entries {
        let _ = write!(text, "\n[[expect]]\n{}", entry.text(programs, date));
    }
    (text, entries.len())
}

/// What an entry says of its programs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    checks: BTreeSet<String>,
    backends: BTreeSet<String>,
    compilers: BTreeSet<String>,
    /// A pattern; none for the host.
    device: Option<String>,
    message: String,
    sometimes: bool,
}

/// The failures of one check of one program.
#[derive(Default)]
struct Failing {
    message: String,
    sometimes: bool,
    /// The cases that fail in each place.
    places: BTreeMap<Column, BTreeSet<String>>,
}

/// Device pattern, compiler and backend.
type Column = (Option<String>, String, String);

/// The entries with their programs, such that each entry only lists what failed.
fn entries(failures: &[Record], folder: &Path) -> Vec<(Entry, BTreeSet<String>)> {
    let mut found: BTreeMap<(String, String), Failing> = BTreeMap::new();
    for Record { place, finding } in failures {
        let program = Path::new(&place.program);
        let program = program.strip_prefix(folder).unwrap_or(program);
        let key = (program.display().to_string(), finding.check.clone());
        let failing = found.entry(key).or_default();
        if failing.message.is_empty() {
            failing.message = first_line(&finding.message);
        }
        // On a slower or faster machine it may pass.
        failing.sometimes |= finding.cause == Some(Cause::Timeout);
        let cases = failing.places.entry(column(place)).or_default();
        cases.insert(finding.case.clone());
    }
    let mut entries: BTreeMap<Entry, BTreeSet<String>> = BTreeMap::new();
    for ((program, check), failing) in found {
        for (cases, columns) in same(failing.places) {
            let by_compiler = columns
                .into_iter()
                .map(|(device, compiler, backend)| ((device, compiler), backend));
            let mut backends: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
            for (place, backend) in by_compiler {
                backends.entry(place).or_default().insert(backend);
            }
            for (backends, places) in same(backends) {
                let mut compilers: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
                for (device, compiler) in places {
                    compilers.entry(device).or_default().insert(compiler);
                }
                for (device, compilers) in compilers {
                    let entry = Entry {
                        checks: patterns(&check, &cases),
                        backends: backends.clone(),
                        compilers,
                        device,
                        message: failing.message.clone(),
                        sometimes: failing.sometimes,
                    };
                    entries.entry(entry).or_default().insert(program.clone());
                }
            }
        }
    }
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by(|(_, one), (_, other)| one.cmp(other));
    entries
}

/// The keys that have each value.
fn same<K: Ord, V: Ord>(map: BTreeMap<K, V>) -> BTreeMap<V, Vec<K>> {
    let mut keys: BTreeMap<V, Vec<K>> = BTreeMap::new();
    for (key, value) in map {
        keys.entry(value).or_default().push(key);
    }
    keys
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

fn column(place: &Place) -> Column {
    let device = match place.device.as_str() {
        "" | HOST => None,
        // The rest of the name can contain that of the machine's processor.
        name if name.contains(": ") => Some(format!("{}*", parts(name).0)),
        name => Some(name.to_owned()),
    };
    (
        device,
        version_of(&place.compiler).to_owned(),
        place.backend.clone(),
    )
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
    fn text(&self, programs: &BTreeSet<String>, date: &str) -> String {
        let compilers: Vec<&str> = self.compilers.iter().map(String::as_str).collect();
        let reason = format!(
            "observed {date} with Futhark {}: {}",
            compilers.join(", "),
            self.message
        );
        let mut text = String::new();
        let mut line = |key: &str, value: String| {
            let _ = writeln!(text, "{key} = {value}");
        };
        line("program", list(programs));
        line("check", list(&self.checks));
        line("backend", list(&self.backends));
        line("compiler", list(&self.compilers));
        if let Some(device) = &self.device {
            line("device", quoted(device));
        }
        if self.sometimes {
            line("sometimes", "true".to_owned());
        }
        line("reason", quoted(&reason));
        text
    }
}

/// One string, or a list of several.
fn list(words: &BTreeSet<String>) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
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
    use crate::record::{Finding, Outcome};

    fn failure(program: &str, check: &str, case: &str, place: [&str; 3]) -> Record {
        let [backend, device, compiler] = place.map(str::to_owned);
        Record {
            place: Place {
                program: format!("corpus/{program}"),
                backend,
                device,
                compiler,
            },
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
