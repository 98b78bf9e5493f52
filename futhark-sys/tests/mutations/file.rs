//! The tokens of a C text, and the parts of a generated file.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::kinds::Mutated;

/// New texts for parts of a text, which are ranges of its bytes.
pub type Edits = Vec<(Range<usize>, String)>;

/// A function definition. The ranges are of tokens.
pub struct Function<'a> {
    pub name: &'a str,
    pub all: Range<usize>,
    /// Between the braces.
    pub body: Range<usize>,
}

/// A C text, such as a generated file.
pub struct File<'a> {
    pub source: &'a str,
    /// Slices of the source, without white space and comments. A directive is one.
    pub tokens: Vec<&'a str>,
    /// The names and tokens of the runtime's sections.
    pub sections: Vec<(&'a str, Range<usize>)>,
    /// The first token after the runtime. The functions of the program follow.
    pub program: usize,
    /// The functions after the runtime.
    pub functions: Vec<Function<'a>>,
    /// Pairs of a function and a size of it, of a text that is mutated.
    pub sizes: BTreeSet<(String, String)>,
}

impl<'a> File<'a> {
    pub fn read(source: &'a str) -> File<'a> {
        let mut file = File {
            source,
            tokens: tokens(source),
            sections: Vec::new(),
            program: 0,
            functions: Vec::new(),
            sizes: BTreeSet::new(),
        };
        file.sections = file.find_sections();
        file.program = file.sections.last().map_or(0, |(_, tokens)| tokens.end);
        file.functions = file.find_functions();
        file
    }

    /// The bytes of tokens, from the first to the last.
    pub fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        let place = |token: &str| token.as_ptr().addr() - self.source.as_ptr().addr();
        let last = self.tokens[tokens.end - 1];
        place(self.tokens[tokens.start])..place(last) + last.len()
    }

    /// The text from the first to the last of the tokens.
    pub fn span(&self, tokens: Range<usize>) -> &'a str {
        &self.source[self.bytes(tokens)]
    }

    /// The bytes between a token and the one before: white space and comments.
    pub fn gap(&self, at: usize) -> Range<usize> {
        self.bytes(at - 1..at).end..self.bytes(at..at + 1).start
    }

    /// The text after the edits. An edit that overlaps an earlier one is left out. `None` if nothing changes.
    pub fn edited(&self, mut edits: Edits) -> Option<Mutated> {
        edits.sort_by_key(|(range, _)| range.start);
        let (mut text, mut end) = (String::with_capacity(self.source.len()), 0);
        for (range, new) in &edits {
            if range.start >= end {
                text += &self.source[end..range.start];
                text += new;
                end = range.end;
            }
        }
        text += &self.source[end..];
        let is_changed = text != self.source;
        let mutated = Mutated {
            text,
            ..Mutated::default()
        };
        is_changed.then_some(mutated)
    }

    /// The functions that contain no directive.
    pub fn plain_functions(&self) -> impl Iterator<Item = &Function<'a>> {
        (self.functions.iter()).filter(|function| {
            let mut tokens = self.tokens[function.all.clone()].iter();
            tokens.all(|token| !is_directive(token))
        })
    }

    /// The tokens in the bodies of these functions.
    pub fn in_bodies(&self) -> impl Iterator<Item = usize> {
        self.plain_functions()
            .flat_map(|function| function.body.clone())
    }

    /// The token that closes the bracket at `open`.
    pub fn close(&self, open: usize) -> Option<usize> {
        self.balanced(open..self.tokens.len())
    }

    /// The token that opens the bracket at `close`.
    pub fn open(&self, close: usize) -> Option<usize> {
        self.balanced((0..=close).rev())
    }

    fn balanced(&self, mut places: impl Iterator<Item = usize>) -> Option<usize> {
        let mut depth = 0;
        places.find(|&i| {
            depth += i32::from(["(", "[", "{"].contains(&self.tokens[i]));
            depth -= i32::from([")", "]", "}"].contains(&self.tokens[i]));
            depth == 0
        })
    }

    /// `// Start of NAME` to `// End of NAME`. Some markers have a full stop, `of of` or a small letter.
    fn find_sections(&self) -> Vec<(&'a str, Range<usize>)> {
        let (mut sections, mut open, mut at) = (Vec::new(), ("", 0), 0);
        for line in self.source.split_inclusive('\n') {
            let marker = line.trim_end().trim_end_matches('.');
            let name = marker.rsplit(' ').next().unwrap_or_default();
            let is_before = |token: &&str| token.as_ptr() < self.source[at..].as_ptr();
            let token = || self.tokens.partition_point(is_before);
            if marker.starts_with("// Start of ") || marker.starts_with("// start of ") {
                open = (name, token());
            } else if marker.starts_with("// End of ") && open.0 == name {
                sections.push((name, open.1..token()));
            }
            at += line.len();
        }
        sections
    }

    fn find_functions(&self) -> Vec<Function<'a>> {
        let (mut functions, mut start, mut i) = (Vec::new(), self.program, self.program);
        while i < self.tokens.len() {
            let token = self.tokens[i];
            if token == "{" {
                let close = self.close(i).unwrap_or(self.tokens.len() - 1);
                let parameters = (i > start && self.tokens[i - 1] == ")").then(|| self.open(i - 1));
                if let Some(open) = parameters.flatten() {
                    functions.push(Function {
                        name: self.tokens[open - 1],
                        all: start..close + 1,
                        body: i + 1..close,
                    });
                }
                (i, start) = (close, close + 1);
            } else if token == ";" || is_directive(token) {
                start = i + 1;
            }
            i += 1;
        }
        functions
    }
}

