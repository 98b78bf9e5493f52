//! Splits the text of Futhark files into tokens, as the compilers do.
//!
//! The text of a program that a compiler accepts is split as by `futhark tokens`, except that a qualified
//! operator like `a.+` is three tokens. White space is between tokens.

/// Symbols of several characters that are not operators: `--` after one of them begins a comment.
const SYMBOLS: [&str; 8] = ["..<", "..>", "...", "..", ":>", "'^", "'~", "#["];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From `--` to the end of the line.
    Comment,
    /// From `-- |` to the end of the last line in succession that begins with `--`.
    Doc,
    /// An identifier or a keyword.
    Name,
    /// With its quotes, on one line.
    String,
    /// An operator, a number or a part of one, a character like `'a'`, a constructor like `#some`, a bracket,
    /// any other character; a `"` if its string does not end.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// The offset in the whole text, in bytes.
    pub at: usize,
}

pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut end = 0;
    let mut end_of_name = None;
    std::iter::from_fn(move || {
        let at = end + count(&text[end..], |c| matches!(c, b' ' | b'\t'..=b'\r'));
        let rest = &text[at..];
        // In `a.--`, `--` is an operator.
        let is_qualified = || end_of_name.is_some_and(|end| text[end..at] == *".");
        let (kind, length) = match rest.as_bytes().first()? {
            b'-' if rest.starts_with("--") && !is_qualified() => comment(rest),
            b'"' => string(rest).map_or((Kind::Other, 1), |length| (Kind::String, length)),
            b'\'' => (Kind::Other, character(rest).unwrap_or(symbol(rest))),
            b'0'..=b'9' => (Kind::Other, count(rest, |c| is_of_name(c) && c != b'\'')),
            b'#' if name(&rest[1..]) > 0 => (Kind::Other, 1 + name(&rest[1..])),
            b'.' | b':' | b'#' => (Kind::Other, symbol(rest)),
            c if is_of_operator(*c) => (Kind::Other, count(rest, is_of_operator)),
            _ if name(rest) > 0 => (Kind::Name, name(rest)),
            _ => (Kind::Other, rest.chars().next()?.len_utf8()),
        };
        end = at + length;
        if kind == Kind::Name {
            end_of_name = Some(end);
        }
        let text = &rest[..length];
        Some(Token { kind, text, at })
    })
}

/// The tokens of a text that are not comments.
pub fn code(text: &str) -> impl Iterator<Item = Token<'_>> {
    tokens(text).filter(|token| !matches!(token.kind, Kind::Comment | Kind::Doc))
}

/// Each token that is not a comment, after the one before it: an empty one for the first.
pub fn pairs(text: &str) -> impl Iterator<Item = [Token<'_>; 2]> {
    let (kind, at) = (Kind::Other, 0);
    let mut before = Token { kind, text: "", at };
    code(text).map(move |token| [std::mem::replace(&mut before, token), token])
}

/// The text without comments, and with one space for all white space between two tokens.
///
/// Equal results are equal programs. The text is returned as it is if a string does not end on its line,
/// which no known compiler accepts.
pub(super) fn normalized(text: &str) -> Vec<u8> {
    let mut normalized: Vec<u8> = Vec::with_capacity(text.len());
    for [before, token] in pairs(text) {
        if token.text == "\"" {
            return text.into();
        }
        if token.at > before.at + before.text.len() && !normalized.is_empty() {
            normalized.push(b' ');
        }
        normalized.extend_from_slice(token.text.as_bytes());
    }
    normalized
}

/// The length of the beginning whose characters are in the set.
fn count(text: &str, set: fn(u8) -> bool) -> usize {
    let mut bytes = text.bytes();
    bytes.position(|c| !set(c)).unwrap_or(text.len())
}

/// No operator begins with `.`.
fn is_of_operator(c: u8) -> bool {
    b"+-*/%=!><|&^.".contains(&c)
}

fn is_of_name(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'\'')
}

