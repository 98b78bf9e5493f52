//! The functions of the runtime that our C file replaces or uses.

use futhark_manifest::{Backend, Program};

use super::source::Source;
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
    match all.find(|&&name| !called.contains(name)) {
        Some(name) => fail(name, "no function calls it, so replacing it has no effect"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Manifest;

    use super::*;
    use crate::compile::error::ErrorKind;

    fn checked(version: &str, c: &str) -> Result<(), Error> {
        let text = format!(
            r#"{{"backend": "multicore", "version": "{version}", "types": {{}}, "entry_points": {{}}}}"#
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
}
