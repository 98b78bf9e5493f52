//! The functions of the runtime that the functions of a program call, and where the sizes are checked that
//! they get.
//!
//! Every number that a size of the program becomes is checked where the program passes it to the runtime. That
//! holds only if all these places are known, so a call of a function that is not listed here, or in a form in
//! which its sizes are not found, is an error. Functions whose parameters are all numbers are not listed: they
//! access no memory and start nothing.
//!
//! The functions of the API (`futhark_new_…` and so on) are not functions of the program: they get the shapes of
//! values, which `c/fut_sizes.h` checks.

use futhark_manifest::Version;

use super::lines::{Line, RECEIVERS, Statement, is_of_program, matches};
use super::source::{Source, calls};
use crate::compile::error::Error;

/// The functions, except those that get sizes on their own line ([`RECEIVERS`]). `*` stands for any end of a name.
const KNOWN: &[&str] = &[
    // No number that depends on a size, on all backends and on host backends.
    "set_error",
    "msgprintf",
    "fprintf",
    "strdup",
    "free",
    "memblock_set",
    "memblock_unref",
    // multicore. The iterations of a task are checked by `fut_prepare_task` and `fut_execute_task`.
    "scheduler_prepare_task",
    "scheduler_execute_task",
    "mc_event_new",
    "add_event",
    "lock_lock",
    "lock_unlock",
    "__atomic_*",
    // GPU backends. A launch is checked by `fut_check_launch`; a scalar has an index, which the program checks.
    "memblock_set_device",
    "memblock_unref_device",
    "gpu_launch_kernel",
    "gpu_scalar_from_device",
    "gpu_scalar_to_device",
    "futhark_context_sync",
    // Keywords, and functions of numbers that are macros.
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "sext_*",
    "zext_*",
    "futrts_cond_*",
];

/// Checks that every call of the functions of the program is known.
pub(super) fn check(
    source: &Source<'_>,
    lines: &[Line<'_>],
    version: &Version,
) -> Result<(), Error> {
    let is_receiver = |name: &str| RECEIVERS.iter().any(|(pattern, ..)| matches(pattern, name));
    let gets_numbers = |parameters: &[&str]| {
        let mut others = ["*", "[", "struct"].iter();
        !others.any(|other| parameters.contains(other))
    };
    let is_known = |name: &str| {
        let parameters = source
            .functions
            .get(name)
            .map(|function| &*function.parameters);
        is_receiver(name)
            || KNOWN.iter().any(|pattern| matches(pattern, name))
            || is_of_program(name, parameters.unwrap_or_default())
            || parameters.is_some_and(gets_numbers)
    };
    for line in lines {
        let Some(caller) = line.function else {
            continue;
        };
        let called = || calls(&line.tokens);
        if let Some(name) = called().find(|name| !is_known(name)) {
            let why = format!("`{caller}` calls it, and whether it gets a size is not known");
            return Err(Error::unsupported(version, name, &why));
        }
        let receivers = called().filter(|name| is_receiver(name)).count();
        if receivers > usize::from(matches!(line.statement, Statement::Pass(_))) {
            let why = format!("the sizes in `{}` cannot be read", line.text.trim());
            return Err(Error::unsupported(version, caller, &why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::generated::lines;

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
    double x_7 = futrts_cond_f64(n_1 == m_2, 0.0, 1.0);
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
        let checked = |text: &str| {
            let version = Version::new("0.26.1");
            let source = Source::read(text);
            check(&source, &lines::read(&source, &version)?, &version)
        };
        checked(TEXT).unwrap();
        for (from, to, named) in [
            ("add64(n_1", "fill(ctx, n_1", "fill"),
            ("add64(n_1", "memset(p_5, 0, n_1", "memset"),
            (
                "    int64_t m_2 = add64(",
                "// a comment\n\n    int64_t m_2 = fill(ctx, ",
                "fill",
            ),
            ("lmad_copy_4b(ctx", "lmad_copy_4b(c->ctx", "futrts_entry_f"),
            ("(int64_t []) {m_2}", "shape_6", "lmad_copy_4b"),
            (
                "mem_3, m_2, 0",
                "mem_3, m_2 << 1, 0",
                "futrts_builtinzhreplicate_i32",
            ),
        ] {
            assert!(TEXT.contains(from), "{from}");
            let error = checked(&TEXT.replacen(from, to, 1)).unwrap_err();
            error.refuses_a_form_of_0_26_1(&[&format!("`{named}`")]);
        }
    }
}
