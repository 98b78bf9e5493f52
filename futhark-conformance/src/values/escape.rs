//! Escapes in strings, as in Haskell.

/// Names of the control characters, in the order of their codes.
const CONTROL: [&str; 33] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR",
    "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC",
    "FS", "GS", "RS", "US", "SP",
];

/// The character of an escape, given the text after the backslash, and the length of the escape.
pub(super) fn escape(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next()?;
    let (digits, radix, skip) = match first {
        'x' | 'X' => (&text[1..], 16, 1),
        'o' | 'O' => (&text[1..], 8, 1),
        '0'..='9' => (text, 10, 0),
        _ => {
            let c = match first {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'a' => '\x07',
                'b' => '\x08',
                'f' => '\x0c',
                'v' => '\x0b',
                '\\' | '"' | '\'' => first,
                '^' => return caret(&text[1..]),
                _ => return named(text),
            };
            return Some((c, 1));
        }
    };
    let length = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    let c = u32::from_str_radix(&digits[..length], radix).ok()?;
    Some((char::from_u32(c)?, skip + length))
}

/// `\^A` is the character of code 1.
fn caret(text: &str) -> Option<(char, usize)> {
    let c = text.chars().next().filter(|c| ('@'..='_').contains(c))?;
    Some((char::from(c as u8 - b'@'), 2))
}

/// The longest name matches: `SOH` is not `SO` and an `H`.
fn named(text: &str) -> Option<(char, usize)> {
    let codes = (0u8..).zip(CONTROL).chain([(127, "DEL")]);
    let named = codes.filter(|(_, name)| text.starts_with(name));
    let (code, name) = named.max_by_key(|(_, name)| name.len())?;
    Some((char::from(code), name.len()))
}
