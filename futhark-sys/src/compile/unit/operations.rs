//! The places of operations on signed integers in the functions of a program, by what their results become.
//! `docs/arithmetic.md` says for each kind why a result that wraps does no harm.

use crate::compile::generated::expr::Expr;
use crate::compile::generated::lines::{Line, Purpose, Statement};
use crate::compile::generated::token::place;

/// Whether each operation on a line of a function of the program is in a known place.
pub(super) fn are_known(line: &Line<'_>) -> bool {
    let mut depth = 0;
    line.tokens.iter().enumerate().all(|(i, token)| {
        depth += i32::from(*token == "[") - i32::from(*token == "]");
        let at = place(line.text, token);
        // Generated code has spaces around binary operators only.
        let is_spaced = line.text[..at].ends_with(' ')
            && line.text[at + token.len()..].starts_with([' ', '=', '\n']);
        let is_subscript = depth > 0;
        !is_spaced
            || !OPERATORS.contains(token)
            || is_subscript
            || is_least(&line.tokens, i)
            || is_known(line, at)
    })
}

const OPERATORS: [&str; 12] = [
    "+", "-", "*", "/", "%", "<<", ">>", "+=", "-=", "*=", "/=", "%=",
];

/// Whether token `i` is the operator of the smallest number of 64 bits, which newer compilers write as a difference:
/// `-9223372036854775807 - 1`.
fn is_least(tokens: &[&str], i: usize) -> bool {
    tokens[..i].ends_with(&["-", "9223372036854775807"]) && tokens[i..].starts_with(&["-", "1"])
}

/// Whether the operator at index `at`, outside of brackets, is in a known place.
fn is_known(line: &Line<'_>, at: usize) -> bool {
    match &line.statement {
        // Sizes, offsets of copies, and arguments of kernels.
        Statement::Pass(passed)
            if matches!(passed.purpose, Purpose::Copy | Purpose::Launch)
                || passed.sizes.iter().any(|(place, _)| place.contains(&at)) =>
        {
            true
        }
        Statement::Loop(Some(_), _) => true,
        // Numbers; `sizes` refuses those that sizes depend on and that it cannot read. The lengths that are added to the offset
        // of a part of a concatenation are compared with zero.
        Statement::Set(set) if set.value.is_some() || !set.is_definition => true,
        // Text.
        Statement::Message(_) => true,
        // Conditions, whose arithmetic `bounds` checks where a check of the compiler depends on it.
        Statement::Test { condition, .. } | Statement::Check(condition) => {
            Expr::operands(condition).is_some()
        }
        _ => match *line.tokens {
            ["set_error", ..] | ["fprintf", "(", "ctx", "->", "log", ..] => true,
            // The offset of a scalar.
            ["if", "(", "(", "err", "=", scalar, ..] if scalar.starts_with("gpu_scalar_") => true,
            // The range of a task.
            ["for", "(", "int64_t", _, "=", start, ..] if start.starts_with("start") => true,
            // Numbers of the program.
            [
                "float" | "double" | "f16" | "int8_t" | "int16_t" | "int32_t",
                ..,
            ] => true,
            // Calls of functions, launches that are empty, and choices between versions of the same code.
            ["if" | "while", "(", ..] => true,
            // In text of multicore that only ISPC compiles.
            [.., "+=", "programIndex", ";"] => true,
            // The sign of a stride.
            _ => line.text.contains(" > 0 ? 1 : 0) - ("),
        },
    }
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Version;

    use crate::compile::error::Error;
    use crate::compile::generated::{Source, lines};
    use crate::compile::unit::sizes;

    fn check(text: &str) -> Result<(), Error> {
        let version = Version::new("0.26.1");
        let lines = lines::read(&Source::read(text), &version)?;
        sizes::checked(&lines, &version).map(drop)
    }

    #[test]
    fn an_operation_in_an_unknown_place_is_refused() {
        let function = |code: &str| {
            format!("static int futrts_f(struct futhark_context *ctx)\n{{\n    {code}\n}}\n")
        };
        for code in [
            "int64_t n_1 = a_2 * b_3;",
            "offset_1 += a_2;",
            "x_1 *= a_2;",
            "x_1 = x_1 / a_2;",
            "int64_t s_1 = (a_2 > 0 ? 1 : 0) - (a_2 < 0 ? 1 : 0);",
            "((int64_t *) mem_1.mem)[a_2 * b_3] = x_4;",
            "bool c_1 = slt64(a_2 + b_3, n_4);",
            "bool c_1 = d_2 && !(a_2 + b_3 == n_4);",
            "if (!(a_2 * b_3 == n_4)) {\n    }",
            "if (slt64(a_2 * b_3, n_4)) {\n    }",
            "for (int64_t i_1 = 0; i_1 < a_2 * b_3; i_1++) {\n    }",
            "if (memblock_alloc(ctx, &m_1, a_2 * b_3, \"m_1\")) {\n    }",
            "((int64_t *) mem_1.mem)[a_2] = (int64_t) -9223372036854775807 - 1;",
            "*out_1 = (int64_t) -9223372036854775807 - 1;",
            "ctx->n_1 = futrts_f_2((int64_t) -9223372036854775807 - 1, a_3);",
        ] {
            check(&function(code)).unwrap_or_else(|error| panic!("{code}: {error}"));
        }
        for code in [
            "int64_t n_1 = a_2 << b_3;",
            "ctx->n_1 = a_2 * b_3;",
            "ctx->n_1 = (int64_t) -9223372036854775807 - a_2;",
            "ctx->n_1 = (int64_t) -9223372036854775806 - 1;",
            "other(ctx, a_2 * b_3);",
            "bool c_1 = (a_2 << b_3) == n_4;",
        ] {
            let error = check(&function(code)).unwrap_err();
            error.refuses_a_form_of_0_26_1(&[code]);
        }
        check("static int other(int x)\n{\n    x = a << 2;\n}\n").unwrap();
    }
}
