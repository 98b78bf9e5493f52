//! The check `symbols`: the library defines the functions that the header declares, and uses nothing
//! of the system that is not known.

mod imports;

use crate::harness::steps::{StepResult, Stop};
use futhark_manifest::Program;
use futhark_safe::compile::Artifact;
use futhark_safe::compile::process::{self, Limits};
use regex::Regex;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// What `nm` prints about a library, which both cases read.
pub struct Symbols<'a> {
    artifact: &'a Artifact,
    text: OnceCell<StepResult<String>>,
}

impl<'a> Symbols<'a> {
    /// Those of an artifact's library. Starts `nm` at the first use.
    pub fn of(artifact: &'a Artifact) -> Symbols<'a> {
        Symbols {
            artifact,
            text: OnceCell::new(),
        }
    }

    fn text(&self) -> StepResult<&str> {
        let text = self.text.get_or_init(|| nm(&self.artifact.library()));
        text.as_deref().map_err(Clone::clone)
    }
}

/// Every declared function must be defined, and every public function must be declared.
pub fn check(symbols: &Symbols<'_>) -> StepResult {
    let artifact = symbols.artifact;
    let text = std::fs::read_to_string(artifact.header())
        .map_err(|error| Stop::error(format!("failed to read the header: {error}")))?;
    let declared = declared(&text);
    let listed = artifact
        .program()
        .functions()
        .map(|function| function.name.to_owned());
    let expected: BTreeSet<String> = declared.iter().cloned().chain(listed).collect();
    let defined = defined(symbols.text()?)?;
    let missing = expected.difference(&defined);
    let hidden = defined
        .difference(&expected)
        .filter(|name| !is_private(name) && !is_hidden_array(artifact.program(), name));
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

/// Whether a name with a public prefix belongs to the runtime: the function that ends the process,
/// and the bodies of parallel loops on multicore.
fn is_private(name: &str) -> bool {
    name == "futhark_panic" || name.starts_with("futhark_mc_")
}

/// The library and the generated code must use only known functions of the system.
pub fn imports(symbols: &Symbols<'_>) -> StepResult {
    let artifact = symbols.artifact;
    let generated = artifact.header().with_extension("c");
    let text = if generated.is_file() {
        std::fs::read_to_string(&generated)
            .map_err(|error| Stop::error(format!("failed to read the generated code: {error}")))?
    } else {
        // A recording: only its library shows the functions.
        String::new()
    };
    let backend = artifact.program().backend;
    let in_text = imports::unknown_in_text(&text, backend).into_iter();
    let in_text = in_text.map(|name| format!("the generated code uses {name}"));
    // Names of system functions are those of glibc.
    let imported = match cfg!(all(target_os = "linux", target_env = "gnu")) {
        true => imported(symbols.text()?),
        false => BTreeSet::new(),
    };
    let unknown = imports::unknown(&imported, backend).into_iter();
    let unknown = unknown.map(|name| format!("the library uses {name}"));
    let unknown: Vec<String> = in_text.chain(unknown).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let version = &artifact.program().version;
    Err(Stop::mismatch(format!(
        "{}: not in the list of known functions, so a promise may not hold with Futhark {version}; see UPGRADING.md",
        unknown.join(", ")
    )))
}

/// The functions with a public name in a library. futhark-sys makes all symbols but one local, and
/// keeps their names.
fn defined(symbols: &str) -> StepResult<BTreeSet<String>> {
    let names = functions(symbols);
    if names.is_empty() {
        return Err(Stop::skip("the library contains no symbol names"));
    }
    Ok(names)
}

/// What `nm` prints about a library.
fn nm(library: &Path) -> StepResult<String> {
    let nm = std::env::var_os("NM").unwrap_or_else(|| OsString::from("nm"));
    let mut command = Command::new(&nm);
    command.arg(library);
    let output = process::run(&mut command, Limits::DATA).map_err(|error| {
        Stop::skip(format!(
            "failed to run {}, which reads the symbols of libraries: {error}",
            nm.display()
        ))
    })?;
    if !output.status.success() {
        let said = output.stderr();
        return Err(Stop::error(format!("failed to read the symbols: {said}")));
    }
    Ok(output.stdout())
}

/// The undefined names in the output of `nm`, without the version of the C library.
fn imported(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().rev();
        let (name, kind) = (words.next()?, words.next()?);
        // A weak one is `w`, or `v` for an object.
        ["U", "w", "v"].contains(&kind).then_some(name)
    });
    let names = names.map(|name| name.split('@').next().unwrap_or(name));
    names.map(str::to_owned).collect()
}

/// The public functions in the output of `nm`.
fn functions(text: &str) -> BTreeSet<String> {
    let functions = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().rev();
        let (name, kind) = (words.next()?, words.next()?);
        // On some systems C names have a leading underscore. Parts that the C compiler splits off a
        // function have a dot in their name.
        let name = name
            .strip_prefix("_futhark")
            .map_or_else(|| name.to_owned(), |rest| format!("futhark{rest}"));
        let is_public = name.starts_with("futhark_") && !name.contains('.');
        (kind.eq_ignore_ascii_case("t") && is_public).then_some(name)
    });
    functions.collect()
}

/// Whether a function belongs to an array type that only the library itself uses. Neither the
/// manifest nor the header contains these types.
fn is_hidden_array(program: &Program, name: &str) -> bool {
    static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^futhark_(?:free|index|new|new_raw|shape|values|values_raw)_((?:[iu](?:8|16|32|64)|f(?:16|32|64)|bool|unit)_[0-9]+d)$")
            .expect("a valid expression")
    });
    let Some(found) = FUNCTION.captures(name) else {
        return false;
    };
    let tag = format!("futhark_{}", &found[1]);
    program.types().iter().all(|ty| ty.c_ident() != tag)
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
    fn functions_are_parsed_from_nm() {
        let text = "\
0000000000001000 t futhark_entry_main
0000000000001000 T _futhark_free_i32_1d
0000000000001000 t futhark_entry_main.part.0
0000000000001000 t futrts_entry_main
0000000000001000 d futhark_data
                 U futhark_elsewhere
";
        let names: Vec<_> = functions(text).into_iter().collect();
        assert_eq!(names, ["futhark_entry_main", "futhark_free_i32_1d"]);
    }

    #[test]
    fn imports_are_parsed_from_nm() {
        let text = "\
0000000000001000 t futhark_entry_main
                 w __cxa_finalize@GLIBC_2.2.5
                 U memmove@GLIBC_2.2.5
";
        let names: Vec<_> = imported(text).into_iter().collect();
        assert_eq!(names, ["__cxa_finalize", "memmove"]);
    }
}
