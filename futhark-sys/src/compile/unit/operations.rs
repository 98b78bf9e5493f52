//! Places each operation on signed integers in the functions of a program: what its result becomes.
//! `docs/arithmetic.md` says for each kind why a result that wraps does no harm.

use crate::compile::generated::expr::Expr;
use crate::compile::generated::lines::{Line, Purpose, Statement};
use crate::compile::generated::token::{Kind, identifier, tokens};

/// What the result of an operation becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compile) enum Use {
    /// A size that the runtime receives, or iterations: computed again in checked arithmetic.
    Size,
    /// The place of an element.
    Subscript,
    /// The offset or a stride of a copy, or the offset of one element on a device.
    Offset,
    /// The range of a task of multicore or ISPC.
    Range,
    /// A number of the program or an index, which is compared, if at all, after it is computed.
    Number,
    /// A condition, whose arithmetic `bounds` checks where a check of the compiler depends on it.
    Condition,
    /// A condition that selects one of several versions of the same code.
    Choice,
    /// An argument of a kernel.
    Kernel,
    /// A number in the text of an error.
    Text,
}

/// The uses of all operations on a line of a function of the program; the error is an operation in an unknown place.
pub(super) fn uses(line: &Line<'_>, is_checked: bool) -> Result<Vec<Use>, ()> {
    let code = line.text;
    let mut uses = Vec::new();
    let mut depth = 0;
    for token in tokens(code) {
        depth += i32::from(token.is("[")) - i32::from(token.is("]"));
        // Generated code has spaces around binary operators only.
        let is_spaced = code[..token.at].ends_with(' ')
            && code[token.end()..].starts_with([' ', '=', '<', '>']);
        let operators = ["+", "-", "*", "/", "%", "<", ">"];
        if token.kind != Kind::Mark || !is_spaced || !operators.contains(&token.text) {
            continue;
        }
        let is_comparison = matches!(token.text, "<" | ">");
        if is_comparison && !code[token.end()..].starts_with(token.text) {
            continue;
        }
        uses.push(match depth > 0 {
            true => Use::Subscript,
            false => place(line, token.at, is_checked).ok_or(())?,
        });
    }
    Ok(uses)
}

/// What the result of the operator at index `at` becomes, outside of brackets.
fn place(line: &Line<'_>, at: usize, is_checked: bool) -> Option<Use> {
    let starts = |beginnings: &[&str]| {
        let code = line.text.trim_start();
        beginnings
            .iter()
            .any(|beginning| code.starts_with(beginning))
    };
    Some(match &line.statement {
        Statement::Pass(passed) if passed.sizes.iter().any(|(place, _)| place.contains(&at)) => {
            Use::Size
        }
        Statement::Pass(passed) if passed.purpose == Purpose::Copy => Use::Offset,
        Statement::Pass(passed) if passed.purpose == Purpose::Launch => Use::Kernel,
        Statement::Loop { count: Some(_), .. } => Use::Size,
        Statement::Define {
            value: Some(value), ..
        }
        | Statement::Assign {
            value: Some(value), ..
        } => match is_checked && !matches!(value, Expr::Text(_)) {
            true => Use::Size,
            false => Use::Number,
        },
        // The lengths that are added to the offset of a part of a concatenation are compared with zero.
        Statement::Advance { .. } => Use::Number,
        Statement::Assign { value: None, .. } if is_advance(line.text) => Use::Number,
        Statement::Message(_) => Use::Text,
        Statement::Test { condition, .. } | Statement::Check(condition) => {
            Expr::operands(condition).map(|_| Use::Condition)?
        }
        _ if starts(&["set_error(", "fprintf(ctx->log"]) => Use::Text,
        _ if starts(&["if ((err = gpu_scalar_"]) => Use::Offset,
        _ if starts(&["for (int64_t "]) && line.text.contains(" = start") => Use::Range,
        // Launches that are empty; the sizes are checked.
        _ if starts(&["if (grid_x * "]) => Use::Size,
        _ if starts(&[
            "float ",
            "double ",
            "f16 ",
            "int8_t ",
            "int16_t ",
            "int32_t ",
            "if (futrts_",
        ]) =>
        {
            Use::Number
        }
        _ if starts(&["if (", "while ("]) => Use::Choice,
        // The sign of a stride, and the lanes of ISPC.
        _ if line.text.contains(" > 0 ? 1 : 0) - (")
            || line.text.ends_with(" += programIndex;") =>
        {
            Use::Number
        }
        _ => return None,
    })
}

