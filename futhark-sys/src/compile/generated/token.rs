//! The lexer of generated C, as far as finding definitions, calls and sizes requires it.
//!
//! A token is a slice of the text, so that its first character tells its kind, and its address its place.

/// The tokens of `text`, without white space and comments: names, numbers, literals in quotes, operators, and
/// preprocessor directives with their continuation lines.
pub(in crate::compile) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut rest = text;
    let mut starts_line = true;
    while let Some(c) = rest.chars().next() {
        let (length, is_token) = match c {
            _ if c.is_whitespace() => (c.len_utf8(), false),
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            '/' if rest.starts_with("/*") => {
                (rest.find("*/").map_or(rest.len(), |at| at + 2), false)
            }
            '#' if starts_line => (logical_line(rest), true),
            '"' | '\'' => (quoted(rest, c), true),
            '0'..='9' => (number(rest), true),
            _ if is_word(c) => (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), true),
            _ => {
                let operator = OPERATORS
                    .iter()
                    .find(|operator| rest.starts_with(**operator));
                (
                    operator.map_or(c.len_utf8(), |operator| operator.len()),
                    true,
                )
            }
        };
        let (token, after) = rest.split_at(length);
        if is_token {
            tokens.push(token);
        }
        starts_line = !is_token && (starts_line || c == '\n');
        rest = after;
    }
    tokens
}

const OPERATORS: [&str; 17] = [
    "->", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "<<", ">>", "+=", "-=", "*=", "/=", "%=",
    "^=",
];

/// Whether a token is an identifier or a keyword.
pub(in crate::compile) fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| is_word(c) && !c.is_ascii_digit())
}

pub(in crate::compile) fn is_directive(token: &&str) -> bool {
    token.len() > 1 && token.starts_with('#')
}

pub(in crate::compile) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of the number at the beginning of `text`, such as `1.5e-3F`.
fn number(text: &str) -> usize {
    let mut last = ' ';
    let end = text.find(|c| {
        let is_sign = matches!((last, c), ('e' | 'E', '+' | '-'));
        last = c;
        !(is_word(c) || c == '.' || is_sign)
    });
    end.unwrap_or(text.len())
}

/// The place of `token` in `text`, which it is a slice of.
pub(in crate::compile) fn place(text: &str, token: &str) -> usize {
    token.as_ptr().addr() - text.as_ptr().addr()
}

/// The part of `text` from the first to the last of its `tokens`.
pub(in crate::compile) fn span<'a>(text: &'a str, tokens: &[&'a str]) -> &'a str {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => &text[place(text, first)..place(text, last) + last.len()],
        _ => "",
    }
}

/// The tokens in place of each `$` of a pattern like `mem_1 = $ ;`, at every place where `tokens` have this form.
pub(in crate::compile) fn captures<'a, const N: usize>(
    tokens: &[&'a str],
    pattern: &str,
) -> impl Iterator<Item = [&'a str; N]> {
    let pattern = Vec::from_iter(pattern.split(' '));
    tokens.windows(pattern.len()).filter_map(move |tokens| {
        let mut found = Vec::new();
        for (expected, token) in pattern.iter().zip(tokens) {
            match *expected {
                "$" => found.push(*token),
                _ if expected == token => {}
                _ => return None,
            }
        }
        found.try_into().ok()
    })
}

/// The number of tokens up to the bracket that closes the one at the beginning of `tokens`.
pub(in crate::compile) fn group(tokens: &[&str]) -> Option<usize> {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.map(|end| end + 1)
}

/// The length of a line, including the lines that a backslash appends to it.
fn logical_line(text: &str) -> usize {
    let mut ends = text.match_indices('\n').map(|(at, _)| at);
    ends.find(|&end| !text[..end].trim_end_matches('\r').ends_with('\\'))
        .unwrap_or(text.len())
}

/// The length of the literal at the beginning of `text`, including its quotes. It ends at the end of the line, too, so
/// that a quote in text for another system does not hide the rest.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = text[1..].find(|c| {
        let ends = c == '\n' || c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| {
        1 + end + usize::from(!text[1 + end..].starts_with('\n'))
    })
}
