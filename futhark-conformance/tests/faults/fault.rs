//! What a fault is: a change of generated text, and what must notice it.

/// One mistake.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// A short name, unique.
    pub name: &'static str,
    /// What is wrong, in a few words.
    pub what: &'static str,
    /// The backend that has it.
    pub backend: &'static str,
    /// How the emulated device behaves on which it is looked for (cuda and hip).
    pub device: &'static str,
    /// The program that shows it, in `programs`.
    pub program: &'static str,
    /// How the generated text is changed.
    pub rules: &'static [Rule],
    /// The check that must find it.
    pub check: &'static str,
    /// What that check must say, as reports have it: mismatch, error, crash, timeout, leak,
    /// misuse.
    /// Where memory is freed too early, chance decides: then there are several.
    pub cause: &'static str,
    /// All that is run, where more would crash, or be waited for until its time is up.
    pub only: Option<&'static str>,
}

impl Fault {
    /// The backend, and how its device behaves if that is not as ever.
    pub fn place(&self) -> String {
        match self.device {
            "" => self.backend.to_owned(),
            device => format!("{}, {device}", self.backend),
        }
    }

    /// What the check may say.
    pub fn causes(&self) -> impl Iterator<Item = &'static str> {
        self.cause.split(" or ")
    }
}

/// A card is never needed: what the faults of these backends show must be the same everywhere.
pub fn is_emulated(backend: &str) -> bool {
    ["cuda", "hip"].contains(&backend)
}

/// One change: every place where `find` matches within a function is replaced.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Which text is changed.
    pub part: Part,
    /// The function, as a regular expression for its name; empty for the whole text.
    pub within: &'static str,
    /// A regular expression.
    pub find: &'static str,
    /// What takes its place; `${1}` is the first group.
    pub replace: &'static str,
    /// How often it must match, no more and no less.
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

/// A change of the C code, in one place.
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
    /// The same for another text.
    pub const fn of(self, part: Part) -> Rule {
        Rule { part, ..self }
    }

    /// The same in several places.
    pub const fn times(self, times: usize) -> Rule {
        Rule { times, ..self }
    }
}
