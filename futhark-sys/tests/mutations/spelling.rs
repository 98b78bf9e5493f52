//! Writes expressions and assignments of the program in another way.

use std::ops::Range;

use crate::Random;
use crate::names::is_type;
use crate::pieces::{File, Kind};

/// Texts in place of ranges of pieces.
type Edits = Vec<(Range<usize>, String)>;

/// Makes a random part of the edits, which may overlap.
fn edited(file: &File<'_>, mut edits: Edits, random: &mut Random) -> Option<String> {
    let share = 1 + random.below(3) * random.below(6);
    edits.retain(|_| random.one_in(share));
    edits.sort_by_key(|(range, _)| range.start);
    let mut text = String::new();
    let mut end = 0;
    for (range, new) in &edits {
        if range.start < end {
            continue;
        }
        text.extend(file.pieces[end..range.start].iter().map(|piece| piece.text));
        text += new;
        end = range.end;
    }
    text.extend(file.pieces[end..].iter().map(|piece| piece.text));
    (end > 0).then_some(text)
}

fn span(file: &File<'_>, range: Range<usize>) -> String {
    file.pieces[range].iter().map(|piece| piece.text).collect()
}

fn tokens<'f>(file: &'f File<'_>) -> impl Iterator<Item = usize> + 'f {
    let bodies = file
        .functions
        .iter()
        .flat_map(|function| function.body.clone());
    bodies.filter(|&i| file.pieces[i].is_token())
}

/// Swaps the operands of commutative operators, where they are names, numbers, or in parentheses and without side effects.
pub fn swap_operands(file: &File<'_>, random: &mut Random) -> Option<String> {
    let mut edits = Edits::new();
    for i in tokens(file) {
        let Some(precedence) = precedence(file.pieces[i].text) else {
            continue;
        };
        if !["*", "+", "==", "!=", "&&", "||"].contains(&file.pieces[i].text) {
            continue;
        }
        let (Some(left), Some(right)) = (left_operand(file, i), right_operand(file, i)) else {
            continue;
        };
        let before = file.text(file.previous(left.start));
        let after = file.text(file.next(right.end - 1));
        let begins = ["(", ",", "=", "return", "?", ":", "["].contains(&before)
            || self::precedence(before).is_some_and(|other| other < precedence);
        let ends = [")", ",", ";", "]", "?", ":"].contains(&after)
            || self::precedence(after).is_some_and(|other| other <= precedence);
        if begins && ends {
            let middle = span(file, left.end..right.start);
            let text = span(file, right.clone()) + &middle + &span(file, left.clone());
            edits.push((left.start..right.end, text));
        }
    }
    edited(file, edits, random)
}

fn precedence(operator: &str) -> Option<u8> {
    match operator {
        "||" => Some(1),
        "&&" => Some(2),
        "==" | "!=" => Some(6),
        "<" | "<=" | ">" | ">=" => Some(7),
        "+" | "-" => Some(9),
        "*" | "/" | "%" => Some(10),
        _ => None,
    }
}

/// An operand that ends before the operator at `at`.
fn left_operand(file: &File<'_>, at: usize) -> Option<Range<usize>> {
    let last = file.previous(at)?;
    if file.pieces[last].text == ")" {
        let open = file.open(last)?;
        let called = file.previous(open)?;
        let is_call = file.pieces[called].kind == Kind::Word || file.text(Some(called)) == ")";
        return (!is_call && is_pure(file, open..last)).then_some(open..last + 1);
    }
    is_atom(file, last).then_some(())?;
    let mut start = last;
    if file.text(file.previous(last)) == ")" {
        start = file.open(file.previous(last)?)?;
        is_cast(file, start).then_some(())?;
    }
    let before = file.text(file.previous(start));
    (!["->", ".", "struct", "&", "++", "--", "!", "~"].contains(&before)).then_some(start..last + 1)
}

/// An operand that begins after the operator at `at`.
fn right_operand(file: &File<'_>, at: usize) -> Option<Range<usize>> {
    let first = file.next(at)?;
    let mut last = first;
    if file.pieces[first].text == "(" {
        last = file.close(first)?;
        if is_cast(file, first) {
            last = file.next(last)?;
            is_atom(file, last).then_some(())?;
        } else if !is_pure(file, first..last) {
            return None;
        }
    } else if !is_atom(file, first) {
        return None;
    }
    let after = file.text(file.next(last));
    (!["->", ".", "(", "[", "++", "--"].contains(&after)).then_some(first..last + 1)
}

fn is_atom(file: &File<'_>, at: usize) -> bool {
    let piece = file.pieces[at];
    piece.kind == Kind::Word && !is_type(piece.text) && piece.text != "return"
}

