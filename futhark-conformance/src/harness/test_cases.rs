//! Test cases of the program's test blocks: their arguments, from text, a file, a generator or a script, and
//! their expected results.

use super::calls::upload_all;
use super::calls::{self, elem_of, listed_outputs};
use super::cases::{CheckResult, Stop, error, skip};
use super::env::Env;
use super::script;
use crate::blocks::{Case, Expected, Source};
use crate::toolchain::Futhark;
use crate::values::{self, Generator, HostValue, TextError, data};
use futhark_manifest::{Backend, ElemType, EntryPoint, Program, TypeRef};
use futhark_safe::compile;
use futhark_safe::dynamic::{Context, Value};
use std::error::Error as _;
use std::io;
use std::path::Path;

/// Creates the arguments of a test case in a context.
pub fn arguments(
    env: &Env<'_>,
    context: &Context,
    entry: &EntryPoint,
    case: &Case,
) -> CheckResult<Vec<Value>> {
    let run = |text: &str| script::arguments(env, context, entry, text);
    let arguments = match &case.input {
        Source::Script(text) => run(text),
        Source::ScriptFile(file) => load(env, file).and_then(|contents| {
            let at = |stop: Stop| stop.at(&file.display().to_string());
            let text = String::from_utf8(contents);
            let text = text.map_err(|error| at(Stop::error(error.to_string())))?;
            run(&text).map_err(at)
        }),
        _ => on_host(env, entry, &case.input).and_then(|values| upload_all(context, &values)),
    };
    arguments.map_err(|stop| stop.at(&env.location(case.line)))
}

/// Values on the host for the parameters of an entry point; a skip for a script, which needs a context.
pub fn on_host(env: &Env<'_>, entry: &EntryPoint, source: &Source) -> CheckResult<Vec<HostValue>> {
    let types = parameters(env.program(), entry)?;
    // Files are read with the parameter types, as the compiled program does.
    let elems: Vec<ElemType> = types.iter().map(|(elem, _)| *elem).collect();
    fitting(&types, values_of(env, source, &elems)?)
}

/// The values of a test case. Numbers without a suffix in a file have the types `elems`.
fn values_of(env: &Env<'_>, source: &Source, elems: &[ElemType]) -> CheckResult<Vec<HostValue>> {
    match source {
        Source::Text(text) => text_values(text),
        Source::File(file) => values_in(env, file, elems),
        Source::Random(text) => generate(env, text),
        Source::Script(_) | Source::ScriptFile(_) => {
            skip!("the arguments are made by a script")
        }
    }
}

/// The same for arguments that are written as text in the test block.
pub fn written(program: &Program, entry: &EntryPoint, text: &str) -> CheckResult<Vec<HostValue>> {
    fitting(&parameters(program, entry)?, text_values(text)?)
}

fn fitting(types: &[(ElemType, usize)], values: Vec<HostValue>) -> CheckResult<Vec<HostValue>> {
    let found: Vec<_> = values
        .iter()
        .map(|value| (value.elem(), value.shape().len()))
        .collect();
    if found == types {
        return Ok(values);
    }
    let shown = |types: &[(ElemType, usize)]| -> String {
        let names = types
            .iter()
            .map(|(elem, rank)| format!("{}{elem}", "[]".repeat(*rank)));
        names.collect::<Vec<_>>().join(" ")
    };
    error!(
        "expected arguments of types ({}), got ({}); set the type of a number by a suffix, as in 1i64",
        shown(types),
        shown(&found)
    )
}

/// Arguments that an entry point accepts: those of each of its test cases that is expected to succeed, needs no
/// script and whose data exist.
pub fn known_inputs(env: &Env<'_>, entry: &EntryPoint) -> impl Iterator<Item = Vec<HostValue>> {
    let test_cases = env.blocks.cases.iter();
    let backend = env.library.backend();
    let fitting = test_cases.filter(move |case| {
        *case.entry == *entry.name
            && case.expected_error().is_none()
            && case.excluded(backend).is_none()
    });
    fitting.filter_map(move |case| on_host(env, entry, &case.input).ok())
}

/// The element type and rank of each parameter.
fn parameters(program: &Program, entry: &EntryPoint) -> CheckResult<Vec<(ElemType, usize)>> {
    let of = |ty: TypeRef| {
        elem_of(program, ty).ok_or_else(|| {
            Stop::error(format!(
                "a parameter has type {}, whose values have no notation; use a script to make it",
                program.name_of(ty)
            ))
        })
    };
    entry.inputs.iter().map(|input| of(input.ty)).collect()
}

