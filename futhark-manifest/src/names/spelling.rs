//! Spells Futhark names as words of identifiers, and builds the forms with a hash.
//! Independent of reserved words and of other names.

use super::language::{Case, Language, Style};
use crate::text::{fnv1a, squeezed};

/// Longer spellings are cut and end in a hash, if they are not the name itself.
const LONGEST: usize = 60;

/// Spells a name, the `nth` of several equal ones, in a style: letters, digits and
/// underscores only, in the language's case and with a valid first character.
pub(super) fn spell(language: &Language, style: Style, futhark: &str, nth: usize) -> String {
    let words = match style {
        Style::Type => read_type(futhark),
        Style::Value | Style::Constant => read_value(futhark),
    };
    let case = language.case_of(style);
    let mut text = apply(case, &words);
    if language.has_single_underscores() {
        text = single_underscores(&text);
    }
    if nth > 1 {
        append(case, &mut text, &nth.to_string());
    }
    // Test the text with a mark, which must not turn it into a reserved prefix.
    if language.needs_lead(&marked(case, &text, "")) {
        text.insert_str(0, &recase(case, language.lead_of(case)));
    }
    if text.len() > LONGEST && text != futhark {
        text.truncate(LONGEST);
        let hash = recase(
            case,
            &format!("{:016x}", fnv1a(squeezed(futhark).as_bytes())),
        );
        append(case, &mut text, &hash);
    }
    text
}

/// The spelling with a mark and hexadecimal digits.
pub(super) fn marked(case: Case, spelling: &str, digits: &str) -> String {
    let mark = match case {
        Case::Camel => "H",
        _ if spelling.ends_with('_') => "0h",
        _ => "_h",
    };
    format!("{spelling}{}", recase(case, &format!("{mark}{digits}")))
}

/// Whether the text could be the result of [`marked`]: the mark, then 8 digits, or 16 digits with
/// or without a whole name after them. Also true for some other texts, which are unlikely as names.
pub(super) fn looks_marked(case: Case, text: &str) -> bool {
    let (marks, hex): (&[&str], fn(char) -> bool) = match case {
        Case::Camel => (&["H"], is_lower_hex),
        Case::Upper => (&["_H", "0H"], |c| is_lower_hex(c.to_ascii_lowercase())),
        Case::Keep | Case::Uncapitalized => (&["_h", "0h"], is_lower_hex),
    };
    let start = text.trim_end_matches(hex);
    let digits = text.len() - start.len();
    (digits == 8 || digits >= 16) && marks.iter().any(|mark| start.ends_with(mark))
}

/// A digit of a hash, or the `x` before a whole name.
fn is_lower_hex(c: char) -> bool {
    matches!(c, '0'..='9' | 'a'..='f' | 'x')
}

/// A name, character by character.
fn read_value(futhark: &str) -> String {
    let mut text = String::new();
    if !futhark.is_empty() && futhark.chars().all(|c| operator(c).is_some()) {
        text.push_str("op");
    }
    for c in futhark.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => text.push(c),
            '\'' => text.push_str("_prime"),
            _ => {
                text.push('_');
                text.push_str(operator(c).unwrap_or_default());
            }
        }
    }
    if text.chars().all(|c| c == '_') {
        return "arg".to_owned();
    }
    text
}

/// The word for an operator's character.
fn operator(c: char) -> Option<&'static str> {
    Some(match c {
        '+' => "plus",
        '-' => "minus",
        '*' => "times",
        '/' => "slash",
        '%' => "percent",
        '=' => "equals",
        '!' => "bang",
        '<' => "less",
        '>' => "greater",
        '|' => "bar",
        '&' => "and",
        '^' => "caret",
        '~' => "tilde",
        '$' => "dollar",
        '@' => "at",
        '?' => "question",
        '`' => "tick",
        _ => return None,
    })
}

/// The words of a type's name, only to make identifiers readable.
fn read_type(futhark: &str) -> String {
    if futhark == "()" {
        return "unit".to_owned();
    }
    let mut words: Vec<&str> = Vec::new();
    // Closed brackets, which are spelled if another word follows: the end of the name ends all.
    let mut closed = 0;
    let mut at = 0;
    while let Some(c) = futhark[at..].chars().next() {
        let rest = &futhark[at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let word = match c {
            _ if end > 0 => &rest[..end],
            '[' if rest.starts_with("[]") => "array",
            '(' if is_tuple(rest) => "tuple",
            '\'' => "prime",
            _ => "",
        };
        if !word.is_empty() {
            words.extend(std::iter::repeat_n("end", std::mem::take(&mut closed)));
            words.push(word);
        }
        closed += usize::from(matches!(c, ')' | '}'));
        at += end.max(c.len_utf8());
    }
    let text = words.join("_");
    if text.chars().all(|c| c == '_') {
        return "opaque".to_owned();
    }
    text
}

/// Whether the bracket at the beginning has a comma inside, outside of other brackets.
fn is_tuple(text: &str) -> bool {
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            ',' if depth == 1 => return true,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    false
}

fn apply(case: Case, words: &str) -> String {
    match case {
        Case::Keep => words.to_owned(),
        Case::Uncapitalized => with_first(words, char::to_ascii_lowercase),
        Case::Upper => words.to_ascii_uppercase(),
        Case::Camel => words
            .split('_')
            .map(|word| with_first(word, char::to_ascii_uppercase))
            .collect(),
    }
}

fn with_first(word: &str, change: impl Fn(&char) -> char) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|c| change(&c));
    first.into_iter().chain(characters).collect()
}