/// Whether the parentheses that open at `open` are a cast to an integer type.
fn is_cast(file: &File<'_>, open: usize) -> bool {
    let name = file.next(open);
    file.text(name).ends_with("_t") && file.text(name.and_then(|name| file.next(name))) == ")"
}

/// Whether parentheses contain an expression that can be evaluated at any time: no call, division, access or assignment.
fn is_pure(file: &File<'_>, range: Range<usize>) -> bool {
    const OPERATORS: [&str; 13] = [
        "(", ")", "+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "&&", "||",
    ];
    let (mut last_is_word, mut count) = (false, 0);
    for piece in file.pieces[range].iter().filter(|piece| piece.is_token()) {
        let is_word = piece.kind == Kind::Word;
        let is_call = last_is_word && piece.text == "(";
        if is_call || !is_word && !OPERATORS.contains(&piece.text) || is_type(piece.text) {
            return false;
        }
        last_is_word = is_word;
        count += 1;
    }
    count > 2
}

/// Writes `(int64_t) 0` as `((int64_t) 0)` or `(int64_t) (0)`.
pub fn spell_casts(file: &File<'_>, random: &mut Random) -> Option<String> {
    let mut edits = Edits::new();
    let outer = random.one_in(2);
    for open in tokens(file).filter(|&i| file.pieces[i].text == "(" && is_cast(file, i)) {
        let close = file.close(open)?;
        if let Some(number) = file.next(close).filter(|&at| file.pieces[at].is_number()) {
            let number_text = file.pieces[number].text;
            let cast = span(file, open..close + 1);
            let text = match outer {
                true => format!("({cast} {number_text})"),
                false => format!("{cast} ({number_text})"),
            };
            edits.push((open..number + 1, text));
        }
    }
    edited(file, edits, random)
}

/// Writes `x += a` as `x = x + a`.
pub fn spell_compound(file: &File<'_>, random: &mut Random) -> Option<String> {
    let mut edits = Edits::new();
    for i in tokens(file) {
        let operator = file.pieces[i].text;
        if !["+=", "-=", "*="].contains(&operator) {
            continue;
        }
        let (Some(name), Some(first)) = (file.previous(i), file.next(i)) else {
            continue;
        };
        let is_statement = [";", "{", "}", ")", "else"].contains(&file.text(file.previous(name)));
        let end = (first..file.pieces.len()).find(|&at| file.pieces[at].text == ";")?;
        if file.pieces[name].is_name() && is_statement {
            let value = span(file, first..end);
            let is_simple = file.next(first) == Some(end);
            let value = if is_simple {
                value
            } else {
                format!("({value})")
            };
            let name_text = file.pieces[name].text;
            let operator = operator.trim_end_matches('=');
            edits.push((
                name..end,
                format!("{name_text} = {name_text} {operator} {value}"),
            ));
        }
    }
    edited(file, edits, random)
}

/// Writes `!(a == b)` as `a != b`, and `a != b` as `!(a == b)`.
pub fn spell_negation(file: &File<'_>, random: &mut Random) -> Option<String> {
    const BEFORE: [&str; 5] = ["(", "=", "&&", "||", ","];
    let mut edits = Edits::new();
    for i in tokens(file) {
        let before = file.text(file.previous(i));
        if file.pieces[i].text == "!" && BEFORE.contains(&before) {
            let Some(open) = file.next(i).filter(|&at| file.pieces[at].text == "(") else {
                continue;
            };
            let close = file.close(open)?;
            if let Some(equal) = only_comparison(file, open + 1..close) {
                let (left, right) = (span(file, open + 1..equal), span(file, equal + 1..close));
                edits.push((i..close + 1, format!("{left}!={right}")));
            }
        } else if file.pieces[i].text == "!=" {
            let (Some(left), Some(right)) = (left_operand(file, i), right_operand(file, i)) else {
                continue;
            };
            let before = file.text(file.previous(left.start));
            let after = file.text(file.next(right.end - 1));
            if BEFORE.contains(&before) && [")", "&&", "||", ";", ","].contains(&after) {
                let (a, b) = (span(file, left.clone()), span(file, right.clone()));
                edits.push((left.start..right.end, format!("!({a} == {b})")));
            }
        }
    }
    edited(file, edits, random)
}

/// The place of the `==` that compares the two sums in `range`, if it contains nothing else.
fn only_comparison(file: &File<'_>, range: Range<usize>) -> Option<usize> {
    const OTHER: [&str; 11] = ["&&", "||", "?", ":", "=", "!=", "<", "<=", ">", ">=", ","];
    let (mut depth, mut found) = (0, None);
    for i in range {
        match file.pieces[i].text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "==" if depth == 0 && found.is_none() => found = Some(i),
            "==" if depth == 0 => return None,
            other if depth == 0 && OTHER.contains(&other) => return None,
            _ => {}
        }
    }
    found
}
