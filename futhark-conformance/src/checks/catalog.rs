//! The list of checks, with their names, their proofs and their functions.
//!
//! Each check has a page, which `futhark-conformance explain NAME` prints.

use super::{algebra, arrays, blocks, consume, device_code, differential, errors, index, leaks};
use super::{lifecycle, opaque, plain, raw, server, settings, shape, store};
use crate::harness::env::Env;
use crate::harness::steps::Steps;
use crate::pattern::CheckPattern;

/// A check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name in records and patterns.
    pub name: &'static str,
    /// What it proves, in one line.
    pub about: &'static str,
    /// The sections of the C API reference that it proves; elements of [`SECTIONS`].
    pub sections: &'static [&'static str],
    /// The page of the check: its method, what it proves, and what it cannot prove.
    pub page: &'static str,
    /// The function of a check that needs a context; `None` for the others.
    pub run: Option<Run>,
}

/// The function of a check, for a loaded program whose context can be created.
pub type Run = fn(&Env<'_>, &mut Steps<'_>);

/// The sections of the C API reference in the Futhark User's Guide that make promises about every
/// program. Sections about single drivers (command queues, binaries, PTX) are not included.
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

/// All checks, in the order in which they run.
pub const ALL: &[Check] = &[
    Check {
        name: "compile",
        about: "the Futhark compiler and the C compiler accept the program, or report the expected warnings and errors",
        sections: &["Manifest", "Entry points"],
        page: include_str!("../../docs/checks/compile.md"),
        run: None,
    },
    Check {
        name: "manifest",
        about: "the manifest is well formed, complete, consistent, and describes the library",
        sections: &["Manifest"],
        page: include_str!("../../docs/checks/manifest.md"),
        run: None,
    },
    Check {
        name: "header",
        about: "the header declares the functions that follow from the manifest, and those of every library, with the right types",
        sections: &["Manifest", "Configuration", "Context", "GPU", "Multicore"],
        page: include_str!("../../docs/checks/header.md"),
        run: None,
    },
    Check {
        name: "symbols",
        about: "the library defines every declared function, declares every public function, and uses only known functions of the system",
        sections: &["Manifest"],
        page: include_str!("../../docs/checks/symbols.md"),
        run: None,
    },
    Check {
        name: plain::NAME,
        about: "the generated C keeps the promises of the C API in a C program, without futhark-sys and futhark-safe",
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
        about: "contexts can be created one after another and at the same time, used from any thread, and values outlive their context's handle",
        sections: &["Context"],
        page: include_str!("../../docs/checks/lifecycle.md"),
        run: Some(lifecycle::check),
    },
    Check {
        name: "arrays",
        about: "arrays of every type and of many shapes, including empty ones, keep every bit on the way to the context and back",
        sections: &["Arrays of Primitive Values", "Values"],
        page: include_str!("../../docs/checks/arrays.md"),
        run: Some(arrays::check),
    },
    Check {
        name: "shape",
        about: "arrays report the shape that they were created with",
        sections: &["Arrays of Primitive Values"],
        page: include_str!("../../docs/checks/shape.md"),
        run: Some(shape::check),
    },
    Check {
        name: "index",
        about: "reads of single elements succeed at every index inside the bounds, and fail outside, in each dimension",
        sections: &["Arrays of Primitive Values", "Error codes"],
        page: include_str!("../../docs/checks/index.md"),
        run: Some(index::check),
    },
    Check {
        name: "raw",
        about: "the memory of an array contains its elements in row-major order, on host backends",
        sections: &["Arrays of Primitive Values"],
        page: include_str!("../../docs/checks/raw.md"),
        run: Some(raw::check),
    },
    Check {
        name: "blocks",
        about: "entry points return the results or errors of the test blocks, do not modify observed arguments, and work after an error",
        sections: &["Entry points", "Error codes", "Context"],
        page: include_str!("../../docs/checks/blocks.md"),
        run: Some(blocks::check),
    },
    Check {
        name: "differential",
        about: "generated inputs give the same results as on the sequential backend, or with another compiler",
        sections: &["Entry points", "Error codes", "Values"],
        page: include_str!("../../docs/checks/differential.md"),
        run: Some(differential::check),
    },
    Check {
        name: "server",
        about: "the server program of the same source gives the same bytes for generated inputs",
        sections: &["Entry points", "Values", "Opaque Values"],
        page: include_str!("../../docs/checks/server.md"),
        run: Some(server::check),
    },
    Check {
        name: "errors",
        about: "a refused call reports a message, changes no value, and does not affect the next call",
        sections: &["Error codes", "Entry points", "Context"],
        page: include_str!("../../docs/checks/errors.md"),
        run: Some(errors::check),
    },
    Check {
        name: "consume",
        about: "an entry point that consumes an argument changes no other value, even if it shares memory with the argument",
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
        about: "generated values of every opaque type return the parts that they were made of, and are restored as they were stored",
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
        about: "records, sums and arrays of them return the parts that they were made of, and refuse parts that do not fit",
        sections: &["Records", "Sums", "Arrays of Non-Primitive Values"],
        page: include_str!("../../docs/checks/opaque.md"),
        run: Some(opaque::check),
    },
    Check {
        name: "store",
        about: "values are stored as the same bytes on every backend, restored without a change, and damaged bytes are refused",
        sections: &["Opaque Values", "General guarantees"],
        page: include_str!("../../docs/checks/store.md"),
        run: Some(store::check),
    },
    Check {
        name: "settings",
        about: "the settings of a context change how it works, and never its results",
        sections: &["Configuration", "Context", "GPU", "Multicore", "Manifest"],
        page: include_str!("../../docs/checks/settings.md"),
        run: Some(settings::check),
    },
    Check {
        name: "leaks",
        about: "repeated operations do not increase the memory of the process",
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
    /// The check with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Check> {
        ALL.iter().find(|check| check.name == name)
    }
}

/// Ensures that each pattern can match a check.
///
/// # Errors
/// A message with the first pattern that matches no check, and the names of all checks.
pub fn must_exist(patterns: &[CheckPattern]) -> Result<(), String> {
    let unknown = |pattern: &&CheckPattern| !ALL.iter().any(|check| pattern.concerns(check.name));
    match patterns.iter().find(unknown) {
        None => Ok(()),
        Some(pattern) => {
            let names: Vec<&str> = ALL.iter().map(|check| check.name).collect();
            let pattern = pattern.to_string();
            Err(format!(
                "no check matches {pattern:?}; the checks are: {}",
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

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = ALL.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert_eq!(Check::named("arrays").unwrap().name, "arrays");
        assert!(Check::named("array").is_none());
    }

    #[test]
    fn each_check_has_its_own_page() {
        for check in ALL {
            let title = format!("# `{}`\n", check.name);
            assert!(check.page.starts_with(&title), "{}", check.name);
        }
    }

    #[test]
    fn listed_sections_exist() {
        for section in ALL.iter().flat_map(|check| check.sections) {
            assert!(SECTIONS.contains(section), "{section}");
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
