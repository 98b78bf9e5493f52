//! The check `plain`: a C program, written from the manifest by the template `plain.c`, calls the
//! generated C directly, without futhark-sys and futhark-safe.
//!
//! Each case of the check runs it once: with the number of a test case that must fail or has a boolean result, which it
//! calls, or with 0, to check the functions of arrays. Each run also checks the functions of contexts.

use super::artifact;
use crate::blocks::{Case, Source, TestBlocks};
use crate::harness::calls::elem_of;
use crate::harness::cases::{Cases, CheckResult, Stop, mismatch, skip};
use crate::harness::test_cases::written;
use crate::record::Cause;
use crate::values::HostValue;
use askama::Template;
use futhark_manifest::{ArrayOps, ElemType, Program, Type, TypeRef};
use futhark_safe::compile::Artifact;
use futhark_safe::compile::process;
use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::Command;

pub const NAME: &str = "plain";

/// Writes the program and compiles it with the generated C at the first case that is selected.
pub fn check(artifact: &Artifact, blocks: &TestBlocks, cases: &mut Cases<'_>) {
    let program = artifact.program();
    let called = blocks
        .cases
        .iter()
        .filter(|case| case.expected_error().is_some() || has_boolean_result(program, case));
    let mut calls = Vec::new();
    let mut numbered = vec![(String::new(), Ok(0))];
    for case in called {
        let number = Call::from_case(program, blocks, case).map(|call| {
            calls.push(call);
            calls.len()
        });
        numbered.push((case.title(), number));
    }
    let executable = OnceCell::new();
    for (case, number) in numbered {
        cases.run(NAME, &case, || {
            let number: usize = number?;
            let executable = executable.get_or_init(|| compile(artifact, &calls));
            let executable = executable.as_ref().map_err(Stop::clone)?;
            let output = process::run(Command::new(executable).arg(number.to_string()))?;
            verdict(&output, is_fatal(blocks))
        });
    }
}

/// Whether a test case expects a boolean, or an array of them. `futhark-safe` turns other bytes into 0 or 1.
fn has_boolean_result(program: &Program, case: &Case) -> bool {
    let is_boolean = |ty| elem_of(program, ty).is_some_and(|(elem, _)| elem == ElemType::Bool);
    let entry = program.entry(&case.entry);
    entry.is_some_and(|entry| entry.outputs.iter().any(|output| is_boolean(output.ty)))
}

/// Whether the program ends a plain process.
fn is_fatal(blocks: &TestBlocks) -> bool {
    blocks.tags.iter().any(|tag| tag == "kills")
}

#[derive(Template)]
#[template(path = "plain.c", escape = "none")]
struct Text<'a> {
    header: &'a str,
    arrays: Vec<Array<'a>>,
    calls: &'a [Call<'a>],
}

/// An array type, and the array of it that the program creates: with different extents.
struct Array<'a> {
    ty: &'a Type,
    elem: ElemType,
    ops: &'a ArrayOps,
    shape: Vec<usize>,
    /// Indices outside of the bounds, as further arguments, and what they are.
    outside: Vec<(String, String)>,
}

impl<'a> Array<'a> {
    /// The arrays of a type: a small and a larger one.
    fn from_type(ty: &'a Type) -> impl Iterator<Item = Array<'a>> {
        [2, 64]
            .into_iter()
            .filter_map(|first| Array::of_length(ty, first))
    }

    fn of_length(ty: &'a Type, first: usize) -> Option<Array<'a>> {
        let array = ty.as_array()?;
        let mut shape: Vec<usize> = (0..array.rank).map(|dim| 2 + dim % 3).collect();
        shape[0] = first;
        let mut outside = Vec::new();
        for (dim, extent) in shape.iter().enumerate() {
            for wrong in [&extent.to_string(), "-1", "INT64_MAX / 64"] {
                let mut index = vec!["0"; array.rank];
                index[dim] = wrong;
                let what = format!("index {wrong} in dimension {dim}");
                outside.push((further(index), what));
            }
        }
        Some(Array {
            ty,
            elem: array.elem,
            ops: &array.ops,
            shape,
            outside,
        })
    }

    fn count(&self) -> usize {
        self.shape.iter().product()
    }

    fn has_booleans(&self) -> u8 {
        u8::from(self.elem == ElemType::Bool)
    }
}

/// A call that must fail without writing to its results, or must return booleans that are 0 or 1.
struct Call<'a> {
    cfun: &'a str,
    must_fail: bool,
    outputs: Vec<Output<'a>>,
    inputs: Vec<Argument<'a>>,
}

struct Output<'a> {
    ctype: &'a str,
    /// Whether it is a boolean, or an array of them, whose functions and rank these are.
    is_boolean: bool,
    array: Option<(&'a ArrayOps, usize)>,
}

struct Argument<'a> {
    ctype: &'a str,
    /// The elements, as numbers; at least one, because C has no empty arrays.
    bytes: String,
    /// The functions and the extents of an array.
    array: Option<&'a ArrayOps>,
    dims: String,
}

