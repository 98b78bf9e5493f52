//! The divisions of integers in the host code of a program.
//!
//! A division by zero, or of the smallest number by -1, ends the process. The functions that divide for the program
//! and for its sizes (`sdiv64` and the like) are in the runtime, which gets a comparison (`runtime/edits.txt`) and has no other
//! divisor that can be 0 or -1. Outside of it every divisor of integers must be a constant, so an unknown one is an error.

use std::collections::BTreeSet;

use futhark_manifest::Version;

use crate::compile::error::Error;
use crate::compile::generated::Source;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, is_of_program};
use crate::compile::generated::token::place;

/// Checks the divisions in a function of the program.
pub(super) fn check(function: &Function<'_>, version: &Version) -> Result<(), Error> {
    let floats = floats(function);
    let mut unknown = |expr: &Expr<'_>| match &expr.kind {
        expr::Kind::Operation("/" | "%", parts) => {
            let is_known = parts.iter().any(|part| is_float(part, &floats));
            let divisor = parts[1].constant();
            let is_constant = divisor.is_some_and(|divisor| divisor != 0 && divisor != -1);
            (!is_known && !is_constant).then(|| expr.text.to_owned())
        }
        _ => None,
    };
    let mut body = function.body.iter();
    let mut division = body.find_map(|statement| statement.find(&mut unknown));
    function.visit(&mut |statement| {
        if let Kind::Assign {
            operator: "/=" | "%=",
            target,
            ..
        } = &statement.kind
            && !is_float(target, &floats)
        {
            division = Some(statement.text.to_owned());
        }
    });
    division.map_or(Ok(()), |division| refuse(&division, version))
}

/// Checks that there are no divisions outside of the runtime and the functions of the program.
pub(super) fn check_rest(source: &Source<'_>, version: &Version) -> Result<(), Error> {
    let functions = source.functions.iter();
    let of_program = functions.filter(|(name, function)| is_of_program(name, &function.parameters));
    let bodies = of_program.filter_map(|(_, function)| {
        let (first, last) = (function.body.first()?, function.body.last()?);
        Some(place(source.text, first)..place(source.text, last))
    });
    let bodies: Vec<_> = bodies.collect();
    let is_other = |token: &&str| {
        let at = place(source.text, token);
        let is_division = matches!(*token, "/" | "%" | "/=" | "%=");
        is_division && !source.is_runtime(token) && !bodies.iter().any(|body| body.contains(&at))
    };
    match source.tokens.iter().copied().find(is_other) {
        Some(operator) => {
            let rest = &source.text[place(source.text, operator)..];
            refuse(rest.lines().next().unwrap_or_default(), version)
        }
        None => Ok(()),
    }
}

fn refuse(division: &str, version: &Version) -> Result<(), Error> {
    let why = format!("whether the divisor in `{division}` can be 0 or -1 is not known");
    Err(Error::unsupported(version, division, &why))
}

fn is_float_type(ty: &str) -> bool {
    matches!(ty, "float" | "double" | "f16")
}

/// The variables and parameters that are floats.
fn floats<'a>(function: &Function<'a>) -> BTreeSet<&'a str> {
    let words = function.parameters.windows(2);
    let mut floats: BTreeSet<&str> = words
        .filter(|words| is_float_type(words[0]))
        .map(|words| words[1])
        .collect();
    function.visit(&mut |statement| {
        if let Kind::Declare { ty, name, .. } = &statement.kind
            && is_float_type(ty)
        {
            floats.insert(name);
        }
    });
    floats
}

/// Whether the value is a float.
fn is_float(value: &Expr<'_>, floats: &BTreeSet<&str>) -> bool {
    match &value.kind {
        expr::Kind::Name => floats.contains(value.text),
        expr::Kind::Literal => value.text.contains('.'),
        expr::Kind::Cast(ty, _) => is_float_type(ty[0]),
        // sitofp_i64_f64(x)
        expr::Kind::Call(name, _) => ["f16", "f32", "f64"].iter().any(|ty| name.ends_with(ty)),
        expr::Kind::Index(parts) => match &parts[0].kind {
            expr::Kind::Cast(ty, _) => ty.iter().any(|word| is_float_type(word)),
            _ => false,
        },
        expr::Kind::Operation("?", parts) => parts[1..].iter().all(|part| is_float(part, floats)),
        expr::Kind::Operation("+" | "-" | "*" | "/", parts) => {
            parts.iter().any(|part| is_float(part, floats))
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
            ("int64_t x", "float y_1 = x / 3.0F;\n  y_1 /= x;"),
        ] {
            check(parameter, code).unwrap_or_else(|error| panic!("{code}: {error}"));
        }
        for (code, division) in [
            ("x = x / y_1;", "x / y_1"),
            ("x = y_2 + x % (y_1 + 1);", "x % (y_1 + 1)"),
            ("x %= x;", "x %= x;"),
            ("x = x / 0;", "x / 0"),
            ("x = x / (int64_t) -1;", "x / (int64_t) -1"),
            ("x = 1;\n}\nint other(int x) {\n  return 1 / x;", "/ x;"),
        ] {
            let error = check("int64_t x", code).expect_err(code);
            error.refuses_a_form_of_0_26_1(&[&format!("`{division}`")]);
        }
    }
}
