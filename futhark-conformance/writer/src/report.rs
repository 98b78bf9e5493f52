//! Whose a failure is, and the texts about it.

use crate::matrix::{Failure, Kind, Run};
use std::collections::{BTreeMap, BTreeSet};

/// Whose failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It fails only with the checks that futhark-sys adds.
    Ours,
    /// It fails only without them.
    Plain,
    /// It fails only on one kind of GPU.
    Device,
    /// It fails wherever it is compiled.
    Interpreter,
    Compiler,
    /// It did not fail again.
    Unstable,
}

/// The class of a program's failures in a run with and without the added checks.
pub fn class_of(failures: &[&Failure], setups: &BTreeSet<String>) -> Class {
    let failing: BTreeSet<&str> = failures
        .iter()
        .map(|failure| failure.setup.as_str())
        .collect();
    let backends: BTreeSet<_> = failing
        .iter()
        .filter_map(|setup| setup.split(' ').nth(1))
        .collect();
    let passes_plain = |setup: &&str| {
        let plain = setup.replace("hardened", "plain");
        setup.ends_with("hardened") && setups.contains(&plain) && !failing.contains(plain.as_str())
    };
    if failing.is_empty() {
        Class::Unstable
    } else if failing.iter().all(passes_plain) {
        Class::Ours
    } else if failing.iter().all(|setup| setup.ends_with("plain")) {
        Class::Plain
    } else if failing.len() >= setups.len() {
        Class::Interpreter
    } else if backends.len() == 1
        && backends
            .iter()
            .all(|name| ["opencl", "cuda", "hip"].contains(name))
    {
        Class::Device
    } else {
        Class::Compiler
    }
}

/// Whether two failures have one kind, and messages with the same long words.
pub fn alike(a: &Failure, b: &Failure) -> bool {
    let words = |failure: &Failure| -> Vec<String> {
        let words = failure.message.split(|c: char| !c.is_ascii_alphabetic());
        words
            .filter(|word| word.len() > 4)
            .take(6)
            .map(str::to_owned)
            .collect()
    };
    let has_words = matches!(a.kind, Kind::Error | Kind::Refused);
    a.kind == b.kind && (!has_words || words(a) == words(b))
}

/// The report of a finding.
pub fn finding(class: Class, first: &Failure, failures: &[&Failure], run: &Run) -> String {
    let Failure {
        setup,
        program,
        case,
        kind,
        ..
    } = first;
    let mut text =
        format!("# {kind:?}, class {class:?}\n\nFound in {program} {case}, with {setup}.\n\n");
    let passing = run
        .setups
        .iter()
        .filter(|setup| failures.iter().all(|failure| failure.setup != **setup));
    text.extend(passing.map(|setup| format!("- {setup}: as the interpreter\n")));
    text.extend(failures.iter().map(
        |Failure {
             setup,
             kind,
             message,
             ..
         }| { format!("- {setup}: {kind:?}\n  {}\n", message.replace('\n', "\n  ")) },
    ));
    text
}

#[derive(Default)]
pub struct Totals {
    pub programs: usize,
    pub entries: usize,
    pub compared: usize,
    pub found: BTreeMap<(Class, Kind), usize>,
}

impl Totals {
    pub fn text(&self) -> String {
        let Totals {
            programs,
            entries,
            compared,
            found,
        } = self;
        let mut text =
            format!("{programs} programs, {entries} entry points, {compared} calls compared");
        for ((class, kind), count) in found {
            text += &format!("\n  {class:?}, {kind:?}: {count}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_setups_that_fail() {
        let setups = [
            "1 c hardened",
            "1 c plain",
            "1 cuda hardened",
            "1 cuda plain",
            "2 c hardened",
        ];
        let all = setups.map(str::to_owned).into();
        for (failing, class) in [
            (&setups[..0], Class::Unstable),
            (&setups[..1], Class::Ours),
            (&setups[1..2], Class::Plain),
            (&setups[..2], Class::Compiler),
            (&setups[2..4], Class::Device),
            (&setups[..4], Class::Compiler),
            (&setups[..], Class::Interpreter),
        ] {
            let failure = |setup: &&str| Failure {
                setup: (*setup).to_owned(),
                program: String::new(),
                case: String::new(),
                kind: Kind::Wrong,
                message: String::new(),
            };
            let failures: Vec<_> = failing.iter().map(failure).collect();
            assert_eq!(
                class_of(&failures.iter().collect::<Vec<_>>(), &all),
                class,
                "{failing:?}"
            );
        }
    }
}
