//! Terms that the compiler's own checks lack.
//!
//! A check in the generated C is a condition and a message, which prints every number that the
//! check is about:
//!
//! ```c
//! if (!dim_match_6410) {
//!     set_error(ctx, msgprintf("Error: ...", "Value of (desugared) shape [", (long long) k_5929, ...
//! ```
//!
//! Three of them let values pass that lead out of bounds, and get a term more:
//!
//! * Sizes in types (`sized (n*m) xs`) are compared with a product that may have wrapped.
//! * `unflatten` compares nothing: its type says that the product is the length.
//! * A slice with a negative stride may begin behind the end of the array (`xs[a:b:-1]`).

use std::collections::BTreeMap;

use super::expr::Expr;

/// Messages of the checks that compare sizes in types.
const SIZE_CHECKS: [&str; 3] = [
    "Value of (desugared) shape [",
    "Cannot unflatten array of shape [",
    "Assertion is false: entry point arguments have invalid sizes.",
];

/// Where the target shape begins in the message of `unflatten`.
const UNFLATTEN_TO: &str = "] to array of shape [";

/// The message of an index or a slice, before and between its two lists.
const INDEX: (&str, &str) = ("Index [", "] out of bounds for array of shape [");

/// What one function has defined so far.
#[derive(Default)]
pub(super) struct Bounds<'a> {
    /// Products of the program's own arithmetic, which wraps.
    products: BTreeMap<&'a str, Expr<'a>>,
    /// Which variables a condition compares.
    comparisons: BTreeMap<&'a str, [&'a str; 2]>,
}

impl<'a> Bounds<'a> {
    /// Notes the definition of an integer.
    pub(super) fn define(&mut self, name: &'a str, value: Expr<'a>) {
        if matches!(value, Expr::Call("mul64", _)) {
            self.products.insert(name, value);
        }
    }

    /// Notes a definition of the form `bool name = a == b;`.
    pub(super) fn compare(&mut self, line: &'a str) {
        let definition = line.trim_start().strip_prefix("bool ");
        if let Some((name, value)) = definition.and_then(|line| line.split_once(" = "))
            && let Some((a, b)) = value.trim_end_matches(';').split_once(" == ")
        {
            self.comparisons.insert(name, [a, b]);
        }
    }

    /// The line `if (!condition) {` before a check's message, with the terms that the condition
    /// lacks; nothing if it lacks none.
    pub(super) fn condition(&self, line: &str, next: &str) -> Option<String> {
        let indent = &line[..line.len() - line.trim_start().len()];
        let condition = line[indent.len()..]
            .strip_prefix("if (!")?
            .strip_suffix(") {")?;
        let message = Message::read(next)?;
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
        message.wrapping_shape(&mut terms);
        message.slices(&mut terms);
        terms.sort();
        terms.dedup();
        if terms.is_empty() {
            return None;
        }
        Some(format!(
            "{indent}if (!{condition} || {}) {{",
            terms.join(" || ")
        ))
    }

    /// The products that make up `name`.
    fn wraps(&self, name: &str, terms: &mut Vec<String>) {
        if let Some(Expr::Call(_, factors)) = self.products.get(name) {
            let factors: Vec<_> = factors.iter().map(Expr::to_string).collect();
            terms.push(format!("fut_wraps({})", factors.join(", ")));
            for factor in &factors {
                self.wraps(factor, terms);
            }
        }
    }
}

/// The message of a check.
struct Message<'a> {
    /// Its text, with `%` for each number.
    text: String,
    /// The expressions that it prints, in order.
    values: Vec<&'a str>,
}

impl<'a> Message<'a> {
    /// Reads `set_error(ctx, msgprintf("<format>", "<text>", (long long) <value>, "<text>" …`
    fn read(line: &'a str) -> Option<Message<'a>> {
        let mut rest = line
            .trim_start()
            .strip_prefix("set_error(ctx, msgprintf(\"")?;
        rest = rest.split_once("\", \"")?.1;
        let mut message = Message {
            text: String::new(),
            values: Vec::new(),
        };
        loop {
            let (text, after) = literal(rest)?;
            message.text.push_str(text);
            rest = after.strip_prefix(", ").unwrap_or(after);
            if let Some(value) = rest.strip_prefix("(long long) ") {
                let (value, after) = value.split_once(", ")?;
                message.text.push('%');
                message.values.push(value);
                rest = after;
            }
            match rest.strip_prefix('"') {
                Some(next) => rest = next,
                None => return Some(message),
            }
        }
    }

    /// The dimensions of `unflatten`'s result, whose product must not wrap.
    fn wrapping_shape(&self, terms: &mut Vec<String>) {
        let Some((from, _)) = self.text.split_once(UNFLATTEN_TO) else {
            return;
        };
        let mut product = String::new();
        for dim in self.values.iter().skip(from.matches('%').count()) {
            if product.is_empty() {
                product.push_str(dim);
            } else {
                terms.push(format!("fut_wraps({product}, {dim})"));
                product = format!("fut_times({product}, {dim})");
            }
        }
    }

    /// Slices with a stride and an explicit beginning, which must be inside of the array.
    fn slices(&self, terms: &mut Vec<String>) {
        let lists = self
            .text
            .strip_prefix(INDEX.0)
            .and_then(|text| text.split_once(INDEX.1));
        let Some((indices, _)) = lists else {
            return;
        };
        let mut value = self.values.iter();
        let shape = self.values.iter().skip(indices.matches('%').count());
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
}

/// Text up to the quote that ends a string literal, and what follows it.
fn literal(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&text[..end], &text[end + 1..]))
}
