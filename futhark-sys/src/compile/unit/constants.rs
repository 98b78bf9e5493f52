//! Refuses arrays whose shape is constant in the generated C and cannot exist, and indices that are constant and negative.
//!
//! The compiler multiplies constants: `replicate (-2) (replicate (-3) x)` becomes a block of 48 bytes. No factor is left to
//! check when the program runs, but the loops that fill the block have the shape:
//!
//! ```c
//! if (memblock_alloc(ctx, &mem_10, (int64_t) 48, "mem_10")) {
//! ...
//! for (int64_t i_11 = 0; i_11 < (int64_t) -2; i_11++) {
//!     for (int64_t i_12 = 0; i_12 < (int64_t) -3; i_12++) {
//!         ((int64_t *) mem_10.mem)[i_11 * (int64_t) -3 + i_12] = x_9;
//! ```
//!
//! A loop of the program may have a negative constant number of iterations. It fills no block of the size that the product of
//! its bounds has, or with strides that are not negative.
//!
//! The compiler relies on sizes not being negative, and removes the comparison of an index that is a size with zero:
//! `let f [k] (_: [k]()) = xs[k] in f (replicate (-1) ())` reads `mem_10[(int64_t) -1]`. With `xs[k:][i]`, the constant is a
//! summand: `int64_t i_12 = (int64_t) -1 + i_11`. The program's own arithmetic on indices is compared as a whole.

use std::collections::{BTreeMap, BTreeSet};

use super::edits::Edits;
use super::passes::{Passed, Purpose};
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, Loop, Statement};

/// How many definitions are followed in one product. A definition can depend on itself.
const MOST_DEFINITIONS: usize = 64;

/// The definitions of variables and the sizes of blocks in all functions, by name. Tasks of multicore use the names of their
/// callers.
#[derive(Default)]
pub(super) struct Blocks<'a, 'f> {
    definitions: BTreeMap<&'a str, Vec<&'f Expr<'a>>>,
    sizes: BTreeMap<String, Vec<&'f Expr<'a>>>,
}

