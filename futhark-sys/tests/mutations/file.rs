//! C text as pieces, which concatenated are the text, and the parts of a generated file.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Space,
    Comment,
    /// A preprocessor directive, up to the end of its last line.
    Directive,
    /// A string or a character in quotes.
    Literal,
    /// A name, keyword or number.
    Word,
    Operator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub kind: Kind,
    pub text: &'a str,
}

impl Piece<'_> {
    pub fn is_token(&self) -> bool {
        !matches!(self.kind, Kind::Space | Kind::Comment)
    }

    pub fn is_name(&self) -> bool {
        self.kind == Kind::Word && !self.text.starts_with(|c: char| c.is_ascii_digit())
    }

    pub fn is_number(&self) -> bool {
        self.kind == Kind::Word && !self.is_name()
    }
}

const OPERATORS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "<<", ">>", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=",
];

pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::with_capacity(text.len() / 3);
    let (mut rest, mut starts_line) = (text, true);
    while let Some(&first) = rest.as_bytes().first() {
        let (kind, length) = match first {
            b' ' | b'\t' | b'\n' | b'\r' => (Kind::Space, run(rest, |c| c.is_ascii_whitespace())),
            b'/' if rest.starts_with("//") => (Kind::Comment, run(rest, |c| c != b'\n')),
            b'/' if rest.starts_with("/*") => {
                let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
                (Kind::Comment, end)
            }
            b'#' if starts_line => (Kind::Directive, directive(rest)),
            b'"' | b'\'' => (Kind::Literal, literal(rest, first)),
            _ if first.is_ascii_digit() => (Kind::Word, number(rest)),
            _ if is_word(first) || first >= 0x80 => {
                (Kind::Word, run(rest, |c| is_word(c) || c >= 0x80))
            }
            _ => {
                let operator = OPERATORS.iter().find(|o| rest.starts_with(**o));
                (
                    Kind::Operator,
                    operator.map_or(1, |operator| operator.len()),
                )
            }
        };
        let (text, after) = rest.split_at(length);
        starts_line = match kind {
            Kind::Space => starts_line || text.contains('\n'),
            Kind::Comment => starts_line,
            _ => false,
        };
        pieces.push(Piece { kind, text });
        rest = after;
    }
    pieces
}

fn run(text: &str, mut is_inside: impl FnMut(u8) -> bool) -> usize {
    let end = text.bytes().position(|c| !is_inside(c));
    end.unwrap_or(text.len())
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

/// The length of a number, such as `0.5F` or `1e-3`.
fn number(text: &str) -> usize {
    let mut last = 0;
    run(text, |c| {
        let is_sign = matches!(c, b'+' | b'-') && matches!(last, b'e' | b'E' | b'p' | b'P');
        last = c;
        is_word(c) || c == b'.' || is_sign && !text.starts_with("0x")
    })
}

fn directive(text: &str) -> usize {
    let mut ends = text.match_indices('\n').map(|(at, _)| at);
    ends.find(|&end| !text[..end].ends_with('\\'))
        .unwrap_or(text.len())
}

fn literal(text: &str, quote: u8) -> usize {
    let mut escaped = false;
    for (i, c) in text.bytes().enumerate().skip(1) {
        match c {
            b'\n' => return i,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if c == quote => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// A function definition. The ranges are of pieces.
pub struct Function<'a> {
    pub name: &'a str,
    pub all: Range<usize>,
    /// Between the braces.
    pub body: Range<usize>,
}

impl Function<'_> {
    /// All pieces except the last, the brace.
    pub fn inner(&self) -> Range<usize> {
        self.all.start..self.all.end - 1
    }
}

/// A section of the runtime, without its markers.
pub struct Section<'a> {
    pub name: &'a str,
    pub body: Range<usize>,
}

/// A generated file.
pub struct File<'a> {
    pub pieces: Vec<Piece<'a>>,
    pub sections: Vec<Section<'a>>,
    /// The first piece after the runtime. The functions of the program follow.
    pub program: usize,
    /// The functions after the runtime that contain no directive.
    pub functions: Vec<Function<'a>>,
}

