//! Splits C text into tokens. Accepts any text; time is linear in its length.

/// A token and its first line, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    /// The token as written; for a directive, the text after the `#`.
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or a keyword.
    Word,
    /// A string literal.
    Text,
    /// A preprocessor line, with its continuations.
    Directive,
    /// One character of punctuation.
    Punctuation,
    /// Tokens that declarations do not contain: numbers, characters, unterminated
    /// literals and comments.
    Other,
}

pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line: 1,
        line_begins: true,
    };
    std::iter::from_fn(move || lexer.token())
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Whether the line has had only white space so far.
    line_begins: bool,
}

impl<'a> Lexer<'a> {
    fn token(&mut self) -> Option<Token<'a>> {
        let unclosed = self.skip_blanks();
        if let Some(start) = unclosed {
            let line = self.line;
            self.advance(self.text.len());
            return Some(self.made(TokenKind::Other, start, line));
        }
        let (start, line) = (self.at, self.line);
        let first = *self.bytes().get(start)?;
        let begins = std::mem::replace(&mut self.line_begins, false);
        let kind = match first {
            b'#' if begins => {
                self.advance(self.directive_end());
                return Some(self.made(TokenKind::Directive, start + 1, line));
            }
            b'"' => self.literal(b'"', TokenKind::Text),
            b'\'' => self.literal(b'\'', TokenKind::Other),
            b if is_word(b) => {
                let end = self.run(start, is_word);
                self.advance(end);
                if first.is_ascii_digit() {
                    TokenKind::Other
                } else {
                    TokenKind::Word
                }
            }
            b if b.is_ascii() => {
                self.advance(start + 1);
                TokenKind::Punctuation
            }
            _ => {
                let end = self.run(start, |b| !b.is_ascii());
                self.advance(end);
                TokenKind::Other
            }
        };
        Some(self.made(kind, start, line))
    }

    /// Skips white space and comments; returns the start of an unterminated comment.
    fn skip_blanks(&mut self) -> Option<usize> {
        loop {
            let rest = &self.bytes()[self.at..];
            match rest {
                [b'\n', ..] => {
                    self.advance(self.at + 1);
                    self.line_begins = true;
                }
                [b, ..] if b.is_ascii_whitespace() => self.at += 1,
                [b'\\', b'\n', ..] => self.advance(self.at + 2),
                [b'\\', b'\r', b'\n', ..] => self.advance(self.at + 3),
                [b'/', b'/', ..] => self.at = self.line_end(self.at),
                [b'/', b'*', ..] => match self.text[self.at + 2..].find("*/") {
                    Some(length) => self.advance(self.at + 2 + length + 2),
                    None => return Some(self.at),
                },
                _ => return None,
            }
        }
    }

    /// A literal up to its closing quote; `Other` if the line ends first.
    fn literal(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        let mut at = self.at + 1;
        let mut kind = kind;
        loop {
            match self.bytes().get(at) {
                Some(b'\\') if at + 1 < self.text.len() => at += 2,
                Some(&b) if b == quote => {
                    at += 1;
                    break;
                }
                Some(b'\n') | None => {
                    kind = TokenKind::Other;
                    break;
                }
                Some(_) => at += 1,
            }
        }
        // An escaped character may have more than one byte.
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        self.advance(at);
        kind
    }

    /// The end of a preprocessor line, which a comment or a backslash can continue.
    fn directive_end(&self) -> usize {
        let bytes = self.bytes();
        let mut at = self.at;
        loop {
            match &bytes[at..] {
                [] | [b'\n', ..] => return at,
                [b'\\', b'\n', ..] => at += 2,
                [b'\\', b'\r', b'\n', ..] => at += 3,
                [b'/', b'/', ..] => return self.line_end(at),
                [b'/', b'*', ..] => match self.text[at + 2..].find("*/") {
                    Some(length) => at += 2 + length + 2,
                    None => return bytes.len(),
                },
                _ => at += 1,
            }
        }
    }

    fn line_end(&self, from: usize) -> usize {
        let length = self.text[from..].find('\n');
        length.map_or(self.text.len(), |length| from + length)
    }

    fn run(&self, from: usize, within: fn(u8) -> bool) -> usize {
        let length = self.bytes()[from..].iter().position(|&b| !within(b));
        length.map_or(self.text.len(), |length| from + length)
    }

    /// Advances to an offset and counts lines.
    fn advance(&mut self, to: usize) {
        let passed = &self.bytes()[self.at..to];
        self.line += passed.iter().filter(|&&b| b == b'\n').count();
        self.at = to;
    }

    fn made(&self, kind: TokenKind, start: usize, line: usize) -> Token<'a> {
        Token {
            kind,
            text: &self.text[start..self.at],
            line,
        }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(TokenKind, &str, usize)> {
        let tokens = tokens(text);
        tokens
            .map(|token| (token.kind, token.text, token.line))
            .collect()
    }

    #[test]
    fn comments_are_skipped_and_lines_counted() {
        assert_eq!(
            all("a /* b\n * c */ d // e ; f\n/**/ #define X \\\n 1\n  # if 0 /* g\n */ h\n#x"),
            [
                (TokenKind::Word, "a", 1),
                (TokenKind::Word, "d", 2),
                (TokenKind::Directive, "define X \\\n 1", 3),
                (TokenKind::Directive, " if 0 /* g\n */ h", 5),
                (TokenKind::Directive, "x", 7),
            ]
        );
    }

    #[test]
    fn a_literal_is_one_token() {
        assert_eq!(
            all(r#""a;\"b" '"' 12u;"#),
            [
                (TokenKind::Text, r#""a;\"b""#, 1),
                (TokenKind::Other, "'\"'", 1),
                (TokenKind::Other, "12u", 1),
                (TokenKind::Punctuation, ";", 1),
            ]
        );
    }

    #[test]
    fn unterminated_tokens_are_accepted() {
        assert_eq!(
            all("\"a\nb"),
            [(TokenKind::Other, "\"a", 1), (TokenKind::Word, "b", 2)]
        );
        assert_eq!(all("\n/* a\nb"), [(TokenKind::Other, "/* a\nb", 2)]);
        assert_eq!(
            all("\"\\é\" \"\\"),
            [
                (TokenKind::Text, "\"\\é\"", 1),
                (TokenKind::Other, "\"\\", 1)
            ]
        );
        assert_eq!(all("é; # no directive").len(), 4 + 1);
    }
}
