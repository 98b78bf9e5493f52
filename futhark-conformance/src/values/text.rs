//! The notation of values between the braces of a test block: `1 2.5f32 [[true], [false]]
//! empty([0][3]i32) "text"`.

use super::HostValue;
use futhark_manifest::ElemType;
use half::f16;
use regex::Regex;
use std::fmt;
use std::sync::LazyLock;

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

/// Parses a sequence of values, separated by white space. The first element of an array determines its type, by its
/// suffix or its notation: `i32` for an integer and `f64` for a decimal without a suffix.
pub fn parse(text: &str) -> Result<Vec<HostValue>, TextError> {
    whole(text, Cursor::value)
}

/// An argument of `random input`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator {
    /// A generated value of this type with sizes, such as `[10][2]f32`.
    Type(String),
    /// This value.
    Value(HostValue),
}

/// Parses a sequence of types and scalars, separated by white space.
pub fn parse_generators(text: &str) -> Result<Vec<Generator>, TextError> {
    whole(text, Cursor::generator)
}

fn whole<'a, T>(
    text: &'a str,
    item: impl Fn(&mut Cursor<'a>) -> Result<T, TextError>,
) -> Result<Vec<T>, TextError> {
    let mut cursor = Cursor::new(text);
    let items = cursor.sequence(item)?;
    match cursor.peek() {
        None => Ok(items),
        Some(_) => Err(cursor.expected("a value")),
    }
}

/// Parses the value at the start of a text as a program parses its input, and returns its end:
/// comments are skipped, and any element may have the suffix. Without a suffix, numbers have the
/// type `elem` of the parameter, if it is known.
pub fn parse_input(text: &str, elem: Option<ElemType>) -> Result<(HostValue, usize), TextError> {
    let mut cursor = Cursor {
        is_input: true,
        ..Cursor::new(text)
    };
    cursor.skip_space();
    let written = cursor.written(false)?;
    let elem = written.suffix.or(elem).unwrap_or(written.elem());
    Ok((cursor.typed(&written, elem)?, cursor.at))
}

/// A value as it is written.
struct Written<'a> {
    /// The position of the value in the text.
    at: usize,
    shape: Vec<usize>,
    /// The explicit type; a value without elements has one.
    suffix: Option<ElemType>,
    numbers: Vec<Number<'a>>,
}

impl Written<'_> {
    /// The type that the notation has by itself.
    fn elem(&self) -> ElemType {
        self.suffix.unwrap_or(match self.numbers.first() {
            Some(Number::Float(_)) => ElemType::F64,
            _ => ElemType::I32,
        })
    }
}

/// A position in a text. Test blocks and scripts, which contain values, are parsed with it, too.
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    /// The current depth of brackets and expressions.
    depth: usize,
    /// Whether it parses the input of a program, not a test block.
    is_input: bool,
}