/// The values of a text, each with the type that its notation has by itself.
pub fn text_values(text: &str) -> CheckResult<Vec<HostValue>> {
    values::parse(text).map_err(|error| Stop::error(error.to_string()))
}

/// The first line of the reason for test cases whose data files do not exist. Reports count equal
/// lines.
const NO_DATA: &str =
    "a data file of the test block does not exist: fetch or generate the data of the corpus";

/// Reads a file, relative to the folder of the program; a skip if the file does not exist, because data are often not
/// part of a corpus.
pub fn load(env: &Env<'_>, file: &Path) -> CheckResult<Vec<u8>> {
    let located = data::locate(env.source, file, env.spec.run.data_folders.as_deref());
    located.and_then(|path| data::load(&path)).map_err(|error| {
        let path = env.source.with_file_name(file);
        match error.kind() {
            io::ErrorKind::NotFound => Stop::skip(format!("{NO_DATA}\n{}", path.display())),
            _ => Stop::error(format!("failed to read {}: {error}", path.display())),
        }
    })
}

/// The values in a file, as [`data::parse`] returns them.
pub fn values_in(env: &Env<'_>, file: &Path, elems: &[ElemType]) -> CheckResult<Vec<HostValue>> {
    data::parse(&load(env, file)?, elems).map_err(|TextError { at, message }| {
        Stop::error(format!("{} at byte {at}: {message}", file.display()))
    })
}

/// Generates values with the compiler, as `futhark test` does.
fn generate(env: &Env<'_>, text: &str) -> CheckResult<Vec<HostValue>> {
    let generators =
        values::parse_generators(text).map_err(|error| Stop::error(error.to_string()))?;
    let compiler = env.open(&env.spec.compiler);
    let compiler = compiler.map_err(|error| Stop::error(format!("{error:#}")))?;
    let values = generators.into_iter().map(|generator| match generator {
        Generator::Value(value) => Ok(value),
        Generator::Type(ty) => dataset(&compiler, &ty),
    });
    values.collect()
}

fn dataset(futhark: &Futhark, ty: &str) -> CheckResult<HostValue> {
    let failed = |what: String| Stop::error(format!("`futhark dataset -b -g {ty}`: {what}"));
    let contents = futhark
        .dataset(ty)
        .map_err(|error| failed(format!("{error:#}{}", advice(&error))))?;
    let values = data::parse(&contents, &[]).map_err(|error| failed(error.message))?;
    match <[HostValue; 1]>::try_from(values) {
        Ok([value]) => Ok(value),
        Err(values) => Err(failed(format!("expected one value, got {}", values.len()))),
    }
}

/// What to do if the value is too large, for this process or for the compiler.
fn advice(error: &compile::Error) -> &'static str {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    let is_too_large = cause.map(io::Error::kind) == Some(io::ErrorKind::FileTooLarge);
    match is_too_large || error.to_string().contains("out of memory") {
        true => "; allow more with --memory",
        false => "",
    }
}

/// The values that a test case expects; `None` if it only expects success or an error.
pub fn expected(
    env: &Env<'_>,
    entry: &EntryPoint,
    case: &Case,
) -> CheckResult<Option<Vec<HostValue>>> {
    let values = match &case.expected {
        Expected::Success | Expected::Error(_) => return Ok(None),
        Expected::Values(source) => values_of(env, source, &[]),
        Expected::Auto => results_of_reference(env, entry, case),
    };
    values
        .map(Some)
        .map_err(|stop| stop.at(&env.location(case.line)))
}

/// The results of the sequential backend, in a context of its own.
fn results_of_reference(
    env: &Env<'_>,
    entry: &EntryPoint,
    case: &Case,
) -> CheckResult<Vec<HostValue>> {
    let library = match env.library.backend() {
        Backend::C => env.library.clone(),
        _ => env.sequential(&env.spec.compiler)?,
    };
    let fails = |stop: Stop| stop.at("the reference (backend c)");
    let context = env
        .context_of(&library)
        .map_err(|error| fails(error.into()))?;
    let mut arguments = arguments(env, &context, entry, case).map_err(fails)?;
    let outputs = calls::call(&context, entry, &mut arguments);
    let outputs = outputs.map_err(|error| fails(error.into()))?;
    listed_outputs(env.program(), entry, outputs)
}
