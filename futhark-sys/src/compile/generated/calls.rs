//! The functions of the runtime that the functions of a program call, and where the sizes are checked that
//! they get.
//!
//! Every number that a size of the program becomes is checked where the program passes it to the runtime. That
//! holds only if all these places are known, so a call of a function that is not listed here, or in a form in
//! which its sizes are not found, is an error. Functions whose parameters are all numbers are not listed: they
//! access no memory and start nothing.
//!
//! The functions of the API (`futhark_new_…` and so on) are not functions of the program: they get the shapes of
//! values, which `c/fut_shapes.h` checks.

use futhark_manifest::Version;

use super::lines::{Passed, Purpose};
use super::source::Source;
use super::token::{Kind, tokens};
use crate::compile::error::Error;

/// What a function gets from a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gets {
    /// Sizes, and the function or macro of `c/` that checks them.
    Sizes(&'static str),
    /// The place of an element, after the program's own check of its index.
    Index,
    /// No number that depends on a size.
    NoSize,
}

/// The functions. `*` stands for any end of a name.
const RUNTIME: &[(&str, Gets)] = &[
    // All backends.
    ("set_error", Gets::NoSize),
    ("msgprintf", Gets::NoSize),
    ("fprintf", Gets::NoSize),
    ("strdup", Gets::NoSize),
    ("free", Gets::NoSize),
    // Host backends.
    ("memblock_alloc", Gets::Sizes("fut_allocate")),
    ("memblock_set", Gets::NoSize),
    ("memblock_unref", Gets::NoSize),
    ("lexical_realloc", Gets::Sizes("fut_lexical_realloc")),
    ("lmad_copy_*", Gets::Sizes("FUT_CHECK_COUNT")),
    // multicore and ispc.
    ("scheduler_prepare_task", Gets::Sizes("fut_prepare_task")),
    ("scheduler_execute_task", Gets::Sizes("fut_execute_task")),
    ("mc_event_new", Gets::NoSize),
    ("add_event", Gets::NoSize),
    ("lock_lock", Gets::NoSize),
    ("lock_unlock", Gets::NoSize),
    ("__atomic_*", Gets::NoSize),
    // ispc, in text that only ISPC compiles.
    ("extract", Gets::NoSize),
    ("foreach_active", Gets::NoSize),
    // GPU backends.
    ("memblock_alloc_device", Gets::Sizes("fut_allocate_device")),
    ("memblock_set_device", Gets::NoSize),
    ("memblock_unref_device", Gets::NoSize),
    ("gpu_launch_kernel", Gets::Sizes("fut_check_launch")),
    ("gpu_scalar_from_device", Gets::Index),
    ("gpu_scalar_to_device", Gets::Index),
    ("futhark_context_sync", Gets::NoSize),
];

/// Keywords and conversions of numbers by macros.
const NUMBERS: [&str; 8] = [
    "if", "for", "while", "switch", "return", "sizeof", "sext_*", "zext_*",
];

/// The functions of a program, and the functions that it calls to fill arrays and launch kernels, which get
/// their checks when they are written.
const OF_PROGRAM: [&str; 5] = [
    "futhark_mc_*",
    "gpu_kernel_*",
    "futrts_builtinzh*",
    "init_constants",
    "free_constants",
];

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// Whether the line is the head of a function of the program.
pub(in crate::compile) fn begins_function_of_program(line: &str) -> bool {
    let Some((head, parameters)) = line.split_once('(') else {
        return false;
    };
    let name = head.rsplit(' ').next().unwrap_or(head);
    let is_definition = head.contains(' ') && !line.ends_with(';');
    is_definition
        && (is_in(&OF_PROGRAM, name)
            || name.starts_with("futrts_") && parameters.starts_with("struct futhark_context *ctx"))
}

fn is_in<'p>(patterns: impl IntoIterator<Item = &'p &'p str>, name: &str) -> bool {
    let mut patterns = patterns.into_iter();
    patterns.any(|pattern| matches(pattern, name))
}

