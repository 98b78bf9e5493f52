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

use super::concat::Concatenations;
use super::edits::Edits;
use super::passes::{Passed, Purpose};
use super::room;
use crate::compile::error::Error;
use crate::compile::generated::Source;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, Loop, Statement};
use crate::compile::generated::token::is_name;

/// How the sizes of one function are computed.
pub(super) struct Flow<'a, 'f> {
    pub function: &'f Function<'a>,
    /// The variables and parameters of other types, on which no size can depend.
    others: BTreeSet<&'a str>,
    /// The variables of type `int64_t`, and the expressions that each is assigned.
    definitions: BTreeMap<&'a str, Vec<&'f Expr<'a>>>,
    /// The fields of the structs of multicore's tasks that are read into variables, and those that get variables.
    loads: Vec<(&'a str, &'a str)>,
    stores: Vec<(&'a str, &'a str)>,
    /// The variables on which a size depends that the runtime receives, or the number of iterations of a loop.
    needed: BTreeSet<&'a str>,
    /// The variables with a checked counterpart: their value is computed, in at least one place,
    /// from a product, a sum or such a variable.
    pub checked: BTreeSet<&'a str>,
}

/// Whether a size can depend on a number of this type. The scheduler counts with 32 bits.
fn is_number_type(ty: &str) -> bool {
    matches!(ty, "int64_t" | "int32_t" | "int")
}

/// The variable and the field of `int64_t x = task->field;`.
fn load<'a>(statement: &Statement<'a>) -> Option<(&'a str, &'a str, &'a str)> {
    let Kind::Declare {
        ty: "int64_t",
        name,
        value: Some(value),
    } = &statement.kind
    else {
        return None;
    };
    match &value.kind {
        expr::Kind::Member(task, "->", field) => Some((name, task.name()?, field)),
        _ => None,
    }
}

/// The variable, the task and the field of `task.field = x;`.
fn store<'a>(statement: &Statement<'a>) -> Option<(&'a str, &'a str, &'a str)> {
    let Kind::Assign {
        target,
        operator: "=",
        value,
    } = &statement.kind
    else {
        return None;
    };
    match &target.kind {
        expr::Kind::Member(task, ".", field) => Some((value.name()?, task.name()?, field)),
        _ => None,
    }
}

impl<'a, 'f> Flow<'a, 'f> {
    fn of(function: &'f Function<'a>) -> Flow<'a, 'f> {
        let mut flow = Flow {
            function,
            others: BTreeSet::new(),
            definitions: BTreeMap::new(),
            loads: Vec::new(),
            stores: Vec::new(),
            needed: BTreeSet::new(),
            checked: BTreeSet::new(),
        };
        let words = function.parameters.windows(2);
        let others = words.filter(|words| is_name(words[0]) && !is_number_type(words[0]));
        flow.others.extend(others.map(|words| words[1]));
        function.visit(&mut |statement| {
            if let Kind::Declare { ty, name, .. } = &statement.kind {
                if *ty == "int64_t" {
                    flow.definitions.entry(name).or_default();
                }
                if !is_number_type(ty) {
                    flow.others.insert(name);
                }
            }
            if let Some((name, _, field)) = load(statement) {
                flow.loads.push((field, name));
            } else if let Some((name, "=", value)) = statement.set()
                && let Some(values) = flow.definitions.get_mut(name)
            {
                values.push(value);
            }
            if let Some((name, _, field)) = store(statement) {
                flow.stores.push((field, name));
            }
        });
        flow
    }

    /// Adds the variables, and those on which they depend, to `needed`.
    fn need(&mut self, mut open: Vec<&'a str>, version: &Version) -> Result<(), Error> {
        while let Some(name) = open.pop() {
            if self.others.contains(name) {
                let why = "a size depends on it, and its type is not one of a size";
                return Err(Error::unsupported(version, name, why));
            }
            if let Some(values) = self.definitions.get(name)
                && self.needed.insert(name)
            {
                values.iter().for_each(|value| value.names(&mut open));
            }
        }
        Ok(())
    }

    /// Whether the value is a sum of lengths: constants, and variables that the compiler has not computed itself, or as such
    /// a sum. It computes the length of a concatenation so.
    fn is_length(&self, value: &Expr<'a>, seen: &mut BTreeSet<&'a str>) -> bool {
        let terms = value.operands("+");
        terms.is_some_and(|terms| terms.iter().all(|term| self.is_term(term, seen)))
    }

    fn is_term(&self, term: &Expr<'a>, seen: &mut BTreeSet<&'a str>) -> bool {
        let Some(name) = term.name() else {
            return term.constant().is_some() || self.is_length(term, seen);
        };
        let definitions = self.definitions.get(name).filter(|_| seen.insert(name));
        let mut own = definitions
            .into_iter()
            .flatten()
            .filter(|value| value.is_of_sizes());
        own.all(|value| self.is_length(value, seen))
    }

