//! The notation of values between the braces of a test block: `1 2.5f32 [[true], [false]]
//! empty([0][3]i32) "text"`.

use super::HostValue;
use super::escape::escape;
use super::number::{self, Number, is_float};
use futhark_manifest::ElemType;
use std::fmt;

/// Why a text is not a sequence of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The offset of the error.
    pub at: usize,
    /// The expected and the actual text.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A text that was found in place of another, for a message: in quotes, with escapes for control
/// characters, and only its beginning. A test block can name any file, and messages are published.
#[must_use]
pub fn found(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// A parsed value. The first element of an array determines its type, by its suffix or its
/// notation: `i32` for an integer and `f64` for a decimal without a suffix.
#[derive(Clone, Debug, PartialEq)]
pub struct TextValue<'a> {
    /// The position of the value in the text.
    at: usize,
    shape: Vec<usize>,
    elem: ElemType,
    /// The explicit type.
    suffix: Option<ElemType>,
    numbers: Vec<Number<'a>>,
}

impl TextValue<'_> {
    /// The extent of each dimension; empty for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The value as one of type `elem`, as a program parses its input: a number without a suffix
    /// has any type.
    ///
    /// # Errors
    /// If the text has another type, or an element that is not valid for that type, such as `1.5`
    /// for an integer.
    pub fn typed(&self, elem: ElemType) -> Result<HostValue, TextError> {
        let fail = |message| TextError {
            at: self.at,
            message,
        };
        if let Some(suffix) = self.suffix.filter(|suffix| *suffix != elem) {
            return Err(fail(format!(
                "expected a value of type {elem}, found one of type {suffix}"
            )));
        }
        let bits = self.numbers.iter().map(|&number| {
            number::bits(number, elem).ok_or_else(|| {
                fail(format!(
                    "expected elements of type {elem}, found {}",
                    found(&number.to_string())
                ))
            })
        });
        let bits = bits.collect::<Result<Vec<u64>, TextError>>()?;
        Ok(HostValue::of_bits(elem, &self.shape, bits))
    }

    /// The value with its own type, as in a test block.
    ///
    /// # Errors
    /// As [`TextValue::typed`].
    pub fn by_itself(&self) -> Result<HostValue, TextError> {
        self.typed(self.elem)
    }
}

/// Parses a sequence of values, separated by white space.
///
/// # Errors
/// At the first error: an unknown token, an unclosed bracket, rows of different lengths, or
/// elements of different types in one array.
pub fn parse(text: &str) -> Result<Vec<TextValue<'_>>, TextError> {
    let mut parser = Cursor::new(text);
    let mut values = Vec::new();
    loop {
        parser.skip_space();
        if parser.at == text.len() {
            return Ok(values);
        }
        values.push(parser.value()?);
    }
}

/// Parses the value at the start of a text, and returns its end.
///
/// # Errors
/// As [`parse`].
pub fn parse_one(text: &str) -> Result<(TextValue<'_>, usize), TextError> {
    Cursor::new(text).one()
}

/// Parses the value at the start of a text as a program parses its input: comments are skipped,
/// and any element may have the suffix.
///
/// # Errors
/// As [`parse`].
pub fn parse_input(text: &str) -> Result<(TextValue<'_>, usize), TextError> {
    let parser = Cursor {
        loose: true,
        ..Cursor::new(text)
    };
    parser.one()
}

/// A place in a text. Test blocks and scripts, which contain values, are parsed with it, too.
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    /// The current depth of brackets and expressions.
    pub(crate) depth: usize,
    /// Whether it parses the input of a program, not a test block.
    loose: bool,
}

