//! Compares names of types as texts.
//!
//! This does not interpret the names. It decides whether a difference between the names of
//! two matched types must be reported.

/// The name without redundant spaces, which are those that are not between two words.
pub(super) fn squeezed(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut space = false;
    for c in name.chars() {
        if c.is_whitespace() {
            space = true;
            continue;
        }
        if space && is_word(c) && text.ends_with(is_word) {
            text.push(' ');
        }
        text.push(c);
        space = false;
    }
    text
}

/// Whether replacing the old names of parts by their new ones turns the old name into the
/// new one. Each part is a pair of an old and a new name.
pub(super) fn follows(old: &str, new: &str, parts: &[(&str, &str)]) -> bool {
    // A type with many parts is not named after them.
    const MOST: usize = 16;
    if parts.is_empty() || parts.len() > MOST {
        return false;
    }
    let mut name = squeezed(old);
    for (was, is) in parts {
        name = replace_words(&name, &squeezed(was), &squeezed(is));
    }
    name == squeezed(new)
}

/// Replaces a text where it is not part of a longer word.
fn replace_words(text: &str, from: &str, to: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, found) in text.match_indices(from) {
        let end = start + found.len();
        let joined =
            |left: &str, right: &str| left.ends_with(is_word) && right.starts_with(is_word);
        if joined(&text[..start], found) || joined(found, &text[end..]) {
            continue;
        }
        result.push_str(&text[copied..start]);
        result.push_str(to);
        copied = end;
    }
    result.push_str(&text[copied..]);
    result
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spaces_between_words_are_kept() {
        for (name, expected) in [
            ("{bar: f32, foo: []i32}", "{bar:f32,foo:[]i32}"),
            ("{bar:f32, foo:[]i32}", "{bar:f32,foo:[]i32}"),
            ("opt  i32", "opt i32"),
            (" a: | b: i32 ", "a:|b:i32"),
            ("", ""),
        ] {
            assert_eq!(squeezed(name), expected, "{name:?}");
        }
    }

    #[test]
    fn renamed_parts_explain_a_renamed_whole() {
        let part = [("pt", "point")];
        assert!(follows("[]pt", "[]point", &part));
        assert!(follows("(pt, pt)", "(point, point)", &part));
        assert!(follows("{a:pt}", "{a: point}", &part));
        for (old, new) in [("pts", "points"), ("[]pt", "[]spot"), ("pt'", "point'")] {
            assert!(!follows(old, new, &part), "{old} {new}");
        }
        assert!(!follows("[]pt", "[]pt", &[]));
        let two = [("opt i32", "opt i64"), ("b", "c")];
        assert!(follows("(opt i32, b)", "(opt i64, c)", &two));
    }
}