pub fn is_directive(token: &str) -> bool {
    token.starts_with('#')
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a token is a name, keyword or number.
pub fn is_word(token: &str) -> bool {
    token.starts_with(is_word_character)
}

pub fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
}

pub fn is_name(token: &str) -> bool {
    is_word(token) && !is_number(token)
}

/// Whether a statement ends at this token, or a block begins or ends.
pub fn is_end(token: &str) -> bool {
    [";", "{", "}"].contains(&token)
}

/// Whether a name belongs to our checks.
pub fn is_ours(token: &str) -> bool {
    token.starts_with("fut_") || token.starts_with("FUT_")
}

const OPERATORS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "<<", ">>", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=",
];

fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let (mut rest, mut starts_line) = (text, true);
    while let Some(first) = rest.chars().next() {
        let (end, is_token) = match first {
            _ if first.is_whitespace() => (Some(first.len_utf8()), false),
            '/' if rest.starts_with("//") => (rest.find('\n'), false),
            '/' if rest.starts_with("/*") => (rest[2..].find("*/").map(|end| end + 4), false),
            '#' if starts_line => {
                let mut ends = rest.match_indices('\n').map(|(at, _)| at);
                (ends.find(|&end| !rest[..end].ends_with('\\')), true)
            }
            '"' | '\'' => (literal_end(rest, first), true),
            _ if is_number(rest) => (number_end(rest), true),
            _ if is_word(rest) => (rest.find(|c| !is_word_character(c)), true),
            _ => {
                let operator = OPERATORS.iter().find(|o| rest.starts_with(**o));
                (Some(operator.map_or(first.len_utf8(), |o| o.len())), true)
            }
        };
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        if is_token {
            tokens.push(token);
        }
        starts_line = !is_token && (starts_line || first == '\n');
        rest = after;
    }
    tokens
}

/// The end of a number, such as `0.5F` or `1e-3`.
fn number_end(text: &str) -> Option<usize> {
    let mut last = ' ';
    text.find(|c| {
        let is_exponent = "eEpP".contains(last) && !text.starts_with("0x");
        let is_inside = is_word_character(c) || c == '.' || is_exponent && "+-".contains(c);
        last = c;
        !is_inside
    })
}

/// The end of a literal, which ends at the end of the line, too.
fn literal_end(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = true;
    let end = text.find(|c| {
        let is_end = c == '\n' || c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some(end + usize::from(text[end..].starts_with(quote)))
}
