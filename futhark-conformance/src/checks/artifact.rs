//! The checks of a build that need no running program: `manifest`, `header` and `symbols`.

use crate::harness::cases::{CheckResult, Stop, ensure, error, mismatch, skip};
use futhark_manifest::{Backend, Code, Manifest, Program};
use futhark_safe::compile::process;
use futhark_safe::compile::{Artifact, Toolchain};
use object::{Object, ObjectSymbol, SymbolKind};
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// Checks that the manifest is known in every part, consistent, the same in the library, lists no function twice, and
/// lists every function of the table. The C compiler has compared its types with the header.
pub fn manifest(artifact: &Artifact) -> CheckResult {
    let wrong = |error: &dyn std::fmt::Display| Stop::mismatch(error.to_string());
    let manifest = Manifest::parse(artifact.manifest()).map_err(|error| wrong(&error))?;
    let findings = manifest.check();
    // The program chooses the names of its types.
    let mut others = (findings.iter()).filter(|finding| finding.code() != Code::ScalarDescribed);
    if let Some(finding) = others.next() {
        return Err(wrong(finding));
    }
    let mut program = manifest.resolve().map_err(|error| wrong(&error))?;
    // The comments of the source are not in the manifest.
    let documented = artifact.program();
    program.doc.clone_from(&documented.doc);
    program.add_docs(|keyword, name| match keyword {
        "type" => documented.get(documented.type_named(name)?).doc.clone(),
        _ => documented.entry(name)?.doc.clone(),
    });
    ensure!(
        &program == documented,
        "the manifest in the library differs from the one the compiler wrote"
    );
    let names: BTreeSet<&str> = program.functions().map(|function| function.name).collect();
    let repeated = program.functions().count() - names.len();
    ensure!(
        repeated == 0,
        "the manifest lists {repeated} functions twice"
    );
    let table = artifact.functions();
    ensure!(
        table
            .names()
            .iter()
            .all(|name| names.contains(name.as_str())),
        "the library's table has a function that the manifest does not list"
    );
    Ok(())
}

