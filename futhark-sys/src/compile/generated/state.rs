//! The state that a program keeps on a device, such as the counters of reductions.
//!
//! A context owns all memory that `struct constants` declares. Kernels launched by entry points only
//! read the constants of the program, so the memory that they change is state of the runtime. The
//! function `init_constants` fills it with a literal:
//!
//! ```c
//! if (futrts_builtinzhreplicate_i32(ctx, counters_mem_5800, (int64_t) 20, 0) != 0) {
//! ```

use std::collections::BTreeSet;

use futhark_manifest::Version;

use super::expr::{Kind, Parser};
use super::source::Source;
use super::token::{captures, group, is_name};
use crate::compile::error::Error;

/// A call that fills device memory with a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compile) struct Fill<'a> {
    pub function: &'a str,
    pub memory: &'a str,
    /// The number of elements, and the value of each.
    pub count: i128,
    pub value: &'a str,
}

const INIT: &str = "init_constants";

const NO_RESET: &str = "kernels change this memory of the context, and `init_constants` does not fill it in the known \
    form, so it could not be reset after a failed call";

/// The fills of all memory of `struct constants` that kernels change which are launched after `init_constants`.
pub(super) fn fills<'a>(source: &Source<'a>, version: &Version) -> Result<Vec<Fill<'a>>, Error> {
    let fail = |item: &str, why: &str| Error::unsupported(version, item, why);
    let init = source.functions.get(INIT);
    let init = init.ok_or_else(|| fail(INIT, "the function is not defined"))?;
    let constants = source.structs.get("constants");
    let constants =
        constants.ok_or_else(|| fail("struct constants", "the struct is not defined"))?;
    let kernels = kernels_text(&source.tokens);
    let kernels =
        kernels.ok_or_else(|| fail("gpu_program", "the text of the kernels is not found"))?;
    let kernels = Source::read(&kernels).functions;
    let memory = captures(constants, "struct memblock_device $ ;").map(|[name]| name);
    let memory: Vec<&str> = memory.collect();
    let mut changed = BTreeSet::new();
    let called = source.called(|caller| caller != INIT);
    for name in called
        .iter()
        .filter_map(|name| name.strip_prefix("gpu_kernel_"))
    {
        let why = "the kernel is launched, and its definition is not found";
        let kernel = kernels.get(name).ok_or_else(|| fail(name, why))?;
        changed.extend(memory.iter().filter(|memory| changes(&kernel.body, memory)));
    }
    let all = literal_fills(source.text, &init.body);
    let fills = changed.into_iter().map(|memory| {
        // The compiler allocates and fills some state twice, also in two sizes. Kernels get the last memory.
        let own: Vec<_> = all.iter().filter(|fill| fill.memory == memory).collect();
        let last = own.last().filter(|last| {
            let of_last = |fill: &&Fill<'a>| {
                fill.count <= last.count
                    && (fill.function, fill.value) == (last.function, last.value)
            };
            own.iter().all(of_last)
        });
        last.map(|last| **last)
            .ok_or_else(|| fail(memory, NO_RESET))
    });
    fills.collect()
}