impl<'a, 'f> Blocks<'a, 'f> {
    pub(super) fn of(functions: &'f [Function<'a>]) -> Self {
        let (mut definitions, mut sizes) = (BTreeMap::new(), BTreeMap::new());
        for statement in functions.iter().flat_map(Function::statements) {
            if let Some((name, "=", value)) = statement.set() {
                definitions.entry(name).or_insert_with(Vec::new).push(value);
            }
            for passed in Passed::all(statement) {
                if passed.purpose == Purpose::Allocate
                    && let [size] = passed.sizes[..]
                    && let Some([block]) = passed.arguments.get(1).and_then(|to| to.operands("&"))
                {
                    let block = sizes.entry(block.to_string()).or_insert_with(Vec::new);
                    block.push(size);
                }
            }
        }
        Blocks { definitions, sizes }
    }

    /// Refuses the outermost loops that fill a block of a constant shape that cannot exist.
    pub(super) fn write(&self, statement: &Statement<'a>, edits: &mut Edits<'a>) {
        if self.is_impossible_fill(statement, &mut Vec::new()) {
            edits.before(statement.text, "FUT_REFUSE_IF(true, FUT_CONSTANT_SHAPE)");
        } else {
            for inner in statement.inner() {
                self.write(inner, edits);
            }
        }
    }

    /// Whether all of `loops` and the loop that the statement is fill such a block.
    fn is_impossible_fill<'s>(
        &self,
        statement: &'s Statement<'a>,
        loops: &mut Vec<&'s Loop<'a>>,
    ) -> bool {
        let count = loops.len();
        if let Kind::For(own) = &statement.kind {
            loops.push(own);
        }
        let mut inner = statement.inner().iter();
        let found = !loops.is_empty()
            && (self.is_impossible(statement, loops).unwrap_or_default()
                || inner.any(|inner| self.is_impossible_fill(inner, loops)));
        loops.truncate(count);
        found
    }

    fn is_impossible(&self, statement: &Statement<'a>, loops: &[&Loop<'a>]) -> Option<bool> {
        let (block, element, place, mut bounds) = written(statement)?;
        bounds.extend(loops.iter().map(|one| &one.to));
        let constants = || bounds.iter().filter_map(|bound| bound.constant());
        let bytes = constants().fold(element, i128::saturating_mul);
        let overflows = i64::try_from(bytes).is_err();
        let negative = constants().filter(|&constant| constant < 0).count();
        if overflows && negative == 0 {
            // The compiler can have added the overflowed size to others. Such a loop would not end.
            return Some(true);
        }
        let mut has_negative_stride = |part: &Expr<'a>| {
            let is_negative = part.operands("*")?.iter().any(is_negative);
            let has_variable = || loops.iter().any(|one| part.mentions(one.variable));
            (is_negative && has_variable()).then_some(())
        };
        if !overflows && (negative < 2 || place.find(&mut has_negative_stride).is_none()) {
            return None;
        }
        let (constant, names) = self.product(bounds);
        let part = constant.wrapping_mul(element as i64);
        // Whether the block consists of arrays of this size.
        let is_multiple = |size: &&Expr<'a>| {
            let (constant, mut own) = self.product(vec![size]);
            let mut take = |name| Some(own.swap_remove(own.iter().position(|own| own == name)?));
            let is_multiple = constant.checked_rem(part).unwrap_or(constant) == 0;
            is_multiple && names.iter().all(|name| take(name).is_some())
        };
        Some(self.sizes.get(&block)?.iter().any(is_multiple))
    }

    /// The constant and the variables of a product, through definitions. The constant wraps like the compiler's.
    fn product<'s>(&'s self, mut factors: Vec<&'s Expr<'a>>) -> (i64, Vec<String>) {
        let (mut constant, mut names) = (1i64, Vec::new());
        let mut definitions = 0..MOST_DEFINITIONS;
        while let Some(factor) = factors.pop() {
            let definition = factor.name().and_then(|name| self.definitions.get(name));
            let definition =
                definition.filter(|all| all.len() == 1 && definitions.next().is_some());
            let product = definition.map_or(factor, |all| all[0]).operands("*");
            if let Some(number) = factor.constant() {
                constant = constant.wrapping_mul(number as i64);
            } else if let Some(operands) = product {
                factors.extend(operands);
            } else {
                names.push(factor.to_string());
            }
        }
        (constant, names)
    }
}

/// The block that a statement writes to, the size of an element, the place in the block, and the shape of a copy.
fn written<'s, 'a>(
    statement: &'s Statement<'a>,
) -> Option<(String, i128, &'s Expr<'a>, Vec<&'s Expr<'a>>)> {
    let written = match &statement.kind {
        Kind::Assign { target, .. } => target,
        Kind::Evaluate(call) => call,
        _ => return None,
    };
    let (pointer, place, shape) = match &written.kind {
        expr::Kind::Index(parts) => (&parts[0], &parts[1], Vec::new()),
        expr::Kind::Call(function, arguments) if function.starts_with("lmad_copy_") => {
            let [_, _, to, place, .., shape] = &arguments[..] else {
                return None;
            };
            (to, place, elements(shape))
        }
        _ => return None,
    };
    let expr::Kind::Cast(ty, block) = &pointer.kind else {
        return None;
    };
    let block = match &block.kind {
        expr::Kind::Member(block, ".", "mem") => block,
        _ => block,
    };
    // The size of the type that the pointer points to.
    let sizes = [("64", 8), ("double", 8), ("32", 4), ("float", 4), ("16", 2)];
    let ty = ty.concat();
    let size = sizes.iter().find(|(part, _)| ty.contains(part));
    let size = size.map_or(1, |(_, size)| *size);
    Some((block.to_string(), size, place, shape))
}

/// The dimensions of `(int64_t []) {n, m}`.
fn elements<'s, 'a>(list: &'s Expr<'a>) -> Vec<&'s Expr<'a>> {
    list.parts().iter().flat_map(Expr::parts).collect()
}

