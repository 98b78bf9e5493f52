//! Adds missing terms to the compiler's own checks.
//!
//! A check in the generated C consists of a condition and a message. Most messages print the numbers
//! that the condition depends on; those of assertions do not, so the comparison that defines the
//! condition is read too:
//!
//! ```c
//! if (!dim_match_6410) {
//!     set_error(ctx, msgprintf("Error: ...", "Value of (desugared) shape [", (long long) k_5929, ...
//! ```
//!
//! These checks accept values that cause accesses out of bounds:
//!
//! * Sizes in types (`sized (n*m) xs`) are compared with a product that can wrap.
//! * `unflatten` compares nothing, because its type implies that the product is the length.
//! * An index is compared with a shape of constants that is larger than any memory, if the compiler has computed its
//!   product and so removed the check of the type.
//! * A slice with a negative stride can begin after the end of the array (`xs[a:b:-1]`).
//! * An index or the start of a slice that is a size in a type is not compared with zero, but can be negative, because no
//!   array of that size has to exist: `let f [k] (_: [k]()) = xs[k] in f (replicate n ())`. An index is compared beside
//!   its upper bound, since a check of an array without elements passes with any index: `empty || i < n`.

use std::collections::{BTreeMap, BTreeSet};

use super::edits::Edits;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, Statement};

/// The beginnings of the messages of checks on sizes in types. The products in these sizes must not
/// wrap. Their conditions do not differ from other comparisons.
const SIZE_CHECKS: [&str; 3] = [
    "Value of (desugared) shape [",
    "Cannot unflatten array of shape [",
    "Assertion is false: entry point arguments have invalid sizes.",
];

/// The text in front of the target shape in the message of `unflatten`.
const UNFLATTEN_TO: &str = "] to array of shape [";

/// The text in front of the two lists in the message of an index or a slice.
const INDEX: (&str, &str) = ("Index [", "] out of bounds for array of shape [");

/// A check of the compiler: `if (!condition) { set_error(ctx, msgprintf(…)); … }`.
pub(super) struct Check<'s, 'a> {
    /// With its negation.
    condition: &'s Expr<'a>,
    message: Message<'s, 'a>,
}

struct Message<'s, 'a> {
    /// The text, with `%` in place of each number.
    text: String,
    /// The expressions of the numbers, in order.
    values: Vec<&'s Expr<'a>>,
}

/// The check that a statement is.
pub(super) fn check<'s, 'a>(statement: &'s Statement<'a>) -> Option<Check<'s, 'a>> {
    let Kind::If(condition, inner) = &statement.kind else {
        return None;
    };
    let Kind::Evaluate(call) = &inner[0].as_block().first()?.kind else {
        return None;
    };
    let [_, message] = call.arguments("set_error")? else {
        return None;
    };
    let mut message_text = String::new();
    let mut values = Vec::new();
    // The format precedes the parts.
    for part in message.arguments("msgprintf")?.get(1..)? {
        match &part.kind {
            expr::Kind::Cast(ty, value) if ty[..] == ["long", "long"] => {
                message_text.push('%');
                values.push(&**value);
            }
            _ => message_text.extend(part.text.split('"').skip(1).step_by(2)),
        }
    }
    Some(Check {
        condition,
        message: Message {
            text: message_text,
            values,
        },
    })
}

/// The checks of one function, and its definitions by variable.
#[derive(Default)]
pub(super) struct Bounds<'a, 'f> {
    /// The integers that were defined so far.
    numbers: BTreeMap<&'a str, &'f Expr<'a>>,
    /// All definitions of the form `bool name = condition;`.
    conditions: BTreeMap<&'a str, &'f Expr<'a>>,
    /// The indices that are not compared with zero, by the comparison with their upper bound.
    indices: BTreeMap<String, String>,
    /// The comparisons of the others, and of those that we compare with zero.
    compared: BTreeSet<String>,
}

impl<'a, 'f> Bounds<'a, 'f> {
    pub(super) fn of(function: &'f Function<'a>) -> Bounds<'a, 'f> {
        let mut bounds = Bounds::default();
        function.visit(&mut |statement| {
            if let Kind::Declare {
                ty: "bool",
                name,
                value: Some(condition),
            } = &statement.kind
            {
                bounds.conditions.insert(name, condition);
            }
        });
        function.visit(&mut |statement| {
            if let Some(check) = check(statement) {
                bounds.announce(&check);
            }
        });
        bounds
    }

