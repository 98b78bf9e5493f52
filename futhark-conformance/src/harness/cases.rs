//! Test cases of the program's test blocks: their arguments, from text, a file, a generator or a script, and
//! their expected results.

use super::calls::{self, elem_of, listed_outputs, listed_types};
use super::env::Env;
use super::script;
use super::steps::{StepResult, Stop};
use super::transfer::upload_all;
use crate::blocks::{self, Case, Expected, Source};
use crate::toolchain::Futhark;
use crate::values::{self, Generator, HostValue, data};
use futhark_manifest::{Backend, ElemType, EntryPoint, Program, TypeRef};
use futhark_safe::compile;
use futhark_safe::dynamic::{Context, Value};
use std::io;
use std::path::Path;

/// The source of the arguments, independent of a context.
pub enum Input {
    /// Values.
    Values(Vec<HostValue>),
    /// An expression to evaluate.
    Script(blocks::script::Exp),
}

impl Input {
    /// Reads the input of a test case.
    ///
    /// # Errors
    /// If the input cannot be read, or has types that the entry point does not take.
    pub fn read(env: &Env<'_>, entry: &EntryPoint, case: &Case) -> StepResult<Input> {
        let input = match &case.input {
            Source::Script(text) => script::parse(text).map(Input::Script),
            Source::ScriptFile(file) => read_script(env, file).map(Input::Script),
            _ => on_host(env, entry, &case.input).map(Input::Values),
        };
        input.map_err(|stop| stop.at(&env.place(case.line)))
    }

    /// Creates the arguments in a context.
    ///
    /// # Errors
    /// If an argument cannot be created, or has a type that the entry point does not take.
    pub fn make(
        &self,
        env: &Env<'_>,
        context: &Context,
        entry: &EntryPoint,
    ) -> StepResult<Vec<Value>> {
        match self {
            Input::Values(values) => upload_all(context, values),
            Input::Script(exp) => script::arguments(env, context, entry, exp),
        }
    }
}

/// Values on the host for the parameters of an entry point.
///
/// # Errors
/// A skip for a script, which needs a context; a failure if the values cannot be read or have other
/// types.
pub fn on_host(env: &Env<'_>, entry: &EntryPoint, source: &Source) -> StepResult<Vec<HostValue>> {
    let types = parameters(env.program(), entry)?;
    let values = match source {
        Source::Text(text) => return written(env.program(), entry, text),
        // Read with the parameter types, as the compiled program does.
        Source::File(file) => {
            let contents = load(env, file)?;
            let read = data::inputs(&contents, &types);
            return read.map_err(|error| Stop::error(format!("{} {error}", file.display())));
        }
        Source::Random(text) => generate(env, text)?,
        Source::Script(_) | Source::ScriptFile(_) => {
            return Err(Stop::skip("the arguments are made by a script"));
        }
    };
    fitting(&types, values)
}

/// The same for arguments that are written as text in the test block.
///
/// # Errors
/// If the values cannot be read or have other types.
pub fn written(program: &Program, entry: &EntryPoint, text: &str) -> StepResult<Vec<HostValue>> {
    fitting(&parameters(program, entry)?, text_values(text)?)
}

fn fitting(types: &[(ElemType, usize)], values: Vec<HostValue>) -> StepResult<Vec<HostValue>> {
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
    Err(Stop::error(format!(
        "expected arguments of types ({}), got ({}); set the type of a number by a suffix, as in 1i64",
        shown(types),
        shown(&found)
    )))
}

/// Arguments that an entry point accepts: those of its first test case that succeeds and needs no
/// script. `None` if there is no such case.
pub fn known_inputs(env: &Env<'_>, entry: &EntryPoint) -> Option<Vec<HostValue>> {
    all_known_inputs(env, entry).next()
}

/// The same for every such test case.
pub fn all_known_inputs(env: &Env<'_>, entry: &EntryPoint) -> impl Iterator<Item = Vec<HostValue>> {
    let cases = env.blocks.cases.iter();
    let backend = env.library.backend();
    let fitting = cases.filter(move |case| {
        *case.entry == *entry.name
            && !matches!(case.expected, Expected::Error(_))
            && case.excluded(backend).is_none()
    });
    fitting.filter_map(move |case| on_host(env, entry, &case.input).ok())
}

