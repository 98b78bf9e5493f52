//! Failures grouped by cause, and reasons with their counts.
//!
//! One bug in a compiler fails the same check in many programs, on many backends. Failures belong to
//! one group if their check, cause and [`signature`] are equal. Wrong results with numbers in their
//! messages cannot be compared with those of other programs; they are grouped by check and program.

use super::summary::Column;
use crate::record::{Cause, Finding, Outcome, Place, Record};
use futhark_manifest::Backend;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The number of characters of a message that reports show.
const LONGEST: usize = 16 << 10;

/// A failure in a group.
#[derive(Clone, Debug)]
pub struct Member {
    /// The program's path.
    pub program: Arc<str>,
    /// The number of its column; `None` for a file that is not a program.
    pub column: Option<usize>,
    /// The case of the check.
    pub case: Arc<str>,
    /// The message.
    pub message: Arc<str>,
    /// The time that it took.
    pub seconds: f64,
    /// Whether it did not fail in the baseline.
    pub is_new: bool,
}

/// Failures with one cause.
#[derive(Clone, Debug)]
pub struct Group {
    /// The check.
    pub check: String,
    /// The cause.
    pub cause: Option<Cause>,
    /// The failures, in the order in which they were found; never empty.
    pub members: Vec<Member>,
}

impl Group {
    /// The programs, each with its number of failures.
    #[must_use]
    pub fn programs(&self) -> BTreeMap<&str, usize> {
        let mut programs = BTreeMap::new();
        for member in &self.members {
            *programs.entry(&*member.program).or_default() += 1;
        }
        programs
    }

    /// The number of failures that are not in the baseline.
    #[must_use]
    pub fn new_failures(&self) -> usize {
        self.members.iter().filter(|member| member.is_new).count()
    }

    /// The failure that represents the group: the first new one, otherwise the first.
    #[must_use]
    pub fn example(&self) -> &Member {
        let new = self.members.iter().find(|member| member.is_new);
        new.unwrap_or(&self.members[0])
    }

    /// The first line of the message, or several if they introduce each other.
    #[must_use]
    pub fn headline(&self) -> String {
        introduction(&self.example().message).join(" ")
    }

    /// The record of a member.
    #[must_use]
    pub fn record(&self, member: &Member, columns: &[Column]) -> Record {
        let nowhere = || "-".to_owned();
        let column = member.column.and_then(|number| columns.get(number));
        Record {
            place: Place {
                program: member.program.to_string(),
                backend: column.map_or_else(nowhere, |column| column.backend.clone()),
                device: column.map_or_else(nowhere, |column| column.device.clone()),
                compiler: column.map_or_else(nowhere, |column| column.compiler.clone()),
            },
            finding: Finding {
                check: self.check.clone(),
                case: member.case.to_string(),
                outcome: Outcome::Fail,
                cause: self.cause,
                message: member.message.to_string(),
                seconds: member.seconds,
            },
        }
    }
}

/// The check, the cause, the signature, and the program if only its own failures are comparable.
type Key = (String, Option<Cause>, String, Option<Arc<str>>);

/// All failures of a run, in groups.
#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    index: HashMap<Key, usize>,
    texts: Texts,
}

impl Groups {
    /// Adds a failure.
    pub fn add(&mut self, record: &Record, column: Option<usize>, is_new: bool) {
        let (place, finding) = (&record.place, &record.finding);
        let program = self.texts.shared(&place.program);
        let signature = signature(&finding.message, &place.program);
        let is_alone = finding.cause == Some(Cause::Mismatch) && signature.contains('#');
        let key = (
            finding.check.clone(),
            finding.cause,
            if is_alone { String::new() } else { signature },
            is_alone.then(|| Arc::clone(&program)),
        );
        let member = Member {
            program,
            column,
            case: self.texts.shared(&finding.case),
            message: self.texts.shared(start(&finding.message)),
            seconds: finding.seconds,
            is_new,
        };
        let groups = &mut self.groups;
        let number = *self.index.entry(key).or_insert_with(|| {
            groups.push(Group {
                check: finding.check.clone(),
                cause: finding.cause,
                members: Vec::new(),
            });
            groups.len() - 1
        });
        self.groups[number].members.push(member);
    }

