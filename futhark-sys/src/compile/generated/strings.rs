//! String literals as the C compiler reads them.
//!
//! The Futhark compiler writes strings with the escapes of Haskell: a path with the letter `ö` is `"\246"`, the number of the
//! character in decimal, which is another text in C.

use super::token::{place, tokens};

/// The names of the characters below 32 and of 127 in escapes, in the order of their numbers.
const CONTROLS: [&str; 33] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "a", "b", "t", "n", "v", "f", "r", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS",
    "RS", "US", "DEL",
];

/// The text with strings that mean in C what they mean to the Futhark compiler.
pub(in crate::compile) fn with_c_strings(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut end = 0;
    for literal in tokens(text).iter().filter(|token| token.starts_with('"')) {
        let at = place(text, literal);
        written += &text[end..at];
        write(literal, &mut written);
        end = at + literal.len();
    }
    written + &text[end..]
}

fn write(literal: &str, written: &mut String) {
    // Two question marks can begin a trigraph.
    let literal = match literal.contains("??") {
        true => &literal.replace('?', "\\?"),
        false => literal,
    };
    let mut rest = literal;
    while let Some((before, escaped)) = rest.split_once('\\') {
        let (text, length) = escape(escaped);
        *written += before;
        *written += &text;
        rest = &escaped[length..];
    }
    *written += rest;
}

/// The C text for the escape with which `rest` begins, after the backslash, and its length.
fn escape(rest: &str) -> (String, usize) {
    // It ends a number or a name in front of a digit or a letter.
    if rest.starts_with('&') {
        return (String::new(), 1);
    }
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    // The runtime's own strings have `\0`.
    if digits > 0 && !rest.starts_with('0') {
        let c = rest[..digits].parse().ok().and_then(char::from_u32);
        return (c.unwrap_or(char::REPLACEMENT_CHARACTER).into(), digits);
    }
    let names = CONTROLS.iter().enumerate();
    let named = names.filter(|(_, name)| name.len() > 1 && rest.starts_with(**name));
    // `\SOH` begins with `\SO`.
    if let Some((number, name)) = named.max_by_key(|(_, name)| name.len()) {
        let number = if number == 32 { 127 } else { number };
        return (format!("\\{number:03o}"), name.len());
    }
    let length = rest.chars().next().map_or(0, char::len_utf8);
    (format!("\\{}", &rest[..length]), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_mean_in_c_what_they_mean_to_the_compiler() {
        for (haskell, c) in [
            (
                r#"f("gr\246\223e\&5/\20013\128512", "\0", x)"#,
                r#"f("größe5/中😀", "\0", x)"#,
            ),
            (
                r#""\DEL\SOH\SO\&H\a\t\n\"\\246\"""#,
                r#""\177\001\016H\a\t\n\"\\246\"""#,
            ),
            (
                r#""a???/b", c ? "?" : "\65533""#,
                r#""a\?\?\?/b", c ? "?" : "�""#,
            ),
            (
                "// \"\\246\n'\"' \"\\55555\" \"\"",
                "// \"\\246\n'\"' \"�\" \"\"",
            ),
        ] {
            assert_eq!(with_c_strings(haskell), c);
        }
    }
}