impl<'a> File<'a> {
    pub fn read(text: &'a str) -> File<'a> {
        let pieces = pieces(text);
        let sections = sections(&pieces);
        let program = sections.last().map_or(0, |section| section.body.end + 1);
        let mut functions = functions(&pieces, program);
        functions.retain(|function| {
            let mut all = pieces[function.all.clone()].iter();
            all.all(|piece| piece.kind != Kind::Directive)
        });
        File {
            pieces,
            sections,
            program,
            functions,
        }
    }

    /// Whether a piece belongs to the runtime.
    pub fn is_runtime(&self, at: usize) -> bool {
        (self.sections.iter()).any(|section| section.body.contains(&at))
    }

    pub fn texts(&self) -> Vec<String> {
        self.pieces.iter().map(|p| p.text.to_owned()).collect()
    }

    /// The next token after a piece.
    pub fn next(&self, at: usize) -> Option<usize> {
        (at + 1..self.pieces.len()).find(|&i| self.pieces[i].is_token())
    }

    /// The last token before a piece.
    pub fn previous(&self, at: usize) -> Option<usize> {
        (0..at).rev().find(|&i| self.pieces[i].is_token())
    }

    pub fn text(&self, at: Option<usize>) -> &'a str {
        at.map_or("", |at| self.pieces[at].text)
    }

    /// The piece that closes the bracket at `open`.
    pub fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0;
        (open..self.pieces.len()).find(|&i| {
            depth += depth_of(self.pieces[i]);
            depth == 0
        })
    }

    /// The piece that opens the bracket at `close`.
    pub fn open(&self, close: usize) -> Option<usize> {
        let mut depth = 0;
        (0..=close).rev().find(|&i| {
            depth += depth_of(self.pieces[i]);
            depth == 0
        })
    }
}

fn depth_of(piece: Piece<'_>) -> i32 {
    match piece.text {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

/// `// Start of NAME` to `// End of NAME`. Some markers have a full stop, `of of` or a small letter.
fn sections<'a>(pieces: &[Piece<'a>]) -> Vec<Section<'a>> {
    let mut sections = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    for (i, piece) in pieces.iter().enumerate() {
        if piece.kind != Kind::Comment {
            continue;
        }
        let text = piece.text.trim_end_matches('.');
        let name = text.rsplit(' ').next().unwrap_or_default();
        if text.starts_with("// Start of ") || text.starts_with("// start of ") {
            open = Some((name, i + 1));
        } else if text.starts_with("// End of ")
            && let Some((_, begin)) = open.take_if(|(open, _)| *open == name)
        {
            let body = begin..i;
            sections.push(Section { name, body });
        }
    }
    sections
}

/// The function definitions from piece `begin` on.
pub fn functions<'a>(pieces: &[Piece<'a>], begin: usize) -> Vec<Function<'a>> {
    let mut functions = Vec::new();
    let (mut depth, mut start, mut named) = (0, None, None);
    let (mut open, mut last) = (0, "");
    for (i, piece) in pieces.iter().enumerate().skip(begin) {
        if !piece.is_token() {
            continue;
        }
        if depth == 0 {
            match piece.text {
                ";" => (start, named) = (None, None),
                "(" if named.is_none() => named = Some(last),
                "{" => open = i,
                _ => {}
            }
            if piece.kind == Kind::Directive {
                (start, named) = (None, None);
            } else if piece.text != ";" && start.is_none() {
                start = Some(i);
            }
        }
        depth += depth_of(*piece);
        if depth == 0 && piece.text == "}" {
            if let (Some(start), Some(name)) = (start, named) {
                let (all, body) = (start..i + 1, open + 1..i);
                functions.push(Function { name, all, body });
            }
            (start, named) = (None, None);
        }
        last = piece.text;
    }
    functions
}
