//! The divisions of integers in the host code of a program.
//!
//! A division by zero, or of the smallest number by -1, ends the process. The functions that divide for the program
//! and for its sizes (`sdiv64` and the like) are in the runtime, which gets a comparison (`runtime/edits.txt`) and has no other
//! divisor that can be 0 or -1. Outside of it every divisor must be a constant, so an unknown one is an error.

use std::collections::BTreeSet;

use futhark_manifest::Version;

use super::runtime;
use super::source::{Source, starts_line};
use super::token::{is_directive, is_name, opening, place};
use crate::compile::error::Error;

/// Checks that every divisor is known.
pub(super) fn check(source: &Source<'_>, version: &Version) -> Result<(), Error> {
    let runtime = runtime::sections(source.text);
    let of_program = |token: &&&str| {
        let at = place(source.text, token);
        !is_directive(token) && !runtime.iter().any(|(_, place)| place.contains(&at))
    };
    let code: Vec<&str> = source.tokens.iter().filter(of_program).copied().collect();
    let mut function = Function::default();
    for (i, operator) in code.iter().enumerate() {
        function.read(source.text, &code[i..]);
        let is_division = matches!(*operator, "/" | "%" | "/=" | "%=");
        let (before, after) = (&code[..i], &code[i + 1..]);
        if !is_division
            || before.is_empty()
            || after.len() < 2
            || function.divides_floats(before, after)
            || is_constant(after[0])
        {
            continue;
        }
        let rest = source.text[place(source.text, after[0])..].lines().next();
        let why = format!(
            "whether the divisor in `{} {operator} {}` can be 0 or -1 is not known",
            before[i - 1],
            rest.unwrap_or_default()
        );
        return Err(Error::unsupported(version, after[0], &why));
    }
    Ok(())
}

/// The floats of the current function.
#[derive(Default)]
struct Function<'a> {
    returns_float: bool,
    floats: BTreeSet<&'a str>,
}

impl<'a> Function<'a> {
    /// Reads the first of `tokens`. A function begins with the first column.
    fn read(&mut self, text: &str, tokens: &[&'a str]) {
        if is_name(tokens[0]) && starts_line(text, tokens[0]) {
            let mut head = tokens.iter().take_while(|token| **token != "(");
            self.returns_float = head.any(|token| is_float_type(token));
            self.floats.clear();
        }
        if let [ty, name, ..] = tokens
            && is_float_type(ty)
            && is_name(name)
        {
            self.floats.insert(name);
        }
    }

    /// Whether the last operand of `before` or the first of `after` is a float.
    fn divides_floats(&self, before: &[&str], after: &[&str]) -> bool {
        let returns_float = |function: &str| {
            let mut types = ["f16", "f32", "f64"].iter();
            types.any(|ty| function.ends_with(ty))
        };
        let is_number = |token: &str| token.starts_with(|c: char| c.is_ascii_digit());
        self.returns_float
            || before.last().is_some_and(|last| self.floats.contains(last))
            || self.floats.contains(after[0])
            || match before {
                // 2.0 / x, sitofp_i64_f64(x) / y
                [.., ".", number] => number.bytes().all(|byte| byte.is_ascii_digit()),
                [.., ")"] => opening(before)
                    .and_then(|open| before[..open].last())
                    .is_some_and(|function| returns_float(function)),
                _ => false,
            }
            || match after {
                // x / 2.0, x / (double) y, x / sitofp_i64_f64(y)
                [number, ".", ..] => is_number(number),
                ["(", ty, ..] => is_float_type(ty),
                [function, "(", ..] => returns_float(function),
                _ => false,
            }
    }
}

fn is_float_type(token: &str) -> bool {
    matches!(token, "float" | "double" | "f16")
}

/// A number other than 0, or the name of a constant.
fn is_constant(token: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    token != "0" && token.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_divisor_is_refused() {
        let function = |head: &str, code: &str| format!("{head} {{\n  {code}\n}}\n");
        let read = |head, code| {
            let text = function(head, code);
            check(&Source::read(&text), &Version::new("0.26.1"))
        };
        const SCALAR: &str = "SCALAR_FUN_ATTR int64_t squot64(int64_t x, int64_t y)";
        for (head, code) in [
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
        ] {
            assert!(read(head, code).is_ok(), "{code}");
        }
        for (head, code, divisor) in [
            (SCALAR, "return x / y;", "y"),
            ("int f(int64_t x, int64_t y)", "return x / y;", "y"),
            ("int f(int64_t x)", "x %= x;", "x"),
            ("int f(int64_t x)", "x = x / 0;", "0"),
            (
                "int f(double x)",
                "return x;\n}\nint g(int x) {\n  return 1 / x;",
                "x",
            ),
        ] {
            let error = read(head, code).unwrap_err();
            error.refuses_a_form_of_0_26_1(&[&format!("`{divisor}`")]);
        }
    }
}