/// More than arrays have dimensions, or scripts nested expressions. Limits the recursion, so that a long
/// text cannot overflow the stack.
const DEEPEST: usize = 100;

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor {
            text,
            at: 0,
            depth: 0,
            is_input: false,
        }
    }

    /// What `parse` returns, unless too many such calls are open.
    pub(crate) fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, TextError>,
    ) -> Result<T, TextError> {
        if self.depth == DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} brackets are open")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// What `item` parses, separated by white space, up to a closing brace or the end.
    pub(crate) fn sequence<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, TextError>,
    ) -> Result<Vec<T>, TextError> {
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if matches!(self.peek(), None | Some('}')) {
                return Ok(items);
            }
            items.push(item(self)?);
        }
    }

    pub(crate) fn generator(&mut self) -> Result<Generator, TextError> {
        let start = self.at;
        let word = self.until(|c| c.is_whitespace() || c == '}');
        if sized_type(word).is_some() {
            return Ok(Generator::Type(word.to_owned()));
        }
        self.at = start;
        let scalar = self
            .scalar(false)
            .and_then(|one| self.typed(&one, one.elem()));
        scalar.map(Generator::Value).map_err(|_| {
            self.at = start;
            self.expected("a type with sizes, such as [10]i32, or a number")
        })
    }

    pub(crate) fn value(&mut self) -> Result<HostValue, TextError> {
        let written = self.written(false)?;
        self.typed(&written, written.elem())
    }

    /// The value that ends here, with elements of this type.
    fn typed(&self, written: &Written<'_>, elem: ElemType) -> Result<HostValue, TextError> {
        let bits = written.numbers.iter().map(|number| bits_of(*number, elem));
        let bits = bits
            .collect::<Option<Vec<u64>>>()
            .ok_or_else(|| TextError {
                at: written.at,
                message: format!(
                    "expected a value of type {elem}, found {}",
                    found(&self.text[written.at..self.at])
                ),
            })?;
        Ok(HostValue::of_bits(elem, &written.shape, bits))
    }

    fn written(&mut self, is_float: bool) -> Result<Written<'a>, TextError> {
        match self.peek() {
            Some('[') => self.nested(Cursor::array),
            Some('"') => self.string(),
            _ if self.rest().starts_with("empty(") => self.empty(),
            _ => self.scalar(is_float),
        }
    }

    fn scalar(&mut self, is_float: bool) -> Result<Written<'a>, TextError> {
        let start = self.at;
        let token = self.until(|c| c.is_whitespace() || ",[](){}\"".contains(c));
        let Some((number, suffix)) = read_number(token, is_float) else {
            self.at = start;
            return Err(self.expected("a value"));
        };
        Ok(Written {
            at: start,
            shape: Vec::new(),
            suffix,
            numbers: vec![number],
        })
    }

    fn array(&mut self) -> Result<Written<'a>, TextError> {
        let start = self.at;
        self.at += 1;
        let mut rows = 0;
        let mut whole: Option<Written<'a>> = None;
        loop {
            self.skip_space();
            if self.eat("]") {
                break;
            }
            let floats = |whole: &Written<'_>| whole.shape.is_empty() && is_float(whole.elem());
            let row = self.written(whole.as_ref().is_some_and(floats))?;
            rows += 1;
            match &mut whole {
                None => whole = Some(row),
                Some(whole) => self.append(whole, row)?,
            }
            self.skip_space();
            if !self.eat(",") && self.peek() != Some(']') {
                return Err(self.expected("',' or ']' in an array"));
            }
        }
        let mut whole = whole.ok_or_else(|| TextError {
            at: start,
            message: "an array without elements has no type: write empty([0]i32)".to_owned(),
        })?;
        whole.shape.insert(0, rows);
        whole.at = start;
        Ok(whole)
    }

    /// Adds a row to an array. The first element determines the type; later ones may omit the
    /// suffix, and a float may then be written as an integer.
    fn append(&self, whole: &mut Written<'a>, row: Written<'a>) -> Result<(), TextError> {
        let fail = |message: &str| TextError {
            at: row.at,
            message: message.to_owned(),
        };
        if whole.shape != row.shape {
            return Err(fail("the rows of an array must have the same shape"));
        }
        if self.is_input {
            whole.suffix = whole.suffix.or(row.suffix);
        }
        let elem = whole.elem();
        let fits = match row.suffix {
            Some(suffix) => suffix == elem,
            None if self.is_input => true,
            None if elem == ElemType::Bool => false,
            None => is_float(elem) || !is_float(row.elem()),
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
    fn empty(&mut self) -> Result<Written<'a>, TextError> {
        let start = self.at;
        self.at += "empty(".len();
        let text = self.until(|c| c == ')');
        let ty = sized_type(text).filter(|(shape, _)| shape.contains(&0));
        let (Some((shape, elem)), true) = (ty, self.eat(")")) else {
            return Err(TextError {
                at: start,
                message: format!(
                    "expected a type with a dimension of size 0, as in empty([0]i32), found {}",
                    found(text)
                ),
            });
        };
        Ok(Written {
            at: start,
            shape,
            suffix: Some(elem),
            numbers: Vec::new(),
        })
    }

    /// `"text"` is an array of its UTF-8 bytes.
    fn string(&mut self) -> Result<Written<'a>, TextError> {
        let mut rest = &self.rest()[1..];
        let mut text = String::new();
        loop {
            let c = rest.chars().next();
            let c = c.ok_or_else(|| self.error("a string is not closed"))?;
            rest = &rest[c.len_utf8()..];
            match c {
                '"' => break,
                '\\' => {
                    let (c, length) =
                        escape(rest).ok_or_else(|| self.error("an unknown escape in a string"))?;
                    text.push(c);
                    rest = &rest[length..];
                }
                c => text.push(c),
            }
        }
        let at = self.at;
        self.at = self.text.len() - rest.len();
        Ok(Written {
            at,
            shape: vec![text.len()],
            suffix: Some(ElemType::U8),
            numbers: text.bytes().map(|byte| Number::Int(byte.into())).collect(),
        })
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
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
        while self.is_input && self.rest().starts_with("--") {
            self.until(|c| c == '\n');
            self.until(|c| !c.is_whitespace());
        }
    }

    /// An error at the next word, in place of which something else was expected.
    pub(crate) fn expected(&mut self, what: &str) -> TextError {
        self.skip_space();
        let next = self.rest().split_whitespace().next();
        let next = next.map_or("the end".to_owned(), found);
        self.error(format!("expected {what}, found {next}"))
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> TextError {
        TextError {
            at: self.at,
            message: message.into(),
        }
    }
}

