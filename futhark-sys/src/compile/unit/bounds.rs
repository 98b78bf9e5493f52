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

use crate::compile::generated::expr::Expr;
use crate::compile::generated::lines::Message;

/// The beginnings of the messages of checks on sizes in types. The products in these sizes must not
/// wrap.
const SIZE_CHECKS: [&str; 3] = [
    "Value of (desugared) shape [",
    "Cannot unflatten array of shape [",
    "Assertion is false: entry point arguments have invalid sizes.",
];

/// The text in front of the target shape in the message of `unflatten`.
const UNFLATTEN_TO: &str = "] to array of shape [";

/// The text in front of the two lists in the message of an index or a slice.
const INDEX: (&str, &str) = ("Index [", "] out of bounds for array of shape [");

/// The checks of the current C function, and its definitions by variable.
#[derive(Default)]
pub(super) struct Bounds<'a, 'l> {
    /// The integers that were defined so far.
    pub numbers: BTreeMap<&'a str, &'l Expr<'a>>,
    /// All definitions of the form `bool name = condition;`.
    pub conditions: BTreeMap<&'a str, &'a str>,
    /// The indices that are not compared with zero, by the comparison with their upper bound.
    indices: BTreeMap<String, &'a str>,
    /// The comparisons of the others, and of those that we compare with zero.
    compared: BTreeSet<String>,
}

impl<'a, 'l> Bounds<'a, 'l> {
    /// Records a check of indices, when all conditions of the function are known.
    pub(super) fn announce(&mut self, condition: &'a str, message: &Message<'a>) {
        for (parts, dim) in indices(message) {
            let [Some(index)] = parts[..] else {
                continue;
            };
            let mut seen = BTreeSet::new();
            let with_zero = format!("sle64((int64_t) 0, {index})");
            let comparison = format!("slt64({index}, {dim})");
            if is_natural(index) || self.contains(condition, &with_zero, &mut seen) {
                self.compared.insert(comparison);
            } else {
                self.indices.insert(comparison, index);
            }
        }
    }

    /// Whether the condition contains the text, or one of those that it is defined by.
    fn contains(&self, condition: &'a str, text: &str, seen: &mut BTreeSet<&'a str>) -> bool {
        condition.contains(text)
            || words(condition).any(|word| {
                let definition = self.conditions.get(word);
                definition.is_some_and(|definition| {
                    seen.insert(word) && self.contains(definition, text, seen)
                })
            })
    }

    /// Returns the condition with a comparison of its index with zero; `None` if it needs none.
    pub(super) fn complete(&mut self, condition: &str) -> Option<String> {
        let (comparison, index) = self
            .indices
            .iter()
            .find(|(comparison, _)| condition.contains(comparison.as_str()))?;
        self.compared.insert(comparison.clone());
        Some(condition.replace(comparison, &format!("({comparison} && {index} >= 0)")))
    }

    /// Returns the terms to add to the condition of a check; each is true if the check must fail. The second value: whether the
    /// compiler's message would print sizes that overflowed.
    pub(super) fn missing(
        &self,
        condition: &'a str,
        message: &Message<'a>,
    ) -> (BTreeSet<String>, bool) {
        let of_sizes = SIZE_CHECKS
            .iter()
            .any(|check| message.text.starts_with(check));
        let mut search = Search {
            bounds: self,
            seen: BTreeSet::new(),
            terms: BTreeSet::new(),
        };
        search.condition(condition, of_sizes);
        for value in message.values.iter().filter(|_| of_sizes) {
            search.name(value, true);
        }
        let mut terms = search.terms;
        wrapping_shape(message, &mut terms);
        self.slices(message, &mut terms);
        (terms, of_sizes)
    }

