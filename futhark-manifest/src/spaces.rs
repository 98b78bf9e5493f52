//! The spaces in names of types, which depend on the compiler's version: `{a:u8}`, `{a: u8}`.

/// Removes the spaces that are not between two words, and joins repeated ones.
pub(crate) fn squeezed(name: &str) -> String {
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

pub(crate) fn is_word(c: char) -> bool {
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
}
