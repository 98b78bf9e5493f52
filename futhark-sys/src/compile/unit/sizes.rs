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
//! if (memblock_alloc(ctx, &mem_6423, fut_size(fut_bytes_6422), "mem_6423")) {
//! ```
//!
//! The original definition stays, because the compiler moves size computations out of branches, and
//! only the use of a size may fail. All other code uses the original. The functions of the runtime
//! that receive a size refuse it if it is negative or has overflowed: allocations and parallel loops in
//! `fut_hooks.h`, fills, copies and launches by checks that are inserted here and in `launches.rs`.

use std::collections::{BTreeMap, BTreeSet};

use futhark_manifest::Version;

use super::edits::Edits;
use super::passes::{Passed, Purpose, is_iterations};
use super::room;
use crate::compile::error::Error;
use crate::compile::generated::Source;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, Loop, Statement};

/// Adds the checks of sizes to the functions of the program, and to the functions of the API that create arrays (`new`).
pub(super) fn write<'a>(
    functions: &[Function<'a>],
    new: &[Function<'a>],
    offsets: &BTreeSet<&'a str>,
    source: &Source<'a>,
    version: &Version,
    edits: &mut Edits<'a>,
) -> Result<(), Error> {
    let statements = functions.iter().flat_map(Function::statements);
    let fields = BTreeSet::from_iter(statements.filter_map(|statement| match &statement.kind {
        Kind::Assign { target, .. } if target.name().is_none() => Some(self::target(statement)?.1),
        _ => None,
    }));
    let flow = |function| Flow::of(function, &fields, offsets);
    let mut flows = Vec::from_iter(functions.iter().map(flow));
    // What a task needs, its caller passes, with the counterpart.
    let (mut needed, mut checked) = (BTreeSet::new(), BTreeSet::new());
    let (mut count, mut before) = (usize::MAX, 0);
    while count != before {
        before = std::mem::take(&mut count);
        for flow in &mut flows {
            flow.need(&needed, version)?;
            flow.find_checked(&checked);
            needed.extend(fields.intersection(&flow.needed));
            checked.extend(fields.intersection(&flow.checked));
            count += flow.needed.len() + flow.checked.len();
        }
    }
    for member in source.structs.values().flat_map(|tokens| tokens.windows(3)) {
        if let ["int64_t", name, end @ ";"] = *member
            && checked.contains(name)
        {
            edits.after(end, &format!("int64_t fut_{name};"));
        }
    }
    for flow in flows.into_iter().chain(new.iter().map(flow)) {
        for statement in &flow.function.body {
            flow.write(statement, version, edits)?;
        }
    }
    Ok(())
}

/// How the sizes of one function are computed. On multicore, the fields of structs pass variables to tasks. Here they are
/// variables too, which all functions share.
struct Flow<'a, 'f> {
    function: &'f Function<'a>,
    /// The types of variables and fields. The offsets of concatenations have none: their parts are compared with zero.
    types: BTreeMap<&'a str, &'a str>,
    /// The expressions that each variable and field is assigned.
    definitions: BTreeMap<&'a str, Vec<&'f Expr<'a>>>,
    /// The variables in sizes and numbers of iterations, as long as they are not followed.
    open: Vec<&'a str>,
    /// The variables on which a size depends that the runtime receives, or the number of iterations of a loop.
    needed: BTreeSet<&'a str>,
    /// The variables with a checked counterpart: their value is computed, in at least one place,
    /// from a product, a sum or such a variable.
    checked: BTreeSet<&'a str>,
}

/// The variable or the field of a task that a statement declares or sets, behind the text in front of it: `int64_t `, `task.`
/// or nothing.
fn target<'a>(statement: &Statement<'a>) -> Option<(&'a str, &'a str)> {
    match &statement.kind {
        Kind::Declare { name, .. } => Some(("int64_t ", name)),
        Kind::Assign { target, .. } => {
            let name = match target.kind {
                // The iterations are a size, and only the runtime reads them.
                expr::Kind::Member(_, ".", field) if !is_iterations(target) => field,
                _ => target.name()?,
            };
            Some((target.text.strip_suffix(name)?, name))
        }
        _ => None,
    }
}

