//! The checks. Everything they ask follows from the program's manifest and its
//! test blocks.

mod arrays;
mod blocks;
mod bridge;
mod build;
mod calls;
mod consume;
mod env;
mod lifecycle;
mod make;
mod opaque;

pub use build::{Compiled, build};
pub use env::Env;

use crate::child::steps::Steps;

/// A check, as `list --checks` shows it.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name, in records and patterns.
    pub name: &'static str,
    /// What it proves, in one line.
    pub about: &'static str,
}

/// Every check, in the order in which they run.
pub const ALL: &[Check] = &[
    Check {
        name: "compile",
        about: "the Futhark compiler takes the program, the C compiler what comes out of it, and expected warnings and errors are given",
    },
    Check {
        name: "manifest",
        about: "the manifest is well formed, and every prototype that follows from it is the one in the generated C",
    },
    Check {
        name: "lifecycle",
        about: "contexts can be made, many in a row and two at once, and values outlive their context's handle",
    },
    Check {
        name: "arrays",
        about: "arrays of every type and of many shapes, empty ones too, keep every bit on the way to the program and back",
    },
    Check {
        name: "shape",
        about: "arrays tell the shape that they were made with",
    },
    Check {
        name: "index",
        about: "single elements are read at every position inside, and refused outside, in each dimension and direction",
    },
    Check {
        name: "blocks",
        about: "entry points answer what the test blocks say, errors included, leave their arguments alone, and work again after an error",
    },
    Check {
        name: "consume",
        about: "an entry point that consumes an argument changes nothing that is still held, however it came about",
    },
    Check {
        name: "opaque",
        about: "records, sums and arrays of them give back what they were made of, refuse what does not fit, and survive store and restore",
    },
];

/// What a check does.
type Run = fn(&Env<'_>, &mut Steps<'_>);

/// The checks that need a context, in order.
const RUNNING: [(&str, Run); 7] = [
    ("lifecycle", lifecycle::check),
    ("arrays", arrays::check_values),
    ("shape", arrays::check_shapes),
    ("index", arrays::check_index),
    ("blocks", blocks::check),
    ("consume", consume::check),
    ("opaque", opaque::check),
];

/// Runs the checks of a program that compiled.
pub fn run(env: &Env<'_>, steps: &mut Steps<'_>) {
    // What cannot even start can only be asked what its error is.
    if !lifecycle::start(env, steps) {
        skip_running(steps, "no context can be created");
        return;
    }
    for (name, check) in RUNNING {
        if steps.wants(name) {
            check(env, steps);
        }
    }
}

/// Reports the checks that need a context as skipped.
pub fn skip_running(steps: &mut Steps<'_>, reason: &str) {
    for (name, _) in RUNNING {
        if steps.wants(name) {
            steps.skip(name, "", reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_that_runs_is_listed() {
        for (name, _) in RUNNING {
            assert!(ALL.iter().any(|check| check.name == name), "{name}");
        }
        assert_eq!(
            ALL.len(),
            RUNNING.len() + 2,
            "compile and manifest come before"
        );
    }
}