    /// The groups: those with new failures first, then by the number of programs and failures.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.iter().collect();
        groups.sort_by_cached_key(|group| {
            std::cmp::Reverse((
                group.new_failures() > 0,
                group.programs().len(),
                group.members.len(),
            ))
        });
        groups
    }
}

/// Equal texts, kept once.
#[derive(Debug, Default)]
pub(super) struct Texts(HashSet<Arc<str>>);

impl Texts {
    pub(super) fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        text
    }
}

/// A reason for skips or for expected failures.
#[derive(Clone, Debug, Default)]
pub struct Reason {
    /// The reason in one line, as it was given first.
    pub text: String,
    /// The number of results.
    pub count: usize,
    /// The programs.
    pub programs: BTreeSet<Arc<str>>,
}

/// Results by reason.
#[derive(Debug, Default)]
pub struct Reasons {
    reasons: Vec<Reason>,
    index: HashMap<String, usize>,
    texts: Texts,
}

impl Reasons {
    /// Adds a result, and returns the number of its reason.
    pub fn add(&mut self, record: &Record) -> usize {
        let (place, finding) = (&record.place, &record.finding);
        let text = first_line(&finding.message);
        // The owner of the expectations wrote their reasons, so they are compared literally.
        let key = match finding.outcome {
            Outcome::ExpectedFail => text.to_owned(),
            _ => skip_key(text, &place.program),
        };
        let reasons = &mut self.reasons;
        let number = *self.index.entry(key).or_insert_with(|| {
            reasons.push(Reason {
                text: start(text).to_owned(),
                ..Reason::default()
            });
            reasons.len() - 1
        });
        let program = self.texts.shared(&place.program);
        let reason = &mut self.reasons[number];
        reason.count += 1;
        reason.programs.insert(program);
        number
    }

    /// The reason with this number.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&Reason> {
        self.reasons.get(number)
    }

    /// The reasons, the most frequent first.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Reason> {
        let mut reasons: Vec<&Reason> = self.reasons.iter().collect();
        reasons.sort_by_key(|reason| (std::cmp::Reverse(reason.count), &reason.text));
        reasons
    }
}

/// What the first lines of a message have in common with those of the same failure elsewhere:
/// numbers and hashes are replaced by `#`, the program's path by `PROGRAM`, and names of backends by
/// `BACKEND`. Further lines count only while the one before introduces them with a colon.
#[must_use]
pub fn signature(message: &str, program: &str) -> String {
    let mut text = introduction(message).join("\n");
    let name = program.rsplit('/').next().unwrap_or(program);
    for path in [program, name] {
        if path.len() > 3 {
            text = text.replace(path, "PROGRAM");
        }
    }
    general(start(&text))
}

/// The first line of a message, and the one after each that ends with a colon.
fn introduction(message: &str) -> Vec<&str> {
    const LINES: usize = 4;
    let lines = message.lines().map(str::trim);
    let mut found: Vec<&str> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()).take(LINES) {
        found.push(line);
        if !line.ends_with(':') {
            break;
        }
    }
    found
}

/// What skips with one reason have in common: everything but names of entry points and the messages
/// of the program after `Error:`.
fn skip_key(text: &str, program: &str) -> String {
    let text = text.split(" Error:").next().unwrap_or_default();
    let mut key = signature(text, program);
    while key.contains("[#][#]") {
        key = key.replace("[#][#]", "[#]");
    }
    const ENTRY: &str = "entry point ";
    let mut parts = key.split(ENTRY);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find([' ', ':']).unwrap_or(part.len());
        out.push_str(ENTRY);
        out.push_str(&part[end..]);
    }
    out
}

/// Replaces each word that begins with a digit, or that is a long hexadecimal number, by `#`. Digits
/// after a letter are part of a name such as `i32`. Names of backends become `BACKEND`.
fn general(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if end == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(end);
        let is_hash = word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit());
        if first.is_ascii_digit() || is_hash {
            // A sign, unless it is an operator or a dash.
            if out.ends_with(" -") || out.ends_with("[-") {
                out.pop();
            }
            // The suffix of a literal is its type: `7i32`.
            let is_unit = |c: char| c.is_ascii_digit() || c == '_';
            let suffix = word.trim_start_matches(is_unit);
            out.push('#');
            if suffix.len() <= 3 && suffix.starts_with(['i', 'u', 'f']) {
                out.push_str(suffix);
            }
        } else if Backend::ALL.iter().any(|backend| backend.as_str() == word) {
            out.push_str("BACKEND");
        } else {
            out.push_str(word);
        }
        rest = after;
    }
    out
}

