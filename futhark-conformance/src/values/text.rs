//! The textual notation of values, as it stands between the braces of a test
//! block: `1 2.5f32 [[true], [false]] empty([0][3]i32) "text"`.

use super::HostValue;
use super::number::{self, Number};
use futhark_manifest::ElemType;
use std::fmt;

/// Where something stands in the text that was parsed, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Why a text is not a sequence of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The byte at which the text went wrong.
    pub at: usize,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TextError {}

/// A value whose type may still depend on where it is used.
///
/// A number without a suffix takes the type of the parameter that it is passed
/// for; only when nothing else is known is it an `i32` or an `f64`.
#[derive(Clone, Debug, PartialEq)]
pub struct TextValue<'a> {
    span: Span,
    shape: Vec<usize>,
    suffix: Option<ElemType>,
    numbers: Vec<Number<'a>>,
}

impl TextValue<'_> {
    /// Where the value stands in the text.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The extent of each dimension; empty for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type, if the text gives one: by a suffix on the first
    /// element, by a name such as `f32.nan`, or because it is a truth value.
    #[must_use]
    pub fn elem(&self) -> Option<ElemType> {
        self.suffix
    }

    /// The value as one of type `elem`.
    ///
    /// # Errors
    /// If the text gives another type, or holds something that is no element
    /// of that type, such as `1.5` for an integer.
    pub fn typed(&self, elem: ElemType) -> Result<HostValue, TextError> {
        let fail = |message| TextError {
            at: self.span.start,
            message,
        };
        if let Some(suffix) = self.suffix.filter(|suffix| *suffix != elem) {
            return Err(fail(format!(
                "expected a value of type {elem}, found one of type {suffix}"
            )));
        }
        let mut bytes = Vec::with_capacity(self.numbers.len() * elem.size());
        for &number in &self.numbers {
            number::bytes(number, elem, &mut bytes).ok_or_else(|| {
                fail(format!(
                    "expected elements of type {elem}, found {number:?}"
                ))
            })?;
        }
        Ok(HostValue::new(elem, self.shape.clone(), bytes))
    }

    /// The value with the type that it has on its own.
    ///
    /// # Errors
    /// As [`TextValue::typed`].
    pub fn by_itself(&self) -> Result<HostValue, TextError> {
        let float = |n: &Number<'_>| matches!(n, Number::Decimal(_) | Number::Exact(_));
        let fallback = if self.numbers.iter().any(float) {
            ElemType::F64
        } else {
            ElemType::I32
        };
        self.typed(self.suffix.unwrap_or(fallback))
    }
}

/// Parses a sequence of values, separated by white space.
///
/// # Errors
/// At the first thing that is no value: an unknown token, an unclosed bracket,
/// rows of different length, or elements of different types in one array.
pub fn parse(text: &str) -> Result<Vec<TextValue<'_>>, TextError> {
    let mut parser = Parser { text, at: 0 };
    let mut values = Vec::new();
    loop {
        parser.skip_space();
        if parser.at == text.len() {
            return Ok(values);
        }
        values.push(parser.value()?);
    }
}

