//! A fault: a change of generated text, and the check that must find it.

/// Program, backend and device of a fault.
pub type Place = (&'static str, &'static str, &'static str);

/// One fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// A short name, unique.
    pub name: &'static str,
    /// What is wrong, in a few words.
    pub what: &'static str,
    /// The backend that has it.
    pub backend: &'static str,
    /// Settings of the emulated device (cuda and hip).
    pub device: &'static str,
    /// The program that shows it, in `tests/faults/programs`.
    pub program: &'static str,
    /// How the generated text is changed.
    pub rules: &'static [Rule],
    /// The check that must find it.
    pub check: &'static str,
    /// The cause in the report: mismatch, error, crash, timeout, leak or misuse. Several,
    /// separated by ` or `, if the effect of the fault is undefined behaviour.
    pub cause: &'static str,
    /// The only case to run, if others would crash or time out; empty for all cases.
    pub case: &'static str,
}

impl Fault {
    /// Program, backend and device.
    pub fn place(&self) -> Place {
        (self.program, self.backend, self.device)
    }

    /// Whether a device, or an emulation of one, runs it.
    pub fn is_on_gpu(&self) -> bool {
        self.backend == "opencl" || is_emulated(self.backend)
    }

    /// The causes that the check may report.
    pub fn causes(&self) -> impl Iterator<Item = &'static str> {
        self.cause.split(" or ")
    }
}

/// Whether faults of this backend run on the emulated device, also on a machine with a GPU, so
/// that they have the same effects everywhere.
pub fn is_emulated(backend: &str) -> bool {
    ["cuda", "hip"].contains(&backend)
}

/// One change: replaces every match of `find` within a function.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The text that is changed.
    pub part: Part,
    /// The function, as a regular expression for its name; empty for the whole text.
    pub within: &'static str,
    /// A regular expression.
    pub find: &'static str,
    /// The replacement; `${1}` is the first group.
    pub replace: &'static str,
    /// The exact number of matches.
    pub times: usize,
}

/// The texts that the compiler writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The C code, the runtime included.
    Code,
    /// The kernels, which are string literals in the C code.
    Kernels,
    /// The header.
    Header,
    /// The manifest.
    Manifest,
}

/// A change of the C code, with one match.
pub const fn code(within: &'static str, find: &'static str, replace: &'static str) -> Rule {
    Rule {
        part: Part::Code,
        within,
        find,
        replace,
        times: 1,
    }
}

impl Rule {
    /// The rule for another text.
    pub const fn of(self, part: Part) -> Rule {
        Rule { part, ..self }
    }

    /// The rule with several matches.
    pub const fn times(self, times: usize) -> Rule {
        Rule { times, ..self }
    }
}
