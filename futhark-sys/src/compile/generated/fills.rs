//! The state that a program keeps on a device, from the generated `init_constants`:
//!
//! ```c
//! if (futrts_builtinzhreplicate_i32(ctx, counters_mem_5800, (int64_t) 20, 0) != 0) {
//! ```

use super::source::Source;
use super::token::identifier;
use crate::compile::error::Error;

/// A call that fills device memory with a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compile) struct Fill<'a> {
    pub function: &'a str,
    pub memory: &'a str,
    /// The arguments after the memory.
    pub arguments: &'a str,
}

/// The names of the memory that belongs to the runtime. Kernels that compute the constants of the
/// program use it too, so it is not only filled.
const RUNTIME_STATE: [&str; 3] = ["counters_mem_", "hist_locks_mem_", "global_dynid_mem_"];

/// The fills with literals in `init_constants`: of the runtime's own state, and of memory that is only
/// filled there. Other memory is a constant of the program that is changed after its fill, so it must
/// not be filled again.
pub(super) fn read<'a>(source: &Source<'a>, version: &str) -> Result<Vec<Fill<'a>>, Error> {
    const FUNCTION: &str = "futrts_builtinzhreplicate_";
    let fail = |why: &str| Err(Error::unsupported(version, "init_constants", why));
    let Some(init) = source.functions.get("init_constants") else {
        return fail("the function is not defined");
    };
    let body = init.body;
    let mut found = Vec::new();
    for (at, _) in body.match_indices(FUNCTION) {
        let function = identifier(&body[at..]);
        let Some(arguments) = body[at + function.len()..].strip_prefix("(ctx, ") else {
            continue;
        };
        let memory = identifier(arguments);
        let rest = arguments[memory.len()..].strip_prefix(", ");
        let Some(arguments) = rest.and_then(|rest| rest.split(") != 0").next()) else {
            continue;
        };
        let literal = arguments.strip_prefix("(int64_t) ").unwrap_or(arguments);
        let is_literal = literal
            .chars()
            .all(|c| c.is_ascii_digit() || ", -".contains(c));
        let is_constant = body.contains(&format!("#define {memory} (ctx->constants->{memory})"));
        let is_state = RUNTIME_STATE.iter().any(|name| memory.starts_with(name));
        let fill = Fill {
            function,
            memory,
            arguments,
        };
        if is_literal
            && is_constant
            && (is_state || is_only_filled(body, memory, FUNCTION))
            && !found.contains(&fill)
        {
            found.push(fill);
        }
    }
    let counters = "struct memblock_device counters_mem_";
    if found.is_empty() && source.bodies().any(|body| body.contains(counters)) {
        return fail(
            "the counters on the device are not filled in the known form, so they could not be \
             reset after a failed call",
        );
    }
    Ok(found)
}

fn is_only_filled(body: &str, memory: &str, function: &str) -> bool {
    let known = [
        "#define",
        "#undef",
        ".references = NULL",
        "memblock_alloc_device(",
        function,
    ];
    let mut lines = body.lines().filter(|line| line.contains(memory));
    lines.all(|line| known.iter().any(|known| line.contains(known)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::error::ErrorKind;

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
            read(&Source::read(TEXT), "0.25.32").unwrap(),
            [Fill {
                function: "futrts_builtinzhreplicate_i32",
                memory: "counters_mem_1",
                arguments: "(int64_t) 20, 0"
            }]
        );
    }

    #[test]
    fn counters_in_an_unknown_form_are_refused() {
        for text in [
            "",
            "struct constants {\n    struct memblock_device counters_mem_1;\n};\n\
             static int init_constants(struct futhark_context *ctx)\n{\n}\n",
        ] {
            let error = read(&Source::read(text), "0.26.1").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Layout);
            for word in ["init_constants", "0.26.1", "UPGRADING.md"] {
                assert!(error.to_string().contains(word), "{error}");
            }
        }
    }
}
