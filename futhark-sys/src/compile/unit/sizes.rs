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

use futhark_manifest::Version;

use super::bounds::Bounds;
use super::concat;
use super::operations;
use super::room;
use super::runtime::{self, Check};
use crate::compile::error::Error;
use crate::compile::generated::expr::Expr;
use crate::compile::generated::lines::{Line, Passed, Purpose, Set, Statement};
use crate::compile::generated::token::identifier;

/// The generated C with checked sizes; an error if one is computed or passed on in an unknown form.
pub(in crate::compile) fn checked(lines: &[Line<'_>], version: &Version) -> Result<String, Error> {
    let (mut sizes, mut counts) = (Vec::new(), Vec::new());
    for line in lines {
        match &line.statement {
            Statement::Pass(passed) => {
                (passed.sizes.iter()).for_each(|(_, size)| size.names(&mut sizes));
            }
            Statement::Loop(Some(count), _) => count.names(&mut counts),
            _ => {}
        }
    }
    let mut writer = Writer {
        sizes: variables(lines, sizes),
        counts: variables(lines, counts),
        passed: BTreeSet::new(),
        version,
    };
    writer.find_passed(lines);
    let mut text = String::new();
    for item in items(lines) {
        let concatenations = concat::checks(item);
        let mut scope = writer.scope(item);
        let mut i = 0;
        while let Some(line) = item.get(i) {
            text.extend(concatenations.get(&i).map(String::as_str));
            if let Some(counts) = counts_of_units(&item[i..]) {
                text += &scope.check_count(line.indent(), &counts);
                i += 2 * counts.len() - 1;
            } else {
                text += &writer.line(line, item.get(i + 1), &mut scope)?;
                i += 1;
            }
        }
        // No line of the function is the expected one.
        if let Some((_, line)) = scope.definition {
            let why = "no check of its sizes can be added";
            return Err(Error::unsupported(version, line, why));
        }
    }
    Ok(text)
}

/// Each function, together with the text before it.
fn items<'l, 'a>(lines: &'l [Line<'a>]) -> impl Iterator<Item = &'l [Line<'a>]> {
    lines.split_inclusive(|line| line.text.starts_with('}'))
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
    let mut counts = Vec::new();
    for line in lines {
        let Statement::Loop(count, is_empty) = &line.statement else {
            return None;
        };
        counts.insert(0, count.as_ref()?);
        if *is_empty {
            let ends = lines.get(counts.len()..2 * counts.len() - 1)?;
            let are_ends = ends.iter().all(|line| line.text.trim() == "}");
            return are_ends.then_some(counts);
        }
    }
    None
}