    /// Adds the variables that are computed from products, sums and checked variables.
    fn find_checked(&mut self) {
        loop {
            let count = self.checked.len();
            for name in &self.needed {
                let values = &self.definitions[name];
                if !values.iter().all(|value| value.is_plain(&self.checked)) {
                    self.checked.insert(name);
                }
            }
            if self.checked.len() == count {
                return;
            }
        }
    }
}

/// The flows of all functions, and the fields of tasks that have a checked counterpart.
pub(super) struct Flows<'a, 'f> {
    pub all: Vec<Flow<'a, 'f>>,
    fields: BTreeSet<&'a str>,
}

impl<'a, 'f> Flows<'a, 'f> {
    pub(super) fn of(
        functions: &'f [Function<'a>],
        version: &Version,
    ) -> Result<Flows<'a, 'f>, Error> {
        let mut all: Vec<Flow<'_, '_>> = functions.iter().map(Flow::of).collect();
        for flow in &mut all {
            let mut names = Vec::new();
            let mut wrong = Ok(());
            flow.function.visit(&mut |statement| {
                match Passed::all(statement, version) {
                    Ok(all) => {
                        let sizes = all.iter().flat_map(|passed| &passed.sizes);
                        sizes.for_each(|size| size.names(&mut names));
                    }
                    Err(error) => wrong = Err(error),
                }
                if let Some(count) = count(statement) {
                    count.names(&mut names);
                }
            });
            wrong?;
            flow.need(names, version)?;
        }
        // What a task needs, its caller passes.
        let loaded = loop {
            let needed = |flow: &Flow<'a, 'f>| {
                let loads = flow.loads.iter();
                let needed = loads.filter(|(_, name)| flow.needed.contains(name));
                needed.map(|(field, _)| *field).collect::<Vec<_>>()
            };
            let loaded: BTreeSet<&str> = all.iter().flat_map(needed).collect();
            let before: usize = all.iter().map(|flow| flow.needed.len()).sum();
            for flow in &mut all {
                let stores = flow.stores.iter();
                let stored = stores.filter(|(field, _)| loaded.contains(field));
                let names = stored.map(|(_, name)| *name).collect();
                flow.need(names, version)?;
            }
            if before == all.iter().map(|flow| flow.needed.len()).sum::<usize>() {
                break loaded;
            }
        };
        let mut fields = BTreeSet::new();
        loop {
            let count = fields.len();
            for flow in &mut all {
                let loads = flow.loads.iter();
                let passed = loads
                    .filter(|(field, name)| fields.contains(field) && flow.needed.contains(name));
                flow.checked.extend(passed.map(|(_, name)| name));
                flow.find_checked();
                let stores = flow.stores.iter();
                let stored = stores
                    .filter(|(field, name)| loaded.contains(field) && flow.checked.contains(name));
                fields.extend(stored.map(|(field, _)| field));
            }
            if fields.len() == count {
                return Ok(Flows { all, fields });
            }
        }
    }

    /// Adds the counterparts of fields to the structs of tasks.
    pub(super) fn add_fields(&self, source: &Source<'a>, edits: &mut Edits<'a>) {
        for tokens in source.structs.values() {
            for field in tokens.windows(3) {
                if let ["int64_t", name, end @ ";"] = *field
                    && self.fields.contains(name)
                {
                    edits.after(end, &format!("int64_t fut_{name};"));
                }
            }
        }
    }
}

/// The number of iterations of a loop that begins with 0.
fn count<'s, 'a>(statement: &'s Statement<'a>) -> Option<&'s Expr<'a>> {
    match &statement.kind {
        Kind::For(Loop { from, to, .. }) if from.constant() == Some(0) => Some(to),
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
    let count = count(statement)?;
    let Kind::For(Loop { body, .. }) = &statement.kind else {
        return None;
    };
    let mut counts = match body.as_block() {
        [] => Vec::new(),
        [inner] => counts_of_units(inner)?,
        _ => return None,
    };
    counts.push(count);
    Some(counts)
}

/// Changes the statements of a function.
pub(super) struct Writer<'a, 'f, 'w> {
    pub flow: &'w Flow<'a, 'f>,
    pub flows: &'w Flows<'a, 'f>,
    pub concatenations: &'w Concatenations<'a>,
    pub version: &'w Version,
}

