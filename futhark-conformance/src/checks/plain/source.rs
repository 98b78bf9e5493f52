//! Writes the C program.

use crate::blocks::{Case, Expected, Source, TestBlocks};
use crate::harness::cases::written;
use crate::harness::steps::StepResult;
use crate::values::HostValue;
use futhark_manifest::{ArrayType, ElemType, EntryPoint, Program, Type, TypeKind, TypeRef};
use std::fmt::Write;

/// The number of failing test cases to call.
const MAX_CASES: usize = 4;

/// The fixed beginning and end of the C program.
const BEGIN: &str = include_str!("begin.c");
const END: &str = include_str!("end.c");

/// Writes the program for a header with this name.
pub(super) fn write(program: &Program, blocks: &TestBlocks, header: &str) -> StepResult<String> {
    let mut text = format!("#include \"{header}\"\n{BEGIN}");
    for ty in program.types() {
        if let TypeKind::Array(array) = &ty.kind {
            write_array(&mut text, ty, array);
        }
    }
    // Test cases with the tag `kills` would end the C program.
    if !blocks.tags.iter().any(|tag| tag == "kills") {
        let failing = blocks.cases.iter().filter(|case| {
            let known = program.entry(&case.entry).is_some();
            known && matches!(case.expected, Expected::Error(_))
        });
        for case in failing.take(MAX_CASES) {
            let Some(entry) = program.entry(&case.entry) else {
                continue;
            };
            // Only arguments in text form can be written into the program.
            if let Source::Text(arguments) = &case.input
                && let Ok(inputs) = written(program, entry, arguments)
            {
                write_call(&mut text, program, entry, case, &inputs);
            }
        }
    }
    text.push_str(END);
    Ok(text)
}

/// Code for an array with different extents: its shape, its elements, and indices outside of its
/// bounds.
fn write_array(text: &mut String, ty: &Type, array: &ArrayType) {
    let shape: Vec<usize> = (0..array.rank).map(|dim| 2 + dim % 3).collect();
    let count: usize = shape.iter().product();
    let dims: String = shape.iter().map(|dim| format!(", {dim}")).collect();
    let (c, name) = (array.elem.c_type(), &ty.name);
    let ops = &array.ops;
    let mut add = |line: String| {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    };
    add(format!("{{ /* {} */", name.replace("*/", "")));
    add(format!("{c} in[{count}], out[{count} + 1], one;"));
    add(format!(
        "pattern(in, sizeof in, {});",
        u8::from(array.elem == ElemType::Bool)
    ));
    add(format!("{} v = {}(ctx, in{dims});", ty.ctype, ops.new));
    add(format!("check(v != NULL, \"new returned no {name}\");"));
    for (dim, extent) in shape.iter().enumerate() {
        add(format!(
            "check({}(ctx, v)[{dim}] == {extent}, \"the shape of {name} in dimension {dim}\");",
            ops.shape
        ));
    }
    add("memset(out, 0xa5, sizeof out);".to_owned());
    add(format!(
        "check({}(ctx, v, out) == 0 && futhark_context_sync(ctx) == 0, \"values of {name} failed\");",
        ops.values
    ));
    add(format!(
        "check(memcmp(in, out, sizeof in) == 0, \"the values of {name}\");"
    ));
    add(format!(
        "check(untouched(&out[{count}], sizeof one), \"values of {name} wrote beyond its elements\");"
    ));
    if let Some(index) = &ops.index {
        let inside: Vec<usize> = shape.iter().map(|extent| extent - 1).collect();
        let call = |place: &[String]| {
            let place: String = place.iter().map(|i| format!(", {i}")).collect();
            format!("{index}(ctx, &one, v{place})")
        };
        let last: Vec<String> = inside.iter().map(usize::to_string).collect();
        add(format!(
            "check({} == 0 && futhark_context_sync(ctx) == 0 && memcmp(&one, &in[{count} - 1], sizeof one) == 0, \"the last element of {name}\");",
            call(&last)
        ));
        for (dim, extent) in shape.iter().enumerate() {
            for wrong in [
                extent.to_string(),
                "-1".to_owned(),
                "INT64_MAX / 64".to_owned(),
            ] {
                let mut place = vec!["0".to_owned(); array.rank];
                place[dim].clone_from(&wrong);
                let what = format!("index {wrong} in dimension {dim} of {name}");
                add("memset(&one, 0xa5, sizeof one);".to_owned());
                add(format!(
                    "check({} != 0, \"{what} was accepted\");",
                    call(&place)
                ));
                add(format!("has_message(ctx, \"{what}\");"));
                add(format!(
                    "check(untouched(&one, sizeof one), \"{what} wrote to its result\");"
                ));
            }
        }
    }
    add(format!(
        "check({}(ctx, v) == 0, \"free of {name} failed\");",
        ops.free
    ));
    add("}".to_owned());
}

