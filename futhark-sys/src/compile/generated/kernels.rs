//! The kernels of a program for GPUs, whose text is in string literals:
//!
//! ```c
//! static const char *gpu_program[] = {"FUTHARK_KERNEL\nvoid main_segred_5(...", "...", NULL};
//! ```

use super::token::{Kind, Token, tokens};

/// The text of all kernels.
pub(super) fn text(c_text: &str) -> Option<String> {
    let (_, rest) = c_text.split_once("*gpu_program[] = {")?;
    let mut literals = tokens(rest).into_iter();
    let mut kernels = String::new();
    loop {
        let token = literals.next()?;
        match token.kind {
            Kind::Literal => unescape(&token.text[1..token.text.len() - 1], &mut kernels),
            Kind::Word => return Some(kernels),
            _ => {}
        }
    }
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
pub(super) fn changes(body: &[Token<'_>], memory: &str) -> bool {
    let mut uses = (0..body.len()).filter(|&i| body[i].text == memory);
    uses.any(|i| !is_read(body, i))
}

/// Whether the use of memory at index `at` reads an element.
fn is_read(body: &[Token<'_>], at: usize) -> bool {
    let is = |i: usize, mark| body.get(i).is_some_and(|token| token.is(mark));
    // The index in brackets.
    if !is(at + 1, ")") || !is(at + 2, "[") {
        return false;
    }
    let mut depth = 0;
    let closes = |token: &Token<'_>| {
        depth += i32::from(token.is("[")) - i32::from(token.is("]"));
        depth == 0
    };
    let Some(length) = body[at + 2..].iter().position(closes) else {
        return false;
    };
    let after = at + 2 + length + 1;
    let is_assigned = is(after, "=") && !is(after + 1, "=");
    // The cast, and what is in front of it.
    let Some(cast) = body[..at].iter().rposition(|token| token.is("(")) else {
        return false;
    };
    let is_address = cast >= 3
        && is(cast - 1, "(")
        && is(cast - 2, "&")
        && ["(", ",", "="].iter().any(|mark| is(cast - 3, mark));
    !is_assigned && !is_address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_kernels_is_joined_and_unescaped() {
        let c = r#"static const char *gpu_program[] = {"a \"b\"\n", "c\\n", NULL};"#;
        assert_eq!(text(c).unwrap(), "a \"b\"\nc\\n");
        assert_eq!(text("int x;"), None);
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
