//! The list of checks: what each is called, proves, and does.
//!
//! Each has a page, which `futhark-conformance explain NAME` prints.

use super::{algebra, arrays, blocks, consume, device_code, differential, errors, index, leaks};
use super::{lifecycle, opaque, raw, server, settings, shape, store};
use crate::harness::env::Env;
use crate::harness::steps::Steps;
use crate::pattern::CheckPattern;

/// A check, as `list --checks` and `explain` show it.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name, in records and patterns.
    pub name: &'static str,
    /// What it proves, in one line.
    pub about: &'static str,
    /// The sections of the C API reference that it proves, by their titles: of
    /// [`SECTIONS`].
    pub sections: &'static [&'static str],
    /// The text that explains it: what it asks, what it proves, what it cannot.
    pub page: &'static str,
    /// What it does in a context. Checks without it come before there is one.
    pub run: Option<Run>,
}

/// What a check does, in a program that was loaded and can start.
pub type Run = fn(&Env<'_>, &mut Steps<'_>);

/// The titles of the sections of the C API reference in the Futhark User's
/// Guide, as far as they promise something that can be asked of every program.
/// What only some drivers can show (command queues, binaries, PTX) is not here.
pub const SECTIONS: &[&str] = &[
    "Error codes",
    "Configuration",
    "Context",
    "Values",
    "Arrays of Primitive Values",
    "Opaque Values",
    "Records",
    "Sums",
    "Arrays of Non-Primitive Values",
    "Entry points",
    "GPU",
    "Multicore",
    "General guarantees",
    "Manifest",
];

/// Every check, in the order in which they run.
pub const ALL: &[Check] = &[
    Check {
        name: "compile",
        about: "the Futhark compiler takes the program, the C compiler what comes out of it, and expected warnings and errors are given",
        sections: &["Manifest", "Entry points"],
        page: include_str!("../../docs/checks/compile.md"),
        run: None,
    },
    Check {
        name: "manifest",
        about: "the manifest is well formed, complete, and agrees with itself and with the library",
        sections: &["Manifest"],
        page: include_str!("../../docs/checks/manifest.md"),
        run: None,
    },
    Check {
        name: "header",
        about: "the header declares what follows from the manifest, with the types that follow, and what every library has",
        sections: &["Manifest", "Configuration", "Context", "GPU", "Multicore"],
        page: include_str!("../../docs/checks/header.md"),
        run: None,
    },
    Check {
        name: "symbols",
        about: "what is declared is defined, and nothing public is hidden from those who read the header",
        sections: &["Manifest"],
        page: include_str!("../../docs/checks/symbols.md"),
        run: None,
    },
    Check {
        name: "plain",
        about: "the generated C by itself, in a C program that is written from the manifest, keeps what nobody else can see",
        sections: &[
            "Arrays of Primitive Values",
            "Error codes",
            "Context",
            "Configuration",
            "Entry points",
        ],
        page: include_str!("../../docs/checks/plain.md"),
        run: None,
    },
    Check {
        name: "lifecycle",
        about: "contexts can be made, many in a row and two at once, used from any thread, and values outlive their context's handle",
        sections: &["Context"],
        page: include_str!("../../docs/checks/lifecycle.md"),
        run: Some(lifecycle::check),
    },
    Check {
        name: "arrays",
        about: "arrays of every type and of many shapes, empty ones too, keep every bit on the way to the program and back",
        sections: &["Arrays of Primitive Values", "Values"],
        page: include_str!("../../docs/checks/arrays.md"),
        run: Some(arrays::check),
    },
    Check {
        name: "shape",
        about: "arrays tell the shape that they were made with",
        sections: &["Arrays of Primitive Values"],
        page: include_str!("../../docs/checks/shape.md"),
        run: Some(shape::check),
    },
    Check {
        name: "index",
        about: "single elements are read at every position inside, and refused outside, in each dimension and direction",
        sections: &["Arrays of Primitive Values", "Error codes"],
        page: include_str!("../../docs/checks/index.md"),
        run: Some(index::check),
    },
    Check {
        name: "raw",
        about: "the memory of an array holds its elements, in row-major order, where the host can look at it",
        sections: &["Arrays of Primitive Values"],
        page: include_str!("../../docs/checks/raw.md"),
        run: Some(raw::check),
    },
    Check {
        name: "blocks",
        about: "entry points answer what the test blocks say, errors included, leave their arguments alone, and work again after an error",
        sections: &["Entry points", "Error codes", "Context"],
        page: include_str!("../../docs/checks/blocks.md"),
        run: Some(blocks::check),
    },
    Check {
        name: "differential",
        about: "the same generated inputs give the same results as the sequential backend, and as another compiler",
        sections: &["Entry points", "Error codes", "Values"],
        page: include_str!("../../docs/checks/differential.md"),
        run: Some(differential::check),
    },
    Check {
        name: "server",
        about: "the server program of the same source gives the same bytes for the same generated inputs",
        sections: &["Entry points", "Values", "Opaque Values"],
        page: include_str!("../../docs/checks/server.md"),
        run: Some(server::check),
    },
    Check {
        name: "errors",
        about: "what is refused is refused with words, changes nothing, and is forgotten with the next call",
        sections: &["Error codes", "Entry points", "Context"],
        page: include_str!("../../docs/checks/errors.md"),
        run: Some(errors::check),
    },
    Check {
        name: "consume",
        about: "an entry point that consumes an argument changes nothing that is still held, however it came about",
        sections: &[
            "Entry points",
            "Records",
            "Sums",
            "Arrays of Non-Primitive Values",
            "General guarantees",
        ],
        page: include_str!("../../docs/checks/consume.md"),
        run: Some(consume::check),
    },
    Check {
        name: "algebra",
        about: "generated values of every opaque type come apart into what they were made of, and out of store as they went in",
        sections: &[
            "Records",
            "Sums",
            "Arrays of Non-Primitive Values",
            "Opaque Values",
        ],
        page: include_str!("../../docs/checks/algebra.md"),
        run: Some(algebra::check),
    },
    Check {
        name: "opaque",
        about: "records, sums and arrays of them give back what they were made of, and refuse what does not fit",
        sections: &["Records", "Sums", "Arrays of Non-Primitive Values"],
        page: include_str!("../../docs/checks/opaque.md"),
        run: Some(opaque::check),
    },
    Check {
        name: "store",
        about: "the bytes of a value are those of this value, on every backend, and other bytes are refused",
        sections: &["Opaque Values", "General guarantees"],
        page: include_str!("../../docs/checks/store.md"),
        run: Some(store::check),
    },
    Check {
        name: "settings",
        about: "what a context can be told before it exists changes how it works, and never what it answers",
        sections: &["Configuration", "Context", "GPU", "Multicore", "Manifest"],
        page: include_str!("../../docs/checks/settings.md"),
        run: Some(settings::check),
    },
    Check {
        name: "leaks",
        about: "whatever is done again and again, the memory of the process stays flat",
        sections: &[
            "Context",
            "Arrays of Primitive Values",
            "Opaque Values",
            "Entry points",
        ],
        page: include_str!("../../docs/checks/leaks.md"),
        run: Some(leaks::check),
    },
    Check {
        name: device_code::NAME,
        about: "the program's kernels compile for the architectures that --architectures names",
        sections: &["GPU"],
        page: include_str!("../../docs/checks/device-code.md"),
        run: Some(device_code::check),
    },
];

