//! Failures grouped by what they have in common, and expected failures and skips by reason.
//!
//! One bug in a compiler fails the same check in many programs, on many backends; `docs/reports.md` says which failures
//! are one group. Wrong results with numbers in their messages cannot be compared with those of other programs.
//!
//! Each result has the command that repeats it.

use super::{counted, quoted};
use crate::checks::device_code;
use crate::devices::{HOST, emulated_settings};
use crate::emulated::SETTINGS;
use crate::record::{CaseId, Cause, Header, JobId, NOWHERE, Outcome, Record, name};
use futhark_manifest::Backend;
use regex::Regex;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// The number of characters of a message that reports show.
const SHOWN: usize = 16 << 10;

/// Failures that probably have the same bug, or other results with the same reason.
#[derive(Clone, Debug)]
pub struct Group<'r> {
    /// The results, in the order in which they were found; never empty.
    pub members: Vec<&'r Record>,
    /// The number of those that the baseline does not have.
    pub new: usize,
    /// The result that represents the group: the first new one, otherwise the first.
    pub example: &'r Record,
    header: &'r Header,
}

impl<'r> Group<'r> {
    /// The check and the kind of failure, `blocks: mismatch`.
    #[must_use]
    pub fn heading(&self) -> String {
        let result = &self.example.result;
        let cause = result.cause.map(|cause| format!(": {cause}"));
        format!("{}{}", result.check, cause.unwrap_or_default())
    }

    /// The first line of the message, or several if they introduce each other.
    #[must_use]
    pub fn headline(&self) -> String {
        introduction(self.message()).join(" ")
    }

    /// The message of the example without blank lines at its end. The JSON report has all of a long one.
    #[must_use]
    pub fn message(&self) -> &'r str {
        start(self.example.result.message.trim_end(), SHOWN)
    }

    /// The job, check and case of the example in one line.
    #[must_use]
    pub fn title(&self) -> String {
        title(self.example)
    }

    /// The command that repeats the example.
    #[must_use]
    pub fn repeat(&self) -> String {
        command_to_repeat(self.header, self.example)
    }

    /// The programs, each with its number of results.
    #[must_use]
    pub fn programs(&self) -> BTreeMap<&'r str, usize> {
        let mut programs = BTreeMap::new();
        for member in &self.members {
            *programs.entry(member.job.program.as_str()).or_default() += 1;
        }
        programs
    }

    /// The first line of the message.
    pub(super) fn reason(&self) -> &'r str {
        first_line(self.message())
    }

    pub(super) fn backends(&self) -> Vec<&'r str> {
        self.distinct(|job| &job.backend)
    }

    fn distinct(&self, part: fn(&JobId) -> &str) -> Vec<&'r str> {
        let parts = self.members.iter().map(|member| part(&member.job));
        let parts: BTreeSet<&str> = parts.filter(|part| *part != NOWHERE).collect();
        parts.into_iter().collect()
    }

    /// `36 failures in 3 programs on c, opencl with 0.25.27, 0.25.32`
    pub(super) fn extent(&self) -> String {
        let failures = counted(self.members.len(), "failure");
        let programs = counted(self.programs().len(), "program");
        let backends = self.backends().join(", ");
        let compilers = self.distinct(|job| &job.compiler).join(", ");
        match backends.is_empty() {
            true => format!("{failures} in {programs}"),
            false => format!("{failures} in {programs} on {backends} with {compilers}"),
        }
    }

    /// The names of the first programs.
    pub(super) fn names(&self) -> String {
        let programs = self.programs();
        let names: Vec<&str> = programs.keys().take(3).copied().collect();
        let more = if programs.len() > 3 { ", ..." } else { "" };
        format!("{}{more}", names.join(", "))
    }

    /// The titles of other failures, each with the command that repeats it.
    pub(super) fn others(&self, most: usize) -> impl Iterator<Item = (String, String)> {
        let members = self.members.iter();
        let others = members.filter(|member| !std::ptr::eq(**member, self.example));
        others
            .take(most)
            .map(|member| (title(member), command_to_repeat(self.header, member)))
    }
}

pub(super) fn title(record: &Record) -> String {
    let Record { job, result } = record;
    let title = format!("{job} {} {}", result.check, result.case);
    title.trim_end().to_owned()
}

