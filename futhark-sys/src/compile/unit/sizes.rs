//! Computes each size that the generated C passes to the runtime in checked arithmetic.
//!
//! The compiler computes the size of `replicate n (replicate m x)` as `n * m * size` without
//! comparing `n` and `m` with zero. The product of two negative dimensions is a valid size of an
//! array that cannot exist. In the size of a concatenation, one negative length is enough. The same
//! numbers become the iterations of parallel loops and the grids of kernels.
//! Therefore the text that we compile has a second definition of each variable that such a number
//! depends on, by the functions of `fut_sizes.h`:
//!
//! ```c
//! int64_t binop_x_6421 = (int64_t) 4 * n_5858;
//! int64_t fut_binop_x_6421 = fut_times((int64_t) 4, n_5858);
//! int64_t bytes_6422 = m_5859 * binop_x_6421;
//! int64_t fut_bytes_6422 = fut_times(m_5859, fut_binop_x_6421);
//! if (memblock_alloc(ctx, &mem_6423, fut_bytes_6422, "mem_6423")) {
//! ```
//!
//! The original definition stays, because the compiler moves size computations out of branches, and
//! only the use of a size may fail. All other code uses the original. The functions of the runtime
//! that receive a size refuse it if it is negative or has overflowed: allocations and parallel loops in
//! `fut_hooks.h`, fills, copies and launches by checks that are inserted here and in `runtime.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use futhark_manifest::Version;

use super::bounds::Bounds;
use super::concat;
use super::operations;
use super::runtime::{self, Definition};
use crate::compile::error::Error;
use crate::compile::generated::expr::Expr;
use crate::compile::generated::lines::{Line, Passed, Purpose, Statement};
use crate::compile::generated::token::identifier;

/// The generated C with checked sizes.
///
/// # Errors
///
/// [`ErrorKind::Layout`](crate::compile::ErrorKind::Layout): a size is computed or passed on in an
/// unknown form.
pub(in crate::compile) fn checked(lines: &[Line<'_>], version: &Version) -> Result<String, Error> {
    let sizes = variables(lines, |line| match &line.statement {
        Statement::Pass(passed) => passed.sizes.iter().map(|(_, size)| size).collect(),
        _ => Vec::new(),
    });
    let counts = variables(lines, |line| match &line.statement {
        Statement::Loop { count, .. } => count.iter().collect(),
        _ => Vec::new(),
    });
    let concatenations = concat::checks(lines);
    let mut writer = Writer {
        sizes,
        counts,
        passed: BTreeSet::new(),
        version,
        text: String::new(),
    };
    writer.find_passed(lines);
    for (begin, end) in items(lines) {
        let mut scope = writer.scope(&lines[begin..end]);
        let mut i = begin;
        while i < end {
            if let Some(check) = concatenations.get(&i) {
                writer.text.push_str(check);
            }
            if let Some(counts) = counts_of_units(&lines[i..end]) {
                writer.write_check(lines[i].indent(), counts.iter().copied(), &scope);
                i += 2 * counts.len() - 1;
            } else {
                writer.write_line(&lines[i], lines.get(i + 1), &mut scope)?;
                i += 1;
            }
        }
        // No line of the function is the expected one.
        if let Some((_, line)) = scope.definition {
            let why = "no check of its sizes can be added";
            return Err(Error::unsupported(version, line, why));
        }
    }
    Ok(writer.text)
}

/// The first line and the end of each function, together with the text before it.
fn items(lines: &[Line<'_>]) -> Vec<(usize, usize)> {
    let is_end = |&i: &usize| i == lines.len() || lines[i - 1].text.starts_with('}');
    let ends = (1..=lines.len()).filter(is_end);
    ends.scan(0, |begin, end| Some((std::mem::replace(begin, end), end)))
        .collect()
}

/// The dimensions of a fill with values that need no memory, such as `replicate n ()`, if one begins `lines`; the innermost
/// first. Its loops have no body, so there is nothing to do, but a negative number of values is an error:
///
/// ```c
/// for (int64_t nest_i_5624 = 0; nest_i_5624 < n_5524; nest_i_5624++) {
///     for (int64_t nest_i_5625 = 0; nest_i_5625 < m_5525; nest_i_5625++) { }
/// }
/// ```
fn counts_of_units<'l, 'a>(lines: &'l [Line<'a>]) -> Option<Vec<&'l Expr<'a>>> {
    let has_body = |line: &&Line<'_>| {
        matches!(
            line.statement,
            Statement::Loop {
                is_empty: false,
                ..
            }
        )
    };
    let outer = lines.iter().take_while(has_body).count();
    let counts = lines
        .get(..=outer)?
        .iter()
        .rev()
        .map(|line| match &line.statement {
            Statement::Loop { count, .. } => count.as_ref(),
            _ => None,
        });
    let counts = counts.collect::<Option<_>>()?;
    let ends = lines.get(outer + 1..2 * outer + 1)?;
    ends.iter()
        .all(|line| line.text.trim() == "}")
        .then_some(counts)
}