/// The length of the name at the beginning; 0 if there is none.
fn name(text: &str) -> usize {
    match text.as_bytes() {
        [b'a'..=b'z' | b'A'..=b'Z', ..] => count(text, is_of_name),
        [b'_', second, ..] if second.is_ascii_alphanumeric() => count(text, is_of_name),
        _ => 0,
    }
}

fn symbol(text: &str) -> usize {
    let symbol = SYMBOLS.iter().find(|&&symbol| text.starts_with(symbol));
    symbol.map_or(1, |symbol| symbol.len())
}

fn comment(text: &str) -> (Kind, usize) {
    let end_of_line = |at: usize| at + count(&text[at..], |c| c != b'\n');
    let mut end = end_of_line(0);
    if !text.starts_with("-- |") {
        return (Kind::Comment, end);
    }
    while let Some(next) = text[end..].strip_prefix('\n') {
        let next = next.trim_start_matches([' ', '\t', '\x0b', '\x0c']);
        if !next.starts_with("--") {
            break;
        }
        end = end_of_line(text.len() - next.len());
    }
    (Kind::Doc, end)
}

/// The length of the string, if it ends.
fn string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.bytes().enumerate().skip(1) {
        match c {
            0..b' ' => return None,
            b'"' if !is_escaped => return Some(at + 1),
            _ => is_escaped = c == b'\\' && !is_escaped,
        }
    }
    None
}