/// The command that repeats only this result of a run with this header.
#[must_use]
pub fn command_to_repeat(header: &Header, record: &Record) -> String {
    let Record { job, result } = record;
    // Otherwise it would be taken for an option.
    let folder = match job.program.starts_with('-') {
        true => "./",
        false => "",
    };
    let program = quoted(&format!("{folder}{}", job.program));
    let mut command = match emulated_settings(&job.device) {
        Some(settings) => format!("{SETTINGS}={} ", quoted(settings)),
        None => String::new(),
    };
    if job.program == NOWHERE {
        command += &format!(
            "futhark-conformance devices --backend {}",
            quoted(&job.backend)
        );
        for compiler in &header.compilers {
            command += &format!(" --futhark {}", quoted(&compiler.path));
        }
        return command;
    }
    command += &format!("futhark-conformance run {program}");
    if job.backend == NOWHERE {
        return command;
    }
    let mut words = vec!["--backend", &job.backend];
    // All backends on the host use the same device. Without a device the name is empty.
    if !matches!(job.device.as_str(), "" | HOST) {
        words.extend(["--device", &job.device]);
    }
    let mut compilers = header.compilers.iter();
    let compiler = compilers.find(|compiler| compiler.version == job.compiler);
    words.extend(["--futhark", compiler.map_or("futhark", |one| &one.path)]);
    let case = name(&result.check, &result.case);
    words.extend(["--check", &case]);
    let seed = header.seed.to_string();
    if header.seed != 1 {
        words.extend(["--seed", &seed]);
    }
    // On backend c, `differential` compares compilers, so the command must name the others.
    if result.check == "differential" && job.backend == "c" {
        let others = header.compilers.iter().chain(&header.against);
        for other in others.filter(|other| compiler.is_none_or(|one| one.path != other.path)) {
            words.extend(["--against", &other.path]);
        }
    }
    if result.check == device_code::NAME {
        words.extend(["--architectures", &result.case]);
    }
    words.extend(header.options.iter().map(String::as_str));
    for word in words {
        command.push(' ');
        command.push_str(&quoted(word));
    }
    command
}

/// What the members of a group have in common: check and cause of failures, signature, and the program if its
/// results cannot be compared with those of others.
type Key<'r> = (&'r str, Option<Cause>, String, &'r str);

/// The groups of the results with an outcome: those with new failures first, then failures in the most programs, then
/// the most frequent. New failures are those that the baseline does not have.
pub(super) fn groups<'r>(
    header: &'r Header,
    records: impl IntoIterator<Item = &'r Record>,
    outcome: Outcome,
    new: &HashSet<CaseId<'r>>,
) -> Vec<Group<'r>> {
    let mut groups: HashMap<Key<'r>, Group<'r>> = HashMap::new();
    let records = records.into_iter();
    for record in records.filter(|record| record.result.outcome == outcome) {
        let group = groups.entry(key(record)).or_insert_with(|| Group {
            members: Vec::new(),
            new: 0,
            example: record,
            header,
        });
        if new.contains(&record.id()) {
            if group.new == 0 {
                group.example = record;
            }
            group.new += 1;
        }
        group.members.push(record);
    }
    let mut groups: Vec<Group<'r>> = groups.into_values().collect();
    groups.sort_by_cached_key(|group| {
        let programs = match outcome {
            Outcome::Fail => group.programs().len(),
            _ => 0,
        };
        let frequency = (group.new > 0, programs, group.members.len());
        (Reverse(frequency), group.title())
    });
    groups
}

fn key(record: &Record) -> Key<'_> {
    let Record { job, result } = record;
    let (check, cause) = (result.check.as_str(), result.cause);
    let signature = signature(&result.message, &job.program);
    match result.outcome {
        Outcome::Fail if cause == Some(Cause::Mismatch) && signature.contains('#') => {
            (check, cause, String::new(), &job.program)
        }
        Outcome::Fail => (check, cause, signature, ""),
        // The owner of the expectations wrote their reasons, so they are compared literally.
        Outcome::ExpectedFail => {
            let reason = first_line(&result.message).to_owned();
            ("", None, reason, "")
        }
        Outcome::Skip | Outcome::Pass => {
            // What follows is the message of the program.
            let reason = signature.split(" Error:").next().unwrap_or_default();
            ("", None, reason.to_owned(), "")
        }
    }
}

/// What the first lines of a message have in common with those of the same failure elsewhere: see
/// [`RULES`]. Further lines count only while the one before introduces them with a colon.
fn signature(message: &str, program: &str) -> String {
    let mut text = introduction(start(message, SHOWN)).join("\n");
    let name = program.rsplit('/').next().unwrap_or(program);
    for path in [program, name] {
        if path.len() > 3 {
            text = text.replace(path, "PROGRAM");
        }
    }
    for (pattern, general) in RULES.iter() {
        text = pattern.replace_all(&text, *general).into_owned();
    }
    text
}

/// What differs between messages with one cause, and what replaces it. Numbers begin with a digit and keep
/// their type, hashes are long hexadecimal numbers; digits after a letter are part of a name such as `i32`.
static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let backends: Vec<&str> = Backend::ALL.iter().map(|one| one.as_str()).collect();
    let backends = format!(r"\b({})\b", backends.join("|"));
    let number = r"\b(?:[0-9][0-9_]*([iuf][0-9]{1,2})|[0-9]\w*|[[:xdigit:]]{8,})\b";
    let rules = [
        (number, "#$1"),
        // A sign, unless it is an operator or a dash.
        (r"([ \[])-#", "$1#"),
        (r"(\[#\])+", "[#]"),
        (r"\bentry point [^ :]+", "entry point"),
        (&backends, "BACKEND"),
    ];
    let compiled = rules.map(|(rule, general)| Some((Regex::new(rule).ok()?, general)));
    compiled.into_iter().flatten().collect()
});