/// The element type and rank of each parameter.
fn parameters(program: &Program, entry: &EntryPoint) -> StepResult<Vec<(ElemType, usize)>> {
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
pub fn text_values(text: &str) -> StepResult<Vec<HostValue>> {
    let error = |error: values::TextError| Stop::error(error.to_string());
    let values = values::parse(text).map_err(error)?;
    let typed = values.iter().map(|value| value.by_itself().map_err(error));
    typed.collect()
}

/// The first line of the reason for test cases whose data files do not exist. Reports count equal
/// lines.
const NO_DATA: &str =
    "a data file of the test block does not exist: fetch or generate the data of the corpus";

/// Reads a file, relative to the folder of the program.
///
/// # Errors
/// A skip if the file does not exist, because data are often not part of a corpus; a failure if it
/// cannot be read, or the test block may not read it.
pub fn load(env: &Env<'_>, file: &Path) -> StepResult<Vec<u8>> {
    let located = data::locate(env.source, file, env.spec.run.data_folders.as_deref());
    located.and_then(|path| data::load(&path)).map_err(|error| {
        let path = env.source.with_file_name(file);
        match error.kind() {
            io::ErrorKind::NotFound => Stop::skip(format!("{NO_DATA}\n{}", path.display())),
            _ => Stop::error(format!("failed to read {}: {error}", path.display())),
        }
    })
}

fn read_script(env: &Env<'_>, file: &Path) -> StepResult<blocks::script::Exp> {
    let contents = load(env, file)?;
    let text = std::str::from_utf8(&contents)
        .map_err(|error| Stop::error(format!("{}: {error}", file.display())))?;
    script::parse(text).map_err(|stop| stop.at(&file.display().to_string()))
}

/// Generates values with the compiler, as `futhark test` does.
fn generate(env: &Env<'_>, text: &str) -> StepResult<Vec<HostValue>> {
    let generators =
        values::parse_generators(text).map_err(|error| Stop::error(error.to_string()))?;
    // A literal value needs no compiler.
    let mut compiler = None;
    let one = |generator: Generator| match generator {
        Generator::Value(value) => Ok(value),
        Generator::Type(ty) => {
            let error = |error: compile::Error| Stop::error(format!("{error:#}"));
            let compiler = match &mut compiler {
                Some(compiler) => compiler,
                none => none.insert(env.open(&env.spec.compiler).map_err(error)?),
            };
            dataset(compiler, &ty.to_string())
        }
    };
    generators.into_iter().map(one).collect()
}

fn dataset(futhark: &Futhark, ty: &str) -> StepResult<HostValue> {
    let failed = |what: String| Stop::error(format!("`futhark dataset -b -g {ty}`: {what}"));
    let contents = futhark
        .dataset(ty)
        .map_err(|error| failed(format!("{error:#}")))?;
    let values = data::values(&contents).map_err(|error| failed(error.to_string()))?;
    match <[HostValue; 1]>::try_from(values) {
        Ok([value]) => Ok(value),
        Err(values) => Err(failed(format!("expected one value, got {}", values.len()))),
    }
}

/// The values that a test case expects; `None` if it only expects success or an error.
///
/// # Errors
/// If the values cannot be read or computed, or if a result type has no notation.
pub fn expected(
    env: &Env<'_>,
    entry: &EntryPoint,
    case: &Case,
) -> StepResult<Option<Vec<HostValue>>> {
    let values = match &case.expected {
        Expected::Success | Expected::Error(_) => return Ok(None),
        Expected::Values(source) => read_expected(env, source),
        Expected::Auto => by_reference(env, entry, case),
    };
    let opaque = listed_types(env.program(), entry)
        .into_iter()
        .find(|ty| elem_of(env.program(), *ty).is_none());
    let values = match opaque {
        None => values,
        Some(ty) => Err(Stop::error(format!(
            "a result has type {}, whose values have no notation",
            env.program().name_of(ty)
        ))),
    };
    values
        .map(Some)
        .map_err(|stop| stop.at(&env.place(case.line)))
}

fn read_expected(env: &Env<'_>, source: &Source) -> StepResult<Vec<HostValue>> {
    match source {
        Source::Text(text) => text_values(text),
        Source::File(file) => data::values(&load(env, file)?)
            .map_err(|error| Stop::error(format!("{} {error}", file.display()))),
        Source::Random(_) | Source::Script(_) | Source::ScriptFile(_) => {
            Err(Stop::error("expected results must be text or in a file"))
        }
    }
}

/// The results of the sequential backend, in a context of its own.
fn by_reference(env: &Env<'_>, entry: &EntryPoint, case: &Case) -> StepResult<Vec<HostValue>> {
    let input = Input::read(env, entry, case)?;
    let library = match env.library.backend() {
        Backend::C => env.library.clone(),
        _ => env.sequential(&env.spec.compiler)?,
    };
    let fails = |stop: Stop| stop.at("the reference (backend c)");
    let context = env
        .context_of(&library)
        .map_err(|error| fails(error.into()))?;
    let arguments = input.make(env, &context, entry).map_err(fails)?;
    let (outputs, _) = calls::call(&context, entry, arguments);
    let outputs = outputs.map_err(|error| fails(error.into()))?;
    listed_outputs(env.program(), entry, outputs)
}