impl<'a> Writer<'a, '_, '_> {
    /// Whether nothing is left to do in the statements in this one.
    pub(super) fn write<'s>(
        &self,
        statement: &'s Statement<'a>,
        edits: &mut Edits<'a>,
    ) -> Result<bool, Error> {
        let checked = &self.flow.checked;
        self.refuse_address(statement)?;
        let mut before = Vec::new();
        if let Some(counts) = counts_of_units(statement) {
            let check = self.check_count(&counts);
            edits.replace(statement.text, check.unwrap_or_default());
            return Ok(true);
        }
        for passed in Passed::all(statement, self.version)? {
            if passed.purpose == Purpose::Copy {
                before.extend(self.check_count(&passed.sizes));
                before.extend(room::checks(passed.arguments, passed.function));
                continue;
            }
            for size in passed.sizes {
                let mut text = size.checked(checked);
                // The condition in front of an allocation would take a negative size for one that is there.
                let is_size = size.is_natural() || size.operands("*").is_some();
                if passed.purpose == Purpose::Allocate && !is_size {
                    text = format!("fut_size({text})");
                }
                if text != size.to_string() {
                    edits.replace(size.text, text);
                }
            }
        }
        // A product of negative sizes would be a number of iterations of an array that cannot exist.
        if let Some(count) = count(statement)
            && !count.is_plain(checked)
        {
            before.push(format!("FUT_CHECK_ITERATIONS({})", count.checked(checked)));
        }
        let after = self.counterpart(statement)?;
        before
            .iter()
            .for_each(|line| edits.before(statement.text, line));
        if let Some(line) = after {
            edits.after(statement.text, &line);
        }
        Ok(false)
    }

    /// A check that ends the function if the product of `dims` is not a size.
    fn check_count(&self, dims: &[&Expr<'a>]) -> Option<String> {
        let dims = dims.iter().filter(|dim| !dim.is_natural());
        let dims = dims.map(|dim| dim.checked(&self.flow.checked));
        let count = dims.reduce(|product, dim| format!("fut_times({product}, {dim})"))?;
        Some(format!("FUT_CHECK_COUNT({count})"))
    }

    /// Refuses to take the address of a variable with a checked counterpart, which would not change with it.
    fn refuse_address(&self, statement: &Statement<'a>) -> Result<(), Error> {
        let mut address = |expr: &Expr<'a>| {
            let [of] = expr.operands("&")? else {
                return None;
            };
            of.name().filter(|name| self.flow.checked.contains(name))
        };
        let mut expressions = statement.expressions().into_iter();
        match expressions.find_map(|expr| expr.find(&mut address)) {
            Some(name) => self.refuse(name, "a size is assigned through its address"),
            None => Ok(()),
        }
    }

    fn refuse<T>(&self, item: &str, why: &str) -> Result<T, Error> {
        Err(Error::unsupported(self.version, item, why))
    }

    /// The checked counterpart of a declaration, a definition or an assignment. On multicore, structures pass variables
    /// to tasks, with the counterpart of each size.
    fn counterpart(&self, statement: &Statement<'a>) -> Result<Option<String>, Error> {
        let checked = &self.flow.checked;
        if let Some((name, task, field)) = store(statement)
            && self.flows.fields.contains(field)
        {
            let fut = if checked.contains(name) { "fut_" } else { "" };
            return Ok(Some(format!("{task}.fut_{field} = {fut}{name};")));
        }
        if let Some((name, task, field)) = load(statement) {
            let is_checked = checked.contains(name) && self.flows.fields.contains(field);
            return Ok(is_checked.then(|| format!("int64_t fut_{name} = {task}->fut_{field};")));
        }
        if let Kind::Declare {
            name, value: None, ..
        } = &statement.kind
            && checked.contains(name)
        {
            return Ok(Some(format!("int64_t fut_{name};")));
        }
        let Some((name, operator, value)) = statement.set() else {
            return Ok(None);
        };
        // The lengths that are added to an offset are compared with zero.
        if !self.flow.needed.contains(name) || self.concatenations.is_offset(name) {
            return Ok(None);
        }
        if operator != "=" || !value.is_number() {
            let why = format!("the size in `{}` cannot be read", statement.text);
            return self.refuse(name, &why);
        }
        if !checked.contains(name) {
            return Ok(None);
        }
        let value = match self.flow.is_length(value, &mut BTreeSet::new()) {
            true => value.concatenation(checked),
            false => value.checked(checked),
        };
        let is_definition = matches!(statement.kind, Kind::Declare { .. });
        let declaration = if is_definition { "int64_t " } else { "" };
        Ok(Some(format!("{declaration}fut_{name} = {value};")))
    }
}

/// Checks the sizes of the memory in the functions of the API that create arrays. The dimensions of existing arrays are valid.
pub(super) fn write_new<'a>(
    function: &Function<'a>,
    version: &Version,
    edits: &mut Edits<'a>,
) -> Result<(), Error> {
    let mut result = Ok(());
    function.visit(&mut |statement| match Passed::all(statement, version) {
        Ok(all) => {
            for size in all.iter().flat_map(|passed| &passed.sizes) {
                if !size.mentions_field("shape") && !size.is_plain(&BTreeSet::new()) {
                    edits.replace(size.text, size.checked(&BTreeSet::new()));
                }
            }
        }
        Err(error) => result = Err(error),
    });
    result
}