impl Check {
    /// The check of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Check> {
        ALL.iter().find(|check| check.name == name)
    }
}

/// Whether each pattern can match something: one that no check can match is a slip.
///
/// # Errors
/// What is wrong, with the checks that there are.
pub fn must_exist(patterns: &[CheckPattern]) -> Result<(), String> {
    let unknown = |pattern: &&CheckPattern| !ALL.iter().any(|check| pattern.concerns(check.name));
    match patterns.iter().find(unknown) {
        None => Ok(()),
        Some(pattern) => {
            let names: Vec<&str> = ALL.iter().map(|check| check.name).collect();
            let pattern = pattern.to_string();
            Err(format!(
                "no check matches {pattern:?}; there are: {}",
                names.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    const HEADINGS: [&str; 3] = [
        "\n## What it asks\n",
        "\n## What it proves\n",
        "\n## What it cannot prove\n",
    ];

    /// What stands under each of the headings.
    fn parts(check: &Check) -> [&'static str; 3] {
        let mut rest = check.page;
        let mut parts = HEADINGS.map(|heading| {
            let (before, after) = rest
                .split_once(heading)
                .unwrap_or_else(|| panic!("{} has no{heading}", check.name));
            rest = after;
            before
        });
        parts.rotate_left(1);
        parts[2] = rest;
        parts
    }

    #[test]
    fn names_are_told_apart() {
        let names: BTreeSet<_> = ALL.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert_eq!(Check::named("arrays").unwrap().name, "arrays");
        assert!(Check::named("array").is_none());
    }

    #[test]
    fn every_check_has_a_page_with_something_under_each_heading() {
        for check in ALL {
            let title = format!("# `{}`\n", check.name);
            assert!(check.page.starts_with(&title), "{}", check.name);
            for part in parts(check) {
                assert!(part.trim().len() > 40, "{}: {part:?}", check.name);
            }
            let lines = check.page.lines().count();
            assert!((15..=50).contains(&lines), "{}: {lines} lines", check.name);
        }
    }

    /// What is listed is what the page explains, and the other way round.
    #[test]
    fn pages_name_the_sections_that_are_listed() {
        for check in ALL {
            let [_, proves, _] = parts(check);
            let bold = proves.split("**").skip(1).step_by(2);
            let named: BTreeSet<_> = bold.collect();
            let listed: BTreeSet<_> = check.sections.iter().copied().collect();
            assert_eq!(named, listed, "{}", check.name);
            for section in listed {
                assert!(SECTIONS.contains(&section), "{}: {section}", check.name);
            }
        }
    }

    #[test]
    fn every_section_is_proved_by_some_check() {
        for section in SECTIONS {
            assert!(
                ALL.iter().any(|check| check.sections.contains(section)),
                "{section}"
            );
        }
    }

    #[test]
    fn every_page_belongs_to_a_check() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/checks");
        for page in std::fs::read_dir(folder).unwrap() {
            let path = page.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(Check::named(name).is_some(), "{}", path.display());
        }
    }
}
