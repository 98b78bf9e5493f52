//! A fault: a change of generated text, and the check that must find it. `faults.toml` says what each
//! member means.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Program, backend and device of a fault.
pub type Place = [String; 3];

/// One fault, as in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    what: String,
    #[serde(default)]
    device: String,
    found: String,
    #[serde(default)]
    case: String,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    rules: Vec<Rule>,
    without_wait: Option<String>,
}

/// One fault on one backend.
#[derive(Clone, Debug)]
pub struct Fault {
    pub name: String,
    /// What is wrong, in a few words.
    pub what: String,
    pub backend: String,
    /// Settings of the emulated device.
    pub device: String,
    pub program: String,
    pub rules: Vec<Rule>,
    /// The check that must find it, and the cause in the report.
    pub check: String,
    pub cause: String,
    /// The only case to run; empty for all.
    pub case: String,
    /// Texts that the message must have.
    pub words: Vec<String>,
}

impl Fault {
    /// The faults of a file, in its order.
    pub fn all(text: &str) -> Vec<Fault> {
        let file: BTreeMap<String, BTreeMap<String, Entry>> =
            toml::from_str(text).unwrap_or_else(|error| panic!("{error}"));
        let places = file.into_iter();
        let mut faults: Vec<(Option<usize>, Fault)> = places
            .flat_map(|(place, entries)| {
                entries.into_iter().flat_map(move |(name, entry)| {
                    let line = text.find(&format!("\n[\"{place}\".{name}]\n"));
                    let faults = entry.on_each_backend(&place, &name).into_iter();
                    faults.map(move |fault| (line, fault))
                })
            })
            .collect();
        faults.sort_by_key(|(line, _)| *line);
        faults.into_iter().map(|(_, fault)| fault).collect()
    }

    /// Program, backend and device.
    pub fn place(&self) -> Place {
        [&self.program, &self.backend, &self.device].map(String::clone)
    }

    /// Whether a device, or an emulation of one, runs it.
    pub fn is_on_gpu(&self) -> bool {
        self.backend == "opencl" || is_emulated(&self.backend)
    }

    /// The causes that the check may report.
    pub fn causes(&self) -> impl Iterator<Item = &str> {
        self.cause.split(" or ")
    }
}

impl Entry {
    fn on_each_backend(self, place: &str, name: &str) -> Vec<Fault> {
        let (backends, program) = place.split_once(' ').expect("backends and a program");
        let (check, cause) = self.found.split_once(": ").expect("a check and a cause");
        let mut rules = self.rules;
        rules.extend(self.without_wait.as_deref().map(Rule::without_wait));
        let fault = |backend: &str| Fault {
            name: match backends.contains(',') {
                true => format!("{name}-{backend}"),
                false => name.to_owned(),
            },
            what: self.what.clone(),
            backend: backend.to_owned(),
            device: self.device.clone(),
            program: program.to_owned(),
            rules: rules.clone(),
            check: check.to_owned(),
            cause: cause.to_owned(),
            case: self.case.clone(),
            words: self.words.clone(),
        };
        backends.split(',').map(fault).collect()
    }
}

/// Whether faults of this backend run on the emulated device, also on a machine with a GPU, so
/// that they have the same effects everywhere.
pub fn is_emulated(backend: &str) -> bool {
    ["cuda", "hip"].contains(&backend)
}

/// One change: replaces every match of `find` within a function.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(default)]
    pub part: Part,
    #[serde(default, rename = "in")]
    pub within: String,
    pub find: String,
    #[serde(rename = "put")]
    pub replace: String,
    #[serde(default = "once")]
    pub times: usize,
}

fn once() -> usize {
    1
}

/// The texts that the compiler writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The C code, the runtime included.
    #[default]
    Code,
    /// The kernels, which are string literals in the C code.
    Kernels,
    /// The header.
    Header,
    /// The manifest.
    Manifest,
}

/// A change of the C code, with one match.
pub fn code(within: &str, find: &str, replace: &str) -> Rule {
    Rule {
        part: Part::Code,
        within: within.to_owned(),
        find: find.to_owned(),
        replace: replace.to_owned(),
        times: 1,
    }
}

impl Rule {
    /// Removes the wait from the wrappers of one operation, which follow the generated code.
    fn without_wait(operation: &str) -> Rule {
        let wrapper = format!("\"fut_w_futhark_{operation}_\"");
        // The name is a macro for a unique one.
        let text = format!(
            "\nstatic int fault_sync(struct futhark_context *ctx) {{ return futhark_context_sync(ctx); }}\n\
             #undef futhark_context_sync\n\
             #define futhark_context_sync(ctx) \
             (strncmp(__func__, {wrapper}, strlen({wrapper})) == 0 ? 0 : fault_sync(ctx))\n"
        );
        code("", r"\z", &text)
    }
}