fn is_negative(number: &Expr<'_>) -> bool {
    number.constant().is_some_and(|number| number < 0)
}

/// More iterations of a parallel loop do not end, and the sizes of what they write overflow.
const MOST_ITERATIONS: i128 = 1 << 60;

/// Refuses calls that access an element with a constant negative index, copy from such a place, or start a loop that does
/// not end.
pub(super) fn write_constants<'a>(function: &Function<'a>, edits: &mut Edits<'a>) {
    let below = below_zero(function);
    for statement in function.statements() {
        let mut parts = statement.parts().into_iter();
        if let Some(condition) = parts.find_map(|part| outside(part, &below)) {
            let check = format!("FUT_REFUSE_IF({condition}, FUT_NEGATIVE_INDEX)");
            edits.before(statement.text, &check);
        }
        let count = match &statement.kind {
            Kind::Assign { target, value, .. } => {
                let is_task = matches!(target.kind, expr::Kind::Member(_, ".", "iterations"));
                is_task.then_some(value)
            }
            // Each iteration copies in a parallel loop.
            Kind::For(own) => own.body.find(&mut starts_loop).map(|()| &own.to),
            _ => None,
        };
        if count.is_some_and(|count| count.constant() > Some(MOST_ITERATIONS)) {
            edits.before(statement.text, "FUT_REFUSE_IF(true, FUT_CONSTANT_SHAPE)");
        }
    }
}

fn starts_loop(expr: &Expr<'_>) -> Option<()> {
    (Passed::of(expr)?.purpose == Purpose::Start).then_some(())
}

/// Whether a negative constant is added to a number.
fn is_lowered(value: &Expr<'_>) -> bool {
    let terms = value.operands("+").or_else(|| value.arguments("add64"));
    terms.is_some_and(|terms| is_negative(&terms[0]))
}

/// The variables with such a value that are only indices: nothing compares them.
fn below_zero<'a>(function: &Function<'a>) -> BTreeSet<&'a str> {
    let mut below = BTreeSet::new();
    for statement in function.statements() {
        if let Kind::Declare {
            name,
            value: Some(value),
            ..
        } = &statement.kind
            && is_lowered(value)
        {
            below.insert(*name);
        }
    }
    for statement in function.statements() {
        let parts = statement.parts().into_iter();
        let others = parts.filter(|part| !matches!(part.kind, expr::Kind::Index(_)));
        let used = others.flat_map(Expr::parts).chain(statement.expressions());
        used.for_each(|value| {
            below.remove(value.name().unwrap_or_default());
        });
    }
    below
}

/// When an access of memory, in C, is in front of it.
fn outside(expr: &Expr<'_>, below: &BTreeSet<&str>) -> Option<String> {
    let is_outside = match &expr.kind {
        expr::Kind::Index(parts)
            if is_lowered(&parts[1])
                || parts[1].name().is_some_and(|name| below.contains(name)) =>
        {
            return Some(format!("({}) < 0", parts[1].text));
        }
        expr::Kind::Index(parts) => is_negative(&parts[1]),
        expr::Kind::Call(name, arguments) if name.starts_with("lmad_copy_") => {
            let [.., to, _, _, from, _, shape] = &arguments[..] else {
                return None;
            };
            // An empty slice may begin anywhere.
            let dims = elements(shape).into_iter().map(|dim| format!("{dim} > 0"));
            let is_filled = || dims.collect::<Vec<_>>().join(" && ");
            return (is_negative(to) || is_negative(from)).then(is_filled);
        }
        // The place of a scalar: (int64_t) -1 * sizeof(int64_t)
        expr::Kind::Call(name, arguments) if name.starts_with("gpu_scalar_") => {
            let mut products = arguments.iter().filter_map(|place| place.operands("*"));
            products.any(|factors| is_negative(&factors[0]))
        }
        _ => false,
    };
    is_outside.then(|| "true".to_owned())
}