/// The variables in `open`, and those on which they depend.
fn variables<'a>(lines: &[Line<'a>], mut open: Vec<&'a str>) -> BTreeSet<&'a str> {
    let mut definitions: BTreeMap<&str, Vec<&Expr<'a>>> = BTreeMap::new();
    for line in lines {
        if let Statement::Set(set) = &line.statement
            && set.operator == "="
        {
            (definitions.entry(set.name).or_default()).extend(&set.value);
        }
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
    /// The check that a later line of the function gets, and the first line of the function.
    definition: Option<(Check, &'a str)>,
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
}

impl<'a> Scope<'a, '_> {
    /// A check that ends the function if the product of `dims` is not a size.
    fn check_count(&self, indent: &str, dims: &[&Expr<'a>]) -> String {
        let dims = dims.iter().filter(|dim| !dim.is_natural());
        let dims = dims.map(|dim| dim.checked(&self.checked));
        let count = dims.reduce(|product, dim| format!("fut_times({product}, {dim})"));
        count.map_or(String::new(), |count| {
            format!("{indent}FUT_CHECK_COUNT({count})\n")
        })
    }
}

impl<'a> Writer<'a, '_> {
    fn find_passed(&mut self, lines: &[Line<'a>]) {
        loop {
            let count = self.passed.len();
            for item in items(lines) {
                let scope = self.scope(item);
                let stored = item.iter().filter_map(|line| match line.statement {
                    Statement::Store { name, .. } => Some(name),
                    _ => None,
                });
                (self.passed).extend(stored.filter(|name| scope.checked.contains(name)));
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
                Statement::Set(set) => {
                    if set.is_definition {
                        scope.declared.insert(set.name);
                    }
                    if scope.declared.contains(set.name) && set.operator == "=" {
                        values.extend(set.value.as_ref().map(|value| (set.name, value)));
                    }
                }
                Statement::Test { name, condition } => {
                    scope.bounds.conditions.insert(name, condition);
                }
                _ => {}
            }
        }
        for pair in lines.windows(2) {
            if let (Statement::Check(condition), Statement::Message(message)) =
                (&pair[0].statement, &pair[1].statement)
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

    /// The text of a line, with what it needs in front of it and behind it.
    fn line<'l>(
        &self,
        line: &'l Line<'a>,
        next: Option<&Line<'a>>,
        scope: &mut Scope<'a, 'l>,
    ) -> Result<String, Error> {
        if line.function.is_some() && !operations::are_known(line) {
            return self.refuse(line, "what becomes of its result is not known");
        }
        let (indent, next) = (line.indent(), next.map(|next| &next.statement));
        let completed = match &line.statement {
            Statement::Test { condition, .. } | Statement::Check(condition) => {
                scope.bounds.complete(condition)
            }
            _ => None,
        };
        let mut text = match (&line.statement, next, completed) {
            (Statement::Pass(passed), ..) => self.passed_on(line, passed, scope)?,
            // A product of negative sizes would be a number of iterations of an array that cannot exist.
            (Statement::Loop(Some(count), _), ..) if !count.is_plain(&scope.checked) => {
                self.refuse_condition(line, scope)?;
                let count = count.checked(&scope.checked);
                format!("{indent}FUT_CHECK_ITERATIONS({count})\n{}", line.text)
            }
            (Statement::Check(condition), Some(Statement::Message(message)), completed) => {
                let (terms, of_sizes) = scope.bounds.missing(condition, message);
                let terms = Vec::from_iter(terms).join(" || ");
                let condition = completed.as_deref().unwrap_or(condition);
                let check = format!("{indent}if (!{condition}");
                match (terms.is_empty(), of_sizes) {
                    (true, _) => check + ") {",
                    (_, true) => {
                        let why = "FUT_OVERFLOWED";
                        format!(
                            "{indent}FUT_REFUSE_IF({condition} && ({terms}), {why})\n{check}) {{"
                        )
                    }
                    _ => format!("{check} || {terms}) {{"),
                }
            }
            (Statement::Test { name, .. }, _, Some(condition)) => {
                format!("{indent}bool {name} = {condition};")
            }
            _ => self.other(line, scope)?,
        };
        text.push('\n');
        if let Some(counterpart) = self.counterpart(line, scope)? {
            text += &format!("{indent}{counterpart}\n");
        }
        if let Statement::Set(set) = &line.statement
            && let ("=", true, Some(value)) = (set.operator, set.is_definition, &set.value)
        {
            scope.bounds.numbers.insert(set.name, value);
        }
        let code = line.text.trim();
        if !code.is_empty() && !code.starts_with("//") {
            let mut conditions = ["if (", "else", "for (", "while ("].iter();
            scope.is_condition = conditions.any(|condition| code.starts_with(condition))
                && !code.ends_with(['{', '}', ';']);
        }
        Ok(text)
    }

    /// A line with its sizes in checked arithmetic.
    fn passed_on(
        &self,
        line: &Line<'a>,
        passed: &Passed<'a>,
        scope: &Scope<'a, '_>,
    ) -> Result<String, Error> {
        if passed.purpose == Purpose::Copy {
            self.refuse_condition(line, scope)?;
            let dims: Vec<_> = passed.sizes.iter().map(|(_, dim)| dim).collect();
            return Ok(scope.check_count(line.indent(), &dims) + &room::checks(line) + line.text);
        }
        let mut text = line.text.to_owned();
        for (place, size) in passed.sizes.iter().rev() {
            let mut checked = size.checked(&scope.checked);
            // The condition in front of an allocation would take a negative size for one that is there.
            let is_size = size.is_natural() || matches!(size, Expr::Call("*", _));
            if passed.purpose == Purpose::Allocate && !is_size {
                checked = format!("fut_size({checked})");
            }
            text.replace_range(place.clone(), &checked);
        }
        Ok(text)
    }

    fn other(&self, line: &Line<'a>, scope: &mut Scope<'a, '_>) -> Result<String, Error> {
        self.refuse_address(line, scope)?;
        if let Some(definition) = runtime::definition(line.text) {
            let Some((text, check)) = definition else {
                return self.refuse(line, "its sizes are not in the known form");
            };
            scope.definition = Some((check, line.text));
            return Ok(text);
        }
        if !line.text.starts_with(' ') {
            scope.divides = runtime::divides(line.text);
        }
        let check = (scope.definition).take_if(|(check, _)| check.line == line.text);
        let changed = match check {
            Some((check, _)) => Some(check.text),
            None => runtime::replaced(line.text, scope.divides),
        };
        match changed {
            None if runtime::is_unknown_call(&line.tokens) => {
                self.refuse(line, "it starts a parallel loop in an unknown form")
            }
            changed => Ok(changed.unwrap_or_else(|| line.text.to_owned())),
        }
    }

    fn refuse<T>(&self, line: &Line<'_>, why: &str) -> Result<T, Error> {
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

    /// The checked counterpart of a declaration, a definition or an assignment. On multicore, structures pass variables
    /// to tasks, with the counterpart of each size.
    fn counterpart(&self, line: &Line<'a>, scope: &Scope<'a, '_>) -> Result<Option<String>, Error> {
        let is_checked = |name: &str| scope.checked.contains(name);
        Ok(match &line.statement {
            Statement::Declare(name) if is_checked(name) => Some(format!("int64_t fut_{name};")),
            Statement::Field(name) if self.passed.contains(name) => {
                Some(format!("int64_t fut_free_{name};"))
            }
            Statement::Store { task, name } if self.passed.contains(name) => {
                let fut = if is_checked(name) { "fut_" } else { "" };
                Some(format!("{task}.fut_free_{name} = {fut}{name};"))
            }
            Statement::Load { task, name } if self.passed.contains(name) => {
                Some(format!("int64_t fut_{name} = {task}->fut_free_{name};"))
            }
            Statement::Set(set) if scope.declared.contains(set.name) => {
                self.checked_value(line, set, scope)?
            }
            _ => None,
        })
    }

    fn checked_value(
        &self,
        line: &Line<'a>,
        set: &Set<'a>,
        scope: &Scope<'a, '_>,
    ) -> Result<Option<String>, Error> {
        let name = set.name;
        let (is_checked, is_offset) = (scope.checked.contains(name), name.starts_with("tmp_offs_"));
        match (set.operator, &set.value) {
            // `concat` reads what is added to an offset.
            ("+=", _) if is_offset => Ok(None),
            ("=", Some(value)) if is_checked => {
                self.refuse_condition(line, scope)?;
                let declaration = if set.is_definition { "int64_t " } else { "" };
                let value = match name.starts_with("conc_tmp_") {
                    true => value.concatenation(&scope.checked),
                    false => value.checked(&scope.checked),
                };
                Ok(Some(format!("{declaration}fut_{name} = {value};")))
            }
            ("=", Some(_)) => Ok(None),
            _ if is_checked || self.sizes.contains(name) || self.counts.contains(name) => {
                let why = format!("the size in `{}` cannot be read", line.text.trim());
                Err(Error::unsupported(self.version, name, &why))
            }
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;
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

    /// As newer compilers compute sizes that a tuning parameter can set.
    #[test]
    fn both_values_of_a_chosen_size_are_checked() {
        let set = "ctx->cfg->tuning_params[tuning_param_indexes.n_1].set";
        let text = function(&format!(
            "    int64_t n_1;\n    n_1 = {set} ? a_2 * b_3 : smax64((int64_t) 1, a_2 - (c_4 == 0 ? b_3 : (int64_t) 8));"
        ));
        let checked = checked(&text).unwrap();
        let line = format!(
            "    fut_n_1 = ({set} ? fut_times(a_2, b_3) : fut_size_max((int64_t) 1, fut_minus(a_2, (c_4 == 0 ? b_3 : (int64_t) 8))));"
        );
        assert!(checked.lines().any(|l| l == line), "{line}: {checked}");
    }

    #[test]
    fn negative_constants_are_sizes_too() {
        for (size, checked_size) in [
            ("(int64_t) 64", "(int64_t) 64"),
            ("(int64_t) -16", "fut_size((int64_t) -16)"),
            (
                "(int64_t) -9223372036854775807 - 1",
                "fut_size(fut_minus((int64_t) -9223372036854775807, 1))",
            ),
            (
                "mul64(n_2, (int64_t) -8)",
                "fut_size(mul64(n_2, (int64_t) -8))",
            ),
            ("n_2 - (int64_t) 4", "fut_size(fut_minus(n_2, (int64_t) 4))"),
            ("n_2 * (int64_t) 8", "fut_times(n_2, (int64_t) 8)"),
        ] {
            for line in [
                "if (mem_1_cached_sizze_2 < SIZE) {",
                "err = lexical_realloc(ctx, &mem_1, &mem_1_cached_sizze_2, SIZE);",
            ] {
                let text = checked(&format!("    {}\n", line.replace("SIZE", size))).unwrap();
                assert!(text.contains(&line.replace("SIZE", checked_size)), "{text}");
            }
        }
        let copy = |dims: &str| {
            let line = format!(
                "    lmad_copy_4b(ctx, 1, (uint32_t *) mem_1.mem, (int64_t) 0, (int64_t []) {{(int64_t) 1}}, (uint32_t *) mem_2.mem, (int64_t) 0, (int64_t []) {{(int64_t) 1}}, (int64_t []) {{{dims}}});\n"
            );
            checked(&line).unwrap()
        };
        assert!(!copy("(int64_t) 3, (int64_t) 2").contains("FUT_CHECK_COUNT"));
        assert!(
            copy("(int64_t) -3, (int64_t) -2")
                .contains("FUT_CHECK_COUNT(fut_times((int64_t) -3, (int64_t) -2))")
        );
        assert!(
            copy("n_3, (int64_t) -2").contains("FUT_CHECK_COUNT(fut_times(n_3, (int64_t) -2))")
        );
    }

    #[test]
    fn nothing_is_appended_to_an_argument() {
        let append = |parameter: &str| {
            let head = format!("int f(struct futhark_context *ctx{parameter})");
            let copy = "lmad_copy_4b(ctx, 1, (uint32_t *) mem_1.mem, n_5 * tmp_offs_2, (int64_t []) {n_5}, (uint32_t *) mem_1.mem, (int64_t) 0, (int64_t []) {n_5}, (int64_t []) {n_3})";
            format!(
                "{head}\n{{\n    int64_t tmp_offs_2 = (int64_t) 0;\n    \n    if (!(n_5 * tmp_offs_2 == (int64_t) 0)) {{\n        {copy};\n    }}\n    tmp_offs_2 += n_3;\n    tmp_offs_2 += m_4;\n}}\n"
            )
        };
        let check = "    FUT_REFUSE_IF(m_4 != 0, FUT_NO_ROOM)\n";
        for memory in ["struct memblock mem_1", "struct memblock_device mem_1"] {
            let text = checked(&append(&format!(", {memory}"))).unwrap();
            let at = text.find(check).expect(&text);
            assert!(at < text.find("lmad_copy_4b").unwrap(), "{text}");
        }
        let text = checked(&append(", struct memblock mem_9")).unwrap();
        assert!(!text.contains("FUT_NO_ROOM"), "{text}");
        assert!(
            text.contains("FUT_REFUSE_IF(n_3 < 0 || m_4 < 0, FUT_NEGATIVE_PART)"),
            "{text}"
        );
    }

    #[test]
    fn a_copy_on_a_gpu_stays_in_its_memory() {
        let copy = |name: &str| {
            let line = format!(
                "    if ((err = {name}(ctx, \"a.fut:1\", 1, mem_1.mem, n_3, (int64_t []) {{(int64_t) 1}}, mem_2.mem, i_4, (int64_t []) {{s_5}}, (int64_t []) {{n_3}})) != 0)\n        goto cleanup;"
            );
            checked(&function(&line)).unwrap()
        };
        let text = copy("lmad_copy_gpu2gpu_8b");
        for check in [
            "FUT_REFUSE_IF(fut_is_outside(mem_1.size / 8, 1, n_3, (int64_t []) {(int64_t) 1}, (int64_t []) {n_3}), FUT_OUTSIDE)",
            "FUT_REFUSE_IF(fut_is_outside(mem_2.size / 8, 1, i_4, (int64_t []) {s_5}, (int64_t []) {n_3}), FUT_OUTSIDE)",
        ] {
            assert!(text.find(check).expect(&text) < text.find("lmad_copy").unwrap());
        }
        assert!(!copy("lmad_copy_8b").contains("fut_is_outside"));
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
            "int futhark_entry_scheduler_execute_task(struct futhark_context *ctx, const int64_t in0);",
            "    set_error(ctx, msgprintf(\"scheduler_prepare_task(\", 1));",
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
            "    int64_t n_1 = a_3 < 0 ? 0 : b_4 << 2;",
            "    int64_t n_1 = a_3 << 2 ? 0 : b_4;",
            "    int64_t n_1;\n    n_1 = a_3 << 2;",
            "    int64_t n_1 = a_3;\n    n_1 += b_4;",
            "    int64_t n_1 = a_3;\n    n_1 *= b_4;",
            "    int64_t n_1 = a_3 * b_4;\n    task.result = &n_1;",
            "    int64_t n_1;\n    if (a_3 < 0)\n        n_1 = a_3 * b_4;",
        ] {
            let error = checked(&function(lines)).unwrap_err();
            error.refuses_a_form_of_0_26_1(&["n_1"]);
        }
    }

    #[test]
    fn a_function_of_the_runtime_that_cannot_be_checked_is_refused() {
        const LAUNCH: &str = "static int gpu_kernel_f(struct futhark_context *ctx, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, int64_t arg0)\n{\n    if (grid_x * grid_y * grid_z * block_x * block_y * block_z != 0) {\n    }\n}\n";
        const FILL: &str = "FUTHARK_FUN_ATTR int futrts_builtinzhreplicate_unit(struct futhark_context *ctx, struct memblock_device mem_1, int64_t count_2, bool val_3)\n{\n    int err = 0;\n}\n";
        const TASK: &str = "int f(struct futhark_context *ctx)\n{\n    int err = scheduler_prepare_task(&ctx->scheduler, &task_1);\n}\n";
        let fill = "FUT_CHECK_COUNT(count_2)\n    goto cleanup;";
        let launch = "fut_check_launch(ctx, grid_x, grid_y";
        let shared = "int64_t shared_bytes, int64_t arg0";
        let task = "fut_prepare_task(ctx, &task_1)";
        for (text, check, known, unknown) in [
            (LAUNCH, launch, "unsigned int block_y", "size_t block_y"),
            (LAUNCH, shared, "grid_x * grid_y", "grid_y * grid_x"),
            (FILL, fill, "int64_t count_2", "size_t count_2"),
            (FILL, fill, "int err = 0;", "int err = 1;"),
            (TASK, task, "&ctx->scheduler", "ctx->scheduler"),
        ] {
            let ok = checked(text).unwrap();
            assert!(ok.contains(check), "{ok}");
            assert!(text.contains(known));
            let error = checked(&text.replace(known, unknown)).unwrap_err();
            error.refuses_a_form_of_0_26_1(&[]);
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

    /// The functions of programs as a compiler wrote them that cannot be installed, in files of `FUTHARK_EXTRA_FORMS`
    /// (`VERSION/BACKEND/NAME.txt.gz`).
    #[test]
    fn every_statement_of_other_compilers_is_read() {
        const VARIABLE: &str = "FUTHARK_EXTRA_FORMS";
        let Some(folder) = std::env::var_os(VARIABLE) else {
            return println!("no extra forms: {VARIABLE} is not set");
        };
        let entries = |folder: PathBuf| -> Vec<PathBuf> {
            let all = std::fs::read_dir(folder).expect("a folder");
            all.map(|entry| entry.expect("an entry").path()).collect()
        };
        let folders = |all: Vec<PathBuf>| all.into_iter().filter(|path| path.is_dir());
        let mut count = 0;
        for version in folders(entries(folder.into())) {
            let number = version.file_name().and_then(|name| name.to_str());
            let number = Version::new(number.expect("a version"));
            for file in folders(entries(version)).flat_map(entries) {
                let output = Command::new("gzip").arg("-dc").arg(&file).output();
                let text = String::from_utf8(output.expect("gzip runs").stdout).expect("UTF-8");
                let checked = lines::read(&Source::read(&text), &number)
                    .and_then(|lines| super::checked(&lines, &number));
                let checked = checked.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                assert!(checked.len() > text.len() / 2, "{}", file.display());
                count += 1;
            }
        }
        assert!(count > 0, "{VARIABLE} names a folder without files");
    }
}
