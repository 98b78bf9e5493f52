//! Adds missing terms to the compiler's own checks.
//!
//! A check in the generated C consists of a condition and a message. The message tells what is checked and prints the
//! indices, the dimensions and the sizes; what these depend on is in the definitions of the condition:
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

/// The text in front of the indices in the message of an index or a slice.
const INDEX: &str = "Index [";

/// The text in front of the shape in the message of an index or a slice, and of the target shape of `unflatten`.
const SHAPE: &str = "array of shape [";

/// A check of the compiler: `if (!condition) { set_error(ctx, msgprintf(…)); … }`.
pub(super) struct Check<'s, 'a> {
    /// With its negation.
    condition: &'s Expr<'a>,
    /// With `%` in place of each number.
    message: String,
    /// The expressions of the numbers, in order.
    values: Vec<&'s Expr<'a>>,
}

/// The check that a statement is.
pub(super) fn check<'s, 'a>(statement: &'s Statement<'a>) -> Option<Check<'s, 'a>> {
    let Kind::If(condition, inner) = &statement.kind else {
        return None;
    };
    let mut failure = inner[0].as_block().first()?.parts().into_iter();
    let parts = failure.find_map(|call| call.arguments("msgprintf"))?;
    let (mut message, mut values) = (String::new(), Vec::new());
    // The format precedes the parts.
    for part in parts.get(1..)? {
        match &part.kind {
            expr::Kind::Cast(ty, value) if ty[..] == ["long", "long"] => {
                message.push('%');
                values.push(&**value);
            }
            _ => message.extend(part.text.split('"').skip(1).step_by(2)),
        }
    }
    Some(Check {
        condition,
        message,
        values,
    })
}

impl<'s, 'a> Check<'s, 'a> {
    /// The shape that the message ends with.
    fn shape(&self) -> &[&'s Expr<'a>] {
        let shape = self.message.rsplit_once(SHAPE).and_then(|(before, _)| {
            let count = before.matches('%').count();
            self.values.get(count..)
        });
        shape.unwrap_or_default()
    }
}

/// The rule for the checks of one function.
pub(super) struct Bounds<'a, 'f> {
    /// The definitions of sizes and conditions.
    definitions: BTreeMap<&'a str, &'f Expr<'a>>,
    /// The places of the comparisons of indices that got a comparison with zero.
    compared: BTreeSet<*const u8>,
}

impl<'a, 'f> Bounds<'a, 'f> {
    pub(super) fn of(function: &'f Function<'a>) -> Bounds<'a, 'f> {
        let mut definitions = BTreeMap::new();
        function.visit(&mut |statement| {
            if let Kind::Declare {
                ty: "int64_t" | "bool",
                name,
                value: Some(value),
            } = &statement.kind
            {
                definitions.insert(*name, value);
            }
        });
        Bounds {
            definitions,
            compared: BTreeSet::new(),
        }
    }

    /// Adds the terms that the check of a statement lacks; each is true if the check must fail.
    pub(super) fn write(&mut self, statement: &'f Statement<'a>, edits: &mut Edits<'a>) {
        let Some(check) = check(statement) else {
            return;
        };
        let of_sizes = (SIZE_CHECKS.iter()).any(|start| check.message.starts_with(start));
        let mut found = Found::default();
        self.search(check.condition, of_sizes, &mut found);
        for value in check.values.iter().filter(|_| of_sizes) {
            self.search(value, true, &mut found);
        }
        if check.message.starts_with(INDEX) {
            self.indices(&check, &mut found, edits);
        } else {
            let dims = check.shape().iter().map(|dim| dim.to_string());
            dims.reduce(|product, dim| {
                found.terms.insert(format!("fut_wraps({product}, {dim})"));
                format!("fut_times({product}, {dim})")
            });
        }
        if found.terms.is_empty() {
            return;
        }
        let terms = Vec::from_iter(found.terms).join(" || ");
        if of_sizes {
            // The compiler's message would print the sizes after they overflowed.
            let passes = match check.condition.operands("!") {
                Some([passes]) => passes.to_string(),
                _ => format!("!({})", check.condition),
            };
            let check = format!("FUT_REFUSE_IF({passes} && ({terms}), FUT_OVERFLOWED)");
            edits.before(statement.text, &check);
        } else {
            edits.after_on_line(check.condition.text, &format!(" || {terms}"));
        }
    }