/// The variables on which the expressions depend that `roots` returns.
fn variables<'l, 'a>(
    lines: &'l [Line<'a>],
    roots: impl Fn(&'l Line<'a>) -> Vec<&'l Expr<'a>>,
) -> BTreeSet<&'a str> {
    let mut definitions: BTreeMap<&str, Vec<&Expr<'_>>> = BTreeMap::new();
    let mut open = Vec::new();
    for line in lines {
        if let Statement::Set {
            name,
            operator: "=",
            value,
            ..
        } = &line.statement
        {
            definitions.entry(name).or_default().extend(value);
        }
        roots(line).iter().for_each(|root| root.names(&mut open));
    }
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if is_of_program(name) && found.insert(name) {
            for expr in definitions.get(name).into_iter().flatten() {
                expr.names(&mut open);
            }
        }
    }
    found
}

/// Whether the name ends in a number, as the compiler's names of variables do, but not those of
/// parameters that are the same in all programs.
fn is_of_program(name: &str) -> bool {
    let (_, number) = name.rsplit_once('_').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// A function, or other text that ends with a brace.
#[derive(Default)]
struct Scope<'a, 'l> {
    /// The size variables with a checked counterpart: their value is computed, in at least one place,
    /// from a product, a sum or such a variable.
    checked: BTreeSet<&'a str>,
    /// The variables of type `int64_t`.
    declared: BTreeSet<&'a str>,
    /// The definition that the next lines belong to, and its first line, until its check is written.
    definition: Option<(Definition<'a>, &'a str)>,
    /// Whether the line before is a condition whose statement has no braces.
    is_condition: bool,
    /// Whether the line belongs to a function of the runtime that divides integers.
    divides: bool,
    bounds: Bounds<'a, 'l>,
}

struct Writer<'a, 'v> {
    /// The variables that a size depends on which the runtime receives.
    sizes: BTreeSet<&'a str>,
    /// Those that the number of iterations of a loop depends on.
    counts: BTreeSet<&'a str>,
    /// Those that are passed to a task of multicore with their checked counterpart.
    passed: BTreeSet<&'a str>,
    version: &'v Version,
    text: String,
}

impl<'a> Writer<'a, '_> {
    fn find_passed(&mut self, lines: &[Line<'a>]) {
        loop {
            let count = self.passed.len();
            for (begin, end) in items(lines) {
                let scope = self.scope(&lines[begin..end]);
                let stored = lines[begin..end]
                    .iter()
                    .filter_map(|line| match line.statement {
                        Statement::Store { name, .. } => Some(name),
                        _ => None,
                    });
                let stored = stored.filter(|name| scope.checked.contains(name));
                self.passed.extend(stored);
            }
            if self.passed.len() == count {
                return;
            }
        }
    }

    fn scope<'l>(&self, lines: &[Line<'a>]) -> Scope<'a, 'l> {
        let mut scope = Scope::default();
        let mut values: Vec<(&str, &Expr<'_>)> = Vec::new();
        for line in lines {
            match &line.statement {
                Statement::Declare(name) => _ = scope.declared.insert(name),
                Statement::Load { name, .. } if self.passed.contains(name) => {
                    scope.checked.insert(name);
                }
                Statement::Set {
                    name,
                    is_definition,
                    operator,
                    value,
                } => {
                    if *is_definition {
                        scope.declared.insert(name);
                    }
                    if scope.declared.contains(name) && *operator == "=" {
                        values.extend(value.as_ref().map(|value| (*name, value)));
                    }
                }
                Statement::Test { name, condition } => scope.bounds.test(name, condition),
                _ => {}
            }
        }
        for (check, message) in lines.iter().zip(&lines[1.min(lines.len())..]) {
            if let (Statement::Check(condition), Statement::Message(message)) =
                (&check.statement, &message.statement)
            {
                scope.bounds.announce(condition, message);
            }
        }
        values.retain(|(name, _)| self.sizes.contains(name) || self.counts.contains(name));
        loop {
            let count = scope.checked.len();
            for (name, value) in &values {
                if !value.is_plain(&scope.checked) {
                    scope.checked.insert(name);
                }
            }
            if scope.checked.len() == count {
                return scope;
            }
        }
    }

    fn write_line<'l>(
        &mut self,
        line: &'l Line<'a>,
        next: Option<&Line<'a>>,
        scope: &mut Scope<'a, 'l>,
    ) -> Result<(), Error> {
        if line.function.is_some() && !operations::are_known(line) {
            return self.refuse(line, "what becomes of its result is not known");
        }
        let next = next.map(|next| &next.statement);
        let completed = match &line.statement {
            Statement::Test { condition, .. } | Statement::Check(condition) => {
                scope.bounds.complete(condition)
            }
            _ => None,
        };
        match (&line.statement, next) {
            (Statement::Pass(passed), _) => self.write_passed(line, passed, scope)?,
            (
                Statement::Loop {
                    count: Some(count), ..
                },
                _,
            ) => {
                // A product of negative sizes would be a number of iterations of an array that cannot exist.
                if !count.is_plain(&scope.checked) {
                    self.refuse_condition(line, scope)?;
                    let count = count.checked(&scope.checked);
                    let _ = writeln!(self.text, "{}FUT_CHECK_ITERATIONS({count})", line.indent());
                }
                self.text.push_str(line.text);
            }
            (Statement::Check(condition), Some(Statement::Message(message))) => {
                let mut terms = vec![format!("!{}", completed.as_deref().unwrap_or(condition))];
                terms.extend(scope.bounds.missing(condition, message));
                let (indent, terms) = (line.indent(), terms.join(" || "));
                let _ = write!(self.text, "{indent}if ({terms}) {{");
            }
            (Statement::Test { name, .. }, _) if completed.is_some() => {
                let condition = completed.unwrap_or_default();
                let _ = write!(self.text, "{}bool {name} = {condition};", line.indent());
            }
            _ => self.write_other(line, scope)?,
        }
        self.text.push('\n');
        match &line.statement {
            Statement::Declare(name) if scope.checked.contains(name) => {
                let _ = writeln!(self.text, "{}int64_t fut_{name};", line.indent());
            }
            // `concat` reads what is added to an offset.
            Statement::Set {
                name,
                is_definition,
                operator,
                value,
            } if scope.declared.contains(name)
                && !(*operator == "+=" && name.starts_with("tmp_offs_")) =>
            {
                let declaration = if *is_definition { "int64_t " } else { "" };
                let value = value.as_ref().filter(|_| *operator == "=");
                self.define(line, declaration, name, value, scope)?;
                if let Some(value) = value.filter(|_| *is_definition) {
                    scope.bounds.define(name, value);
                }
            }
            _ => self.pass(line, scope),
        }
        let code = line.text.trim();
        if !code.is_empty() && !code.starts_with("//") {
            let mut conditions = ["if (", "else", "for (", "while ("].iter();
            scope.is_condition = conditions.any(|condition| code.starts_with(condition))
                && !code.ends_with(['{', '}', ';']);
        }
        Ok(())
    }

    /// Writes a line with its sizes in checked arithmetic.
    fn write_passed(
        &mut self,
        line: &Line<'a>,
        passed: &Passed<'a>,
        scope: &Scope<'a, '_>,
    ) -> Result<(), Error> {
        if passed.purpose == Purpose::Copy {
            self.refuse_condition(line, scope)?;
            let dims = passed.sizes.iter().map(|(_, dim)| dim);
            self.write_check(line.indent(), dims, scope);
            self.text.push_str(line.text);
            return Ok(());
        }
        let mut at = 0;
        for (place, size) in &passed.sizes {
            self.text.push_str(&line.text[at..place.start]);
            let checked = size.checked(&scope.checked);
            match (passed.purpose, size) {
                // A length in bytes, or the size in a task, without a multiplication.
                (Purpose::Allocate, Expr::Name(_)) => {
                    let _ = write!(self.text, "fut_size({checked})");
                }
                _ => self.text.push_str(&checked),
            }
            at = place.end;
        }
        self.text.push_str(&line.text[at..]);
        Ok(())
    }

    /// Writes a check that ends the function if the product of `dims` is not a size.
    fn write_check<'e>(
        &mut self,
        indent: &str,
        dims: impl Iterator<Item = &'e Expr<'a>>,
        scope: &Scope<'a, '_>,
    ) where
        'a: 'e,
    {
        let dims = dims.filter(|dim| !dim.is_constant());
        let times = |product: String, dim: String| format!("fut_times({product}, {dim})");
        let dims = dims.map(|dim| dim.checked(&scope.checked));
        if let Some(count) = dims.reduce(times) {
            let _ = writeln!(self.text, "{indent}FUT_CHECK_COUNT({count})");
        }
    }

    fn write_other(&mut self, line: &Line<'a>, scope: &mut Scope<'a, '_>) -> Result<(), Error> {
        self.refuse_address(line, scope)?;
        if let Some(definition) = Definition::read(line.text) {
            let Some((definition, text)) = definition else {
                return self.refuse(line, "its sizes are not in the known form");
            };
            scope.definition = Some((definition, line.text));
            self.text.push_str(&text);
            return Ok(());
        }
        if !line.text.starts_with(' ') {
            scope.divides = runtime::divides(line.text);
        }
        let check = scope.definition.as_ref();
        if let Some(text) = check.and_then(|(definition, _)| definition.check(line.text)) {
            scope.definition = None;
            self.text.push_str(&text);
        } else if let Some(text) = runtime::replaced(line.text, scope.divides) {
            self.text.push_str(&text);
        } else if runtime::is_unknown_call(line.text) {
            return self.refuse(line, "it starts a parallel loop in an unknown form");
        } else {
            self.text.push_str(line.text);
        }
        Ok(())
    }

    fn refuse(&self, line: &Line<'_>, why: &str) -> Result<(), Error> {
        Err(Error::unsupported(self.version, line.text.trim(), why))
    }

    /// Refuses to add a statement to one that is conditional without braces.
    fn refuse_condition(&self, line: &Line<'_>, scope: &Scope<'_, '_>) -> Result<(), Error> {
        match scope.is_condition {
            true => self.refuse(line, "no check can be added to a statement without braces"),
            false => Ok(()),
        }
    }

    /// Refuses to take the address of a variable with a checked counterpart, which would not change with it.
    fn refuse_address(&self, line: &Line<'a>, scope: &Scope<'a, '_>) -> Result<(), Error> {
        let mut names = line.text.split('&').skip(1).map(identifier);
        names
            .find(|name| scope.checked.contains(name))
            .map_or(Ok(()), |name| {
                let why = "a size is assigned through its address";
                Err(Error::unsupported(self.version, name, why))
            })
    }

    /// On multicore, structures pass variables to tasks. Adds the checked counterpart of each size.
    fn pass(&mut self, line: &Line<'a>, scope: &Scope<'a, '_>) {
        let (indent, text) = (line.indent(), &mut self.text);
        match line.statement {
            Statement::Field(name) if self.passed.contains(name) => {
                let _ = writeln!(text, "{indent}int64_t fut_free_{name};");
            }
            Statement::Store { task, name } if self.passed.contains(name) => {
                let is_checked = scope.checked.contains(name);
                let fut = if is_checked { "fut_" } else { "" };
                let _ = writeln!(text, "{indent}{task}.fut_free_{name} = {fut}{name};");
            }
            Statement::Load { task, name } if self.passed.contains(name) => {
                let _ = writeln!(
                    text,
                    "{indent}int64_t fut_{name} = {task}->fut_free_{name};"
                );
            }
            _ => {}
        }
    }

    /// Writes the checked counterpart of a definition or an assignment.
    fn define(
        &mut self,
        line: &Line<'_>,
        declaration: &str,
        name: &str,
        value: Option<&Expr<'a>>,
        scope: &Scope<'a, '_>,
    ) -> Result<(), Error> {
        let Some(value) = value else {
            if !self.sizes.contains(name) && !scope.checked.contains(name) {
                return Ok(());
            }
            let why = format!("the size in `{}` cannot be read", line.text.trim());
            return Err(Error::unsupported(self.version, name, &why));
        };
        if scope.checked.contains(name) {
            let value = match name.starts_with("conc_tmp_") {
                true => value.concatenation(&scope.checked),
                false => value.checked(&scope.checked),
            };
            self.refuse_condition(line, scope)?;
            let indent = line.indent();
            let _ = writeln!(self.text, "{indent}{declaration}fut_{name} = {value};");
        }
        Ok(())
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::error::ErrorKind;
    use crate::compile::generated::{Source, lines};

    fn checked(text: &str) -> Result<String, Error> {
        let version = Version::new("0.26.1");
        let lines = lines::read(&Source::read(text), &version)?;
        super::checked(&lines, &version)
    }

    /// A function in which `n_1` becomes a size.
    fn function(lines: &str) -> String {
        let alloc = "if (memblock_alloc(ctx, &mem_9, n_1, \"mem_9\")) {\n    }";
        format!("int f(struct futhark_context *ctx)\n{{\n{lines}\n    {alloc}\n}}\n")
    }

    #[test]
    fn an_assigned_size_is_computed_like_a_defined_one() {
        let text = function(
            "    int64_t n_1;\n    int64_t k_2 = a_3 * b_4;\n    if (a_3 == b_4) {\n        n_1 = k_2;\n    } else {\n        n_1 = a_3;\n    }",
        );
        let checked = checked(&text).unwrap();
        for line in [
            "    int64_t fut_n_1;",
            "    int64_t fut_k_2 = fut_times(a_3, b_4);",
            "        fut_n_1 = fut_k_2;",
            "        fut_n_1 = a_3;",
            "    if (memblock_alloc(ctx, &mem_9, fut_size(fut_n_1), \"mem_9\")) {",
        ] {
            assert!(checked.lines().any(|l| l == line), "{line}: {checked}");
        }
    }

    #[test]
    fn a_size_may_be_computed_by_the_program_in_any_way() {
        for value in [
            "a_3 & b_4",
            "a_3 + 7 | ~b_4",
            "a_3 ^ (int64_t) 1",
            "-a_3",
            "smax64((int64_t) 0, -a_3)",
            "((int64_t *) mem_5.mem)[i_6 * m_7]",
        ] {
            let text = function(&format!("    int64_t n_1 = {value};"));
            let checked = checked(&text).unwrap();
            assert!(
                checked.contains("memblock_alloc(ctx, &mem_9, fut_size(n_1), "),
                "{checked}"
            );
        }
    }

    #[test]
    fn names_and_strings_of_the_program_are_no_calls() {
        for line in [
            "    if (futrts_lmad_copy_all_46(ctx, &n_1, a_3) != 0)",
            "    set_error(ctx, msgprintf(\"memblock_alloc(ctx, &x_1, a << b, c)\", 1));",
            "FUTHARK_FUN_ATTR int futrts_f_1(struct futhark_context *ctx, int64_t gpu_kernel_f_2)",
        ] {
            assert!(
                checked(&format!("{line}\n")).unwrap().contains(line),
                "{line}"
            );
        }
    }

    #[test]
    fn a_size_of_unknown_form_is_refused() {
        let product = "    int64_t n_1;\n    n_1 = a_3 * b_4;";
        assert!(checked(&function(product)).is_ok());
        for lines in [
            "    int64_t n_1 = a_3 < 0 ? 0 : b_4 * a_3;",
            "    int64_t n_1;\n    n_1 = a_3 << 2;",
            "    int64_t n_1 = a_3;\n    n_1 += b_4;",
            "    int64_t n_1 = a_3;\n    n_1 *= b_4;",
            "    int64_t n_1 = a_3 * b_4;\n    task.result = &n_1;",
            "    int64_t n_1;\n    if (a_3 < 0)\n        n_1 = a_3 * b_4;",
        ] {
            let error = checked(&function(lines)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Layout, "{lines}");
            for word in ["n_1", "0.26.1", "UPGRADING.md"] {
                assert!(error.to_string().contains(word), "{error}");
            }
        }
    }

    #[test]
    fn a_function_of_the_runtime_that_cannot_be_checked_is_refused() {
        const LAUNCH: &str = "static int gpu_kernel_f(struct futhark_context *ctx, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, int64_t arg0)\n{\n    if (grid_x * grid_y * grid_z * block_x * block_y * block_z != 0) {\n    }\n}\n";
        const FILL: &str = "FUTHARK_FUN_ATTR int futrts_builtinzhreplicate_unit(struct futhark_context *ctx, struct memblock_device mem_1, int64_t count_2, bool val_3)\n{\n    int err = 0;\n}\n";
        const TASK: &str = "int f(struct futhark_context *ctx)\n{\n    int err = scheduler_prepare_task(&ctx->scheduler, &task_1);\n}\n";
        for (text, check, known, unknown) in [
            (
                LAUNCH,
                "fut_check_launch(ctx, grid_x, grid_y",
                "unsigned int block_y",
                "size_t block_y",
            ),
            (
                LAUNCH,
                "int64_t shared_bytes, int64_t arg0",
                "grid_x * grid_y",
                "grid_y * grid_x",
            ),
            (
                FILL,
                "FUT_CHECK_COUNT(count_2)\n    goto cleanup;",
                "int64_t count_2",
                "size_t count_2",
            ),
            (
                FILL,
                "FUT_CHECK_COUNT(count_2)",
                "int err = 0;",
                "int err = 1;",
            ),
            (
                TASK,
                "fut_prepare_task(ctx, &task_1)",
                "&ctx->scheduler",
                "ctx->scheduler",
            ),
        ] {
            let ok = checked(text).unwrap();
            assert!(ok.contains(check), "{ok}");
            assert!(text.contains(known));
            let error = checked(&text.replace(known, unknown)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Layout, "{unknown}");
        }
    }

    #[test]
    fn fills_without_memory_and_loops_over_products_are_checked() {
        let text = "int f(struct futhark_context *ctx)\n{\n    int64_t k_2 = a_3 * b_4;\n    \
             for (int64_t nest_i_5 = 0; nest_i_5 < a_3; nest_i_5++) {\n        \
             for (int64_t nest_i_6 = 0; nest_i_6 < b_4; nest_i_6++) { }\n    }\n    \
             for (int64_t i_7 = 0; i_7 < k_2; i_7++) {\n    }\n}\n";
        let checked = checked(text).unwrap();
        assert!(checked.contains(
            "    FUT_CHECK_COUNT(fut_times(b_4, a_3))\n    FUT_CHECK_ITERATIONS(fut_k_2)\n"
        ));
        assert!(!checked.contains("nest_i"), "{checked}");
    }

    #[test]
    fn a_check_fails_if_arithmetic_that_it_depends_on_wraps() {
        let text = "int f(struct futhark_context *ctx)\n{\n    int64_t flat_1 = a_2 * b_3;\n    \
             int64_t m_4 = squot64(flat_1 - (int64_t) 1, mul64(a_2, a_2));\n    bool c_5 = slt64(i_6, m_4);\n    \
             bool c_7 = d_8 && c_5;\n    if (!c_7) {\n        \
             set_error(ctx, msgprintf(\"%s\", \"Index [\", (long long) i_6, \"].\"));\n    }\n}\n";
        let checked = checked(text).unwrap();
        let terms =
            "if (!c_7 || fut_difference_wraps(flat_1, (int64_t) 1) || fut_wraps(a_2, b_3)) {";
        assert!(checked.contains(terms), "{checked}");
    }
}
