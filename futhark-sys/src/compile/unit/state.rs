//! GPU backends: device state that outlives calls and that a failing kernel can leave
//! half-way, such as the block counters of reductions and the locks of histograms.
//!
//! The runtime sets it once, when it makes its constants, and relies on every kernel
//! to leave it as it was. A kernel that fails does not, and later calls then give wrong
//! results without an error. So after a failed call it is set again, by the very calls
//! that the generated `init_constants` makes:
//!
//! ```c
//! if (futrts_builtinzhreplicate_i32(ctx, counters_mem_5800, (int64_t) 20, 0) != 0) {
//! ```

use std::fmt::Write as _;

use super::super::error::{Error, ErrorKind};

/// Writes `fut_reset_state`.
pub(super) fn write(c_text: &str, c: &mut String) -> Result<(), Error> {
    let calls = initialisers(c_text);
    if calls.is_empty() && c_text.contains("struct memblock_device counters_mem_") {
        return Err(Error::new(
            ErrorKind::Layout,
            "the generated C keeps counters on the device, but not in the form that is known: \
             they could not be reset after a failed call",
        ));
    }
    c.push_str("static int fut_reset_state(struct futhark_context *ctx) {\n  (void)ctx;\n");
    for (function, memory, rest) in calls {
        let _ = writeln!(
            c,
            "  if ({function}(ctx, ctx->constants->{memory}, {rest}) != 0)\n    return 1;"
        );
    }
    c.push_str("  return 0;\n}\n");
    Ok(())
}

/// What the compilers call the memory that is the runtime's own. Kernels that compute
/// the program's constants use it too, so it is not only filled.
fn is_runtime_state(memory: &str) -> bool {
    const NAMES: [&str; 3] = ["counters_mem_", "hist_locks_mem_", "global_dynid_mem_"];
    NAMES.iter().any(|name| memory.starts_with(name))
}

/// Function, memory, and the other arguments of every fill with literals in `init_constants`
/// of memory that is only filled there. A constant of the program that is filled first and
/// changed then must not be filled again; one that is only filled may be.
fn initialisers(c_text: &str) -> Vec<(&str, &str, &str)> {
    const FUNCTION: &str = "futrts_builtinzhreplicate_";
    let body = c_text
        .split("static int init_constants(struct futhark_context *ctx)\n{")
        .nth(1)
        .and_then(|rest| rest.split("\n}").next())
        .unwrap_or_default();
    let mut found = Vec::new();
    for (at, _) in body.match_indices(FUNCTION) {
        let function = super::identifier(&body[at..]);
        let Some(arguments) = body[at + function.len()..].strip_prefix("(ctx, ") else {
            continue;
        };
        let memory = super::identifier(arguments);
        let rest = arguments[memory.len()..].strip_prefix(", ");
        let Some(rest) = rest.and_then(|rest| rest.split(") != 0").next()) else {
            continue;
        };
        let literal = rest.strip_prefix("(int64_t) ").unwrap_or(rest);
        let is_literal = literal
            .chars()
            .all(|c| c.is_ascii_digit() || ", -".contains(c));
        let is_constant = body.contains(&format!("#define {memory} (ctx->constants->{memory})"));
        let is_only_filled = body
            .lines()
            .filter(|line| line.contains(memory))
            .all(|line| {
                [
                    "#define",
                    "#undef",
                    ".references = NULL",
                    "memblock_alloc_device(",
                    FUNCTION,
                ]
                .iter()
                .any(|known| line.contains(known))
            });
        if is_literal
            && is_constant
            && (is_only_filled || is_runtime_state(memory))
            && !found.contains(&(function, memory, rest))
        {
            found.push((function, memory, rest));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
static int init_constants(struct futhark_context *ctx)
{
    #define counters_mem_1 (ctx->constants->counters_mem_1)
    if (futrts_builtinzhreplicate_i32(ctx, counters_mem_1, (int64_t) 20, 0) != 0) {
        err = 1;
    }
    if (futrts_builtinzhreplicate_i32(ctx, counters_mem_1, (int64_t) 20, 0) != 0) {
        err = 1;
    }
    if (futrts_builtinzhreplicate_i64(ctx, mem_2, n_3, 0) != 0) {
        err = 1;
    }
    #define mem_4 (ctx->constants->mem_4)
    if (futrts_builtinzhreplicate_i32(ctx, mem_4, (int64_t) 20, 1) != 0) {
        err = 1;
    }
    if (gpu_memcpy(ctx, mem_4.mem, 0, x.mem, 0, 4) != 0) {
        err = 1;
    }
    err = gpu_kernel_total(ctx, 1, counters_mem_1.mem);
    return err;
}
int other() { futrts_builtinzhreplicate_i32(ctx, x, (int64_t) 1, 0) != 0; }
";

    #[test]
    fn each_fill_of_a_constant_is_found_once() {
        assert_eq!(
            initialisers(TEXT),
            [(
                "futrts_builtinzhreplicate_i32",
                "counters_mem_1",
                "(int64_t) 20, 0"
            )]
        );
    }

    #[test]
    fn counters_in_an_unknown_form_are_refused() {
        let text = "struct memblock_device counters_mem_1;";
        let error = write(text, &mut String::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Layout);
    }
}