    /// Adds a term for each index that is not compared with zero elsewhere, and for each slice.
    fn slices(&self, message: &Message<'a>, terms: &mut BTreeSet<String>) {
        let indices = indices(message);
        if is_too_large(indices.iter().map(|(_, dim)| dim)) {
            terms.insert("true".to_owned());
        }
        for (parts, dim) in indices {
            let (start, end, stride) = match parts[..] {
                [Some(start), ..] if parts.len() < 3 && is_natural(start) => continue,
                [Some(index)] => {
                    let comparison = format!("slt64({index}, {dim})");
                    if !self.compared.contains(&comparison) {
                        terms.insert(format!("{index} < 0"));
                    }
                    continue;
                }
                [Some(start), end] => (start.to_owned(), end, "1"),
                [start, end, Some(stride)] => {
                    let first = format!("({stride} < 0 ? {dim} - 1 : 0)");
                    (start.map_or(first, str::to_owned), end, stride)
                }
                _ => continue,
            };
            let last = format!("({stride} < 0 ? -1 : {dim})");
            let end = end.map_or(last, str::to_owned);
            terms.insert(format!(
                "fut_slice_outside({start}, {end}, {stride}, {dim})"
            ));
        }
    }
}

/// Finds the arithmetic that a condition depends on, through definitions. `of_sizes`: products of the program itself
/// must not wrap either, as long as only sums and products are between them and the condition.
struct Search<'s, 'a, 'l> {
    bounds: &'s Bounds<'a, 'l>,
    seen: BTreeSet<(&'a str, bool)>,
    terms: BTreeSet<String>,
}

impl<'a> Search<'_, 'a, '_> {
    fn condition(&mut self, text: &'a str, of_sizes: bool) {
        match Expr::operands(text) {
            Some(operands) => operands
                .iter()
                .for_each(|value| self.number(value, of_sizes)),
            None => words(text).for_each(|word| self.name(word, of_sizes)),
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
        let (function, operands) = match value {
            Expr::Name(name) => return self.name(name, of_sizes),
            Expr::Text(_) => return,
            Expr::Call(function, operands) => (*function, operands),
            Expr::Choice(_, values) => {
                return values.iter().for_each(|value| self.number(value, of_sizes));
            }
        };
        let wraps = match function {
            "*" => Some("fut_wraps"),
            "+" => Some("fut_sum_wraps"),
            "-" => Some("fut_difference_wraps"),
            "mul64" if of_sizes => Some("fut_wraps"),
            _ => None,
        };
        if let (Some(wraps), [a, b]) = (wraps, &operands[..]) {
            self.terms.insert(format!("{wraps}({a}, {b})"));
        }
        let of_sizes = of_sizes && (wraps.is_some() || matches!(function, "add64" | "sub64"));
        operands.iter().for_each(|a| self.number(a, of_sizes));
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// Adds terms that reject an `unflatten` to a shape whose product wraps.
fn wrapping_shape(message: &Message<'_>, terms: &mut BTreeSet<String>) {
    let Some((from, _)) = message.text.split_once(UNFLATTEN_TO) else {
        return;
    };
    let mut product = String::new();
    for dim in message.values.iter().skip(from.matches('%').count()) {
        if product.is_empty() {
            product.push_str(dim);
        } else {
            terms.insert(format!("fut_wraps({product}, {dim})"));
            product = format!("fut_times({product}, {dim})");
        }
    }
}

/// Whether the shape consists of constants with a product that overflows. The compiler computes that product itself,
/// and removes the check of the type.
fn is_too_large<'m>(shape: impl Iterator<Item = &'m &'m str>) -> bool {
    let constants = shape.map(|dim| dim.strip_prefix("(int64_t) ")?.parse::<i64>().ok());
    let Some(dims) = constants.collect::<Option<Vec<i64>>>() else {
        return false;
    };
    let product = dims
        .iter()
        .try_fold(1i64, |product, &dim| product.checked_mul(dim));
    product.is_none()
}

/// Whether a value is a constant that is not negative.
fn is_natural(value: &str) -> bool {
    let constant = value.strip_prefix("(int64_t) ");
    constant.is_some_and(|digits| digits.parse::<u64>().is_ok())
}

/// The indices that a message prints and their dimensions. A slice has several parts; `None` is one that the program
/// leaves out.
fn indices<'a>(message: &Message<'a>) -> Vec<(Vec<Option<&'a str>>, &'a str)> {
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
