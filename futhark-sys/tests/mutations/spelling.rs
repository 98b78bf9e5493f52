//! Writes expressions and assignments of the program in another way.

use std::ops::Range;

use crate::Random;
use crate::file::{File, is_name, is_number, is_word};
use crate::kinds::Mutated;
use crate::names::is_type;

/// Makes a random part of the changes at tokens, which may overlap.
fn rewrite(
    file: &File<'_>,
    random: &mut Random,
    change: impl Fn(usize) -> Option<(Range<usize>, String)>,
) -> Option<Mutated> {
    let share = 1 + random.below(3) * random.below(6);
    let changes = file.in_bodies().filter_map(change);
    let changes = changes.filter(|_| random.one_in(share));
    file.edited(
        changes
            .map(|(tokens, new)| (file.bytes(tokens), new))
            .collect(),
    )
}

/// Swaps the operands of commutative operators, where they are names, numbers, or in parentheses and without side effects.
pub fn swap_operands(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    rewrite(file, random, |i| {
        let operator = file.tokens[i];
        let commutative = ["*", "+", "==", "!=", "&&", "||"];
        let (left, right) = operands(file, i).filter(|_| commutative.contains(&operator))?;
        let (before, after) = (file.tokens[left.start - 1], file.tokens[right.end]);
        let begins = ["(", ",", "=", "return", "?", ":", "["].contains(&before)
            || precedence(before).is_some_and(|other| Some(other) < precedence(operator));
        let ends = [")", ",", ";", "]", "?", ":"].contains(&after)
            || precedence(after).is_some_and(|other| Some(other) <= precedence(operator));
        let all = left.start..right.end;
        let swapped = format!("{} {operator} {}", file.span(right), file.span(left));
        (begins && ends).then_some((all, swapped))
    })
}

/// The operands of an operator, if they are whole.
fn operands(file: &File<'_>, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    precedence(file.tokens[at])?;
    Some((left_operand(file, at)?, right_operand(file, at)?))
}

fn precedence(operator: &str) -> Option<usize> {
    const OPERATORS: [&str; 6] = ["||", "&&", "== !=", "< <= > >=", "+ -", "* / %"];
    let is_it = |operators: &&str| operators.split(' ').any(|other| other == operator);
    OPERATORS.iter().position(is_it)
}

/// An operand that ends before the operator at `at`.
fn left_operand(file: &File<'_>, at: usize) -> Option<Range<usize>> {
    let mut start = at - 1;
    if file.tokens[start] == ")" {
        start = file.open(start)?;
        let called = file.tokens[start - 1];
        return (!is_word(called) && called != ")" && is_pure(file, start..at))
            .then_some(start..at);
    }
    let is_atom = is_atom(file, start);
    if file.tokens[start - 1] == ")" {
        start = file.open(start - 1).filter(|&open| is_cast(file, open))?;
    }
    let before = ["->", ".", "struct", "&", "++", "--", "!", "~"];
    (is_atom && !before.contains(&file.tokens[start - 1])).then_some(start..at)
}

/// An operand that begins after the operator at `at`.
fn right_operand(file: &File<'_>, at: usize) -> Option<Range<usize>> {
    let first = at + 1;
    let mut last = first;
    if file.tokens[first] == "(" {
        last = file.close(first)?;
    }
    let is_operand = if is_cast(file, first) {
        last += 1;
        is_atom(file, last)
    } else {
        is_atom(file, first) || is_pure(file, first..last + 1)
    };
    let after = ["->", ".", "(", "[", "++", "--"];
    (is_operand && !after.contains(&file.tokens[last + 1])).then_some(first..last + 1)
}

fn is_atom(file: &File<'_>, at: usize) -> bool {
    let token = file.tokens[at];
    is_word(token) && !is_type(token) && token != "return"
}

