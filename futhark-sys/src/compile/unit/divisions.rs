//! The divisions of integers in the host code of a program.
//!
//! A division by zero, or of the smallest number by -1, ends the process. The functions that divide for the program
//! and for its sizes (`sdiv64` and the like) are in the runtime, which gets a comparison (`runtime/edits.txt`) and has no other
//! divisor that can be 0 or -1. Outside of it every divisor of integers must be a constant, so an unknown one is an error.
//!
//! The compiler loses some checks of indices that it divides: `(rotate k xs)[5::-1]` of an array without elements.

use std::collections::BTreeMap;

use futhark_manifest::Version;

use super::edits::Edits;
use crate::compile::error::Error;
use crate::compile::generated::Source;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, is_of_program};
use crate::compile::generated::token::place;

/// Checks the divisions in a function of the program.
pub(super) fn check(function: &Function<'_>, version: &Version) -> Result<(), Error> {
    let types = function.types();
    let is_unknown = |expr: &&Expr<'_>| match &expr.kind {
        expr::Kind::Operation("/" | "%", parts) => {
            let divisor = parts[1].constant();
            let is_known = divisor.is_some_and(|divisor| divisor != 0 && divisor != -1);
            !is_known && !is_float(expr, &types)
        }
        _ => false,
    };
    let mut statements = function.statements().into_iter();
    let division = statements.find_map(|statement| statement.parts().into_iter().find(is_unknown));
    division.map_or(Ok(()), |division| refuse(division.text, version))
}

/// Makes a division by zero an error of the call, where the value is one division; the comparison in the runtime would lose
/// the context. The program compares its own divisors before.
pub(super) fn write<'a>(function: &Function<'a>, edits: &mut Edits<'a>) {
    for statement in function.statements() {
        let Kind::Declare {
            value: Some(value), ..
        } = &statement.kind
        else {
            continue;
        };
        let dividing = ["sdiv64", "smod64", "squot64", "srem64"].iter();
        let parts = dividing.filter_map(|name| value.arguments(name)).next();
        if let Some([_, divisor]) = parts
            && divisor.constant().is_none_or(|divisor| divisor == 0)
        {
            let check = format!("FUT_REFUSE_IF(({}) == 0, FUT_DIVIDED)", divisor.text);
            edits.before(statement.text, &check);
        }
    }
}

/// Checks that there are no divisions outside of the runtime and the functions of the program.
pub(super) fn check_rest(source: &Source<'_>, version: &Version) -> Result<(), Error> {
    let place = |token: &str| place(source.text, token);
    let is_checked = |at: usize| {
        let mut functions = source.functions.iter();
        functions.any(|(name, function)| match function.body[..] {
            [first, .., last] => {
                (place(first)..place(last)).contains(&at)
                    && is_of_program(name, &function.parameters)
            }
            _ => false,
        })
    };
    let is_unknown = |token: &&str| {
        let is_division = matches!(*token, "/" | "%" | "/=" | "%=");
        is_division && !source.is_runtime(token) && !is_checked(place(token))
    };
    let unknown = source.tokens.iter().copied().find(is_unknown);
    unknown.map_or(Ok(()), |operator| {
        let rest = source.text[place(operator)..].lines().next();
        refuse(rest.unwrap_or_default(), version)
    })
}

fn refuse(division: &str, version: &Version) -> Result<(), Error> {
    let why = format!("whether the divisor in `{division}` can be 0 or -1 is not known");
    Err(Error::unsupported(version, division, &why))
}

fn is_float_type(ty: &str) -> bool {
    matches!(ty, "float" | "double" | "f16")
}

/// Whether the value is a float, with the types of variables.
fn is_float(value: &Expr<'_>, types: &BTreeMap<&str, &str>) -> bool {
    match &value.kind {
        expr::Kind::Name => types.get(value.text).is_some_and(|ty| is_float_type(ty)),
        expr::Kind::Literal => value.text.contains('.'),
        expr::Kind::Cast(ty, _) => ty.iter().any(|word| is_float_type(word)),
        // sitofp_i64_f64(x)
        expr::Kind::Call(name, _) => ["f16", "f32", "f64"].iter().any(|ty| name.ends_with(ty)),
        // ((float *) mem.mem)[i]
        expr::Kind::Index(parts) => is_float(&parts[0], types),
        expr::Kind::Operation("?", parts) => is_float(&parts[2], types),
        expr::Kind::Operation("+" | "-" | "*" | "/", parts) => {
            parts.iter().any(|part| is_float(part, types))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::generated::statement::functions;

    #[test]
    fn an_unknown_divisor_is_refused() {
        let check = |parameter: &str, code: &str| {
            let text = format!(
                "int futrts_f(struct futhark_context *ctx, {parameter}) {{\n  {code}\n}}\n"
            );
            let (source, version) = (Source::read(&text), Version::new("0.26.1"));
            let functions = functions(&source, &version, is_of_program).unwrap();
            check(&functions[0], &version).and_then(|()| check_rest(&source, &version))
        };
        for (parameter, code) in [
            ("int64_t x", "x = x % 16 + x / (int64_t) 8;"),
            ("double y_1", "x = x / y_1 + 2.5 / x + x / (double) x;"),
            ("int64_t x", "x = sitofp_i64_f64(x) / sitofp_i64_f64(n_1);"),
            ("int64_t x", "x = ((float *) mem_2.mem)[i_3] / y_4;"),
            ("int64_t x", "float y_1 = x / 3.0F;"),
        ] {
            check(parameter, code).unwrap_or_else(|error| panic!("{code}: {error}"));
        }
        for (code, division) in [
            ("x = x / y_1;", "x / y_1"),
            ("x = y_2 + x % (y_1 + 1);", "x % (y_1 + 1)"),
            ("x = x / 0;", "x / 0"),
            ("x = x / (int64_t) -1;", "x / (int64_t) -1"),
            ("x = 1;\n}\nint other(int x) {\n  return 1 / x;", "/ x;"),
        ] {
            let error = check("int64_t x", code).expect_err(code);
            error.refuses_a_form_of_0_26_1(&[&format!("`{division}`")]);
        }
    }

    #[test]
    fn a_division_of_an_index_by_zero_is_an_error_of_the_call() {
        let text = "int futrts_f(struct futhark_context *ctx, int64_t n_1)\n{\n    int64_t i_2 = smod64(x_3, n_1);\n    \
             int64_t j_4 = squot64(x_3, (int64_t) 8);\n}\n";
        let (source, version) = (Source::read(text), Version::new("0.26.1"));
        let functions = functions(&source, &version, is_of_program).unwrap();
        let mut edits = Edits::of(text);
        write(&functions[0], &mut edits);
        let line = "    int64_t i_2 = smod64";
        let check = format!("    FUT_REFUSE_IF((n_1) == 0, FUT_DIVIDED)\n{line}");
        assert_eq!(edits.apply(), text.replace(line, &check));
    }
}
