//! Checked sizes: the generated C with each allocation size computed in checked arithmetic.
//!
//! The compiler computes the size of `replicate n (replicate m x)` as `n * m * size`, and never
//! asks whether `n` and `m` are negative: their product is then a valid size of an array that
//! cannot exist. It does the same for a concatenation, where one negative length suffices. So the
//! text that we compile has, beside each definition that an allocation depends on, a second one
//! by the functions of `fut_sizes.h`:
//!
//! ```c
//! int64_t binop_x_6421 = (int64_t) 4 * n_5858;
//! int64_t fut_binop_x_6421 = fut_times((int64_t) 4, n_5858);
//! int64_t bytes_6422 = m_5859 * binop_x_6421;
//! int64_t fut_bytes_6422 = fut_times(m_5859, fut_binop_x_6421);
//! if (memblock_alloc(ctx, &mem_6423, fut_bytes_6422, "mem_6423")) {
//! ```
//!
//! The original definition stays, because the compiler hoists size computations out of branches:
//! only the allocation may fail. Everything else in the text uses the original.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use futhark_manifest::Backend;

use super::bounds::Bounds;
use super::concat;
use super::expr::Expr;

/// The generated C with checked sizes.
pub(super) fn checked(c_text: &str, backend: Backend) -> String {
    let lines: Vec<&str> = c_text.lines().collect();
    let sizes = size_variables(&lines);
    let concatenations = concat::checks(&lines);
    let passed = match backend {
        Backend::Multicore => passed_variables(&lines, &sizes),
        // The kernels of ISPC have these structures, too, and stay as they are.
        _ => BTreeSet::new(),
    };
    let mut text = String::with_capacity(c_text.len() + c_text.len() / 64);
    let mut scope = Scope::default();
    for (i, line) in lines.iter().enumerate() {
        if line.starts_with('}') {
            scope = Scope::default();
        }
        if let Some(check) = concatenations.get(&i) {
            text.push_str(check);
        }
        let next = lines.get(i + 1).copied().unwrap_or_default();
        scope.write_line(line, next, &sizes, &passed, &mut text);
    }
    text
}

/// The variables that the size of an allocation depends on.
fn size_variables<'a>(lines: &[&'a str]) -> BTreeSet<&'a str> {
    let mut definitions: BTreeMap<&str, Vec<Expr<'_>>> = BTreeMap::new();
    let mut open = Vec::new();
    for line in lines {
        if let Some((name, expr)) = definition(line) {
            definitions.entry(name).or_default().push(expr);
        } else if let Some(allocation) = Allocation::read(line) {
            allocation.size.names(&mut open);
        }
    }
    let mut sizes = BTreeSet::new();
    while let Some(name) = open.pop() {
        if sizes.insert(name) {
            for expr in definitions.get(name).into_iter().flatten() {
                expr.names(&mut open);
            }
        }
    }
    sizes
}

/// The size variables that tasks get.
fn passed_variables<'a>(lines: &[&'a str], sizes: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let field = |line: &&'a str| {
        let name = line.trim_start().strip_prefix("int64_t free_")?;
        name.strip_suffix(';').filter(|name| sizes.contains(name))
    };
    lines.iter().filter_map(field).collect()
}

/// What one function has defined so far.
#[derive(Default)]
struct Scope<'a> {
    /// Size variables with a checked counterpart.
    checked: BTreeSet<&'a str>,
    bounds: Bounds<'a>,
}

impl<'a> Scope<'a> {
    fn write_line(
        &mut self,
        line: &'a str,
        next: &'a str,
        sizes: &BTreeSet<&'a str>,
        passed: &BTreeSet<&'a str>,
        text: &mut String,
    ) {
        if let Some(allocation) = Allocation::read(line) {
            let size = allocation.size.checked(&self.checked);
            text.push_str(allocation.before);
            if matches!(allocation.size, Expr::Name(_)) {
                // A length of bytes, or the size that a task was given: nothing was multiplied.
                let _ = write!(text, "fut_size({size})");
            } else {
                text.push_str(&size);
            }
            text.push_str(allocation.after);
        } else if let Some(condition) = self.bounds.condition(line, next) {
            text.push_str(&condition);
        } else {
            text.push_str(line);
        }
        text.push('\n');
        if let Some((name, expr)) = definition(line) {
            if sizes.contains(name) {
                self.define(line, name, &expr, text);
            }
            self.bounds.define(name, expr);
        } else {
            self.pass(line, passed, text);
            self.bounds.compare(line);
        }
    }

