//! Adds a mistake to a test case. The number of the case selects the kind of mistake, so that a
//! corpus has all kinds.

use futhark_conformance::blocks::{Case, Expected, Source};

/// The text of a case, without its name, with a mistake in it.
pub fn alter(number: usize, source: &str, case: &Case) -> Option<String> {
    let ways: Vec<Way> = ALL.iter().copied().filter(|way| way.fits(case)).collect();
    let way = *ways.get(number.checked_rem(ways.len())?)?;
    let name = if case.named {
        source[case.span.start + 1..].find('"')? + 2
    } else {
        0
    };
    let input = &source[case.span.start + name..case.result_at];
    let expected = match &case.expected {
        Expected::Values(Source::Text(text)) => on_one_line(text),
        _ => String::new(),
    };
    let result = match way {
        Way::AnotherValue => format!("output {{ {} }}", another_value(&expected)?),
        Way::AnotherType => format!("output {{ {} }}", another_type(&expected)?),
        Way::OneMore => format!("output {{ {expected} 1i8 }}"),
        Way::NoValue => "output {}".to_owned(),
        Way::AnError => "error: .".to_owned(),
        Way::AnotherMessage => "error: nobody says this".to_owned(),
        Way::NoError => String::new(),
        Way::OneArgumentMore => {
            let input = input.strip_suffix('}')?;
            let result = &source[case.result_at..case.span.end];
            return Some(format!("{} 1i8 }} {}", input.trim(), result.trim()));
        }
    };
    Some(format!("{} {result}", input.trim()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    AnotherValue,
    AnotherType,
    OneMore,
    NoValue,
    AnError,
    AnotherMessage,
    NoError,
    OneArgumentMore,
}

const ALL: [Way; 8] = [
    Way::AnotherValue,
    Way::AnotherMessage,
    Way::OneArgumentMore,
    Way::AnError,
    Way::OneMore,
    Way::NoError,
    Way::NoValue,
    Way::AnotherType,
];

impl Way {
    fn fits(self, case: &Case) -> bool {
        match (self, &case.expected) {
            (Way::OneArgumentMore, _) => matches!(case.input, Source::Text(_)),
            (Way::AnotherMessage | Way::NoError, expected) => {
                matches!(expected, Expected::Error(_))
            }
            (Way::AnError, expected) => !matches!(expected, Expected::Error(_)),
            (Way::AnotherValue, Expected::Values(Source::Text(text))) => {
                another_value(text).is_some()
            }
            (Way::AnotherType, Expected::Values(Source::Text(text))) => {
                another_type(text).is_some()
            }
            (Way::OneMore, Expected::Values(Source::Text(_))) => true,
            (Way::NoValue, Expected::Values(Source::Text(text))) => !text.trim().is_empty(),
            _ => false,
        }
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with its first number or boolean changed.
fn another_value(text: &str) -> Option<String> {
    let (at, word) = first_word(text)?;
    let (before, after) = (&text[..at], &text[at + word.len()..]);
    let other = match word {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        number => {
            let (sign, digits) = number.split_at(usize::from(number.starts_with('-')));
            // In decimal notation, a digit in front changes the number.
            let decimal = digits.starts_with(|c: char| c.is_ascii_digit())
                && !digits.starts_with("0x")
                && !digits.starts_with("0b");
            decimal.then(|| format!("{sign}1{digits}"))?
        }
    };
    Some(format!("{before}{other}{after}"))
}

/// An integer with the suffix of another type.
fn another_type(text: &str) -> Option<String> {
    let word = text.trim();
    let digits = word.trim_start_matches('-');
    let length = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let suffix = &digits[length..];
    let other = match suffix {
        "i8" => "i16",
        "" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" => "i8",
        _ => return None,
    };
    (length > 0).then(|| format!("{}{other}", &word[..word.len() - suffix.len()]))
}

/// The first word that is neither a bracket nor a comma, and its position.
fn first_word(text: &str) -> Option<(usize, &str)> {
    let inside = |c: char| !(c.is_whitespace() || matches!(c, '[' | ']' | ','));
    let start = text.find(inside)?;
    let rest = &text[start..];
    let length = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
    Some((start, &rest[..length]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futhark_conformance::blocks::TestBlocks;

    #[test]
    fn values_and_types_are_changed() {
        for (text, other) in [
            ("[[3i32, 4]]", "[[13i32, 4]]"),
            ("-2.5f32", "-12.5f32"),
            ("true 1", "false 1"),
        ] {
            assert_eq!(another_value(text).as_deref(), Some(other));
        }
        for text in ["0x10", "f32.nan", "\"a\"", "empty([0]i32)", ""] {
            assert_eq!(another_value(text), None, "{text}");
        }
        assert_eq!(another_type(" -3i64 ").as_deref(), Some("-3i8"));
        assert_eq!(another_type("3").as_deref(), Some("3i8"));
        for text in ["[1]", "1.5", "true", "", "1 2"] {
            assert_eq!(another_type(text), None, "{text}");
        }
    }

    #[test]
    fn cases_are_altered_in_a_way_that_applies_to_them() {
        let source =
            "-- ==\n-- \"a\" input { 1\n-- 2 } output { 3\n-- }\n-- input { 1 } error: x\n";
        let blocks = TestBlocks::parse(source).unwrap();
        let altered =
            |number: usize, case: usize| alter(number, source, &blocks.cases[case]).unwrap();
        assert_eq!(altered(0, 0), "input { 1\n-- 2 } output { 13 }");
        assert_eq!(altered(1, 0), "input { 1\n-- 2 1i8 } output { 3\n-- }");
        assert_eq!(altered(0, 1), "input { 1 } error: nobody says this");
        assert_eq!(altered(1, 1), "input { 1 1i8 } error: x");
        assert_eq!(altered(2, 1), "input { 1 } ");
    }
}
