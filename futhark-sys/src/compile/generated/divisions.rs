//! The divisions of integers in the host code of a program.
//!
//! A division by zero, or of the smallest number by -1, ends the process. The functions that divide for the program
//! and for its sizes (`sdiv64` and the like) get a comparison when they are written. Every other divisor must be
//! one that is known not to be 0 or -1, so an unknown one is an error.

use std::collections::BTreeSet;

use futhark_manifest::Version;

use super::token::{Kind, Token, tokens};
use crate::compile::error::Error;

/// Divisions by numbers that are neither 0 nor -1: the last token of the dividend, the operator and the divisor.
const KNOWN: &[&str] = &[
    // The size of an array.
    ") / sizeof(",
    // Capacities of queues, which start with 1024 and double.
    ") % subtask_queue->capacity",
    // Numbers of threads, which are at least 1. A worker takes work of others only if there are some.
    "subtask_id % scheduler->num_threads",
    ") % (my_num_workers - 1)",
    // A setting; `unit/runtime.rs` writes 1 for 0.
    ") / cfg->gpu.default_block_size",
    // Between 1 and the number of threads.
    "iterations / nsubtasks",
    "iterations % nsubtasks",
    // At least 1, by `smax64` or a conditional expression.
    "iterations / min_iter_pr_subtask",
    "iterations % min_iter_pr_subtask",
    // Compared with 0 in front of it; the quotient of two positive numbers.
    ") / info.iter_pr_subtask",
    // Constants, and on Windows a clock.
    ") / w",
    "QuadPart / freq.QuadPart",
    ") / (TR_BLOCK_DIM*TR_BLOCK_DIM)",
    // Dimensions of a transposition, which is not empty, and quotients of `TR_BLOCK_DIM` by smaller ones.
    "TR_BLOCK_DIM / n",
    "TR_BLOCK_DIM / m",
    ") / mulx",
    ") / muly",
];

/// The ends of statements that divide in functions with the attribute `SCALAR_FUN_ATTR`, which are compared:
/// `unit/runtime.rs`. `ys` is in text for kernels of ISPC.
const COMPARED: [&str; 4] = [" / y;", " % y;", " / ys;", " % ys;"];

/// How many divisions of integers the host code has, by the reason why they raise no signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::compile) struct Divisions {
    /// By the parameter `y` of a function that divides, which is compared.
    pub compared: usize,
    pub by_constant: usize,
    pub by_known: usize,
}

/// Finds all divisions.
///
/// # Errors
///
/// [`ErrorKind::Layout`](crate::compile::ErrorKind::Layout): a divisor is unknown.
pub(in crate::compile) fn read(c_text: &str, version: &Version) -> Result<Divisions, Error> {
    let mut all = tokens(c_text);
    all.retain(|token| token.kind != Kind::Directive);
    let mut divisions = Divisions::default();
    let mut function = Function::default();
    for (i, token) in all.iter().enumerate() {
        function.read(c_text, &all[i..]);
        if !(token.is("/") || token.is("%")) || i == 0 || i + 2 >= all.len() {
            continue;
        }
        let assigns = usize::from(all[i + 1].is("="));
        let (before, divisor) = (&all[i - 1], &all[i + 1 + assigns]);
        if function.divides_floats(&all[..i], &all[i + 1 + assigns..]) {
            continue;
        }
        let division = format!("{} {} {}", before.text, token.text, &c_text[divisor.at..]);
        let code = &c_text[token.at - 1..];
        match divisor {
            _ if function.is_scalar && COMPARED.iter().any(|end| code.starts_with(end)) => {
                divisions.compared += 1;
            }
            constant if is_constant(constant) => divisions.by_constant += 1,
            _ if KNOWN.iter().any(|known| is_prefix(known, &division)) => divisions.by_known += 1,
            unknown => {
                let line = division.lines().next().unwrap_or_default();
                let why = format!("whether the divisor in `{line}` can be 0 or -1 is not known");
                return Err(Error::unsupported(version, unknown.text, &why));
            }
        }
    }
    Ok(divisions)
}

/// The floats of the current function.
#[derive(Default)]
struct Function<'a> {
    is_scalar: bool,
    returns_float: bool,
    floats: BTreeSet<&'a str>,
}

