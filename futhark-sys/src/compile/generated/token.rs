//! Splits C text into tokens, as far as finding definitions and calls requires it.

/// The kind of a [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compile) enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A string, a character or a number.
    Literal,
    /// A preprocessor directive with its continuation lines.
    Directive,
    /// Any other character.
    Mark,
}

/// A token and its position in the text.
#[derive(Clone, Copy, Debug)]
pub(in crate::compile) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub at: usize,
}

impl Token<'_> {
    pub(in crate::compile) fn is(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    pub(in crate::compile) fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// The tokens of `text`, without white space and comments.
pub(in crate::compile) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    let mut starts_line = true;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c.is_whitespace() {
            starts_line |= c == '\n';
            at += c.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            continue;
        }
        let (kind, length) = match c {
            '#' if starts_line => (Kind::Directive, logical_line(rest)),
            '"' | '\'' => (Kind::Literal, quoted(rest, c)),
            '0'..='9' => (Kind::Literal, word(rest)),
            'a'..='z' | 'A'..='Z' | '_' => (Kind::Word, word(rest)),
            _ => (Kind::Mark, c.len_utf8()),
        };
        starts_line = false;
        tokens.push(Token {
            kind,
            text: &rest[..length],
            at,
        });
        at += length;
    }
    tokens
}

/// The identifier at the beginning of `text`.
pub(in crate::compile) fn identifier(text: &str) -> &str {
    &text[..word(text)]
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len())
}

/// The length of a line, including the lines that a backslash appends to it.
fn logical_line(text: &str) -> usize {
    let mut ends = text.match_indices('\n').map(|(at, _)| at);
    ends.find(|&end| !text[..end].trim_end_matches('\r').ends_with('\\'))
        .unwrap_or(text.len())
}

/// The length of the literal at the beginning of `text`, including its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return i + 1,
            _ => {}
        }
    }
    text.len()
}
