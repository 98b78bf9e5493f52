//! The functions of the runtime that our C file replaces or uses.

use futhark_manifest::{Backend, Program, TypeKind};

use super::source::Source;
use super::token::tokens;
use crate::compile::error::Error;

/// Functions whose calls the macros of `fut_prelude.h` redirect. If a function is missing, its macro
/// silently has no effect.
const REDIRECTED: [&str; 4] = [
    "memblock_alloc",
    "lexical_realloc",
    "host_alloc",
    "set_error",
];

/// Redirected functions of GPU backends.
const REDIRECTED_ON_GPU: [&str; 5] = [
    "memblock_alloc_device",
    "gpu_alloc",
    "get_failure_msg",
    "gpu_scalar_from_device",
    "memcpy_host2gpu",
];

/// Redirected functions that the runtime calls in every program.
const CALLED: [&str; 2] = ["host_alloc", "set_error"];

/// Redirected functions that the runtime of GPU backends calls in every program.
const CALLED_ON_GPU: [&str; 3] = ["gpu_alloc", "get_failure_msg", "memcpy_host2gpu"];

/// Used when a context is freed: see `fut_take_leftovers`.
const SUBTASKS: [&str; 2] = ["subtask_queue_is_empty", "subtask_queue_dequeue"];

/// Used to describe the device of a context: see `fut_choose_device`.
const DEVICE_CHOICE: &str = "get_preferred_device";

/// How `new` of an array copies its data on host backends. `fut_memmove` recognises data that the caller
/// writes later by this address, so `new` must do nothing else with the data.
const COPY: &str = "memmove(arr->mem.mem + 0, (const unsigned char *) data + 0, ";

/// Checks that all functions are defined, and those called that every program calls: a hook without
/// a use has no effect.
pub(super) fn check(source: &Source<'_>, program: &Program) -> Result<(), Error> {
    let backend = program.backend;
    let (gpu, called_on_gpu): (&[&str], &[&str]) = match backend.is_gpu() {
        true => (&REDIRECTED_ON_GPU, &CALLED_ON_GPU),
        false => (&[], &[]),
    };
    let subtasks: &[&str] = match backend.has_threads() {
        true => &SUBTASKS,
        false => &[],
    };
    let choice: &[&str] = match backend {
        Backend::OpenCl => &[DEVICE_CHOICE],
        _ => &[],
    };
    let fail = |name: &str, why: &str| Err(Error::unsupported(&program.version, name, why));
    let mut all = REDIRECTED.iter().chain(gpu).chain(subtasks).chain(choice);
    if let Some(name) = all.find(|&&name| !source.functions.contains_key(name)) {
        return fail(name, "the function is not defined");
    }
    let called = source.called(|_| true);
    let mut all = CALLED.iter().chain(called_on_gpu);
    if let Some(name) = all.find(|&&name| !called.contains(name)) {
        return fail(name, "no function calls it, so replacing it has no effect");
    }
    if backend.is_gpu() {
        return Ok(());
    }
    let arrays = program.types().iter().filter_map(|ty| match &ty.kind {
        TypeKind::Array(array) => Some(&*array.ops.new),
        TypeKind::Opaque(_) => None,
    });
    for new in arrays {
        let function = source.functions.get(new);
        if !function.is_some_and(|function| copies_once(function.body)) {
            return fail(new, "it does not copy its data in the known form, once");
        }
    }
    Ok(())
}

/// Whether [`COPY`] is the only use of the data.
fn copies_once(new: &str) -> bool {
    let uses = tokens(new)
        .iter()
        .filter(|token| token.text == "data")
        .count();
    uses == 1 && new.contains(COPY)
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Manifest;

    use super::*;
    use crate::compile::error::ErrorKind;

    fn checked(version: &str, c: &str) -> Result<(), Error> {
        checked_with(version, "", c)
    }

    fn checked_with(version: &str, types: &str, c: &str) -> Result<(), Error> {
        let text = format!(
            r#"{{"backend": "multicore", "version": "{version}", "types": {{{types}}}, "entry_points": {{}}}}"#
        );
        let program = Manifest::parse(&text).unwrap().resolve().unwrap();
        check(&Source::read(c), &program)
    }

    /// Definitions, and a function that calls the other names.
    fn text(defined: &[&str], called: &[&str]) -> String {
        let define = |name: &&str| format!("static int {name}(struct x *y)\n{{\n}}\n");
        let call = |name: &&str| format!("    {name}(ctx, 1);\n");
        let definitions: String = defined.iter().map(define).collect();
        let calls: String = called.iter().map(call).collect();
        format!("{definitions}int last(void)\n{{\n{calls}}}\n")
    }

    #[test]
    fn a_missing_hook_is_an_error_that_names_it() {
        let names = [&REDIRECTED[..], &SUBTASKS[..]].concat();
        checked("0.25.32", &text(&names, &CALLED)).unwrap();
        let without = |names: &[&'static str], i: usize| {
            let mut rest = names.to_vec();
            (rest.remove(i), rest)
        };
        let mut errors = Vec::new();
        for i in 0..names.len() {
            let (missing, rest) = without(&names, i);
            errors.push((missing, "not defined", text(&rest, &CALLED)));
        }
        for i in 0..CALLED.len() {
            let (missing, rest) = without(&CALLED, i);
            errors.push((missing, "no function calls it", text(&names, &rest)));
        }
        for (missing, why, text) in errors {
            let error = checked("0.26.1", &text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Layout);
            for word in [missing, why, "0.26.1", "UPGRADING.md"] {
                assert!(error.to_string().contains(word), "{error}");
            }
        }
    }

    /// An array type, and the function that makes its arrays.
    const ARRAY: &str = r#""[]i32": {"kind": "array", "ctype": "struct futhark_i32_1d *", "rank": 1,
        "elemtype": "i32", "ops": {"free": "futhark_free_i32_1d", "shape": "futhark_shape_i32_1d",
        "values": "futhark_values_i32_1d", "new": "futhark_new_i32_1d"}}"#;
    const NEW: &str = r#"
struct futhark_i32_1d *futhark_new_i32_1d(struct futhark_context *ctx, const int32_t *data, int64_t dim0)
{
    if (memblock_alloc(ctx, &arr->mem, dim0 * 4, "arr->mem"))
        err = 1;
    if ((size_t) dim0 * 4 > 0)
        memmove(arr->mem.mem + 0, (const unsigned char *) data + 0, (size_t) dim0 * 4);
    return arr;
}
"#;

    #[test]
    fn new_must_copy_its_data_once_and_in_the_known_form() {
        const COPIED: &str = "(const unsigned char *) data + 0";
        let names = [&REDIRECTED[..], &SUBTASKS[..]].concat();
        let rest = text(&names, &CALLED);
        let check = |new: &str| checked_with("0.26.1", ARRAY, &format!("{new}{rest}"));
        check(NEW).unwrap();
        for (from, to) in [
            ("memmove(", "memcpy("),
            (COPIED, "(const unsigned char *) data + 4"),
            (COPIED, "(const unsigned char *) data"),
            ("return arr;", "arr->first = data[0];\n    return arr;"),
            ("return arr;", "other(data);\n    return arr;"),
            ("futhark_new_i32_1d", "futhark_make_i32_1d"),
        ] {
            assert!(NEW.contains(from), "{from}");
            let error = check(&NEW.replace(from, to)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Layout, "{to}");
            for word in ["futhark_new_i32_1d", "copy its data", "UPGRADING.md"] {
                assert!(error.to_string().contains(word), "{error}");
            }
        }
    }
}
