//! The code of a Futhark file: its text without comments and layout.

/// Characters of operators: `--` after one of them is a part of an operator, not a comment.
const OPERATORS: &[u8] = b"+-*/%=!><|&^.";

/// The text without comments, and with one space for all white space between two tokens.
///
/// Equal results are equal programs. The text is returned as it is if it ends within a string, which no
/// compiler accepts.
pub(super) fn of(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut code: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut is_apart = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        // The last character of the same token.
        let before = code.last().copied().filter(|_| !is_apart);
        let is_after = |set: fn(u8) -> bool| before.is_some_and(set);
        let length = match byte {
            _ if byte.is_ascii_whitespace() => {
                (is_apart, at) = (true, at + 1);
                continue;
            }
            b'-' if rest.starts_with(b"--") && !is_after(|c| OPERATORS.contains(&c)) => {
                at += rest.iter().position(|&c| c == b'\n').unwrap_or(rest.len());
                is_apart = true;
                continue;
            }
            b'"' => match string(rest) {
                Some(length) => length,
                None => return bytes.to_vec(),
            },
            // `x'` is a name, `'a` a type parameter, and `'"'` a character.
            b'\'' if !is_after(is_of_name) => character(text, at).unwrap_or(1),
            _ => 1,
        };
        if is_apart && !code.is_empty() {
            code.push(b' ');
        }
        is_apart = false;
        code.extend_from_slice(&rest[..length]);
        at += length;
    }
    code
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'')
}

/// The length of the string literal at the beginning.
fn string(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => 2,
            _ => 1,
        };
    }
}

/// The length of the character literal, if there is one.
fn character(text: &str, at: usize) -> Option<usize> {
    let mut inside = text[at + 1..].chars();
    let mut length = 1 + inside.next()?.len_utf8();
    if text.as_bytes()[at + 1] == b'\\' {
        length += inside.next()?.len_utf8();
        // Numbers of characters have at most seven digits.
        let digits = inside.as_str().bytes().take(7);
        length += digits.take_while(u8::is_ascii_alphanumeric).count();
    }
    (text.as_bytes().get(at + length) == Some(&b'\'')).then_some(length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        String::from_utf8(of(text)).unwrap()
    }

    #[test]
    fn comments_and_layout_are_not_code() {
        let text = "-- | The sum.\nentry  f (xs: []i32) =\n\n  i32.sum xs -- \"\n-- ' \" end";
        assert_eq!(code(text), "entry f (xs: []i32) = i32.sum xs");
        assert_eq!(code("a--b\nc"), "a c");
        assert_eq!(code(""), "");
    }

    #[test]
    fn space_between_tokens_is_code() {
        assert_ne!(code("f [0]"), code("f[0]"));
        assert_eq!(code("f \n\t [0]"), code("f [0]"));
    }

    #[test]
    fn strings_and_characters_are_kept() {
        for text in [
            "#[a(\"-- b  c\")] f",
            "\"a\\\"-- b\"",
            "'\"' --x\n c '\"'",
            "'\\\"' a '\\'' b",
            "'\\955' a \"  \"",
            "'λ' \"  \"",
        ] {
            let same = text.replace("--x\n ", "");
            assert_eq!(code(text), same);
        }
        // Neither a name nor a type parameter begins a character.
        assert_eq!(
            code("def f' 'a (x':  a) = x'  -- '"),
            "def f' 'a (x': a) = x'"
        );
        assert_eq!(code("\"a  b"), "\"a  b", "no string");
    }

    #[test]
    fn operators_are_not_comments() {
        assert_eq!(code("a +-- b"), "a +-- b");
        assert_eq!(code("a + -- b"), "a +");
        assert_eq!(code("a x.-- b"), "a x.-- b");
    }
}