impl<'a> Function<'a> {
    /// Reads the first of `tokens`. A function begins with the first column.
    fn read(&mut self, c_text: &str, tokens: &[Token<'a>]) {
        let token = &tokens[0];
        let starts_line = token.at == 0 || c_text.as_bytes()[token.at - 1] == b'\n';
        if starts_line && token.kind == Kind::Word {
            let mut head = tokens.iter().take_while(|token| !token.is("("));
            self.is_scalar = token.text == "SCALAR_FUN_ATTR";
            self.returns_float = head.any(is_float_type);
            self.floats.clear();
        }
        if let [ty, name, ..] = tokens
            && is_float_type(ty)
            && name.kind == Kind::Word
        {
            self.floats.insert(name.text);
        }
    }

    /// Whether the last operand of `before` or the first of `after` is a float.
    fn divides_floats(&self, before: &[Token<'_>], after: &[Token<'_>]) -> bool {
        let is = |token: Option<&Token<'_>>, mark| token.is_some_and(|token| token.is(mark));
        let returns_float = |function: &str| {
            let mut types = ["f16", "f32", "f64"].iter();
            types.any(|ty| function.ends_with(ty))
        };
        let last = before.last().map_or("", |token| token.text);
        self.returns_float
            || self.floats.contains(last)
            || self.floats.contains(after[0].text)
            // 2.0 / x, x / 2.0
            || is(before.iter().rev().nth(1), ".") && last.bytes().all(|b| b.is_ascii_digit())
            || after[0].kind == Kind::Literal && is(after.get(1), ".")
            // / (double) x, / sitofp_i64_f64(x), sitofp_i64_f64(x) /
            || after[0].is("(") && after.get(1).is_some_and(is_float_type)
            || returns_float(after[0].text) && is(after.get(1), "(")
            || called(before).is_some_and(returns_float)
    }
}

fn is_float_type(token: &Token<'_>) -> bool {
    matches!(token.text, "float" | "double" | "f16")
}

/// A number other than 0, or the name of a constant.
fn is_constant(token: &Token<'_>) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    token.kind != Kind::Mark && token.text != "0" && token.text.chars().all(is_part)
}

/// Whether `known` is the beginning of `division`, and its last name is not longer there.
fn is_prefix(known: &str, division: &str) -> bool {
    let rest = division.strip_prefix(known);
    rest.is_some_and(|rest| !known.ends_with(is_word) || !rest.starts_with(is_word))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The function whose call ends `tokens`.
fn called<'a>(tokens: &[Token<'a>]) -> Option<&'a str> {
    tokens.last().filter(|token| token.is(")"))?;
    let mut depth = 0;
    let open = tokens.iter().rposition(|token| {
        depth += i32::from(token.is(")")) - i32::from(token.is("("));
        depth == 0
    })?;
    let name = &tokens[open.checked_sub(1)?];
    (name.kind == Kind::Word).then_some(name.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_divisor_is_refused() {
        let function = |head: &str, code: &str| format!("{head} {{\n  {code}\n}}\n");
        let read = |head, code| read(&function(head, code), &Version::new("0.26.1"));
        const SCALAR: &str = "SCALAR_FUN_ATTR int64_t squot64(int64_t x, int64_t y)";
        for (head, code) in [
            (SCALAR, "return y == 0 ? 0 : x / y;"),
            ("int f(int64_t x)", "x = x % 16 + x / TR_BLOCK_DIM;"),
            ("double f(int64_t x)", "return x / log(x);"),
            (
                "int f(double y_1, int64_t x)",
                "x = x / y_1 + 2.5 / x + x / (double) x;",
            ),
            (
                "int f(int64_t x)",
                "x = sitofp_i64_f64(x) / sitofp_i64_f64(n_1);",
            ),
            ("int f(int64_t n)", "n = TR_BLOCK_DIM / n;"),
        ] {
            assert!(read(head, code).is_ok(), "{code}");
        }
        for (head, code, divisor) in [
            (SCALAR, "return x/y;", "y"),
            (SCALAR, "return x / z;", "z"),
            ("int f(int64_t x, int64_t y)", "return x / y;", "y"),
            ("int f(int64_t x)", "x %= x;", "x"),
            ("int f(int64_t x)", "x = x / 0;", "0"),
            (
                "int f(double x)",
                "return x;\n}\nint g(int x) {\n  return 1 / x;",
                "x",
            ),
            ("int f(int64_t n)", "n = TR_BLOCK_DIM / n_1;", "n_1"),
        ] {
            let error = read(head, code).unwrap_err().to_string();
            for word in [&format!("`{divisor}`"), "0.26.1", "UPGRADING.md"] {
                assert!(error.contains(word), "{code}: {error}");
            }
        }
    }
}
