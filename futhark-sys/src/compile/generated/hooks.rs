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

/// The oldest version with all hooks that we know of. Older ones can lack some.
const COMPLETE_SINCE: (u32, u32, u32) = (0, 25, 27);

/// Which of the functions are defined that not every version has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compile) struct Hooks {
    pub subtasks: bool,
    pub device_choice: bool,
}

impl Hooks {
    pub(super) fn read(source: &Source<'_>, program: &Program) -> Result<Hooks, Error> {
        let backend = program.backend;
        let gpu: &[&str] = if backend.is_gpu() {
            &REDIRECTED_ON_GPU
        } else {
            &[]
        };
        let subtasks: &[&str] = if backend.has_threads() {
            &SUBTASKS
        } else {
            &[]
        };
        let choice: &[&str] = match backend {
            Backend::OpenCl => &[DEVICE_CHOICE],
            _ => &[],
        };
        let has = |name: &&str| source.functions.contains_key(name);
        let version = &program.version;
        if version.number.is_none_or(|number| number >= COMPLETE_SINCE) {
            let mut all = REDIRECTED.iter().chain(gpu).chain(subtasks).chain(choice);
            if let Some(missing) = all.find(|name| !has(name)) {
                return Err(Error::unsupported(
                    &version.text,
                    missing,
                    "the function is not defined",
                ));
            }
        }
        Ok(Hooks {
            subtasks: SUBTASKS.iter().all(has),
            device_choice: has(&DEVICE_CHOICE),
        })
    }
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Manifest;

    use super::*;
    use crate::compile::error::ErrorKind;

    fn hooks(version: &str, c: &str) -> Result<Hooks, Error> {
        let text = format!(
            r#"{{"backend": "multicore", "version": "{version}", "types": {{}}, "entry_points": {{}}}}"#
        );
        let program = Manifest::parse(&text).unwrap().resolve().unwrap();
        Hooks::read(&Source::read(c), &program)
    }

    #[test]
    fn a_missing_hook_is_an_error_that_names_it() {
        let names = [&REDIRECTED[..], &SUBTASKS[..]].concat();
        let define = |names: &[&str]| -> String {
            let define = |name: &&str| format!("static int {name}(struct x *y)\n{{\n}}\n");
            names.iter().map(define).collect()
        };
        let all = hooks("0.25.32", &define(&names)).unwrap();
        assert!(all.subtasks && !all.device_choice);
        for i in 0..names.len() {
            let mut rest = names.clone();
            let missing = rest.remove(i);
            let error = hooks("0.26.1", &define(&rest)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Layout);
            for word in [missing, "0.26.1", "UPGRADING.md"] {
                assert!(error.to_string().contains(word), "{error}");
            }
        }
        assert!(!hooks("0.25.19", "").unwrap().subtasks);
    }
}