/// Whether the tokens from `open` on are a cast to an integer type.
fn is_cast(file: &File<'_>, open: usize) -> bool {
    let tokens = file.tokens.get(open..open + 3);
    matches!(tokens, Some(["(", name, ")"]) if name.ends_with("_t"))
}

/// Whether parentheses contain an expression that can be evaluated at any time: no call, division, access or assignment.
fn is_pure(file: &File<'_>, range: Range<usize>) -> bool {
    const OPERATORS: [&str; 13] = [
        "(", ")", "+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "&&", "||",
    ];
    let tokens = &file.tokens[range];
    tokens[0] == "("
        && !tokens
            .windows(2)
            .any(|pair| is_word(pair[0]) && pair[1] == "(")
        && tokens.iter().all(|token| match is_word(token) {
            true => !is_type(token),
            false => OPERATORS.contains(token),
        })
}

/// Writes `(int64_t) 0` as `((int64_t) 0)` or `(int64_t) (0)`.
pub fn spell_casts(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    let outer = random.one_in(2);
    rewrite(file, random, |i| {
        let number = is_cast(file, i).then(|| file.tokens[i + 3]);
        let number = number.filter(|token| is_number(token))?;
        let cast = file.span(i..i + 3);
        let new = match outer {
            true => format!("({cast} {number})"),
            false => format!("{cast} ({number})"),
        };
        Some((i..i + 4, new))
    })
}

/// Writes `x += a` as `x = x + a`.
pub fn spell_compound(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    rewrite(file, random, |i| {
        let [before, name, operator] = [i - 2, i - 1, i].map(|i| file.tokens[i]);
        let is_statement = [";", "{", "}", ")", "else"].contains(&before);
        let is_compound = ["+=", "-=", "*="].contains(&operator);
        (is_compound && is_name(name) && is_statement).then_some(())?;
        let end = (i..file.tokens.len()).find(|&at| file.tokens[at] == ";")?;
        let value = match end - i {
            2 => file.tokens[i + 1].to_owned(),
            _ => format!("({})", file.span(i + 1..end)),
        };
        let new = format!("{name} = {name} {} {value}", operator.trim_end_matches('='));
        Some((i - 1..end, new))
    })
}

/// Writes `!(a == b)` as `a != b`, and `a != b` as `!(a == b)`.
pub fn spell_negation(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    const BEFORE: [&str; 5] = ["(", "=", "&&", "||", ","];
    rewrite(file, random, |i| {
        let [before, token, next] = [i - 1, i, i + 1].map(|i| file.tokens[i]);
        if token == "!" && next == "(" && BEFORE.contains(&before) {
            let close = file.close(i + 1)?;
            let equal = only_comparison(file, i + 2..close)?;
            let (left, right) = (file.span(i + 2..equal), file.span(equal + 1..close));
            return Some((i..close + 1, format!("{left} != {right}")));
        }
        let (left, right) = operands(file, i).filter(|_| token == "!=")?;
        let all = left.start..right.end;
        let ends = [")", "&&", "||", ";", ","].contains(&file.tokens[all.end]);
        let is_whole = ends && BEFORE.contains(&file.tokens[all.start - 1]);
        let new = format!("!({} == {})", file.span(left), file.span(right));
        is_whole.then_some((all, new))
    })
}

/// The place of the `==` that compares the two sums in `range`, if it contains nothing else.
fn only_comparison(file: &File<'_>, range: Range<usize>) -> Option<usize> {
    const COMPARISONS: [&str; 12] = [
        "&&", "||", "?", ":", "=", "==", "!=", "<", "<=", ">", ">=", ",",
    ];
    let mut depth = 0;
    let mut found = range.filter(|&i| {
        let token = file.tokens[i];
        depth += i32::from(["(", "[", "{"].contains(&token));
        depth -= i32::from([")", "]", "}"].contains(&token));
        depth == 0 && COMPARISONS.contains(&token)
    });
    let first = found.next().filter(|&i| file.tokens[i] == "==");
    first.filter(|_| found.next().is_none())
}