    /// Multicore's tasks get what they use in structures. Beside each size there is its checked
    /// counterpart.
    fn pass(&mut self, line: &'a str, passed: &BTreeSet<&'a str>, text: &mut String) {
        let indent = &line[..line.len() - line.trim_start().len()];
        let Some(statement) = line[indent.len()..].strip_suffix(';') else {
            return;
        };
        if let Some(name) = statement.strip_prefix("int64_t free_") {
            if passed.contains(name) {
                let _ = writeln!(text, "{indent}int64_t fut_free_{name};");
            }
        } else if let Some((target, name)) = statement.split_once(" = ")
            && passed.contains(name)
            && let Some(task) = target
                .strip_suffix(name)
                .and_then(|t| t.strip_suffix(".free_"))
        {
            let fut = if self.checked.contains(name) {
                "fut_"
            } else {
                ""
            };
            let _ = writeln!(text, "{indent}{task}.fut_free_{name} = {fut}{name};");
        } else if let Some((name, value)) = statement
            .strip_prefix("int64_t ")
            .and_then(|definition| definition.split_once(" = "))
            && passed.contains(name)
            && let Some(task) = value
                .strip_suffix(name)
                .and_then(|t| t.strip_suffix("->free_"))
        {
            let _ = writeln!(
                text,
                "{indent}int64_t fut_{name} = {task}->fut_free_{name};"
            );
            self.checked.insert(name);
        }
    }

    /// Writes the checked counterpart of a definition, if it differs from the definition.
    fn define(&mut self, line: &str, name: &'a str, expr: &Expr<'a>, text: &mut String) {
        let value = if name.starts_with("conc_tmp_") {
            expr.concatenation(&self.checked)
        } else {
            expr.checked(&self.checked)
        };
        if expr.is_plain(&self.checked) {
            return;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let _ = writeln!(text, "{indent}int64_t fut_{name} = {value};");
        self.checked.insert(name);
    }
}

/// A line that allocates: what stands before and after the size.
struct Allocation<'a> {
    before: &'a str,
    size: Expr<'a>,
    after: &'a str,
}

impl<'a> Allocation<'a> {
    fn read(line: &'a str) -> Option<Allocation<'a>> {
        let (start, end) = if let Some(call) = line.find("lexical_realloc(ctx, ") {
            // lexical_realloc(ctx, &mem, &mem_cached_sizze, SIZE)
            let start = line[call..].match_indices(", ").nth(2)?.0 + call + 2;
            (start, line.rfind(')')?)
        } else if line.contains("_cached_sizze_") {
            // if (mem_cached_sizze < SIZE) {
            (line.find(" < ")? + 3, line.strip_suffix(") {")?.len())
        } else {
            // memblock_alloc(ctx, &mem, SIZE, "mem")
            let call = line
                .find("memblock_alloc(ctx, ")
                .or_else(|| line.find("memblock_alloc_device(ctx, "))?;
            let start = line[call..].match_indices(", ").nth(1)?.0 + call + 2;
            (start, line.rfind(", \"")?)
        };
        Some(Allocation {
            before: &line[..start],
            size: Expr::parse(line.get(start..end)?)?,
            after: &line[end..],
        })
    }
}

/// `int64_t name = expression;`
fn definition(line: &str) -> Option<(&str, Expr<'_>)> {
    let line = line.trim_start();
    let line = line.strip_prefix("const ").unwrap_or(line);
    let (name, value) = line.strip_prefix("int64_t ")?.split_once(" = ")?;
    Some((name, Expr::parse(value.strip_suffix(';')?)?))
}
