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

/// Used when a context is freed: see `fut_take_leftovers`.
const SUBTASKS: [&str; 2] = ["subtask_queue_is_empty", "subtask_queue_dequeue"];

/// Used to describe the device of a context: see `fut_choose_device`.
const DEVICE_CHOICE: &str = "get_preferred_device";

/// Checks that all functions are defined.
pub(super) fn check(source: &Source<'_>, program: &Program) -> Result<(), Error> {
    let backend = program.backend;
    let gpu: &[&str] = match backend.is_gpu() {
        true => &REDIRECTED_ON_GPU,
        false => &[],
    };
    let subtasks: &[&str] = match backend.has_threads() {
        true => &SUBTASKS,
        false => &[],
    };
    let choice: &[&str] = match backend {
        Backend::OpenCl => &[DEVICE_CHOICE],
        _ => &[],
    };
    let mut all = REDIRECTED.iter().chain(gpu).chain(subtasks).chain(choice);
    match all.find(|&&name| !source.functions.contains_key(name)) {
        Some(missing) => Err(Error::unsupported(
            &program.version.text,
            missing,
            "the function is not defined",
        )),
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

    #[test]
    fn a_missing_hook_is_an_error_that_names_it() {
        let names = [&REDIRECTED[..], &SUBTASKS[..]].concat();
        let define = |names: &[&str]| -> String {
            let define = |name: &&str| format!("static int {name}(struct x *y)\n{{\n}}\n");
            names.iter().map(define).collect()
        };
        checked("0.25.32", &define(&names)).unwrap();
        for i in 0..names.len() {
            let mut rest = names.clone();
            let missing = rest.remove(i);
            let error = checked("0.26.1", &define(&rest)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Layout);
            for word in [missing, "0.26.1", "UPGRADING.md"] {
                assert!(error.to_string().contains(word), "{error}");
            }
        }
    }
}
