//! The same programs with literals for some of the numbers of each call: the compiler computes with these itself, and the
//! generated C has constants where it has variables otherwise.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Which numbers of a call are literals in the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literals {
    None,
    First,
    Last,
    All,
}

impl Literals {
    pub const SOME: [Literals; 3] = [Literals::First, Literals::Last, Literals::All];

    /// Whether the number at `place` of `count` is a literal.
    fn has(self, place: usize, count: usize) -> bool {
        match self {
            Literals::None => false,
            Literals::First => place == 0,
            Literals::Last => place + 1 == count,
            Literals::All => true,
        }
    }

    /// Whether calls of this construct with these numbers are left out.
    pub fn leave_out(self, construct: &str, numbers: &[i64]) -> bool {
        let count = numbers.len();
        let literals = (0..count)
            .filter(|&i| self.has(i, count))
            .map(|i| numbers[i]);
        let negative = literals.clone().filter(|&literal| literal < 0).count();
        let zero = literals.clone().any(|literal| literal == 0);
        self != Literals::None
            && match (construct, numbers) {
                // The compiler fails.
                ("histogram1", [0]) | ("s_slice_strides", [0, ..]) => true,
                ("s_slice_back", [.., 0]) if self == Literals::Last => true,
                // The compiler loses the check (upstream.md, 28).
                ("from1", [start]) => *start > 23,
                (name, _) if name.starts_with("s_slice_2d") && self == Literals::All => {
                    negative > 0
                }
                // The result has no elements, so the compiler drops checks.
                ("unflatten2" | "unflatten3" | "last2" | "quotient2", _) if zero => true,
                // The compiler adds the lengths; no memory is accessed.
                ("concat1" | "grown1" | "rows_concat2", _)
                    if self == Literals::All && negative > 0 =>
                {
                    true
                }
                // Two sizes are negative.
                ("quotient2", _) if self == Literals::All && negative > 0 => true,
                // The square of the number is a size.
                ("scratch1", _) => true,
                // A negative factor of a size is always refused, though `(-3) * b` is valid if `b` is negative.
                ("product2", [number, ..]) if *number < 0 => true,
                _ => false,
            }
    }

    /// The entry point for a call of `entry` with these numbers, and its arguments.
    pub fn call(self, entry: &str, numbers: &[i64]) -> (String, Vec<i64>) {
        let (mut name, mut arguments) = (entry.to_owned(), Vec::new());
        for (i, number) in numbers.iter().enumerate() {
            if self.has(i, numbers.len()) {
                let _ = write!(name, "_{}", number.to_string().replace('-', "m"));
            } else {
                arguments.push(*number);
            }
        }
        (name, arguments)
    }

    /// Replaces the entry points of `text` by entry points for the calls with the numbers that `numbers` returns for a name.
    /// Those without parameters of type i64 stay.
    pub fn program(self, text: &str, numbers: impl Fn(&str) -> Vec<Vec<i64>>) -> String {
        let text = format!("\n{text}");
        let mut items = text.split("\nentry ");
        let mut new = items.next().unwrap_or_default().to_owned();
        for item in items {
            let (head, body) = item.split_once(" =").expect("an entry point with a body");
            let (name, rest) = head.split_once(' ').unwrap_or((head, ""));
            let parameters = rest.split('(').filter_map(|part| {
                part.trim_end()
                    .strip_suffix(')')
                    .or(part.split_once(") ").map(|(part, _)| part))
            });
            let parameters: Vec<&str> = parameters
                .filter_map(|part| part.strip_suffix(": i64"))
                .collect();
            if self == Literals::None || parameters.is_empty() {
                let _ = write!(new, "\nentry {item}");
                continue;
            }
            let mut made = BTreeSet::new();
            for numbers in numbers(name) {
                let (called, _) = self.call(name, &numbers);
                if !made.insert(called.clone()) {
                    continue;
                }
                let (mut head, mut lets) = (head.replacen(name, &called, 1), String::new());
                for (i, (parameter, number)) in parameters.iter().zip(&numbers).enumerate() {
                    if self.has(i, numbers.len()) {
                        head = head.replacen(&format!(" ({parameter}: i64)"), "", 1);
                        let _ = write!(lets, " let {parameter} = ({number}i64) in");
                    }
                }
                let _ = write!(new, "\nentry {head} ={lets}{body}");
            }
        }
        new
    }
}
