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
//! `let f [k] (_: [k]()) = xs[k] in f (replicate (-1) ())` reads `mem_10[(int64_t) -1]`.

use std::collections::{BTreeMap, BTreeSet};

use super::edits::Edits;
use super::passes::{Passed, Purpose};
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, Loop, Statement};

/// A product of a constant and variables. The constant wraps like the compiler's.
#[derive(Clone, Debug, PartialEq)]
struct Product {
    constant: i64,
    names: Vec<String>,
}

/// How many products and definitions are followed. A definition can depend on itself.
const DEPTH: usize = 12;

/// The definitions of variables of type `int64_t` with one, in all functions.
type Definitions<'a, 'f> = BTreeMap<&'a str, Vec<&'f Expr<'a>>>;

impl Product {
    fn of(value: &Expr<'_>, definitions: &Definitions<'_, '_>) -> Product {
        Product::within(DEPTH, value, definitions)
    }

    fn within(depth: usize, value: &Expr<'_>, definitions: &Definitions<'_, '_>) -> Product {
        let of = |value| Product::within(depth - 1, value, definitions);
        if let Some(constant) = value.constant() {
            let names = Vec::new();
            return Product {
                constant: constant as i64,
                names,
            };
        }
        if let Some([a, b]) = value.operands("*")
            && depth > 0
        {
            return of(a).times(&of(b));
        }
        let definition = value.name().and_then(|name| definitions.get(name));
        match definition.map(Vec::as_slice) {
            Some([product]) if depth > 0 && product.operands("*").is_some() => of(product),
            _ => Product {
                constant: 1,
                names: vec![value.to_string()],
            },
        }
    }

    fn times(mut self, other: &Product) -> Product {
        self.constant = self.constant.wrapping_mul(other.constant);
        self.names.extend(other.names.iter().cloned());
        self
    }

    /// Whether an array of this size consists of arrays of the size `part`.
    fn is_multiple_of(&self, part: &Product) -> bool {
        let mut names = self.names.clone();
        let all = part.names.iter().all(|name| {
            let at = names.iter().position(|own| own == name);
            at.map(|at| names.remove(at)).is_some()
        });
        let is_multiple = match part.constant {
            0 => self.constant == 0,
            constant => self.constant.checked_rem(constant) == Some(0),
        };
        all && is_multiple
    }
}

/// The sizes of the blocks of all functions, by name. Tasks of multicore use the names of their callers.
pub(super) struct Blocks<'a, 'f> {
    definitions: Definitions<'a, 'f>,
    sizes: BTreeMap<String, Vec<Product>>,
}

impl<'a, 'f> Blocks<'a, 'f> {
    pub(super) fn of(functions: &'f [Function<'a>]) -> Self {
        let statements = || functions.iter().flat_map(Function::statements);
        let mut definitions = Definitions::new();
        for statement in statements() {
            if let Some((name, "=", value)) = statement.set() {
                definitions.entry(name).or_default().push(value);
            }
        }
        let mut sizes = BTreeMap::<String, Vec<Product>>::new();
        for passed in statements().flat_map(Passed::all) {
            if passed.purpose == Purpose::Allocate
                && let [size] = passed.sizes[..]
                && let Some(block) = passed.arguments.get(1).and_then(|to| to.operands("&"))
            {
                let size = Product::of(size, &definitions);
                sizes.entry(block[0].to_string()).or_default().push(size);
            }
        }
        Blocks { definitions, sizes }
    }

    /// Refuses calls that fill a block of a constant shape that cannot exist.
    pub(super) fn write(&self, function: &Function<'a>, edits: &mut Edits<'a>) {
        for statement in &function.body {
            self.statement(statement, &mut Vec::new(), edits);
        }
    }

    /// Returns the number of loops around the statement that fill a block of an impossible shape.
    fn statement<'s>(
        &self,
        statement: &'s Statement<'a>,
        loops: &mut Vec<&'s Loop<'a>>,
        edits: &mut Edits<'a>,
    ) -> usize {
        let own = match &statement.kind {
            Kind::For(own) => Some(own),
            _ => None,
        };
        loops.extend(own);
        let mut depth = self.impossible(statement, loops).unwrap_or_default();
        for inner in statement.inner() {
            depth = depth.max(self.statement(inner, loops, edits));
        }
        if own.is_some() {
            loops.pop();
            if depth == 1 {
                edits.before(statement.text, "FUT_REFUSE_IF(true, FUT_CONSTANT_SHAPE)");
            }
            depth = depth.saturating_sub(1);
        }
        depth
    }

    /// The largest number of innermost loops that can fill a block of an impossible shape, if the statement writes to it.
    fn impossible(&self, statement: &Statement<'a>, loops: &[&Loop<'a>]) -> Option<usize> {
        let (block, size, place, shape) = written(statement)?;
        let mut own = BTreeSet::new();
        let mut found = None;
        let mut bounds: Vec<&Expr<'a>> = shape;
        for (depth, outer) in loops.iter().rev().enumerate() {
            bounds.push(&outer.to);
            own.insert(outer.variable);
            let constants = || bounds.iter().filter_map(|bound| bound.constant());
            let exact = constants().try_fold(size, i128::checked_mul);
            let overflows = exact.is_none_or(|exact| i64::try_from(exact).is_err());
            let negative = constants().filter(|&constant| constant < 0).count();
            // The compiler can have added the overflowed size to others. Such a loop would not end.
            let is_endless = overflows && constants().all(|constant| constant > 0);
            let is_impossible = overflows || negative > 1 && has_negative_stride(place, &own);
            let mut product = Product {
                constant: size as i64,
                names: Vec::new(),
            };
            for bound in &bounds {
                product = product.times(&Product::of(bound, &self.definitions));
            }
            let mut sizes = self.sizes.get(&block).into_iter().flatten();
            let is_its = is_impossible && sizes.any(|size| size.is_multiple_of(&product));
            if is_endless || is_its {
                found = Some(depth + 1);
            }
        }
        found
    }
}