/// The shape and element type of a type such as `[10][2]f32`. `None` for other text, and if a size is missing.
fn sized_type(text: &str) -> Option<(Vec<usize>, ElemType)> {
    let mut shape = Vec::new();
    let mut rest = text;
    while let Some(behind) = rest.strip_prefix('[') {
        let (extent, behind) = behind.split_once(']')?;
        // Sizes are signed in programs and in the binary format.
        shape.push(extent.parse::<i64>().ok()?.try_into().ok()?);
        rest = behind;
    }
    (shape.len() <= DEEPEST).then_some((shape, ElemType::from_name(rest)?))
}

/// A parsed token without a type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number<'a> {
    /// An integer with its sign. Futhark's own parser wraps numbers that are too wide, so 128 bits
    /// are kept.
    Int(i128),
    /// A float: digits, point and exponent, underscores included; or `nan`, `inf` or `-inf`.
    Float(&'a str),
    /// A truth value.
    Bool(bool),
}

/// The notation of numbers. Letters at the end of a hexadecimal number that may be digits are digits.
static NOTATION: LazyLock<Regex> = LazyLock::new(|| {
    let notation = r"(?x)^
        (?<number> (?<sign> [+-]?) (?:
            0x (?<hexadecimal> [0-9a-fA-F][0-9a-fA-F_]*)
          | 0b (?<binary> [01][01_]*)
          | (?<float> [0-9][0-9_]* (?: \.[0-9][0-9_]* ([eE][+-]?[0-9][0-9_]*)? | (?<exponent> [eE]) [+-]?[0-9][0-9_]* ))
          | (?<decimal> [0-9][0-9_]*)
        ))
        (?<suffix> [iu](?:8|16|32|64) | f(?:16|32|64) )?
        $";
    Regex::new(notation).expect("a valid expression")
});

/// Splits a token into its number and the type from its suffix, or from its name as in `f32.nan`.
/// `None` if the token is not a number. `1E5` is one only where a float is expected.
fn read_number(token: &str, is_float: bool) -> Option<(Number<'_>, Option<ElemType>)> {
    if let Some((number, elem)) = named(token) {
        return Some((number, Some(elem)));
    }
    let parts = NOTATION.captures(token)?;
    let part = |name| parts.name(name).map(|part| part.as_str());
    if part("exponent") == Some("E") && !is_float {
        return None;
    }
    let digits = [("hexadecimal", 16), ("binary", 2), ("decimal", 10)];
    let mut digits = digits.into_iter();
    let number = match digits.find_map(|(name, radix)| Some((part(name)?, radix))) {
        Some((digits, radix)) => Number::Int(integer(digits, radix, part("sign") == Some("-"))),
        None => Number::Float(part("number")?),
    };
    Some((number, part("suffix").and_then(ElemType::from_name)))
}