/// Code for a call that must fail without writing to its results.
fn write_call(
    text: &mut String,
    program: &Program,
    entry: &EntryPoint,
    case: &Case,
    inputs: &[HostValue],
) {
    let name = case.title().replace(['"', '\\'], "?");
    let mut begin = String::from("  {\n");
    let (mut arguments, mut after, mut frees) = (String::new(), String::new(), String::new());
    for (place, output) in entry.outputs.iter().enumerate() {
        let _ = writeln!(
            begin,
            "  {} out{place}; memset(&out{place}, 0xa5, sizeof out{place});",
            program.c_type_of(output.ty)
        );
        let _ = write!(arguments, ", &out{place}");
        let _ = writeln!(
            after,
            "  check(untouched(&out{place}, sizeof out{place}), \"{name} wrote to its result {place}\");"
        );
    }
    for (place, (input, value)) in entry.inputs.iter().zip(inputs).enumerate() {
        let bytes: Vec<String> = value.bytes().iter().map(u8::to_string).collect();
        let bytes = if bytes.is_empty() {
            "0".to_owned()
        } else {
            bytes.join(",")
        };
        let c = value.elem().c_type();
        let _ = writeln!(
            begin,
            "  static const unsigned char bytes{place}[] = {{{bytes}}};"
        );
        match input.ty {
            TypeRef::Scalar(_) => {
                let _ = writeln!(
                    begin,
                    "  {c} in{place}; memcpy(&in{place}, bytes{place}, sizeof in{place});"
                );
            }
            TypeRef::Type(id) => {
                let TypeKind::Array(array) = &program.get(id).kind else {
                    return;
                };
                let dims: String = value.shape().iter().map(|dim| format!(", {dim}")).collect();
                let _ = writeln!(
                    begin,
                    "  {} in{place} = {}(ctx, (const void *)bytes{place}{dims});",
                    program.get(id).ctype,
                    array.ops.new
                );
                let _ = writeln!(frees, "  {}(ctx, in{place});", array.ops.free);
            }
        }
        let _ = write!(arguments, ", in{place}");
    }
    let _ = writeln!(begin, "  if ({}(ctx{arguments}) == 0)", entry.cfun);
    let _ = writeln!(begin, "    printf(\"passed: {name}\\n\");");
    let _ = writeln!(begin, "  else {{\n  has_message(ctx, \"{name}\");");
    let _ = writeln!(begin, "{after}  }}\n{frees}  }}");
    text.push_str(&begin);
}

#[cfg(test)]
mod tests {
    use super::*;
    use futhark_manifest::Manifest;

    #[test]
    fn every_dimension_of_every_array_type_is_indexed() {
        let manifest = r#"{"backend":"c","version":"0.25.32.\n","entry_points":{},"types":{"[][]f16":{
            "kind":"array","ctype":"struct futhark_f16_2d *","elemtype":"f16","rank":2,"ops":{
            "free":"F","shape":"S","values":"V","new":"N","index":"I"}}}}"#;
        let program = Manifest::parse(manifest).unwrap().resolve().unwrap();
        let text = write(&program, &TestBlocks::default(), "a.h").unwrap();
        assert!(text.starts_with("#include \"a.h\"\n"));
        for line in [
            "uint16_t in[6], out[6 + 1], one;",
            "N(ctx, in, 2, 3);",
            "check(I(ctx, &one, v, 2, 0) != 0,",
            "check(I(ctx, &one, v, 0, -1) != 0,",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