/// The length of the character, if it is one: `'a` is a type parameter.
fn character(text: &str) -> Option<usize> {
    let is_escaped = text[1..].starts_with('\\');
    let mut inside = text[1 + usize::from(is_escaped)..].chars();
    let is_allowed = |c: &char| *c >= ' ' && (is_escaped || *c != '\'');
    let first = inside.next().filter(is_allowed)?;
    let mut rest = inside.as_str();
    if is_escaped && first.is_ascii_digit() {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    Some(text.len() - rest.strip_prefix('\'')?.len())
}

#[cfg(test)]
mod tests {
    use super::Kind::*;
    use super::*;

    /// As `futhark tokens` of 0.25.27 and 0.25.32 splits these texts.
    #[test]
    fn tokens_are_those_of_the_compilers() {
        let table: &[(&str, &[(Kind, &str)])] = &[
            ("a--b\nc", &[(Name, "a"), (Comment, "--b"), (Name, "c")]),
            ("a --> b", &[(Name, "a"), (Comment, "--> b")]),
            ("a +-- b", &[(Name, "a"), (Other, "+--"), (Name, "b")]),
            ("-1--2", &[(Other, "-"), (Other, "1"), (Comment, "--2")]),
            ("->--|", &[(Other, "->--|")]),
            // A dot directly after a name begins a qualified operator.
            ("a'.--", &[(Name, "a'"), (Other, "."), (Other, "--")]),
            ("a .--b", &[(Name, "a"), (Other, "."), (Comment, "--b")]),
            ("a. --b", &[(Name, "a"), (Other, "."), (Comment, "--b")]),
            ("a..--b", &[(Name, "a"), (Other, ".."), (Comment, "--b")]),
            (").--b", &[(Other, ")"), (Other, "."), (Comment, "--b")]),
            ("1.--b", &[(Other, "1"), (Other, "."), (Comment, "--b")]),
            (".--b", &[(Other, "."), (Comment, "--b")]),
            ("_.--b", &[(Other, "_"), (Other, "."), (Comment, "--b")]),
            ("#a.--b", &[(Other, "#a"), (Other, "."), (Comment, "--b")]),
            // Symbols that are not operators.
            ("..<--b", &[(Other, "..<"), (Comment, "--b")]),
            ("...<--", &[(Other, "..."), (Other, "<--")]),
            (":>--b", &[(Other, ":>"), (Comment, "--b")]),
            ("'^--b", &[(Other, "'^"), (Comment, "--b")]),
            ("~--b", &[(Other, "~"), (Comment, "--b")]),
            ("!--b", &[(Other, "!--"), (Name, "b")]),
            ("`a--b`", &[(Other, "`"), (Name, "a"), (Comment, "--b`")]),
            // Documentation includes the lines of comments that follow.
            (
                "-- |d\n \t--e\n\n--f",
                &[(Doc, "-- |d\n \t--e"), (Comment, "--f")],
            ),
            (
                "--a\n-- |b\nc",
                &[(Comment, "--a"), (Doc, "-- |b"), (Name, "c")],
            ),
            ("--| d\n--  |d", &[(Comment, "--| d"), (Comment, "--  |d")]),
            ("a-- |b\r\nc", &[(Name, "a"), (Doc, "-- |b\r"), (Name, "c")]),
            ("--a\rb", &[(Comment, "--a\rb")]),
            // Strings do not span lines.
            (
                r#""--\"--\\"--"#,
                &[(String, r#""--\"--\\""#), (Comment, "--")],
            ),
            ("\"a\nb", &[(Other, "\""), (Name, "a"), (Name, "b")]),
            ("\"a\tb", &[(Other, "\""), (Name, "a"), (Name, "b")]),
            ("\"λ\"", &[(String, "\"λ\"")]),
            // Characters, type parameters, and names with apostrophes.
            ("'\"'--", &[(Other, "'\"'"), (Comment, "--")]),
            (r"'\''", &[(Other, r"'\''")]),
            (r"'\955'", &[(Other, r"'\955'")]),
            (r"'\x4'", &[(Other, "'"), (Other, r"\"), (Name, "x4'")]),
            ("'λ''-'", &[(Other, "'λ'"), (Other, "'-'")]),
            ("'''", &[(Other, "'"), (Other, "'"), (Other, "'")]),
            (
                "'a 'b",
                &[(Other, "'"), (Name, "a"), (Other, "'"), (Name, "b")],
            ),
            ("'a'b", &[(Other, "'a'"), (Name, "b")]),
            ("x'a'--", &[(Name, "x'a'"), (Comment, "--")]),
            ("1'a'", &[(Other, "1"), (Other, "'a'")]),
            ("'\n'", &[(Other, "'"), (Other, "'")]),
            // Attributes, constructors, other characters.
            ("#[a]", &[(Other, "#["), (Name, "a"), (Other, "]")]),
            ("# [", &[(Other, "#"), (Other, "[")]),
            ("__a", &[(Other, "_"), (Name, "_a")]),
            ("1_0i8", &[(Other, "1_0i8")]),
            ("é\u{a0}", &[(Other, "é"), (Other, "\u{a0}")]),
            ("\x0b\x0c\t \r\n", &[]),
        ];
        for (text, expected) in table {
            let found: Vec<_> = tokens(text).map(|token| (token.kind, token.text)).collect();
            assert_eq!(found, *expected, "{text:?}");
            for token in tokens(text) {
                assert!(text[token.at..].starts_with(token.text), "{text:?}");
            }
        }
    }

    fn normal(text: &str) -> std::string::String {
        std::string::String::from_utf8(normalized(text)).unwrap()
    }

    #[test]
    fn comments_and_layout_do_not_change_a_program() {
        let text = "-- | The sum.\nentry  f (xs: []i32) =\n\n  i32.sum xs -- \"\n-- ' \" end";
        assert_eq!(normal(text), "entry f (xs: []i32) = i32.sum xs");
        assert_eq!(normal("a--b\nc"), "a c");
        assert_eq!(normal("(f).-- b"), "(f).");
        assert_eq!(normal(""), "");
    }

    #[test]
    fn other_text_changes_a_program() {
        assert_ne!(normal("f [0]"), normal("f[0]"));
        assert_eq!(normal("f \n\t [0]"), "f [0]");
        for text in [
            "#[a(\"-- b  c\")] f",
            "'\"' c '\"  '",
            "a +--  \"b  ",
            "\"a  b",
        ] {
            assert_eq!(normal(text), text);
        }
    }
}