impl<'a> Call<'a> {
    fn must_fail_number(&self) -> u8 {
        u8::from(self.must_fail)
    }

    /// The call of a test case. A skip says why the program cannot make it.
    fn from_case(program: &'a Program, blocks: &TestBlocks, case: &Case) -> CheckResult<Call<'a>> {
        if is_fatal(blocks) {
            skip!("tagged kills: the call ends a plain process");
        }
        let entry = program
            .entry(&case.entry)
            .ok_or_else(|| Stop::skip("the program has no such entry point"))?;
        let Source::Text(text) = &case.input else {
            skip!("the C program cannot contain arguments from a file, a generator or a script");
        };
        let values = written(program, entry, text).map_err(|stop| match stop {
            Stop::Fail { message, .. } => Stop::skip(format!(
                "the C program cannot contain the arguments\n{message}"
            )),
            skip => skip,
        })?;
        let inputs = entry.inputs.iter().zip(&values);
        let outputs = entry.outputs.iter().map(|output| {
            let array = output
                .ty
                .as_type()
                .and_then(|id| program.get(id).as_array());
            let elem = elem_of(program, output.ty).map(|(elem, _)| elem);
            Output {
                ctype: program.c_type_of(output.ty),
                is_boolean: elem == Some(ElemType::Bool),
                array: array.map(|array| (&array.ops, array.rank)),
            }
        });
        Ok(Call {
            cfun: &entry.cfun,
            must_fail: case.expected_error().is_some(),
            outputs: outputs.collect(),
            inputs: inputs
                .map(|(input, value)| Argument::from_value(program, input.ty, value))
                .collect(),
        })
    }
}

impl<'a> Argument<'a> {
    fn from_value(program: &'a Program, ty: TypeRef, value: &HostValue) -> Argument<'a> {
        let bytes: Vec<String> = value.bytes().iter().map(u8::to_string).collect();
        let array = ty.as_type().and_then(|id| program.get(id).as_array());
        Argument {
            ctype: program.c_type_of(ty),
            bytes: match bytes.is_empty() {
                true => "0".to_owned(),
                false => bytes.join(","),
            },
            array: array.map(|array| &array.ops),
            dims: further(value.shape()),
        }
    }
}

/// Further arguments of a C call.
fn further(arguments: impl IntoIterator<Item = impl ToString>) -> String {
    let arguments = arguments.into_iter();
    arguments
        .map(|one| format!(", {}", one.to_string()))
        .collect()
}

/// What the output of a run says. Its last line tells that the program has ended by itself.
fn verdict(output: &process::Output, is_fatal: bool) -> CheckResult {
    let (said, errors) = (output.stdout(), output.stderr());
    let wrong = said.lines().filter_map(|line| line.strip_prefix("wrong: "));
    Stop::unless_empty(wrong.map(str::to_owned))?;
    match said.lines().last() {
        Some("done") => Ok(()),
        Some("passed") => skip!(
            "the call succeeds in a C program, which `blocks` checks with the checks of futhark-sys"
        ),
        Some("no context") => skip!("no context can be created, which `lifecycle` checks"),
        _ if is_fatal => skip!("tagged kills: the program ends a plain process"),
        _ => Err(Stop::Fail {
            cause: Cause::Crash,
            message: format!(
                "the C program ended with {}; its output was:\n{said}{errors}",
                output.status
            ),
        }),
    }
}

/// Writes the C program, and compiles it into the folder of the generated C, unless it is already there.
fn compile(artifact: &Artifact, calls: &[Call<'_>]) -> CheckResult<PathBuf> {
    let header = artifact.header();
    let generated = header.with_extension("c");
    if !generated.is_file() {
        skip!("a recording contains libraries, but no generated C");
    }
    let types = artifact.program().types().iter();
    let text = Text {
        header: &header.file_name().unwrap_or_default().to_string_lossy(),
        arrays: types.flat_map(Array::from_type).collect(),
        calls,
    };
    let text = text.to_string();
    let folder = artifact.folder();
    let (source, executable) = (folder.join("plain.c"), folder.join("plain"));
    let same = std::fs::read_to_string(&source).is_ok_and(|before| before == text);
    if same && executable.is_file() {
        return Ok(executable);
    }
    // Another process may do the same, so the files are renamed into place.
    // In the build folder, where the next run finds it if this one is killed.
    let work = tempfile::tempdir_in(folder.parent().unwrap_or(folder))?;
    let (new_source, new) = (work.path().join("plain.c"), work.path().join("plain"));
    std::fs::write(&new_source, text)?;
    let mut command = artifact::c_compiler(folder);
    command.args(["-std=c99", "-O0", "-w"]);
    command.args([&generated, &new_source]).arg("-o").arg(&new);
    command.args(["-lm", "-lpthread"]);
    let output = artifact::run_c_compiler(&mut command)?;
    if !output.status.success() {
        let said = output.stderr();
        mismatch!("a C program that follows the C API reference does not compile:\n{said}");
    }
    std::fs::rename(new, &executable)?;
    std::fs::rename(new_source, &source)?;
    Ok(executable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futhark_manifest::Manifest;

    const MANIFEST: &str = r#"{"backend":"c","version":"0.25.32.\n","entry_points":{
        "f":{"cfun":"futhark_entry_f","tuning_params":[],
            "outputs":[{"type":"i32","unique":false}],
            "inputs":[{"name":"xs","type":"[][]f16","unique":false},{"name":"i","type":"i8","unique":false}]}},
        "types":{"[][]f16":{
            "kind":"array","ctype":"struct futhark_f16_2d *","elemtype":"f16","rank":2,"ops":{
            "free":"F","shape":"S","values":"V","new":"N","index":"I"}}}}"#;

    #[test]
    fn every_dimension_is_indexed_and_every_argument_is_passed() {
        let program = Manifest::parse(MANIFEST).unwrap().resolve().unwrap();
        let source = "-- ==\n-- entry: f\n-- input { empty([0][2]f16) 7i8 } error: .\n";
        let blocks = TestBlocks::parse(source).unwrap();
        let text = Text {
            header: "a.h",
            arrays: program.types().iter().flat_map(Array::from_type).collect(),
            calls: &[Call::from_case(&program, &blocks, &blocks.cases[0]).unwrap()],
        };
        let text = text.to_string();
        assert!(text.starts_with("#include \"a.h\"\n"), "{text}");
        for line in [
            "uint16_t in[6], out[6 + 1], one;",
            "N(ctx, in, 2, 3);",
            "check(I(ctx, &one, v, 2, 0) != 0,",
            "check(I(ctx, &one, v, 0, -1) != 0,",
            "struct futhark_f16_2d * in0 = N(ctx, (const void *)bytes0, 0, 2);",
            "bytes1[] = {7};",
            "futhark_entry_f(ctx, &out0, in0, in1)",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn calls_that_cannot_be_written_are_skipped_with_a_reason() {
        let program = Manifest::parse(MANIFEST).unwrap().resolve().unwrap();
        let reason = |tags: &str, input: &str, entry: &str| {
            let source = format!("-- ==\n-- {tags}entry: {entry}\n-- {input} error: .\n");
            let blocks = TestBlocks::parse(&source).unwrap();
            match Call::from_case(&program, &blocks, &blocks.cases[0]) {
                Err(Stop::Skip { reason }) => reason,
                Err(stop) => panic!("{stop:?}"),
                Ok(_) => panic!("it was written"),
            }
        };
        for (tags, input, entry, words) in [
            ("", "input @ data", "f", "from a file"),
            ("", "script input { g 1 }", "f", "a script"),
            ("", "input { 1i8 }", "f", "expected arguments of types"),
            ("", "input { 1i8 }", "g", "no such entry point"),
            ("tags { kills }\n-- ", "input { 1i8 }", "f", "tagged kills"),
        ] {
            let reason = reason(tags, input, entry);
            assert!(reason.contains(words), "{input}: {reason}");
        }
    }

    #[test]
    fn each_output_has_a_verdict() {
        let of = |script: &str| {
            let output = process::run(Command::new("sh").args(["-c", script])).unwrap();
            match verdict(&output, false) {
                Ok(()) => "passed".to_owned(),
                Err(Stop::Skip { reason }) => format!("skipped: {reason}"),
                Err(Stop::Fail { message, .. }) => message,
            }
        };
        assert_eq!(of("echo done"), "passed");
        assert_eq!(of("echo wrong: a; echo wrong: b; kill -9 $$"), "a\nb");
        assert_eq!(of("echo wrong: a; echo passed"), "a");
        assert!(of("echo passed").starts_with("skipped: the call succeeds"));
        assert!(of("echo no context").starts_with("skipped: no context"));
        for script in ["exit 0", "echo doing; kill -9 $$"] {
            let died = of(script);
            assert!(died.starts_with("the C program ended with"), "{died}");
        }
    }
}