/// `true`, `f32.nan`, `-f64.inf` and so on.
fn named(token: &str) -> Option<(Number<'static>, ElemType)> {
    match token {
        "true" => return Some((Number::Bool(true), ElemType::Bool)),
        "false" => return Some((Number::Bool(false), ElemType::Bool)),
        _ => {}
    }
    let (ty, name) = token.split_once('.')?;
    let number = match (ty.starts_with('-'), name) {
        (false, "nan") => "nan",
        (false, "inf") => "inf",
        (true, "inf") => "-inf",
        _ => return None,
    };
    let elem = ElemType::from_name(ty.strip_prefix('-').unwrap_or(ty));
    Some((Number::Float(number), elem.filter(|elem| is_float(*elem))?))
}

fn integer(digits: &str, radix: u32, is_negative: bool) -> i128 {
    let digits = digits.chars().filter_map(|c| c.to_digit(radix));
    let value = digits.fold(0i128, |value, digit| {
        value.wrapping_mul(radix.into()).wrapping_add(digit.into())
    });
    match is_negative {
        true => value.wrapping_neg(),
        false => value,
    }
}

/// The bits of a number as an element of type `elem`, and any above its width; `None` for a float as an
/// integer, or a boolean as a number.
fn bits_of(number: Number<'_>, elem: ElemType) -> Option<u64> {
    use ElemType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    Some(match (elem, number) {
        (Bool, Number::Bool(value)) => value.into(),
        // The low bits of a two's complement number are the number wrapped to that width, signed or not.
        (I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64, Number::Int(value)) => value as u64,
        (F16, _) => f16::from_f64(double(number)?).to_bits().into(),
        // Parsed at its own width: by way of f64 it would be rounded twice.
        (F32, Number::Float(text)) => without_underscores(text)
            .parse::<f32>()
            .ok()?
            .to_bits()
            .into(),
        (F32, _) => (double(number)? as f32).to_bits().into(),
        (F64, _) => double(number)?.to_bits(),
        _ => return None,
    })
}

fn double(number: Number<'_>) -> Option<f64> {
    match number {
        Number::Int(value) => Some(value as f64),
        Number::Float(text) => without_underscores(text).parse().ok(),
        Number::Bool(_) => None,
    }
}

fn without_underscores(text: &str) -> String {
    text.replace('_', "")
}

fn is_float(elem: ElemType) -> bool {
    matches!(elem, ElemType::F16 | ElemType::F32 | ElemType::F64)
}

/// Names of the control characters, in the order of their codes.
const CONTROL: [&str; 33] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR",
    "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC",
    "FS", "GS", "RS", "US", "SP",
];

/// Other names of characters.
const NAMED: [(u8, &str); 11] = [
    (0x7f, "DEL"),
    (b'\n', "n"),
    (b'\t', "t"),
    (b'\r', "r"),
    (0x07, "a"),
    (0x08, "b"),
    (0x0c, "f"),
    (0x0b, "v"),
    (b'\\', "\\"),
    (b'"', "\""),
    (b'\'', "'"),
];

/// The character of an escape, as in Haskell, given the text after the backslash, and the length of the
/// escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let (prefix, radix) = match text.chars().next()? {
        'x' | 'X' => (1, 16),
        'o' | 'O' => (1, 8),
        '0'..='9' => (0, 10),
        // `\^A` is the character of code 1.
        '^' => {
            let letter = text
                .as_bytes()
                .get(1)
                .filter(|c| (b'@'..=b'_').contains(c))?;
            return Some((char::from(letter - b'@'), 2));
        }
        _ => {
            let names = (0u8..).zip(CONTROL).chain(NAMED);
            let names = names.filter(|(_, name)| text.starts_with(name));
            // The longest name matches: `SOH` is not `SO` and an `H`.
            let (code, name) = names.max_by_key(|(_, name)| name.len())?;
            return Some((char::from(code), name.len()));
        }
    };
    let digits = &text[prefix..];
    let length = digits.find(|c: char| !c.is_digit(radix));
    let length = length.unwrap_or(digits.len());
    let code = u32::from_str_radix(&digits[..length], radix).ok()?;
    Some((char::from_u32(code)?, prefix + length))
}

#[cfg(test)]
mod tests;