/// Compiles the assertions about the header, in a temporary folder: other processes may read that of the build.
pub fn header(artifact: &Artifact) -> CheckResult {
    let header = artifact.header();
    if !header.is_file() {
        error!("the build has no header");
    }
    let program = artifact.program();
    let name = header.file_name().unwrap_or_default().to_string_lossy();
    let work = tempfile::tempdir()?;
    let source = work.path().join("assertions.c");
    std::fs::write(&source, program.assertions(&name))?;

    let mut command = c_compiler(artifact.folder());
    command.args(["-std=c11", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__"]);
    for folder in Toolchain::include_folders(program.backend) {
        command.arg("-isystem").arg(folder);
    }
    let output = run_c_compiler(command.arg(&source))?;
    if output.status.success() {
        return Ok(());
    }
    let messages = output.stderr();
    // Without the name of the file, which is temporary. Each message names a function.
    let errors = messages
        .lines()
        .filter_map(|line| line.split_once(" error: "));
    let errors: Vec<&str> = errors.map(|(_, error)| error).collect();
    // A bundle has the headers that kernels include, but not the driver's, such as `cuda.h`.
    let is_missing = |error: &&&str| {
        error.ends_with("No such file or directory") || error.ends_with("file not found")
    };
    if let Some(missing) = errors.iter().find(is_missing) {
        skip!("the header includes another one: {missing}");
    }
    Err(Stop::mismatch(match errors[..] {
        [] => messages.to_string(),
        _ => errors.join("\n"),
    }))
}

/// The C compiler, for sources that include files of a folder.
pub(super) fn c_compiler(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    // Only for `#include "…"`, because a program may have the name of a system header.
    command.arg("-iquote").arg(folder);
    command
}

/// Runs the C compiler; a skip if it cannot be started, or is killed at a limit of `process::run`.
pub(super) fn run_c_compiler(command: &mut Command) -> CheckResult<process::Output> {
    process::run(command).map_err(|error| {
        let cc = command.get_program().display();
        Stop::skip(format!("failed to run {cc}: {error}"))
    })
}

/// The names of symbols in a compiled library. futhark-sys appends the name of the table to those with external
/// linkage.
struct Symbols {
    /// The functions with a public name that the library defines.
    defined: BTreeSet<String>,
    /// What it takes from the system.
    imported: BTreeSet<String>,
}

impl Symbols {
    /// Those of an artifact's library; a skip if it has none.
    fn read(artifact: &Artifact) -> CheckResult<Symbols> {
        let failed = |error: &dyn std::fmt::Display| {
            Stop::error(format!("failed to read the symbols: {error}"))
        };
        let bytes = std::fs::read(artifact.library()).map_err(|error| failed(&error))?;
        let library = object::File::parse(&*bytes).map_err(|error| failed(&error))?;
        let mut symbols = Symbols {
            defined: BTreeSet::new(),
            imported: BTreeSet::new(),
        };
        for symbol in library.symbols() {
            let name = symbol.name().map_err(|error| failed(&error))?;
            if symbol.is_undefined() {
                // Without the version of the C library, as in `memmove@GLIBC_2.2.5`.
                let name = name.split('@').next().unwrap_or(name);
                symbols.imported.insert(name.to_owned());
            } else if symbol.kind() == SymbolKind::Text {
                symbols.defined.extend(public(name, artifact.symbol()));
            }
        }
        // The symbol table begins with an empty name.
        symbols.imported.remove("");
        if symbols.defined.is_empty() {
            skip!("the library contains no symbol names");
        }
        Ok(symbols)
    }
}

/// The name of a public function. On some systems C names have a leading underscore. Parts that the C
/// compiler splits off a function have a dot in their name.
fn public(name: &str, table: &str) -> Option<String> {
    let rest = name.strip_prefix('_').unwrap_or(name);
    let rest = rest.strip_suffix(&format!("_{table}")).unwrap_or(rest);
    (rest.starts_with("futhark_") && !rest.contains('.')).then(|| rest.to_owned())
}

/// Every declared function must be defined, and every public function must be declared.
pub fn symbols(artifact: &Artifact) -> CheckResult {
    let symbols = Symbols::read(artifact)?;
    let text = std::fs::read_to_string(artifact.header())
        .map_err(|error| Stop::error(format!("failed to read the header: {error}")))?;
    let functions = artifact.program().functions();
    let mut expected = declared(&text);
    expected.extend(functions.map(|function| function.name.to_owned()));
    let missing = expected.difference(&symbols.defined);
    let hidden = symbols
        .defined
        .difference(&expected)
        .filter(|name| !is_private(artifact.program(), name));
    Stop::unless_empty(
        missing
            .map(|name| format!("{name} is declared, but not defined"))
            .chain(hidden.map(|name| format!("{name} is defined, but not declared"))),
    )
}

/// The functions that a generated header declares: each in a line of its own, without comments.
fn declared(header: &str) -> BTreeSet<String> {
    static DECLARATION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^[A-Za-z_][A-Za-z0-9_ *]*?\b(futhark_[A-Za-z0-9_]+)\(")
            .expect("a valid expression")
    });
    let found = DECLARATION.captures_iter(header);
    found.map(|found| found[1].to_owned()).collect()
}

/// Whether a function with a public name is not for programs: the function that ends the process, the
/// bodies of parallel loops on multicore, and those of array types that only the library itself uses,
/// which neither the manifest nor the header contains.
fn is_private(program: &Program, name: &str) -> bool {
    static OF_ARRAY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^futhark_(?:free|index|new|new_raw|shape|values|values_raw)_((?:[iu](?:8|16|32|64)|f(?:16|32|64)|bool|unit)_[0-9]+d)$")
            .expect("a valid expression")
    });
    let is_hidden_array = || {
        OF_ARRAY.captures(name).is_some_and(|found| {
            let tag = format!("futhark_{}", &found[1]);
            program.types().iter().all(|ty| ty.c_ident() != tag)
        })
    };
    name == "futhark_panic" || name.starts_with("futhark_mc_") || is_hidden_array()
}

/// The library may import only known functions of the system; the generated text may use only known builtins and
/// driver functions.
pub fn imports(artifact: &Artifact) -> CheckResult {
    let symbols = Symbols::read(artifact)?;
    let generated = artifact.header().with_extension("c");
    let text = if generated.is_file() {
        std::fs::read_to_string(&generated)
            .map_err(|error| Stop::error(format!("failed to read the generated code: {error}")))?
    } else {
        // A recording: only its library shows the functions.
        String::new()
    };
    let program = artifact.program();
    let in_text = KNOWN.unknown_in_text(&text, program.backend).into_iter();
    let mut unknown: Vec<String> = in_text
        .map(|name| format!("the generated code uses {name}"))
        .collect();
    // Names of system functions are those of glibc.
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let imported = KNOWN.unknown(&symbols.imported, program.backend);
        unknown.extend(imported.map(|name| format!("the library uses {name}")));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    mismatch!(
        "{}: not in the list of known functions, so a promise may not hold with Futhark {}; see UPGRADING.md",
        unknown.join(", "),
        program.version
    )
}

/// The lists of `known_functions.toml`, which describes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    everywhere: BTreeSet<String>,
    threads: BTreeSet<String>,
    gpus: BTreeSet<String>,
    mathematics: BTreeSet<String>,
    builtins: BTreeSet<String>,
    drivers: BTreeSet<String>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    toml::from_str(include_str!("known_functions.toml")).expect("the lists are valid TOML")
});