impl<'a, 'f> Flow<'a, 'f> {
    fn of(
        function: &'f Function<'a>,
        fields: &BTreeSet<&'a str>,
        offsets: &BTreeSet<&'a str>,
    ) -> Flow<'a, 'f> {
        let mut types = function.types();
        types.extend(fields.iter().map(|field| (*field, "int64_t")));
        types.retain(|name, _| !offsets.contains(name));
        let mut definitions = BTreeMap::<_, Vec<_>>::new();
        let mut open = Vec::new();
        for statement in function.statements() {
            if let Some((_, name)) = target(statement) {
                let values = definitions.entry(name).or_default();
                values.extend(statement.expressions().pop());
            }
            let passed = Passed::all(statement);
            let sizes = passed.iter().flat_map(|passed| &passed.sizes).copied();
            let count = count(statement).map(|(count, _)| count);
            sizes.chain(count).for_each(|size| size.names(&mut open));
        }
        Flow {
            function,
            types,
            definitions,
            open,
            needed: BTreeSet::new(),
            checked: BTreeSet::new(),
        }
    }

    /// Adds the variables on which sizes and the fields depend to `needed`.
    fn need(&mut self, fields: &BTreeSet<&'a str>, version: &Version) -> Result<(), Error> {
        self.open.extend(fields);
        while let Some(name) = self.open.pop() {
            match self.types.get(name) {
                Some(&"int64_t") if self.needed.insert(name) => {
                    let values = self.definitions.get(name).into_iter().flatten();
                    values.for_each(|value| value.names(&mut self.open));
                }
                // Numbers of the scheduler, and of the program, have 32 bits.
                None | Some(&("int64_t" | "int32_t")) => {}
                Some(_) => {
                    let why = "a size depends on it, and its type is not one of a size";
                    return Err(Error::unsupported(version, name, why));
                }
            }
        }
        Ok(())
    }

    /// Adds the variables that are computed from products, sums, checked variables and these fields.
    fn find_checked(&mut self, fields: &BTreeSet<&'a str>) {
        self.checked.extend(fields);
        for name in &self.needed {
            let mut values = self.definitions.get(name).into_iter().flatten();
            if !values.all(|value| value.is_plain(&self.checked)) {
                self.checked.insert(name);
            }
        }
    }

    /// Whether the value is a sum of lengths: constants, and variables that the compiler has not computed itself, or as such
    /// a sum. It computes the length of a concatenation so.
    fn is_length(&self, value: &Expr<'a>, seen: &mut BTreeSet<&'a str>) -> bool {
        match (value.name(), value.operands("+")) {
            (Some(name), _) => {
                let is_new = self.needed.contains(name) && seen.insert(name);
                let values = self.definitions.get(name).filter(|_| is_new);
                let mut own = values
                    .into_iter()
                    .flatten()
                    .filter(|value| value.is_of_sizes());
                own.all(|value| self.is_length(value, seen))
            }
            (None, Some(terms)) => terms.iter().all(|term| self.is_length(term, seen)),
            (None, None) => value.constant().is_some(),
        }
    }

    /// Changes a statement and those in it.
    fn write(
        &self,
        statement: &Statement<'a>,
        version: &Version,
        edits: &mut Edits<'a>,
    ) -> Result<(), Error> {
        if let Some(counts) = counts_of_units(statement) {
            let check = self.check_count(&counts);
            edits.replace(statement.text, check.unwrap_or_default());
            return Ok(());
        }
        for passed in Passed::all(statement) {
            if passed.sizes.is_empty() || !passed.sizes.iter().all(|size| size.is_number()) {
                return Err(unreadable(passed.function, statement, version));
            }
            if passed.purpose == Purpose::Copy {
                let checks = room::checks(passed.arguments, passed.function);
                let checks = self.check_count(&passed.sizes).into_iter().chain(checks);
                checks.for_each(|check| edits.before(statement.text, &check));
                continue;
            }
            if passed.purpose == Purpose::Start {
                let start = passed.function.replace("scheduler", "fut");
                edits.replace(passed.function, start);
            }
            for size in passed.sizes {
                let is_product = size.operands("*").is_some();
                let text = match passed.purpose {
                    Purpose::Start => "ctx".to_owned(),
                    // The condition in front of an allocation would take a negative size for one that is there.
                    Purpose::Allocate if !size.is_natural() && !is_product => {
                        format!("fut_size({})", size.checked(&self.checked))
                    }
                    _ => size.checked(&self.checked),
                };
                // The dimensions of existing arrays are valid.
                if text != size.to_string() && !size.mentions_field("shape") {
                    edits.replace(size.text, text);
                }
            }
        }
        // A product of negative sizes would be a number of iterations of an array that cannot exist.
        if let Some((count, _)) = count(statement)
            && !count.is_plain(&self.checked)
        {
            let count = count.checked(&self.checked);
            edits.before(statement.text, &format!("FUT_CHECK_ITERATIONS({count})"));
        }
        if let Some(counterpart) = self.counterpart(statement, version)? {
            edits.after(statement.text, &counterpart);
        }
        let mut inner = statement.inner().iter();
        inner.try_for_each(|inner| self.write(inner, version, edits))
    }

