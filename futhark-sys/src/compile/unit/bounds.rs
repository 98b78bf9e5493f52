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

use std::collections::BTreeMap;

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

/// The definitions read so far in the current C function.
#[derive(Default)]
pub(super) struct Bounds<'a, 'l> {
    /// The products, by variable: those of the program (`mul64`) and those of the compiler (`*`). Both wrap.
    products: BTreeMap<&'a str, &'l Expr<'a>>,
    /// The two operands of each comparison, by the variable that holds its result.
    comparisons: BTreeMap<&'a str, [&'a str; 2]>,
}

impl<'a, 'l> Bounds<'a, 'l> {
    /// Records the definition of an integer.
    pub(super) fn define(&mut self, name: &'a str, value: &'l Expr<'a>) {
        if let Expr::Call("mul64", _) | Expr::Times(..) = value {
            self.products.insert(name, value);
        }
    }

    /// Records a definition of the form `bool name = a == b;`.
    pub(super) fn compare(&mut self, name: &'a str, values: [&'a str; 2]) {
        self.comparisons.insert(name, values);
    }

    /// Returns the terms to add to the condition of a check; each is true if the check must fail.
    pub(super) fn missing(&self, condition: &str, message: &Message<'_>) -> Vec<String> {
        let mut terms = Vec::new();
        if SIZE_CHECKS
            .iter()
            .any(|check| message.text.starts_with(check))
        {
            let compared = self.comparisons.get(condition).into_iter().flatten();
            for name in message.values.iter().chain(compared) {
                self.wraps(name, &mut terms);
            }
        }
        wrapping_shape(message, &mut terms);
        slices(message, &mut terms);
        terms.sort();
        terms.dedup();
        terms
    }

    /// Adds a term if `name` is defined as a product, and for each of its factors that is one.
    fn wraps(&self, name: &str, terms: &mut Vec<String>) {
        let factors = match self.products.get(name) {
            Some(Expr::Call(_, factors)) => factors.iter().map(Expr::to_string).collect(),
            Some(Expr::Times(a, b)) => vec![a.to_string(), b.to_string()],
            _ => return,
        };
        terms.push(format!("fut_wraps({})", factors.join(", ")));
        for factor in &factors {
            self.wraps(factor, terms);
        }
    }
}

/// Adds terms that reject an `unflatten` to a shape whose product wraps.
fn wrapping_shape(message: &Message<'_>, terms: &mut Vec<String>) {
    let Some((from, _)) = message.text.split_once(UNFLATTEN_TO) else {
        return;
    };
    let mut product = String::new();
    for dim in message.values.iter().skip(from.matches('%').count()) {
        if product.is_empty() {
            product.push_str(dim);
        } else {
            terms.push(format!("fut_wraps({product}, {dim})"));
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

/// Adds a term for each slice with a stride and an explicit start: if the stride is negative and the
/// slice has elements, it must start inside the array.
fn slices(message: &Message<'_>, terms: &mut Vec<String>) {
    let lists = message
        .text
        .strip_prefix(INDEX.0)
        .and_then(|text| text.split_once(INDEX.1));
    let Some((indices, _)) = lists else {
        return;
    };
    let mut value = message.values.iter();
    let shape = message.values.iter().skip(indices.matches('%').count());
    if is_too_large(shape.clone()) {
        terms.push("true".to_owned());
    }
    for (index, dim) in indices.split(", ").zip(shape) {
        let parts: Vec<_> = index
            .split(':')
            .map(|part| (part == "%").then(|| value.next()).flatten())
            .collect();
        if let [Some(start), end, Some(stride)] = parts[..] {
            let end = end.map_or("-1", |end| end);
            terms.push(format!(
                "fut_starts_outside({start}, {end}, {stride}, {dim})"
            ));
        }
    }
}
