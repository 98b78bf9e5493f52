//! Escapes in strings.

/// What an escape stands for, given the text behind its backslash, and how long it is there.
pub(super) fn escape(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next()?;
    let (digits, radix, skip) = match first {
        'x' => (&text[1..], 16, 1),
        'o' => (&text[1..], 8, 1),
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
                _ => return None,
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
