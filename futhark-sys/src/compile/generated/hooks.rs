//! The functions of the runtime that our C file replaces or uses.

use futhark_manifest::{Backend, Program, TypeKind};

use super::source::Source;
use super::token::captures;
use crate::compile::error::Error;

/// A function, on which backends the runtime has it, and whether it calls it in every program.
type Hook = (&'static str, fn(Backend) -> bool, bool);

/// The macros of `fut_hooks.h` redirect calls of these functions; if one is missing or not called, its macro silently has
/// no effect.
const HOOKS: [Hook; 12] = [
    ("memblock_alloc", |_| true, false),
    ("lexical_realloc", |_| true, false),
    ("host_alloc", |_| true, true),
    ("set_error", |_| true, true),
    ("memblock_alloc_device", Backend::is_gpu, false),
    ("gpu_alloc", Backend::is_gpu, true),
    ("get_failure_msg", Backend::is_gpu, true),
    ("gpu_scalar_from_device", Backend::is_gpu, false),
    ("memcpy_host2gpu", Backend::is_gpu, true),
    // Used when a context is freed: see `fut_take_leftovers`.
    ("subtask_queue_is_empty", Backend::has_threads, false),
    ("subtask_queue_dequeue", Backend::has_threads, false),
    // Used to describe the device of a context: see `fut_choose_device`.
    ("get_preferred_device", |on| on == Backend::OpenCl, false),
];

/// How `new` of an array copies its data on host backends. `fut_memmove` recognises data that the caller
/// writes later by this address, so `new` must do nothing else with the data.
const COPY: &str = "memmove ( arr -> mem . mem + 0 , ( const unsigned char * ) data + 0 ,";

/// Checks that all functions are defined, and those called that every program calls.
pub(super) fn check(source: &Source<'_>, program: &Program) -> Result<(), Error> {
    let fail = |name: &str, why: &str| Err(Error::unsupported(&program.version, name, why));
    let called = source.called(|_| true);
    for (name, _, is_called) in HOOKS.iter().filter(|hook| hook.1(program.backend)) {
        if !source.functions.contains_key(name) {
            return fail(name, "the function is not defined");
        }
        if *is_called && !called.contains(name) {
            return fail(name, "no function calls it, so replacing it has no effect");
        }
    }
    if program.backend.is_gpu() {
        return Ok(());
    }
    let arrays = program.types().iter().filter_map(|ty| match &ty.kind {
        TypeKind::Array(array) => Some(&*array.ops.new),
        TypeKind::Opaque(_) => None,
    });
    for new in arrays {
        let is_copy = source.functions.get(new).is_some_and(|function| {
            let uses = function.body.iter().filter(|token| **token == "data");
            uses.count() == 1 && captures(&function.body, COPY).any(|[]| true)
        });
        if !is_copy {
            return fail(new, "it does not copy its data in the known form, once");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Manifest;

    use super::*;

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

    /// The hooks of multicore, and those that every program calls.
    fn names() -> (Vec<&'static str>, Vec<&'static str>) {
        let hooks = HOOKS.iter().filter(|hook| hook.1(Backend::Multicore));
        let called = hooks.clone().filter(|hook| hook.2);
        (
            hooks.map(|hook| hook.0).collect(),
            called.map(|hook| hook.0).collect(),
        )
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
        let (names, called) = names();
        checked("0.25.32", &text(&names, &called)).unwrap();
        let without = |names: &[&'static str], i: usize| {
            let mut rest = names.to_vec();
            (rest.remove(i), rest)
        };
        let mut errors = Vec::new();
        for i in 0..names.len() {
            let (missing, rest) = without(&names, i);
            errors.push((missing, "not defined", text(&rest, &called)));
        }
        for i in 0..called.len() {
            let (missing, rest) = without(&called, i);
            errors.push((missing, "no function calls it", text(&names, &rest)));
        }
        for (missing, why, text) in errors {
            let error = checked("0.26.1", &text).unwrap_err();
            error.refuses_a_form_of_0_26_1(&[missing, why]);
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
        let (names, called) = names();
        let rest = text(&names, &called);
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
            error.refuses_a_form_of_0_26_1(&["futhark_new_i32_1d", "copy its data"]);
        }
    }
}