    /// Finds what a condition depends on, through definitions. `of_sizes`: products of the program itself must not wrap
    /// either, as long as only operators, sums and products are between them and the condition.
    fn search(&self, value: &'f Expr<'a>, of_sizes: bool, found: &mut Found<'a>) {
        let (function, operands) = match &value.kind {
            expr::Kind::Name if found.seen.insert((value.text, of_sizes)) => {
                let definition = self.definitions.get(value.text);
                return definition.map_or((), |value| self.search(value, of_sizes, found));
            }
            expr::Kind::Cast(_, value) => return self.search(value, of_sizes, found),
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
            found.terms.insert(format!("{wraps}({a}, {b})"));
        }
        let is_call = matches!(value.kind, expr::Kind::Call(..));
        if is_call {
            let places = found.calls.entry(value.to_string()).or_default();
            places.push(value.text);
        }
        let of_sizes = of_sizes && (!is_call || matches!(function, "add64" | "sub64" | "mul64"));
        for part in operands {
            self.search(part, of_sizes, found);
        }
    }

    /// Compares each index that the message lists with zero, beside the comparison with its dimension if the condition has
    /// one, and adds a term for each slice.
    fn indices(&mut self, check: &Check<'f, 'a>, found: &mut Found<'a>, edits: &mut Edits<'a>) {
        let mut dims = check.shape().iter().map(|dim| dim.constant());
        let product = dims.try_fold(1, |product: i128, dim| Some(product.saturating_mul(dim?)));
        // The compiler computes the product of a constant shape itself, and removes the check of the type.
        if product.is_some_and(|product| i64::try_from(product).is_err()) {
            found.terms.insert("true".to_owned());
        }
        let mut values = check.values.iter();
        let list = check.message[INDEX.len()..].split(']').next();
        let indices = list.unwrap_or_default().split(", ");
        for (index, dim) in indices.zip(check.shape()) {
            // The start, the end and the stride of a slice, of which the program leaves some out.
            let parts = index.split(':');
            let parts = parts.map(|part| (part == "%").then(|| values.next()).flatten());
            let parts: Vec<_> = parts.collect();
            if parts.len() < 3 && parts[0].is_none_or(|start| start.is_natural()) {
                continue;
            }
            if let [Some(index)] = parts[..] {
                let comparison = format!("slt64({index}, {dim})");
                let with_zero = format!("sle64((int64_t) 0, {index})");
                if found.calls.contains_key(&with_zero) {
                    continue;
                }
                let Some(places) = found.calls.get(&comparison) else {
                    found.terms.insert(format!("{index} < 0"));
                    continue;
                };
                for place in places {
                    if self.compared.insert(place.as_ptr()) {
                        edits.replace(place, format!("({comparison} && {index} >= 0)"));
                    }
                }
                continue;
            }
            let part = |at: usize, default: String| match parts.get(at) {
                Some(Some(part)) => part.to_string(),
                _ => default,
            };
            let stride = part(2, "1".to_owned());
            let start = part(0, format!("({stride} < 0 ? {dim} - 1 : 0)"));
            let end = part(1, format!("({stride} < 0 ? -1 : {dim})"));
            let term = format!("fut_slice_outside({start}, {end}, {stride}, {dim})");
            found.terms.insert(term);
        }
    }
}

/// The arithmetic, as terms that the check lacks, and the calls, with their places, that a condition depends on.
#[derive(Default)]
struct Found<'a> {
    seen: BTreeSet<(&'a str, bool)>,
    calls: BTreeMap<String, Vec<&'a str>>,
    terms: BTreeSet<String>,
}