/// More dimensions than any array has. Limits the recursion, so that a long text cannot overflow
/// the stack.
const DEEPEST: usize = 100;

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor {
            text,
            at: 0,
            depth: 0,
            loose: false,
        }
    }

    fn one(mut self) -> Result<(TextValue<'a>, usize), TextError> {
        self.skip_space();
        let value = self.value()?;
        Ok((value, self.at))
    }

    pub(crate) fn value(&mut self) -> Result<TextValue<'a>, TextError> {
        match self.peek() {
            Some('[') => self.array(),
            Some('"') => self.string(),
            _ if self.rest().starts_with("empty(") => self.empty(),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        let token = self.until(|c| c.is_whitespace() || ",[](){}\"".contains(c));
        let (number, suffix) = number::read(token).ok_or_else(|| {
            self.at = start;
            let next = match token {
                "" => self.next_shown(),
                token => found(token),
            };
            self.error(format!("expected a value, found {next}"))
        })?;
        Ok(TextValue {
            at: start,
            shape: Vec::new(),
            elem: suffix.unwrap_or(if number.is_decimal() {
                ElemType::F64
            } else {
                ElemType::I32
            }),
            suffix,
            numbers: vec![number],
        })
    }

    fn array(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        if self.depth == DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} brackets are open")));
        }
        self.depth += 1;
        self.at += 1;
        let mut rows = 0;
        let mut whole: Option<TextValue<'a>> = None;
        loop {
            self.skip_space();
            if self.eat("]") {
                break;
            }
            let row = self.value()?;
            rows += 1;
            match &mut whole {
                None => whole = Some(row),
                Some(whole) => self.append(whole, row)?,
            }
            self.skip_space();
            if !self.eat(",") && self.peek() != Some(']') {
                let found = self.next_shown();
                return Err(self.error(format!("expected ',' or ']' in an array, found {found}")));
            }
        }
        let mut whole = whole.ok_or_else(|| TextError {
            at: start,
            message: "an array without elements has no type: write empty([0]i32)".to_owned(),
        })?;
        whole.shape.insert(0, rows);
        whole.at = start;
        self.depth -= 1;
        Ok(whole)
    }

    /// Adds a row to an array. The first element determines the type; later ones may omit the
    /// suffix, and a float may then be written as an integer.
    fn append(&self, whole: &mut TextValue<'a>, row: TextValue<'a>) -> Result<(), TextError> {
        let fail = |message: &str| TextError {
            at: row.at,
            message: message.to_owned(),
        };
        if whole.shape != row.shape {
            return Err(fail("the rows of an array must have the same shape"));
        }
        if self.loose && whole.suffix.is_none() {
            (whole.suffix, whole.elem) = (row.suffix, row.elem);
        }
        let fits = match row.suffix {
            Some(suffix) => suffix == whole.elem,
            None if self.loose => true,
            None if whole.elem == ElemType::Bool => false,
            None => is_float(whole.elem) || !is_float(row.elem),
        };
        if !fits {
            return Err(fail(
                "the elements of an array must have the type of the first",
            ));
        }
        whole.numbers.extend(row.numbers);
        Ok(())
    }

    /// `empty([0][3]i32)`.
    fn empty(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        self.at += "empty(".len();
        let mut shape = Vec::new();
        while self.eat("[") {
            let place = self.at;
            let dim = self.until(|c| c == ']');
            if !self.eat("]") {
                self.at = place;
                return Err(self.error("expected ']'"));
            }
            shape.push(dim.parse().map_err(|_| TextError {
                at: place,
                message: format!("{} is not the size of a dimension", found(dim)),
            })?);
        }
        let place = self.at;
        let name = self.until(|c| c == ')');
        let end = self.at;
        self.at = place;
        let elem = ElemType::from_name(name)
            .ok_or_else(|| self.error(format!("{} is not an element type", found(name))))?;
        if self.text[end..].is_empty() {
            return Err(self.error("expected ')'"));
        }
        if !shape.contains(&0) {
            return Err(self.error("an empty array needs a dimension of size 0"));
        }
        self.at = end + 1;
        Ok(TextValue {
            at: start,
            shape,
            elem,
            suffix: Some(elem),
            numbers: Vec::new(),
        })
    }

    /// `"text"` is an array of its UTF-8 bytes.
    fn string(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        let mut bytes = Vec::new();
        let mut chars = self.rest()[1..].char_indices();
        loop {
            let (offset, c) = chars
                .next()
                .ok_or_else(|| self.error("a string is not closed"))?;
            let c = match c {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    break;
                }
                '\\' => {
                    let (c, length) = escape(chars.as_str())
                        .ok_or_else(|| self.error("an unknown escape in a string"))?;
                    // An escape consists of ASCII characters.
                    chars.by_ref().take(length).for_each(drop);
                    c
                }
                c => c,
            };
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        let numbers: Vec<_> = bytes.iter().map(|&byte| Number::Int(byte.into())).collect();
        Ok(TextValue {
            at: start,
            shape: vec![numbers.len()],
            elem: ElemType::U8,
            suffix: Some(ElemType::U8),
            numbers,
        })
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next character for messages.
    pub(crate) fn next_shown(&self) -> String {
        let next = self.peek();
        next.map_or("the end".to_owned(), |c| format!("{c:?}"))
    }

    /// Consumes a fixed text.
    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Consumes a fixed text after white space.
    pub(crate) fn eat_next(&mut self, text: &str) -> bool {
        let start = self.at;
        self.skip_space();
        let found = self.eat(text);
        self.at = if found { self.at } else { start };
        found
    }

    /// Consumes the text up to a character, or to the end.
    pub(crate) fn until(&mut self, end: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let text = &rest[..rest.find(end).unwrap_or(rest.len())];
        self.at += text.len();
        text
    }

    pub(crate) fn skip_space(&mut self) {
        self.until(|c| !c.is_whitespace());
        while self.loose && self.rest().starts_with("--") {
            self.until(|c| c == '\n');
            self.until(|c| !c.is_whitespace());
        }
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> TextError {
        TextError {
            at: self.at,
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests;
