//! The check `plain`: a C program, written from the manifest by the template `plain.c`, calls the
//! generated C directly, without futhark-sys and futhark-safe.
//!
//! The program has numbered parts: part 0 checks contexts and arrays, each other part calls a test case
//! that must fail. Each part is a case of the check.

use super::header;
use crate::blocks::{Case, Expected, Source, TestBlocks};
use crate::harness::cases::written;
use crate::harness::steps::{StepResult, Steps, Stop, mismatch, skip};
use crate::record::Cause;
use crate::values::HostValue;
use askama::Template;
use futhark_manifest::{ArrayOps, ElemType, Program, Type, TypeRef};
use futhark_safe::compile::Artifact;
use futhark_safe::compile::process;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the check.
pub const NAME: &str = "plain";

/// Writes the program, compiles it with the generated C, and runs it, at the first case that is
/// selected.
pub fn check(artifact: &Artifact, blocks: &TestBlocks, steps: &mut Steps<'_>) {
    let program = artifact.program();
    let failing = blocks.cases.iter();
    let failing = failing.filter(|case| matches!(case.expected, Expected::Error(_)));
    let mut calls = Vec::new();
    let mut parts = Vec::new();
    for case in failing {
        let part = Call::of(program, blocks, case).map(|call| {
            calls.push(call);
            calls.len()
        });
        parts.push((case.title(), part));
    }
    let output = OnceCell::new();
    let verdict = |part| {
        let output = output.get_or_init(|| {
            let output = run(artifact, &calls)?;
            Ok(Output::parse(&output.stdout(), || {
                format!(
                    "{}; its output was:\n{}{}",
                    output.status,
                    output.stdout(),
                    output.stderr()
                )
            }))
        });
        let output: &Output = output.as_ref().map_err(Stop::clone)?;
        output.verdict(part, is_fatal(blocks))
    };
    steps.run(NAME, "", || verdict(0));
    for (title, part) in parts {
        steps.run(NAME, &title, || verdict(part?));
    }
}

/// Whether the program ends a plain process.
fn is_fatal(blocks: &TestBlocks) -> bool {
    blocks.tags.iter().any(|tag| tag == "kills")
}

/// The C program.
#[derive(Template)]
#[template(path = "plain.c", escape = "none")]
struct Text<'a> {
    header: &'a str,
    arrays: Vec<Array<'a>>,
    calls: &'a [Call<'a>],
}

/// An array type, and the array of it that the program creates: with different extents.
struct Array<'a> {
    name: &'a str,
    elem: &'static str,
    ctype: &'a str,
    ops: &'a ArrayOps,
    has_booleans: u8,
    shape: Vec<usize>,
    count: usize,
    /// The shape, and the index of the last element, as further arguments.
    dims: String,
    last: String,
    /// Indices outside of the bounds, as further arguments, and what they are.
    outside: Vec<(String, String)>,
}