/// Converts our own additions, which are in lower case, to a case.
fn recase(case: Case, own: &str) -> String {
    match case {
        Case::Upper => own.to_ascii_uppercase(),
        _ => own.to_owned(),
    }
}

/// Appends digits as a separate word.
fn append(case: Case, text: &mut String, digits: &str) {
    if case != Case::Camel && !text.ends_with('_') {
        text.push('_');
    }
    text.push_str(digits);
}

fn single_underscores(text: &str) -> String {
    let mut single = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '_' || !single.ends_with('_') {
            single.push(c);
        }
    }
    single
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{C, RUST};

    const CASES: [Case; 4] = [Case::Keep, Case::Uncapitalized, Case::Camel, Case::Upper];

    #[test]
    fn operators_are_spelled_as_words() {
        let all = "+-*/%=!<>|&^~$@?`";
        for c in all.chars() {
            let name = spell(&RUST, Style::Value, &c.to_string(), 1);
            assert_eq!(name, format!("op_{}", operator(c).unwrap()));
        }
        assert_eq!(spell(&RUST, Style::Value, "a+", 1), "a_plus");
        assert_eq!(spell(&RUST, Style::Type, "a+", 1), "A");
    }

    #[test]
    fn nested_types_are_told_apart() {
        for (name, expected) in [
            ("(i32, f32, bool)", "TupleI32F32Bool"),
            ("((i32, f32), bool)", "TupleTupleI32F32EndBool"),
            ("(i32, (f32, bool))", "TupleI32TupleF32Bool"),
            ("[](i32, f32)", "ArrayTupleI32F32"),
            ("{a: {b: u8}, c: i32}", "ABU8EndCI32"),
            ("{a: {b: u8, c: i32}}", "ABU8CI32"),
            ("a: (b: | c) | d: i32", "ABCEndDI32"),
            ("(opt i32)", "OptI32"),
        ] {
            assert_eq!(spell(&RUST, Style::Type, name, 1), expected, "{name}");
        }
    }

    #[test]
    fn spaces_do_not_change_a_hash() {
        let [old, new] = ["", " "].map(|space| format!("{{a:{space}{}}}", "b".repeat(80)));
        assert_eq!(
            spell(&RUST, Style::Type, &old, 1),
            spell(&RUST, Style::Type, &new, 1)
        );
    }

    #[test]
    fn each_case_joins_words_in_its_way() {
        let texts = CASES.map(|case| apply(case, "My_typeOf_x"));
        assert_eq!(
            texts,
            ["My_typeOf_x", "my_typeOf_x", "MyTypeOfX", "MY_TYPEOF_X"]
        );
    }

    #[test]
    fn long_spellings_are_cut_and_end_in_a_hash() {
        let long = "a".repeat(200);
        let other = format!("{}b", "a".repeat(199));
        for style in [Style::Type, Style::Constant] {
            let cut = spell(&RUST, style, &long, 1);
            assert!(cut.len() < 80, "{cut}");
            assert_ne!(cut, spell(&RUST, style, &other, 1));
            assert!(
                !looks_marked(RUST.case_of(style), &cut),
                "no form but a spelling"
            );
        }
        assert_eq!(
            spell(&RUST, Style::Value, &long, 1),
            long,
            "the author's own choice"
        );
        assert!(spell(&C, Style::Value, &"a_".repeat(100), 1).len() == 200);
        assert!(!spell(&C, Style::Value, &"a'__".repeat(100), 1).contains("__"));
    }

    #[test]
    fn marked_spellings_are_distinguished_from_ordinary_names() {
        for case in CASES {
            for spelling in ["f", "f_", "F", "a_b0", ""] {
                for digits in [
                    "01234567",
                    "0123456789abcdef",
                    "0123456789abcdefx",
                    "0123456789abcdefx6a6bx6a6b",
                ] {
                    let text = marked(case, spelling, digits);
                    assert!(looks_marked(case, &text), "{text}");
                }
            }
            for ordinary in [
                "f",
                "H",
                "f_h",
                "date_20240101",
                "f_h0123",
                "deadbeef",
                "Hash",
                "TheHexadecimal",
                "",
            ] {
                assert!(!looks_marked(case, ordinary), "{ordinary}");
            }
        }
    }
}