impl Known {
    /// The symbols that a library for the backend must not import.
    fn unknown<'a>(
        &'a self,
        imported: &'a BTreeSet<String>,
        backend: Backend,
    ) -> impl Iterator<Item = &'a str> {
        let known = move |name: &str| {
            let of_double = name.strip_suffix('f').unwrap_or(name);
            self.everywhere.contains(name)
                || self.mathematics.contains(name)
                || self.mathematics.contains(of_double)
                || backend.has_threads() && self.threads.contains(name)
                || backend.is_gpu() && self.gpus.contains(name)
        };
        let names = imported.iter().map(String::as_str);
        names.filter(move |name| !known(plain(name)))
    }

    /// The builtins and the driver functions in generated C that are not known.
    fn unknown_in_text<'a>(&self, c_text: &'a str, backend: Backend) -> BTreeSet<&'a str> {
        static BUILTIN: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\b__builtin_\w+").expect("a valid expression"));
        // A capital letter follows the prefix of a driver.
        static OF_DRIVER: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"\b((?:cl|cu|cuda|nvrtc|hip|hiprtc)[A-Z]\w*)\(")
                .expect("a valid expression")
        });
        let builtins = BUILTIN.find_iter(c_text).map(|found| found.as_str());
        let mut unknown: BTreeSet<&str> = builtins
            .filter(|name| !self.builtins.contains(*name))
            .collect();
        if backend.is_gpu() {
            let called = OF_DRIVER.captures_iter(c_text);
            let called = called.filter_map(|found| Some(found.get(1)?.as_str()));
            unknown.extend(called.filter(|name| !self.drivers.contains(*name)));
        }
        unknown
    }
}

/// The name without what the C library adds: `__memcpy_chk` with checks of the length, `__isoc99_scanf`
/// for a version of the standard.
fn plain(name: &str) -> &str {
    let checked = name
        .strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("_chk"));
    let versioned = ["__isoc99_", "__isoc23_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix));
    checked.or(versioned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_functions_are_parsed_from_headers() {
        let text = "#define futhark_macro(x)\nstruct futhark_context;\n\
                    struct futhark_context *futhark_context_new(struct futhark_context_config *cfg);\n\
                    char *futhark_context_report(struct futhark_context *ctx);\n\
                    const char *futhark_get_tuning_param_name(int);\n\
                    int futhark_entry_main(struct futhark_context *ctx, int32_t *out0);\n";
        let expected = [
            "futhark_context_new",
            "futhark_context_report",
            "futhark_entry_main",
            "futhark_get_tuning_param_name",
        ];
        assert_eq!(declared(text), expected.map(str::to_owned).into());
    }

    #[test]
    fn public_functions_have_a_prefix_and_no_dot() {
        let public = |name| public(name, "fut_c_12").unwrap_or_default();
        assert_eq!(public("futhark_entry_main_fut_c_12"), "futhark_entry_main");
        assert_eq!(public("_futhark_free_i32_1d"), "futhark_free_i32_1d");
        assert_eq!(public("futhark_entry_main.part.0"), "");
        assert_eq!(public("futrts_entry_main"), "");
    }

    #[test]
    fn only_unknown_symbols_are_named() {
        let unknown = |names: &[&str], backend| -> Vec<String> {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            KNOWN.unknown(&names, backend).map(str::to_owned).collect()
        };
        let good = ["malloc", "__memcpy_chk", "sinf", "erf", "__isoc99_sscanf"];
        assert_eq!(unknown(&good, Backend::OpenCl), [""; 0]);
        let new = [
            "__isoc99_scanf",
            "_exit",
            "abort",
            "aligned_alloc",
            "cuMemAllocAsync",
            "mmap",
            "pthread_barrier_wait",
            "quick_exit",
        ];
        assert_eq!(unknown(&new, Backend::Cuda), new);
        let threads = ["pthread_create"];
        assert_eq!(unknown(&threads, Backend::C), threads);
        assert_eq!(unknown(&threads, Backend::Multicore), [""; 0]);
    }

    #[test]
    fn functions_that_are_not_imported_are_found_in_the_text() {
        let c = "if (x == 0) { __builtin_trap(); } cuMemAllocAsync(p, cuMemAlloc(p, __builtin_clz(x)));";
        let unknown = |backend| {
            let unknown = KNOWN.unknown_in_text(c, backend);
            unknown.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(
            unknown(Backend::Cuda),
            ["__builtin_trap", "cuMemAllocAsync"]
        );
        assert_eq!(unknown(Backend::C), ["__builtin_trap"]);
    }
}