impl<'a> Array<'a> {
    fn of(ty: &'a Type) -> Option<Array<'a>> {
        let array = ty.as_array()?;
        let shape: Vec<usize> = (0..array.rank).map(|dim| 2 + dim % 3).collect();
        let mut outside = Vec::new();
        for (dim, extent) in shape.iter().enumerate() {
            for wrong in [&extent.to_string(), "-1", "INT64_MAX / 64"] {
                let mut place = vec!["0"; array.rank];
                place[dim] = wrong;
                let what = format!("index {wrong} in dimension {dim}");
                outside.push((further(place), what));
            }
        }
        Some(Array {
            name: ty.c_ident(),
            elem: array.elem.c_type(),
            ctype: &ty.ctype,
            ops: &array.ops,
            has_booleans: u8::from(array.elem == ElemType::Bool),
            count: shape.iter().product(),
            dims: further(&shape),
            last: further(shape.iter().map(|extent| extent - 1)),
            shape,
            outside,
        })
    }
}

/// A call that must fail without writing to its results.
struct Call<'a> {
    cfun: &'a str,
    /// The C types of the results.
    outputs: Vec<&'a str>,
    inputs: Vec<Argument<'a>>,
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
    /// The call of a test case. A skip says why the program cannot make it.
    fn of(program: &'a Program, blocks: &TestBlocks, case: &Case) -> StepResult<Call<'a>> {
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
        let outputs = entry.outputs.iter();
        Ok(Call {
            cfun: &entry.cfun,
            outputs: outputs.map(|output| program.c_type_of(output.ty)).collect(),
            inputs: inputs
                .map(|(input, value)| Argument::of(program, input.ty, value))
                .collect(),
        })
    }
}

impl<'a> Argument<'a> {
    fn of(program: &'a Program, ty: TypeRef, value: &HostValue) -> Argument<'a> {
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

/// Writes the C program, and compiles and runs it.
fn run(artifact: &Artifact, calls: &[Call<'_>]) -> StepResult<process::Output> {
    let header = artifact.header();
    let generated = header.with_extension("c");
    if !generated.is_file() {
        skip!("a recording contains libraries, but no generated C");
    }
    let text = Text {
        header: &header.file_name().unwrap_or_default().to_string_lossy(),
        arrays: artifact
            .program()
            .types()
            .iter()
            .filter_map(Array::of)
            .collect(),
        calls,
    };
    let executable = compile(artifact.folder(), &generated, &text.to_string())?;
    process::run(&mut Command::new(&executable)).map_err(|error| Stop::error(error.to_string()))
}

/// What the C program printed.
struct Output {
    /// The lines of each part that began.
    parts: BTreeMap<usize, Vec<String>>,
    has_context: bool,
    /// How the program ended in a part, if not by itself.
    died: Option<(usize, String)>,
}

impl Output {
    /// `ended` describes the end of a program that did not reach its last line.
    fn parse(text: &str, ended: impl FnOnce() -> String) -> Output {
        let mut parts: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut current = 0;
        for line in text.lines() {
            match line
                .strip_prefix("part ")
                .and_then(|part| part.parse().ok())
            {
                Some(part) => {
                    current = part;
                    parts.entry(part).or_default();
                }
                None => parts.entry(current).or_default().push(line.to_owned()),
            }
        }
        let has_line = |line: &str| text.lines().any(|one| one == line);
        Output {
            parts,
            has_context: !has_line("no context"),
            died: (!has_line("done")).then(|| (current, ended())),
        }
    }

    fn verdict(&self, part: usize, is_fatal: bool) -> StepResult {
        let lines = self.parts.get(&part).map(Vec::as_slice).unwrap_or_default();
        let wrong = lines.iter().filter_map(|line| line.strip_prefix("wrong: "));
        Stop::unless_empty(wrong.map(str::to_owned))?;
        match &self.died {
            Some((at, _)) if *at == part && is_fatal => {
                skip!("tagged kills: the program ends a plain process");
            }
            Some((at, how)) if *at == part => {
                return Err(Stop::Fail {
                    cause: Cause::Crash,
                    message: format!("the C program ended with {how}"),
                });
            }
            Some((at, _)) if part == 0 || part > *at => {
                skip!("an earlier call ended the C program");
            }
            _ => {}
        }
        if !self.has_context {
            skip!("no context can be created, which `lifecycle` checks");
        }
        if lines.iter().any(|line| line == "passed") {
            skip!(
                "the call succeeds in a C program, which `blocks` checks with the checks of futhark-sys"
            );
        }
        Ok(())
    }
}

/// Compiles the program into the folder of the generated C, unless it is already there.
fn compile(folder: &Path, generated: &Path, text: &str) -> StepResult<PathBuf> {
    let failed = |error: std::io::Error| Stop::error(error.to_string());
    let (source, executable) = (folder.join("plain.c"), folder.join("plain"));
    let same = std::fs::read_to_string(&source).is_ok_and(|before| before == text);
    if same && executable.is_file() {
        return Ok(executable);
    }
    // Another process may do the same, so the files are renamed into place.
    // In the build folder, where the next run finds it if this one is killed.
    let work = tempfile::tempdir_in(folder.parent().unwrap_or(folder)).map_err(failed)?;
    let (new_source, new) = (work.path().join("plain.c"), work.path().join("plain"));
    std::fs::write(&new_source, text).map_err(failed)?;
    let mut command = header::c_compiler(folder);
    command.args(["-std=c99", "-O0", "-w"]);
    command.args([generated, &new_source]).arg("-o").arg(&new);
    command.args(["-lm", "-lpthread"]);
    let output = header::run(&mut command)?;
    if !output.status.success() {
        let said = output.stderr();
        mismatch!("a C program that follows the C API reference does not compile:\n{said}");
    }
    std::fs::rename(new, &executable).map_err(failed)?;
    std::fs::rename(new_source, &source).map_err(failed)?;
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
            arrays: program.types().iter().filter_map(Array::of).collect(),
            calls: &[Call::of(&program, &blocks, &blocks.cases[0]).unwrap()],
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
            match Call::of(&program, &blocks, &blocks.cases[0]) {
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
    fn each_part_of_the_output_has_a_verdict() {
        let of = |text: &str, part| {
            let output = Output::parse(text, || "signal 11".to_owned());
            match output.verdict(part, false) {
                Ok(()) => "passed".to_owned(),
                Err(Stop::Skip { reason }) => format!("skipped: {reason}"),
                Err(Stop::Fail { message, .. }) => message,
            }
        };
        let whole = "part 0\npart 1\nwrong: a\nwrong: b\npart 2\npart 3\npassed\npart 0\ndone\n";
        assert_eq!(of(whole, 0), "passed");
        assert_eq!(of(whole, 1), "a\nb");
        assert_eq!(of(whole, 2), "passed");
        assert!(of(whole, 3).starts_with("skipped: the call succeeds"));
        let died = "part 0\npart 1\npart 2\n";
        assert!(of(died, 0).starts_with("skipped: an earlier call"));
        assert_eq!(of(died, 1), "passed");
        assert_eq!(of(died, 2), "the C program ended with signal 11");
        assert!(of(died, 3).starts_with("skipped: an earlier call"));
        assert!(of("part 0\nno context\ndone\n", 1).starts_with("skipped: no context"));
    }
}