/// The calls that fill memory with a literal.
fn literal_fills<'a>(text: &'a str, body: &[&'a str]) -> Vec<Fill<'a>> {
    let calls = body.iter().enumerate().filter_map(|(at, token)| {
        let is_fill = token.starts_with("futrts_builtinzhreplicate_");
        let rest = is_fill.then_some(&body[at..])?;
        let Kind::Call(function, arguments) = (Parser { text, rest }).postfix()?.kind else {
            return None;
        };
        let [_, memory, count, value] = &arguments[..] else {
            return None;
        };
        Some(Fill {
            function,
            memory: memory.name()?,
            count: count.constant()?,
            value: value.constant().map(|_| value.text)?,
        })
    });
    calls.collect()
}

/// The text of all kernels, which is in string literals, from the tokens of a program:
///
/// ```c
/// static const char *gpu_program[] = {"FUTHARK_KERNEL\nvoid main_segred_5(...", "...", NULL};
/// ```
fn kernels_text(tokens: &[&str]) -> Option<String> {
    let start = ["gpu_program", "[", "]", "=", "{"];
    let begin = tokens.windows(5).position(|tokens| tokens == start)? + 5;
    let literals = tokens[begin..].iter().take_while(|token| !is_name(token));
    let literals = literals.filter_map(|token| token.strip_prefix('"')?.strip_suffix('"'));
    Some(literals.map(unescape).collect())
}

/// The characters that the content of a C string literal stands for.
fn unescape(literal: &str) -> String {
    let mut is_escape = false;
    let chars = literal.chars().filter_map(|c| {
        let is_escaped = is_escape;
        is_escape = c == '\\' && !is_escaped;
        match c {
            _ if is_escape => None,
            'n' if is_escaped => Some('\n'),
            't' if is_escaped => Some('\t'),
            _ => Some(c),
        }
    });
    chars.collect()
}

/// Whether a kernel changes the memory: `body` uses it in another way than to read an element.
///
/// ```c
/// x = ((__global int32_t *) mem_5)[i];                            // reads
/// ((volatile __global int32_t *) mem_5)[i] = x;                   // changes
/// old = atomic_add_i32(&((volatile __global int *) mem_5)[i], 1); // changes
/// ```
fn changes(body: &[&str], memory: &str) -> bool {
    let mut uses = (0..body.len()).filter(|&i| body[i] == memory);
    uses.any(|i| !is_read(body, i))
}

/// Whether the use of memory at index `at` reads an element.
fn is_read(body: &[&str], at: usize) -> bool {
    let [")", "[", ..] = &body[at + 1..] else {
        return false;
    };
    let index = group(&body[at + 2..]);
    // The cast, and what is in front of it.
    let cast = body[..at].iter().rposition(|token| *token == "(");
    let (Some(index), Some(cast)) = (index, cast) else {
        return false;
    };
    let is_address = matches!(&body[..cast], [.., "(" | "," | "=", "&", "("]);
    body.get(at + 2 + index) != Some(&"=") && !is_address
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::generated::token::tokens;

    /// `counters_mem_1` is state, which an entry point uses. `mem_2` and `mem_3` are constants: kernels
    /// of `init_constants` change them after their fills, and a kernel of the entry point reads one.
    const TEXT: &str = r#"
struct constants {
    int dummy;
    struct memblock_device counters_mem_1;
    struct memblock_device mem_2;
    struct memblock_device mem_3;
};
static const char *gpu_program[] = {"FUTHARK_KERNEL\n",
"void init_4(__global unsigned char *mem_2, __global unsigned char *counters_mem_1)\n{\n",
"    ((__global int32_t *) mem_2)[0] = atomic_add(&((volatile __global int *) counters_mem_1)[0], 1);\n}\n",
"void total_5(__global unsigned char *mem_2, __global unsigned char *counters_mem_1)\n{\n",
"    x = ((__global int32_t *) mem_2)[0];\n",
"    old = atomic_add(&((volatile __global int *) counters_mem_1)[0], 1);\n}\n", NULL};
static int init_constants(struct futhark_context *ctx)
{
    if (futrts_builtinzhreplicate_i32(ctx, counters_mem_1, (int64_t) 20, 0) != 0) {
        err = 1;
    }
    if (futrts_builtinzhreplicate_i32(ctx, counters_mem_1, (int64_t) 20, 0) != 0) {
        err = 1;
    }
    if (futrts_builtinzhreplicate_i32(ctx, mem_2, (int64_t) 20, 1) != 0) {
        err = 1;
    }
    if (futrts_builtinzhreplicate_i64(ctx, mem_3, n_3, 0) != 0) {
        err = 1;
    }
    err = gpu_kernel_init_4(ctx, 1, mem_2.mem, counters_mem_1.mem);
    return err;
}
int total(struct futhark_context *ctx)
{
    return gpu_kernel_total_5(ctx, mem_2.mem, counters_mem_1.mem);
}
"#;

    #[test]
    fn memory_that_kernels_of_entry_points_change_is_state() {
        assert_eq!(
            fills(&Source::read(TEXT), &Version::new("0.25.32")).unwrap(),
            [Fill {
                function: "futrts_builtinzhreplicate_i32",
                memory: "counters_mem_1",
                count: 20,
                value: "0"
            }]
        );
    }

    #[test]
    fn state_that_is_allocated_in_two_sizes_has_the_last_one() {
        let (at, _) = TEXT
            .match_indices("counters_mem_1, (int64_t) 20")
            .last()
            .unwrap();
        let grown = format!("{}{}", &TEXT[..at], TEXT[at..].replacen("20", "20480", 1));
        let fills = fills(&Source::read(&grown), &Version::new("0.25.32")).unwrap();
        assert_eq!(fills[0].count, 20480);
    }

    #[test]
    fn state_in_an_unknown_form_is_refused() {
        let next = "0) != 0) {\n        err = 1;\n    }\n    if (futrts_builtinzhreplicate_i32(ctx, counters";
        let [equal, other] =
            ["20", "20480"].map(|n| format!("counters_mem_1, (int64_t) {n}, {next}"));
        let read = "x = ((__global int32_t *) mem_2)[0]";
        let cases = [
            ("counters_mem_1", &*equal, &*other),
            (
                "init_constants",
                "static int init_constants",
                "static int init_all",
            ),
            (
                "struct constants",
                "struct constants",
                "struct all_constants",
            ),
            ("gpu_program", "*gpu_program[]", "*gpu_text[]"),
            ("total_5", "void total_5", "void total_6"),
            ("counters_mem_1", "(int64_t) 20, 0", "(int64_t) 20, x_7"),
            (
                "counters_mem_1",
                "replicate_i32(ctx, counters_mem_1",
                "fill(ctx, counters_mem_1",
            ),
            ("mem_2", read, "((__global int32_t *) mem_2)[0] = x"),
        ];
        let version = Version::new("0.26.1.\nCompiled with GHC 9.10.3.\n");
        for (item, text, changed) in cases {
            assert!(TEXT.contains(text), "{text}");
            // A constant whose fill is not a literal has no known state.
            let c = TEXT
                .replace(text, changed)
                .replace("mem_2, (int64_t) 20", "mem_2, n_8");
            let error = fills(&Source::read(&c), &version).unwrap_err();
            error.refuses_a_form_of_0_26_1(&[item]);
            assert!(!error.to_string().contains("GHC"), "{error}");
        }
    }

    #[test]
    fn the_text_of_kernels_is_joined_and_unescaped() {
        let c = r#"static const char *gpu_program[] = {"a \"b\"\n", "c\\n", NULL};"#;
        assert_eq!(kernels_text(&tokens(c)).unwrap(), "a \"b\"\nc\\n");
        assert_eq!(kernels_text(&tokens("int x;")), None);
    }

    #[test]
    fn reads_of_elements_are_told_from_changes() {
        let cases = [
            ("x = ((__global int32_t *) m)[i[0]];", false),
            ("if (((__global int32_t *) m)[i] == 2) {", false),
            ("x = a & ((volatile __global int *) m)[i];", false),
            ("((__global int32_t *) m)[i] = x;", true),
            ("y = add(&((volatile __global int *) m)[i], 1);", true),
            ("y = add(1, &((volatile __global int *) m)[i]);", true),
            ("y = ((__global int *) m2)[i];", false),
            ("f(m);", true),
            ("__global int *p = (__global int *) m;", true),
        ];
        for (body, expected) in cases {
            assert_eq!(changes(&tokens(body), "m"), expected, "{body}");
        }
    }
}
