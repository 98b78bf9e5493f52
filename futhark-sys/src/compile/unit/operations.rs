//! What the functions of a program do with numbers: the functions that they call, and the places of their operations on
//! signed integers, by what their results become. `docs/arithmetic.md` says for each kind why a result that wraps does no
//! harm.
//!
//! Every number that a size of the program becomes is checked where the program passes it to the runtime. That
//! holds only if all these places are known, so a call of a function that is not listed here is an error. Functions whose
//! parameters are all numbers are not listed: they access no memory and start nothing.
//!
//! The functions of the API (`futhark_new_…` and so on) are not functions of the program: they get the shapes of
//! values, which `c/fut_sizes.h` checks.

use futhark_manifest::Version;

use super::bounds;
use super::passes::{Passed, is_iterations};
use crate::compile::error::Error;
use crate::compile::generated::Source;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, Statement, is_of_program, matches};

/// The functions, except those that get sizes on their own line (`passes.rs`). `*` stands for any end of a name.
const KNOWN: &[&str] = &[
    // No number that depends on a size, on all backends and on host backends.
    "set_error",
    "msgprintf",
    "fprintf",
    "strdup",
    "free",
    "memblock_set",
    "memblock_unref",
    // multicore.
    "mc_event_new",
    "add_event",
    "lock_lock",
    "lock_unlock",
    "__atomic_*",
    // GPU backends. A launch is checked by `fut_check_launch`; a scalar has an index, which the program checks.
    "memblock_set_device",
    "memblock_unref_device",
    "gpu_launch_kernel",
    "gpu_scalar_from_device",
    "gpu_scalar_to_device",
    "futhark_context_sync",
    // Functions of numbers that are macros.
    "sext_*",
    "zext_*",
    "futrts_cond_*",
];

/// Checks that every call in a function is known, and that every operation is in a known place.
pub(super) fn check(
    function: &Function<'_>,
    source: &Source<'_>,
    version: &Version,
) -> Result<(), Error> {
    for statement in function.statements() {
        let refuse = |item, why: &str| Err(Error::unsupported(version, item, why));
        for part in statement.parts() {
            if let expr::Kind::Call(name, _) = part.kind
                && !is_known(part, name, source)
            {
                let caller = function.name;
                let why = format!("`{caller}` calls it, and whether it gets a size is not known");
                return refuse(name, &why);
            }
        }
        if !are_known(statement) {
            return refuse(statement.text, "what becomes of its result is not known");
        }
    }
    Ok(())
}

fn is_known(call: &Expr<'_>, function: &str, source: &Source<'_>) -> bool {
    let is_read = |parameters: &[&str]| {
        let mut others = ["*", "[", "struct"].iter();
        // The functions of the program are only known if they are read, and so checked.
        is_of_program(function, parameters) || !others.any(|other| parameters.contains(other))
    };
    let definition = source.functions.get(function);
    Passed::of(call).is_some()
        || KNOWN.iter().any(|pattern| matches(pattern, function))
        || definition.is_some_and(|definition| is_read(&definition.parameters))
}

/// Whether every operation of a statement is in a known place, because of its kind or by itself.
fn are_known(statement: &Statement<'_>) -> bool {
    let is_known = match &statement.kind {
        // The range of a task, or a number of iterations.
        Kind::For(_) => true,
        // Conditions, whose arithmetic `bounds` checks where a check of the compiler depends on it. The others choose between
        // versions of the same code.
        Kind::If(condition, _) => bounds::check(statement).is_none() || condition.is_condition(),
        Kind::Declare { ty, value, .. } => match (*ty, value) {
            ("bool", Some(condition)) => condition.is_condition(),
            // `sizes` refuses those that sizes depend on and that it cannot read.
            ("int64_t", Some(value)) => value.is_number(),
            // Numbers of the program.
            (ty, _) => matches!(
                ty,
                "float" | "double" | "f16" | "int8_t" | "int16_t" | "int32_t"
            ),
        },
        // Numbers. The lengths that are added to the offset of a part of a concatenation are compared with zero.
        Kind::Assign { target, .. } => target.name().is_some() || is_iterations(target),
        // Text.
        Kind::Evaluate(call) => matches!(call.kind, expr::Kind::Call("set_error" | "fprintf", _)),
        _ => false,
    };
    is_known || statement.expressions().into_iter().all(is_free)
}

/// Whether no operation on numbers that are not constants is outside of subscripts and of the arguments of functions that get
/// sizes. These are checked sizes, places of copies, and numbers of the program.
fn is_free(expr: &Expr<'_>) -> bool {
    match &expr.kind {
        _ if Passed::of(expr).is_some() || expr.constant().is_some() => true,
        expr::Kind::Operation("+" | "-" | "*" | "/" | "%" | "<<" | ">>", parts)
            if parts.len() > 1 =>
        {
            false
        }
        expr::Kind::Index(parts) => is_free(&parts[0]),
        _ => expr.parts().iter().all(is_free),
    }
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Version;

    use crate::compile::error::Error;
    use crate::compile::generated::Source;
    use crate::compile::unit::checked::checked;

    fn check(text: &str) -> Result<(), Error> {
        let called = "int futrts_f_2(struct futhark_context *ctx, int64_t x)\n{\n}\nbool slt64(int64_t x, int64_t y)\n{\n}\n";
        let source = format!("{called}{text}");
        checked(&Source::read(&source), &Version::new("0.26.1"), None).map(drop)
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
            "x_1 = x_1 / (int64_t) 2;",
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
            "memblock_unref(ctx, a_2 * b_3);",
            "bool c_1 = (a_2 << b_3) == n_4;",
        ] {
            let error = check(&function(code)).expect_err(code);
            error.refuses_a_form_of_0_26_1(&[code]);
        }
        check("static int other(int x)\n{\n    x = a << 2;\n}\n").unwrap();
    }
}