/// Parses one value at the beginning of a text, and says where it ends.
///
/// # Errors
/// As [`parse`].
pub fn parse_one(text: &str) -> Result<(TextValue<'_>, usize), TextError> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_space();
    let value = parser.value()?;
    Ok((value, parser.at))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        let mut value = match self.peek() {
            Some('[') => self.array()?,
            Some('"') => self.string()?,
            _ if self.rest().starts_with("empty(") => self.empty()?,
            _ => self.scalar()?,
        };
        value.span = Span {
            start,
            end: self.at,
        };
        Ok(value)
    }

    fn scalar(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        let length = self
            .rest()
            .find(|c: char| {
                c.is_whitespace() || matches!(c, ',' | '[' | ']' | '(' | ')' | '{' | '}' | '"')
            })
            .unwrap_or(self.rest().len());
        let token = &self.rest()[..length];
        let (number, suffix) = number::read(token).ok_or_else(|| {
            let found = self.peek().map_or("the end".to_owned(), |c| {
                if token.is_empty() {
                    format!("{c:?}")
                } else {
                    format!("{token:?}")
                }
            });
            self.error(format!("expected a value, found {found}"))
        })?;
        self.at = start + length;
        Ok(TextValue {
            span: Span {
                start,
                end: self.at,
            },
            shape: Vec::new(),
            suffix,
            numbers: vec![number],
        })
    }

    fn array(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        self.at += 1;
        let mut rows = 0;
        let mut whole: Option<TextValue<'a>> = None;
        loop {
            self.skip_space();
            if self.eat(']') {
                break;
            }
            let row = self.value()?;
            rows += 1;
            match &mut whole {
                None => whole = Some(row),
                Some(whole) => self.append(whole, row)?,
            }
            self.skip_space();
            if !self.eat(',') && self.peek() != Some(']') {
                let found = self
                    .peek()
                    .map_or("the end".to_owned(), |c| format!("{c:?}"));
                return Err(self.error(format!("expected ',' or ']' in an array, found {found}")));
            }
        }
        let mut whole = whole.ok_or_else(|| TextError {
            at: start,
            message: "an array without elements has no type: write empty([0]i32)".to_owned(),
        })?;
        whole.shape.insert(0, rows);
        Ok(whole)
    }

    /// Adds a row to an array. The first element decides the type; a later one
    /// may repeat it, as a suffix is not asked for again.
    fn append(&self, whole: &mut TextValue<'a>, row: TextValue<'a>) -> Result<(), TextError> {
        let fail = |message: &str| TextError {
            at: row.span.start,
            message: message.to_owned(),
        };
        if whole.shape != row.shape {
            return Err(fail("the rows of an array must have the same shape"));
        }
        match (whole.suffix, row.suffix) {
            (Some(a), Some(b)) if a != b => {
                return Err(fail("the elements of an array must have the same type"));
            }
            (None, suffix) => whole.suffix = suffix,
            _ => {}
        }
        whole.numbers.extend(row.numbers);
        Ok(())
    }

    /// `empty([0][3]i32)`.
    fn empty(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        self.at += "empty(".len();
        let mut shape = Vec::new();
        self.skip_space();
        while self.eat('[') {
            let length = self
                .rest()
                .find(']')
                .ok_or_else(|| self.error("expected ']'".to_owned()))?;
            let dim = self.rest()[..length].trim();
            shape.push(
                dim.parse()
                    .map_err(|_| self.error(format!("{dim:?} is not the size of a dimension")))?,
            );
            self.at += length + 1;
        }
        let length = self
            .rest()
            .find(')')
            .ok_or_else(|| self.error("expected ')'".to_owned()))?;
        let name = self.rest()[..length].trim();
        let elem = ElemType::from_name(name)
            .ok_or_else(|| self.error(format!("{name:?} is not an element type")))?;
        if !shape.contains(&0) {
            return Err(self.error("an empty array needs a dimension of size 0".to_owned()));
        }
        self.at += length + 1;
        Ok(TextValue {
            span: Span {
                start,
                end: self.at,
            },
            shape,
            suffix: Some(elem),
            numbers: Vec::new(),
        })
    }

    /// `"text"` stands for the bytes of its UTF-8 form.
    fn string(&mut self) -> Result<TextValue<'a>, TextError> {
        let start = self.at;
        let mut bytes = Vec::new();
        let mut chars = self.rest()[1..].char_indices();
        loop {
            let (offset, c) = chars
                .next()
                .ok_or_else(|| self.error("a string is not closed".to_owned()))?;
            let c = match c {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    break;
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('0') => '\0',
                    Some(c @ ('\\' | '"' | '\'')) => c,
                    _ => return Err(self.error("an unknown escape in a string".to_owned())),
                },
                c => c,
            };
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        let numbers: Vec<_> = bytes.iter().map(|&byte| Number::Int(byte.into())).collect();
        let span = Span {
            start,
            end: self.at,
        };
        Ok(TextValue {
            span,
            shape: vec![numbers.len()],
            suffix: Some(ElemType::U8),
            numbers,
        })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn error(&self, message: String) -> TextError {
        TextError {
            at: self.at,
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let values = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        values
            .iter()
            .map(|v| v.by_itself().unwrap().to_string())
            .collect()
    }

    fn refused(text: &str) -> TextError {
        match parse(text) {
            Err(error) => error,
            Ok(values) => panic!("{text} was accepted as {values:?}"),
        }
    }

    #[test]
    fn several_values_in_a_row() {
        assert_eq!(shown("1 2.5 true"), ["1i32", "2.5f64", "true"]);
        assert_eq!(
            shown("  [1,2] -3i8 [[1.5f32],[2]]"),
            ["[1i32, 2]", "-3i8", "[[1.5f32], [2.0]]"]
        );
        assert_eq!(shown(""), Vec::<String>::new());
        assert_eq!(shown("[1,2,]"), ["[1i32, 2]"], "a trailing comma");
    }

    #[test]
    fn the_first_element_decides_the_type() {
        assert_eq!(shown("[1u8, 2, 255]"), ["[1u8, 2, 255]"]);
        assert_eq!(
            shown("[f32.nan, -f32.inf, 1]"),
            ["[f32.nan, -f32.inf, 1.0]"]
        );
        assert_eq!(refused("[1u8, 2i8]").at, 6);
    }

    #[test]
    fn a_number_takes_the_type_of_its_parameter() {
        let values = parse("[1,2]").unwrap();
        assert_eq!(values[0].elem(), None);
        assert_eq!(
            values[0].typed(ElemType::F16).unwrap().to_string(),
            "[1.0f16, 2.0]"
        );
        assert!(parse("1.5").unwrap()[0].typed(ElemType::I32).is_err());
        assert!(parse("1i8").unwrap()[0].typed(ElemType::I32).is_err());
        assert!(parse("1").unwrap()[0].typed(ElemType::Bool).is_err());
    }

    #[test]
    fn empty_arrays() {
        let values = parse("empty([0][3]i32)").unwrap();
        assert_eq!(values[0].shape(), [0, 3]);
        assert_eq!(values[0].elem(), Some(ElemType::I32));
        assert_eq!(shown("empty([3][0]bool)"), ["empty([3][0]bool)"]);
        for wrong in [
            "[]",
            "empty([1]i32)",
            "empty(i32)",
            "empty([0]i31)",
            "empty([0]i32",
            "empty([x]i32)",
        ] {
            refused(wrong);
        }
        assert!(
            parse("empty([0]i32)").unwrap()[0]
                .typed(ElemType::I64)
                .is_err()
        );
    }

    #[test]
    fn strings_are_arrays_of_bytes() {
        assert_eq!(shown(r#""aB\n""#), ["[97u8, 66, 10]"]);
        let values = parse("\"\"").unwrap();
        assert_eq!(values[0].shape(), [0]);
        refused("\"abc");
    }

    #[test]
    fn what_is_no_value_is_refused_where_it_stands() {
        assert_eq!(refused("1 foo").at, 2);
        assert_eq!(refused("[[1,2],[3]]").at, 7);
        assert_eq!(refused("[1 2]").at, 3);
        assert_eq!(refused("[1").at, 2);
        assert_eq!(refused("{").message, "expected a value, found '{'");
    }
}