    /// Records a check of indices, when all conditions of the function are known.
    fn announce(&mut self, check: &Check<'f, 'a>) {
        for (parts, dim) in indices(&check.message) {
            let [Some(index)] = parts[..] else {
                continue;
            };
            let comparison = format!("slt64({index}, {dim})");
            let with_zero = format!("sle64((int64_t) 0, {index})");
            if index.is_natural()
                || self.contains(check.condition, &with_zero, &mut BTreeSet::new())
            {
                self.compared.insert(comparison);
            } else {
                self.indices.insert(comparison, index.to_string());
            }
        }
    }

    /// Whether the condition contains the comparison, or one of those that it is defined by.
    fn contains(
        &self,
        condition: &Expr<'a>,
        comparison: &str,
        seen: &mut BTreeSet<&'a str>,
    ) -> bool {
        let mut found = |part: &Expr<'a>| {
            let is_it = matches!(part.kind, expr::Kind::Call(..)) && part.to_string() == comparison;
            let definition = part
                .name()
                .and_then(|name| self.conditions.get_key_value(name));
            let in_definition = definition.is_some_and(|(name, condition)| {
                seen.insert(name) && self.contains(condition, comparison, seen)
            });
            (is_it || in_definition).then_some(())
        };
        condition.find(&mut found).is_some()
    }

    /// Adds what the condition and the check of a statement lack.
    pub(super) fn write(&mut self, statement: &'f Statement<'a>, edits: &mut Edits<'a>) {
        let check = check(statement);
        let condition = match &statement.kind {
            Kind::Declare {
                ty: "bool",
                value: Some(condition),
                ..
            } => Some(condition),
            _ => check.as_ref().map(|check| check.condition),
        };
        if let Some(condition) = condition {
            self.complete(condition, edits);
        }
        if let Some(check) = &check {
            self.write_missing(statement, check, edits);
        }
        if let Kind::Declare {
            ty: "int64_t",
            name,
            value: Some(value),
        } = &statement.kind
        {
            self.numbers.insert(name, value);
        }
    }

    /// Adds a comparison of its index with zero to a condition that needs it.
    fn complete(&mut self, condition: &'f Expr<'a>, edits: &mut Edits<'a>) {
        let indices = &self.indices;
        let found = condition.find(&mut |part| match part.kind {
            expr::Kind::Call("slt64", _) => {
                let comparison = part.to_string();
                let index = indices.get(&comparison)?;
                Some((part.text, comparison, index.clone()))
            }
            _ => None,
        });
        if let Some((text, comparison, index)) = found {
            edits.replace(text, format!("({comparison} && {index} >= 0)"));
            self.compared.insert(comparison);
        }
    }

    /// Adds the terms that the condition of a check lacks; each is true if the check must fail.
    fn write_missing(
        &self,
        statement: &Statement<'a>,
        check: &Check<'f, 'a>,
        edits: &mut Edits<'a>,
    ) {
        let Check { condition, message } = check;
        let is_start = |start: &&str| message.text.starts_with(*start);
        let of_sizes = SIZE_CHECKS.iter().any(is_start);
        let mut search = Search {
            bounds: self,
            seen: BTreeSet::new(),
            terms: BTreeSet::new(),
        };
        search.condition(condition, of_sizes);
        for value in message.values.iter().filter(|_| of_sizes) {
            search.number(value, true);
        }
        let mut terms = search.terms;
        wrapping_shape(message, &mut terms);
        self.slices(message, &mut terms);
        if terms.is_empty() {
            return;
        }
        let terms = Vec::from_iter(terms).join(" || ");
        if of_sizes {
            // The compiler's message would print the sizes after they overflowed.
            let passes = match condition.operands("!") {
                Some([passes]) => passes.to_string(),
                _ => format!("!({condition})"),
            };
            let check = format!("FUT_REFUSE_IF({passes} && ({terms}), FUT_OVERFLOWED)");
            edits.before(statement.text, &check);
        } else {
            edits.after_on_line(condition.text, &format!(" || {terms}"));
        }
    }

    /// Adds a term for each index that is not compared with zero elsewhere, and for each slice.
    fn slices(&self, message: &Message<'f, 'a>, terms: &mut BTreeSet<String>) {
        let indices = indices(message);
        if is_too_large(indices.iter().map(|(_, dim)| *dim)) {
            terms.insert("true".to_owned());
        }
        for (parts, dim) in indices {
            let (start, end, stride) = match parts[..] {
                [Some(start), ..] if parts.len() < 3 && start.is_natural() => continue,
                [Some(index)] => {
                    let comparison = format!("slt64({index}, {dim})");
                    if !self.compared.contains(&comparison) {
                        terms.insert(format!("{index} < 0"));
                    }
                    continue;
                }
                [Some(start), end] => (start.to_string(), end, "1".to_owned()),
                [start, end, Some(stride)] => {
                    let first = || format!("({stride} < 0 ? {dim} - 1 : 0)");
                    let start = start.map_or_else(first, Expr::to_string);
                    (start, end, stride.to_string())
                }
                _ => continue,
            };
            let last = || format!("({stride} < 0 ? -1 : {dim})");
            let end = end.map_or_else(last, Expr::to_string);
            terms.insert(format!(
                "fut_slice_outside({start}, {end}, {stride}, {dim})"
            ));
        }
    }
}