/// The first line of a text.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The start of a message. The JSON report has all of it.
fn start(text: &str) -> &str {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::record;

    fn failure(program: &str, cause: Cause, message: &str) -> Record {
        let mut failure = record(program, "c", Outcome::Fail);
        failure.finding.cause = Some(cause);
        failure.finding.message = message.into();
        failure
    }

    fn signature_of(message: &str) -> String {
        signature(message, "a.fut")
    }

    fn sizes(records: &[Record]) -> Vec<(usize, usize)> {
        let mut groups = Groups::default();
        for (number, record) in records.iter().enumerate() {
            groups.add(record, Some(number), false);
        }
        let groups = groups.sorted();
        let sizes = groups
            .iter()
            .map(|group| (group.programs().len(), group.members.len()));
        sizes.collect()
    }

    #[test]
    fn crashes_of_programs_with_one_message_are_one_group() {
        let crash = |program: &str, text: &str| failure(program, Cause::Crash, text);
        assert_eq!(
            sizes(&[
                crash("a.fut", "signal 11 at 0x7fff12 in a.fut:3:4"),
                crash("x/b.fut", "signal 11 at 0x7ffe00 in x/b.fut:10:1"),
                crash("b.fut", "out of memory"),
            ]),
            [(2, 2), (1, 1)]
        );
    }

    #[test]
    fn wrong_results_are_grouped_within_a_program() {
        let wrong = |program: &str, text: &str| failure(program, Cause::Mismatch, text);
        assert_eq!(
            sizes(&[
                wrong("a.fut", "result 0: [2]i32 at [1]: expected 3i32, got -2"),
                wrong("a.fut", "result 0: [2]i32 at [0]: expected 7i32, got 1"),
                wrong("a.fut", "2 results are wrong"),
                wrong("b.fut", "result 0: [2]i32 at [0]: expected 7i32, got 1"),
                wrong("a.fut", "the entry point has no shape"),
                wrong("b.fut", "the entry point has no shape"),
            ]),
            [(2, 2), (1, 3), (1, 1)]
        );
    }

    #[test]
    fn a_line_with_a_colon_at_its_end_is_not_the_whole_cause() {
        let error = |text: &str| failure("a.fut", Cause::Error, text);
        assert_eq!(
            sizes(&[
                error("futhark failed:\nunknown name x"),
                error("futhark failed:\n\nunknown name x\nat 3"),
                error("futhark failed:\ninternal error"),
            ]),
            [(1, 2), (1, 1)]
        );
    }

    #[test]
    fn new_failures_come_first() {
        let mut groups = Groups::default();
        let old = failure("a.fut", Cause::Crash, "old");
        let new = failure("b.fut", Cause::Crash, "new");
        groups.add(&old, None, false);
        groups.add(&old, None, false);
        groups.add(&new, None, true);
        let sorted = groups.sorted();
        assert_eq!(sorted[0].headline(), "new");
        assert_eq!(sorted[0].new_failures(), 1);
    }

    #[test]
    fn the_backend_is_not_part_of_the_cause() {
        let mut other = failure("a.fut", Cause::Error, "futhark opencl failed");
        other.place.backend = "opencl".into();
        let one = failure("a.fut", Cause::Error, "futhark c failed");
        assert_eq!(sizes(&[one, other]), [(1, 2)]);
    }

    #[test]
    fn names_keep_their_digits() {
        assert_eq!(
            signature_of("f_2: [17]i32 at [0, 1] of 0x7f, 98991dce7a37ee33.json"),
            "f_2: [#]i32 at [#, #] of #, #.json"
        );
        assert_eq!(signature_of("é 12\nmore"), "é #");
    }

    #[test]
    fn skips_that_differ_in_numbers_have_one_reason() {
        let mut reasons = Reasons::default();
        for (program, text) in [("a.fut", "took 3 s"), ("b.fut", "took 4 s"), ("b.fut", "x")] {
            let mut skip = record(program, "c", Outcome::Skip);
            skip.finding.message = text.into();
            reasons.add(&skip);
        }
        let sorted = reasons.sorted();
        assert_eq!((sorted[0].count, sorted[0].programs.len()), (2, 2));
        assert_eq!(sorted[0].text, "took 3 s");
    }
}