/// `name += value;` or `name -= value;`
fn is_advance(code: &str) -> bool {
    let advance = code.split_once("= ").and_then(|(target, value)| {
        let name = target
            .trim_start()
            .strip_suffix(['+', '-'])?
            .strip_suffix(' ')?;
        Some((
            identifier(name) == name,
            Expr::parse(value.strip_suffix(';')?),
        ))
    });
    matches!(advance, Some((true, Some(_))))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use futhark_manifest::{Backend, Version};

    use super::*;
    use crate::compile::compiler::Compiler;
    use crate::compile::error::Error;
    use crate::compile::generated::{divisions, lines};
    use crate::compile::unit::sizes;

    fn uses(text: &str) -> Result<BTreeMap<Use, usize>, Error> {
        let version = Version::new("0.26.1");
        let lines = lines::read(text, &version)?;
        sizes::checked(&lines, Backend::C, &version).map(|checked| checked.uses)
    }

    #[test]
    fn an_operation_in_an_unknown_place_is_refused() {
        let function = |code: &str| {
            format!("static int futrts_f(struct futhark_context *ctx)\n{{\n    {code}\n}}\n")
        };
        for (code, of) in [
            ("int64_t n_1 = a_2 * b_3;", Use::Number),
            ("offset_1 += a_2;", Use::Number),
            ("((int64_t *) mem_1.mem)[a_2 * b_3] = x_4;", Use::Subscript),
            ("bool c_1 = slt64(a_2 + b_3, n_4);", Use::Condition),
            ("bool c_1 = d_2 && !(a_2 + b_3 == n_4);", Use::Condition),
            ("if (!(a_2 * b_3 == n_4)) {\n    }", Use::Condition),
            ("if (slt64(a_2 * b_3, n_4)) {\n    }", Use::Choice),
            (
                "for (int64_t i_1 = 0; i_1 < a_2 * b_3; i_1++) {\n    }",
                Use::Size,
            ),
            (
                "if (memblock_alloc(ctx, &m_1, a_2 * b_3, \"m_1\")) {\n    }",
                Use::Size,
            ),
        ] {
            let found = uses(&function(code)).unwrap();
            assert_eq!(found, BTreeMap::from([(of, 1)]), "{code}");
        }
        for code in [
            "int64_t n_1 = a_2 << b_3;",
            "n_1 *= a_2;",
            "ctx->n_1 = a_2 * b_3;",
            "other(ctx, a_2 * b_3);",
            "bool c_1 = (a_2 << b_3) == n_4;",
        ] {
            let error = uses(&function(code)).unwrap_err().to_string();
            for word in [code, "0.26.1", "UPGRADING.md"] {
                assert!(error.contains(word), "{code}: {error}");
            }
        }
        assert!(
            uses("static int other(int x)\n{\n    x = a << 2;\n}\n")
                .unwrap()
                .is_empty()
        );
    }

    /// All programs on all backends and with all compilers if `FUTHARK_TESTS_FULL` is set.
    #[test]
    fn every_operation_of_the_corpus_is_placed() {
        const FEW: [&str; 4] = [
            "arrays/sizes",
            "consumption/slices",
            "parallel/nested",
            "workloads/kmeans",
        ];
        let full = std::env::var_os("FUTHARK_TESTS_FULL").is_some();
        let compilers = match full {
            true => Compiler::all(),
            false => Compiler::find().into_iter().collect(),
        };
        let needed = std::env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
        assert!(
            !needed || !compilers.is_empty(),
            "there is no Futhark compiler"
        );
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
        let programs = match full {
            true => below(&programs),
            false => FEW
                .iter()
                .map(|name| programs.join(name).with_extension("fut"))
                .collect(),
        };
        std::thread::scope(|scope| {
            for compiler in &compilers {
                scope.spawn(|| place_all(compiler, &programs));
            }
        });
    }

    fn place_all(compiler: &Compiler, programs: &[PathBuf]) {
        let version = compiler.version();
        let name = format!("fut_operations_{}_{version}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for &backend in Backend::ALL {
            let mut all = BTreeMap::<String, usize>::new();
            let mut count = 0;
            for program in programs {
                let output = folder.join("program");
                let mut command = Command::new(compiler.program());
                command.args([backend.as_str(), "--library", "-w"]);
                command.arg(program).arg("-o").arg(&output);
                // Some programs need a newer compiler, or are not for this backend.
                if !command.output().unwrap().status.success() {
                    continue;
                }
                let text = std::fs::read_to_string(output.with_extension("c")).unwrap();
                let name = program.display();
                for (of, n) in uses(&text).unwrap_or_else(|error| panic!("{name}: {error}")) {
                    *all.entry(format!("{of:?}")).or_default() += n;
                }
                let divisions = divisions::read(&text, version)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                for (of, n) in [
                    ("divisor compared", divisions.compared),
                    ("divisor constant", divisions.by_constant),
                    ("divisor known", divisions.by_known),
                ] {
                    *all.entry(of.to_owned()).or_default() += n;
                }
                count += 1;
            }
            println!("{version} {backend}, {count} programs: {all:?}");
            assert!(count * 10 >= programs.len() * 9);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    fn below(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut programs = Vec::new();
        for path in entries {
            match path.extension() {
                _ if path.is_dir() => programs.extend(below(&path)),
                Some(extension) if extension == "fut" => programs.push(path),
                _ => {}
            }
        }
        programs
    }
}