/// The first line of a message, and the one after each that ends with a colon.
fn introduction(message: &str) -> Vec<&str> {
    const LINES: usize = 4;
    let lines = message.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty()).take(LINES);
    let mut lines: Vec<&str> = lines.collect();
    let end = lines.iter().position(|line| !line.ends_with(':'));
    lines.truncate(end.map_or(LINES, |end| end + 1));
    lines
}

pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

pub(super) fn start(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters);
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{header, record};
    use std::sync::Arc;

    fn failure(program: &str, cause: Cause, message: &str) -> Record {
        let mut failure = record(program, "c", Outcome::Fail);
        failure.result.cause = Some(cause);
        failure.result.message = message.into();
        failure
    }

    fn signature_of(message: &str) -> String {
        signature(message, "a.fut")
    }

    fn sizes(records: &[Record]) -> Vec<(usize, usize)> {
        let header = header();
        let groups = groups(&header, records, records[0].result.outcome, &HashSet::new());
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
    fn the_backend_is_not_part_of_the_cause() {
        let mut other = failure("a.fut", Cause::Error, "futhark opencl failed");
        Arc::make_mut(&mut other.job).backend = "opencl".into();
        let one = failure("a.fut", Cause::Error, "futhark c failed");
        assert_eq!(sizes(&[one, other]), [(1, 2)]);
    }

    #[test]
    fn names_keep_their_digits() {
        assert_eq!(
            signature_of("f_2: [17]i32 at [0, -1] of 0x7f, 7i32 - -3, 98991dce7a37ee33.json"),
            "f_2: [#]i32 at [#, #] of #, #i32 - #, #.json"
        );
        assert_eq!(signature_of("é 12\nmore"), "é #");
    }

    #[test]
    fn skips_that_differ_in_numbers_have_one_reason() {
        let skips = [("a.fut", "took 3 s"), ("b.fut", "took 4 s"), ("b.fut", "x")];
        let skips = skips.map(|(program, text)| {
            let mut skip = record(program, "c", Outcome::Skip);
            skip.result.message = text.into();
            skip
        });
        assert_eq!(sizes(&skips), [(2, 2), (1, 1)]);
    }

    #[test]
    fn the_command_repeats_exactly_one_case() {
        // A name that would be an option.
        let dashed = command_to_repeat(&header(), &record("-x.fut", "c", Outcome::Fail));
        let expected = "futhark-conformance run ./-x.fut --backend c ";
        assert!(dashed.starts_with(expected), "{dashed}");
        let mut record = record("programs/a b.fut", "c", Outcome::Fail);
        record.result.case = "f' #0".into();
        assert_eq!(
            command_to_repeat(&header(), &record),
            r"futhark-conformance run 'programs/a b.fut' --backend c --futhark /x/futhark-1 --check 'blocks:f'\'' #0'"
        );
        let seed = Header {
            seed: 7,
            ..header()
        };
        assert!(command_to_repeat(&seed, &record).ends_with(" --seed 7"));
        Arc::make_mut(&mut record.job).device = "A: b".into();
        assert!(command_to_repeat(&header(), &record).contains(" --backend c --device 'A: b' "));
        Arc::make_mut(&mut record.job).compiler = "2".into();
        assert!(command_to_repeat(&header(), &record).contains("--futhark futhark "));
    }

    #[test]
    fn settings_of_the_emulated_device_are_repeated() {
        let options = ["--emulate", "always", "--cases", "3"]
            .map(str::to_owned)
            .to_vec();
        let header = Header {
            options,
            ..header()
        };
        let command = |record: &Record| command_to_repeat(&header, record);
        let mut found = record("a.fut", "cuda", Outcome::Fail);
        Arc::make_mut(&mut found.job).device = "emulated: delayed,order=reversed".into();
        let shown = command(&found);
        assert!(
            shown.starts_with(
                "FUTHARK_EMULATED=delayed,order=reversed futhark-conformance run a.fut "
            ) && shown.ends_with(" --emulate always --cases 3"),
            "{shown}"
        );
        found.result.check = device_code::NAME.into();
        found.result.case = "sm_90".into();
        assert!(command(&found).contains(" --architectures sm_90 --emulate "));
        let host = record("a.fut", "c", Outcome::Fail);
        assert!(command(&host).starts_with("futhark-conformance run a.fut "));
        let unread = record("a.fut", NOWHERE, Outcome::Fail);
        assert_eq!(command(&unread), "futhark-conformance run a.fut");
        let failing = command(&record(NOWHERE, "hip", Outcome::Fail));
        assert_eq!(
            failing,
            "futhark-conformance devices --backend hip --futhark /x/futhark-1"
        );
    }
}