    /// A check that ends the function if the product of `dims` is not a size.
    fn check_count(&self, dims: &[&Expr<'a>]) -> Option<String> {
        let dims = dims.iter().filter(|dim| !dim.is_natural());
        let dims = dims.map(|dim| dim.checked(&self.checked));
        let count = dims.reduce(|product, dim| format!("fut_times({product}, {dim})"))?;
        Some(format!("FUT_CHECK_COUNT({count})"))
    }

    /// The checked counterpart of a declaration, a definition or an assignment.
    fn counterpart(
        &self,
        statement: &Statement<'a>,
        version: &Version,
    ) -> Result<Option<String>, Error> {
        let address = |part: &Expr<'a>| match part.operands("&")? {
            [of] => of.name().filter(|name| self.checked.contains(name)),
            _ => None,
        };
        if let Some(name) = statement.parts().into_iter().find_map(address) {
            let why = "a size is assigned through its address";
            return Err(Error::unsupported(version, name, why));
        }
        let is_needed = |(_, name): &(_, &str)| self.needed.contains(name);
        let Some((in_front, name)) = target(statement).filter(is_needed) else {
            return Ok(None);
        };
        let value = statement.expressions().pop();
        let changes = matches!(statement.kind, Kind::Assign { operator, .. } if operator != "=");
        if changes || !value.is_none_or(Expr::is_number) {
            return Err(unreadable(name, statement, version));
        }
        let value = value.map(|value| match self.is_length(value, &mut BTreeSet::new()) {
            true => format!(" = {}", value.concatenation(&self.checked)),
            false => format!(" = {}", value.checked(&self.checked)),
        });
        let counterpart = format!("{in_front}fut_{name}{};", value.unwrap_or_default());
        Ok(self.checked.contains(name).then_some(counterpart))
    }
}

fn unreadable(name: &str, statement: &Statement<'_>, version: &Version) -> Error {
    let why = format!("the size in `{}` cannot be read", statement.text);
    Error::unsupported(version, name, &why)
}

/// The number of iterations of a loop that begins with 0, and its body.
fn count<'s, 'a>(statement: &'s Statement<'a>) -> Option<(&'s Expr<'a>, &'s Statement<'a>)> {
    match &statement.kind {
        Kind::For(Loop { from, to, body, .. }) if from.constant() == Some(0) => Some((to, body)),
        _ => None,
    }
}

/// The dimensions of a fill with values that need no memory, such as `replicate n ()`; the innermost
/// first. Its loops have no body, so there is nothing to do, but a negative number of values is an error:
///
/// ```c
/// for (int64_t nest_i_5624 = 0; nest_i_5624 < n_5524; nest_i_5624++) {
///     for (int64_t nest_i_5625 = 0; nest_i_5625 < m_5525; nest_i_5625++) { }
/// }
/// ```
fn counts_of_units<'s, 'a>(statement: &'s Statement<'a>) -> Option<Vec<&'s Expr<'a>>> {
    let (count, body) = count(statement)?;
    let mut counts = match body.as_block() {
        [] => Vec::new(),
        [inner] => counts_of_units(inner)?,
        _ => return None,
    };
    counts.push(count);
    Some(counts)
}
