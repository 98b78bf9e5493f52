//! Computes each allocation size of the generated C in checked arithmetic.
//!
//! The compiler computes the size of `replicate n (replicate m x)` as `n * m * size` without
//! comparing `n` and `m` with zero. The product of two negative dimensions is a valid size of an
//! array that cannot exist. In the size of a concatenation, one negative length is enough.
//! Therefore the text that we compile has a second definition of each variable that an allocation
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
//! only the allocation may fail. All other code uses the original.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use futhark_manifest::Backend;

use super::bounds::Bounds;
use super::concat;
use crate::compile::generated::expr::Expr;
use crate::compile::generated::lines::{Line, Statement};

/// The generated C with checked sizes.
pub(super) fn checked(lines: &[Line<'_>], backend: Backend) -> String {
    let sizes = size_variables(lines);
    let concatenations = concat::checks(lines);
    let passed = match backend {
        Backend::Multicore => passed_variables(lines, &sizes),
        // On ISPC, kernels share these structures, and kernels are not changed.
        _ => BTreeSet::new(),
    };
    let mut text = String::new();
    let mut scope = Scope::default();
    for (i, line) in lines.iter().enumerate() {
        if line.text.starts_with('}') {
            scope = Scope::default();
        }
        if let Some(check) = concatenations.get(&i) {
            text.push_str(check);
        }
        scope.write_line(line, lines.get(i + 1), &sizes, &passed, &mut text);
    }
    text
}

/// The variables that the size of an allocation depends on.
fn size_variables<'a>(lines: &[Line<'a>]) -> BTreeSet<&'a str> {
    let mut definitions: BTreeMap<&str, Vec<&Expr<'_>>> = BTreeMap::new();
    let mut open = Vec::new();
    for line in lines {
        match &line.statement {
            Statement::Define { name, value } => {
                definitions.entry(name).or_default().push(value);
            }
            Statement::Allocate(allocation) => allocation.size.names(&mut open),
            _ => {}
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

/// The size variables that are passed to tasks.
fn passed_variables<'a>(lines: &[Line<'a>], sizes: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let field = |line: &Line<'a>| match line.statement {
        Statement::Field(name) if sizes.contains(name) => Some(name),
        _ => None,
    };
    lines.iter().filter_map(field).collect()
}

/// The definitions so far in one function.
#[derive(Default)]
struct Scope<'a, 'l> {
    /// Size variables with a checked counterpart.
    checked: BTreeSet<&'a str>,
    bounds: Bounds<'a, 'l>,
}

impl<'a, 'l> Scope<'a, 'l> {
    fn write_line(
        &mut self,
        line: &'l Line<'a>,
        next: Option<&Line<'a>>,
        sizes: &BTreeSet<&'a str>,
        passed: &BTreeSet<&'a str>,
        text: &mut String,
    ) {
        let next = next.map(|next| &next.statement);
        match (&line.statement, next) {
            (Statement::Allocate(allocation), _) => {
                let size = allocation.size.checked(&self.checked);
                text.push_str(allocation.before);
                if matches!(allocation.size, Expr::Name(_)) {
                    // A length in bytes, or the size in a task, without a multiplication.
                    let _ = write!(text, "fut_size({size})");
                } else {
                    text.push_str(&size);
                }
                text.push_str(allocation.after);
            }
            (Statement::Check(condition), Some(Statement::Message(message))) => {
                let terms = self.bounds.missing(condition, message);
                if terms.is_empty() {
                    text.push_str(line.text);
                } else {
                    let (indent, terms) = (line.indent(), terms.join(" || "));
                    let _ = write!(text, "{indent}if (!{condition} || {terms}) {{");
                }
            }
            _ => text.push_str(line.text),
        }
        text.push('\n');
        match &line.statement {
            Statement::Define { name, value } => {
                if sizes.contains(name) {
                    self.define(line, name, value, text);
                }
                self.bounds.define(name, value);
            }
            Statement::Compare { name, values } => self.bounds.compare(name, *values),
            _ => self.pass(line, passed, text),
        }
    }

    /// On multicore, structures pass variables to tasks. Adds the checked counterpart of each size.
    fn pass(&mut self, line: &Line<'a>, passed: &BTreeSet<&'a str>, text: &mut String) {
        let indent = line.indent();
        match line.statement {
            Statement::Field(name) if passed.contains(name) => {
                let _ = writeln!(text, "{indent}int64_t fut_free_{name};");
            }
            Statement::Store { task, name } if passed.contains(name) => {
                let fut = if self.checked.contains(name) {
                    "fut_"
                } else {
                    ""
                };
                let _ = writeln!(text, "{indent}{task}.fut_free_{name} = {fut}{name};");
            }
            Statement::Load { task, name } if passed.contains(name) => {
                let _ = writeln!(
                    text,
                    "{indent}int64_t fut_{name} = {task}->fut_free_{name};"
                );
                self.checked.insert(name);
            }
            _ => {}
        }
    }

    /// Writes the checked counterpart of a definition, if it differs from the definition.
    fn define(&mut self, line: &Line<'_>, name: &'a str, expr: &Expr<'a>, text: &mut String) {
        let value = if name.starts_with("conc_tmp_") {
            expr.concatenation(&self.checked)
        } else {
            expr.checked(&self.checked)
        };
        if expr.is_plain(&self.checked) {
            return;
        }
        let _ = writeln!(text, "{}int64_t fut_{name} = {value};", line.indent());
        self.checked.insert(name);
    }
}