/// Finds the arithmetic that a condition depends on, through definitions. `of_sizes`: products of the program itself
/// must not wrap either, as long as only sums and products are between them and the condition.
struct Search<'s, 'a, 'f> {
    bounds: &'s Bounds<'a, 'f>,
    seen: BTreeSet<(&'a str, bool)>,
    terms: BTreeSet<String>,
}

impl<'a> Search<'_, 'a, '_> {
    fn condition(&mut self, condition: &Expr<'a>, of_sizes: bool) {
        match &condition.kind {
            expr::Kind::Operation(
                "&&" | "||" | "==" | "!=" | "<=" | ">=" | "<" | ">" | "!",
                parts,
            ) => {
                parts.iter().for_each(|part| self.condition(part, of_sizes));
            }
            _ => self.number(condition, of_sizes),
        }
    }

    fn name(&mut self, name: &'a str, of_sizes: bool) {
        if !self.seen.insert((name, of_sizes)) {
            return;
        }
        if let Some(condition) = self.bounds.conditions.get(name) {
            self.condition(condition, of_sizes);
        }
        if let Some(value) = self.bounds.numbers.get(name) {
            self.number(value, of_sizes);
        }
    }

    fn number(&mut self, value: &Expr<'a>, of_sizes: bool) {
        let (function, operands) = match &value.kind {
            expr::Kind::Name => return self.name(value.text, of_sizes),
            expr::Kind::Cast(ty, value) if ty[..] == ["int64_t"] => {
                return self.number(value, of_sizes);
            }
            expr::Kind::Operation("?", parts) => {
                return parts[1..]
                    .iter()
                    .for_each(|part| self.number(part, of_sizes));
            }
            expr::Kind::Call(function, parts) | expr::Kind::Operation(function, parts) => {
                (*function, parts)
            }
            _ => return,
        };
        let wraps = match function {
            "*" => Some("fut_wraps"),
            "+" => Some("fut_sum_wraps"),
            "-" => Some("fut_difference_wraps"),
            "mul64" if of_sizes => Some("fut_wraps"),
            _ => None,
        };
        if let (Some(wraps), [a, b]) = (wraps, &operands[..])
            && value.constant().is_none()
        {
            self.terms.insert(format!("{wraps}({a}, {b})"));
        }
        let of_sizes = of_sizes && (wraps.is_some() || matches!(function, "add64" | "sub64"));
        operands.iter().for_each(|a| self.number(a, of_sizes));
    }
}

/// Adds terms that reject an `unflatten` to a shape whose product wraps.
fn wrapping_shape(message: &Message<'_, '_>, terms: &mut BTreeSet<String>) {
    let Some((from, _)) = message.text.split_once(UNFLATTEN_TO) else {
        return;
    };
    let mut product = String::new();
    for dim in message.values.iter().skip(from.matches('%').count()) {
        if product.is_empty() {
            product = dim.to_string();
        } else {
            terms.insert(format!("fut_wraps({product}, {dim})"));
            product = format!("fut_times({product}, {dim})");
        }
    }
}

/// Whether the shape consists of constants with a product that overflows. The compiler computes that product itself,
/// and removes the check of the type.
fn is_too_large<'s, 'a: 's>(shape: impl Iterator<Item = &'s Expr<'a>>) -> bool {
    let constants = shape.map(|dim| i64::try_from(dim.constant()?).ok());
    let Some(dims) = constants.collect::<Option<Vec<i64>>>() else {
        return false;
    };
    let product = dims
        .iter()
        .try_fold(1i64, |product, &dim| product.checked_mul(dim));
    product.is_none()
}

/// The indices that a message prints and their dimensions. A slice has several parts; `None` is one that the program
/// leaves out.
fn indices<'s, 'a>(message: &Message<'s, 'a>) -> Vec<(Vec<Option<&'s Expr<'a>>>, &'s Expr<'a>)> {
    let lists = message
        .text
        .strip_prefix(INDEX.0)
        .and_then(|text| text.split_once(INDEX.1));
    let Some((indices, _)) = lists else {
        return Vec::new();
    };
    let mut value = message.values.iter().copied();
    let shape = message.values.iter().skip(indices.matches('%').count());
    let parts = indices.split(", ").map(|index| {
        let parts = index.split(':');
        parts
            .map(|part| (part == "%").then(|| value.next()).flatten())
            .collect()
    });
    parts.zip(shape.copied()).collect()
}