/// Checks that every call of the functions of the program is known.
///
/// # Errors
///
/// [`ErrorKind::Layout`](crate::compile::ErrorKind::Layout): the name of the function that is called.
pub(super) fn check(source: &Source<'_>, version: &Version) -> Result<(), Error> {
    let is_of_program = |name: &str| {
        is_in(&OF_PROGRAM, name)
            || name.starts_with("futrts_")
                && source
                    .functions
                    .get(name)
                    .is_some_and(|f| f.parameters.starts_with("struct futhark_context *ctx"))
    };
    let gets_numbers = |name: &str| {
        let function = source.functions.get(name);
        is_in(&NUMBERS, name)
            || function.is_some_and(|f| {
                !f.parameters.contains(['*', '[']) && !f.parameters.contains("struct ")
            })
    };
    for (caller, function) in &source.functions {
        if !is_of_program(caller) {
            continue;
        }
        let mut calls = 0;
        for pair in tokens(function.body).windows(2) {
            let name = pair[0].text;
            if pair[0].kind != Kind::Word || !pair[1].is("(") {
                continue;
            }
            let listed = RUNTIME.iter().find(|(pattern, _)| matches(pattern, name));
            if listed.is_none() && !is_of_program(name) && !gets_numbers(name) {
                let why = format!("`{caller}` calls it, and whether it gets a size is not known");
                return Err(Error::unsupported(version, name, &why));
            }
            calls += usize::from(is_read_as_line(name));
        }
        let read = function.body.lines().filter(|line| is_call(line)).count();
        if read != calls {
            let why =
                format!("calls that get sizes: expected {calls} that can be read, got {read}");
            return Err(Error::unsupported(version, caller, &why));
        }
    }
    Ok(())
}

/// Whether a call of the function passes sizes on its own line. Those of a parallel loop are in a structure, and a
/// kernel is launched by a function with a check of its own.
fn is_read_as_line(name: &str) -> bool {
    let gets_sizes = RUNTIME.iter().any(|(pattern, gets)| {
        matches!(gets, Gets::Sizes(_)) && matches(pattern, name) && !pattern.contains("scheduler")
    });
    let launches = matches("gpu_kernel_*", name) || matches("futrts_builtinzh*", name);
    gets_sizes && name != "gpu_launch_kernel" || launches
}

fn is_call(line: &str) -> bool {
    let passed = Passed::read(line).ok().flatten();
    let is_condition = line.contains("_cached_sizze_") && line.contains(" < ");
    passed.is_some_and(|passed| passed.purpose != Purpose::Iterate && !is_condition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::error::ErrorKind;

    const TEXT: &str = r#"
static int64_t add64(int64_t x, int64_t y)
{
    return x + y;
}
static int fill(struct futhark_context *ctx, int64_t n)
{
    other(ctx, n);
}
static int futrts_entry_f(struct futhark_context *ctx, int64_t n_1)
{
    int64_t m_2 = add64(n_1, sext_i32_i64(3));
    if (memblock_alloc(ctx, &mem_3, m_2, "mem_3")) {
        err = 1;
    }
    lmad_copy_4b(ctx, 1, (uint32_t *) mem_3.mem, (int64_t) 0, (int64_t []) {(int64_t) 1}, (uint32_t *) xs_4.mem, (int64_t) 0, (int64_t []) {(int64_t) 1}, (int64_t []) {m_2});
    if (futrts_builtinzhreplicate_i32(ctx, mem_3, m_2, 0) != 0) {
    }
}
"#;

    #[test]
    fn unknown_calls_and_calls_in_unknown_forms_are_refused() {
        let checked = |text: &str| check(&Source::read(text), &Version::new("0.26.1"));
        checked(TEXT).unwrap();
        for (from, to, named) in [
            ("add64(n_1", "fill(ctx, n_1", "fill"),
            ("add64(n_1", "memset(p_5, 0, n_1", "memset"),
            (
                "memblock_alloc(ctx, &mem_3",
                "memblock_alloc(ctx,\n        &mem_3",
                "futrts_entry_f",
            ),
            ("lmad_copy_4b(ctx", "lmad_copy_4b(c->ctx", "futrts_entry_f"),
            ("(int64_t []) {m_2}", "shape_6", "futrts_entry_f"),
            ("mem_3, m_2, 0", "mem_3, m_2 << 1, 0", "futrts_entry_f"),
        ] {
            assert!(TEXT.contains(from), "{from}");
            let error = checked(&TEXT.replacen(from, to, 1)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Layout);
            for word in [&format!("`{named}`"), "0.26.1", "UPGRADING.md"] {
                assert!(error.to_string().contains(word), "{to}: {error}");
            }
        }
    }
}
