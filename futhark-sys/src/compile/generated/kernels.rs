//! The kernels of a program for GPUs, whose text is in string literals:
//!
//! ```c
//! static const char *gpu_program[] = {"FUTHARK_KERNEL\nvoid main_segred_5(...", "...", NULL};
//! ```

use super::token::{group, is_name};

/// The text of all kernels, from the tokens of a program.
pub(super) fn text(tokens: &[&str]) -> Option<String> {
    let start = ["gpu_program", "[", "]", "=", "{"];
    let begin = tokens.windows(5).position(|tokens| tokens == start)? + 5;
    let end = begin + tokens[begin..].iter().position(|token| is_name(token))?;
    let mut kernels = String::new();
    for literal in tokens[begin..end]
        .iter()
        .filter(|token| token.starts_with('"'))
    {
        unescape(&literal[1..literal.len() - 1], &mut kernels);
    }
    Some(kernels)
}

/// Appends the characters that the content of a C string literal stands for.
fn unescape(literal: &str, to: &mut String) {
    let mut chars = literal.chars();
    while let Some(c) = chars.next() {
        to.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(c) => c,
                None => c,
            },
            c => c,
        });
    }
}

/// Whether a kernel changes the memory: `body` uses it in another way than to read an element.
///
/// ```c
/// x = ((__global int32_t *) mem_5)[i];                            // reads
/// ((volatile __global int32_t *) mem_5)[i] = x;                   // changes
/// old = atomic_add_i32(&((volatile __global int *) mem_5)[i], 1); // changes
/// ```
pub(super) fn changes(body: &[&str], memory: &str) -> bool {
    let mut uses = (0..body.len()).filter(|&i| body[i] == memory);
    uses.any(|i| !is_read(body, i))
}

/// Whether the use of memory at index `at` reads an element.
fn is_read(body: &[&str], at: usize) -> bool {
    let [")", index @ ..] = &body[at + 1..] else {
        return false;
    };
    let Some(length) = group(index).filter(|_| index[0] == "[") else {
        return false;
    };
    // The cast, and what is in front of it.
    let Some(cast) = body[..at].iter().rposition(|token| *token == "(") else {
        return false;
    };
    let is_address = matches!(&body[..cast], [.., "(" | "," | "=", "&", "("]);
    index.get(length) != Some(&"=") && !is_address
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::generated::token::tokens;

    #[test]
    fn the_text_of_kernels_is_joined_and_unescaped() {
        let c = r#"static const char *gpu_program[] = {"a \"b\"\n", "c\\n", NULL};"#;
        assert_eq!(text(&tokens(c)).unwrap(), "a \"b\"\nc\\n");
        assert_eq!(text(&tokens("int x;")), None);
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