/// The block that a statement writes to, the size of an element, the place in the block, and the shape of a copy.
fn written<'s, 'a>(
    statement: &'s Statement<'a>,
) -> Option<(String, i128, &'s Expr<'a>, Vec<&'s Expr<'a>>)> {
    let block = |pointer: &Expr<'a>| match &pointer.kind {
        expr::Kind::Cast(ty, block) => {
            let block = match &block.kind {
                expr::Kind::Member(block, ".", "mem") => block,
                _ => block,
            };
            Some((block.to_string(), size_of(ty)))
        }
        _ => None,
    };
    match &statement.kind {
        Kind::Assign { target, .. } => {
            let expr::Kind::Index(parts) = &target.kind else {
                return None;
            };
            let (block, size) = block(&parts[0])?;
            Some((block, size, &parts[1], Vec::new()))
        }
        Kind::Evaluate(call) => {
            let expr::Kind::Call(function, arguments) = &call.kind else {
                return None;
            };
            let [_, _, to, place, .., shape] = &arguments[..] else {
                return None;
            };
            let (block, size) = function.starts_with("lmad_copy_").then(|| block(to))??;
            let expr::Kind::Cast(_, list) = &shape.kind else {
                return None;
            };
            Some((block, size, place, list.parts()))
        }
        _ => None,
    }
}

/// The size of an element that a pointer of this type points to.
fn size_of(pointer: &[&str]) -> i128 {
    let sizes = [("64", 8), ("double", 8), ("32", 4), ("float", 4), ("16", 2)];
    let found = sizes
        .iter()
        .find(|(part, _)| pointer.iter().any(|word| word.contains(part)));
    found.map_or(1, |(_, size)| *size)
}

/// Whether a variable of the loops is multiplied with a negative constant.
fn has_negative_stride(place: &Expr<'_>, variables: &BTreeSet<&str>) -> bool {
    let mut found = |part: &Expr<'_>| {
        let operands = part.operands("*")?;
        let has_variable = || variables.iter().any(|name| part.mentions(name));
        let is_negative = |factor: &Expr<'_>| factor.constant().is_some_and(|factor| factor < 0);
        (operands.iter().any(is_negative) && has_variable()).then_some(())
    };
    place.find(&mut found).is_some()
}

/// More iterations of a parallel loop do not end, and the sizes of what they write overflow.
const MOST_ITERATIONS: i128 = 1 << 60;

/// Refuses calls that access an element with a constant negative index, copy from such a place, or start a loop that does
/// not end.
pub(super) fn write_constants<'a>(function: &Function<'a>, edits: &mut Edits<'a>) {
    function.visit(&mut |statement| {
        let mut expressions = statement.expressions().into_iter();
        if let Some(condition) = expressions.find_map(|expr| expr.find(&mut outside)) {
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
    });
}

fn starts_loop(expr: &Expr<'_>) -> Option<()> {
    (Passed::of(expr)?.purpose == Purpose::Start).then_some(())
}

/// When an access of memory, in C, is in front of it.
fn outside(expr: &Expr<'_>) -> Option<String> {
    let is_negative = |place: &Expr<'_>| place.constant().is_some_and(|place| place < 0);
    let is_outside = match &expr.kind {
        expr::Kind::Index(parts) => is_negative(&parts[1]),
        expr::Kind::Call(name, arguments) if name.starts_with("lmad_copy_") => {
            let [.., to, _, _, from, _, shape] = &arguments[..] else {
                return None;
            };
            // An empty slice may begin anywhere.
            let dims = shape.parts().into_iter().flat_map(Expr::parts);
            let dims: Vec<_> = dims.map(|dim| format!("{dim} > 0")).collect();
            return (is_negative(to) || is_negative(from)).then(|| dims.join(" && "));
        }
        // The place of a scalar: (int64_t) -1 * sizeof(int64_t)
        expr::Kind::Call(name, arguments) if name.starts_with("gpu_scalar_") => {
            let mut products = arguments
                .iter()
                .filter_map(|argument| argument.operands("*"));
            products.any(|factors| is_negative(&factors[0]))
        }
        _ => false,
    };
    is_outside.then(|| "true".to_owned())
}
