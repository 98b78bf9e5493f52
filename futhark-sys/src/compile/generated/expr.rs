//! The expressions of the functions of a program.

use std::collections::BTreeSet;
use std::{fmt, slice};

use super::token::{is_name, span};

/// An expression. Its text is a slice of the file, which gives its place.
#[derive(Debug)]
pub(in crate::compile) struct Expr<'a> {
    pub text: &'a str,
    pub kind: Kind<'a>,
}

#[derive(Debug)]
pub(in crate::compile) enum Kind<'a> {
    Name,
    /// A number, strings, or a type in `sizeof`.
    Literal,
    /// `(int64_t) x`, with the words of the type.
    Cast(Vec<&'a str>, Box<Expr<'a>>),
    /// A function and its arguments.
    Call(&'a str, Vec<Expr<'a>>),
    /// An operator and its operands; `?` has three.
    Operation(&'a str, Vec<Expr<'a>>),
    /// `value.field` or `value->field`.
    Member(Box<Expr<'a>>, &'a str, &'a str),
    /// `array[index]`
    Index(Vec<Expr<'a>>),
    /// `{a, b}`
    List(Vec<Expr<'a>>),
}

/// The operators between operands, weakest first.
const LEVELS: [&[&str]; 11] = [
    &["?"],
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'a> Expr<'a> {
    /// The operands of one level.
    pub(in crate::compile) fn parts(&self) -> &[Expr<'a>] {
        match &self.kind {
            Kind::Name | Kind::Literal => &[],
            Kind::Cast(_, value) | Kind::Member(value, ..) => slice::from_ref(value),
            Kind::Call(_, parts)
            | Kind::Operation(_, parts)
            | Kind::List(parts)
            | Kind::Index(parts) => parts,
        }
    }

    /// The first part in the order of the text for which `found` returns something, the expression itself included.
    pub(in crate::compile) fn find<'s, T>(
        &'s self,
        found: &mut impl FnMut(&'s Expr<'a>) -> Option<T>,
    ) -> Option<T> {
        found(self).or_else(|| self.parts().iter().find_map(|part| part.find(found)))
    }

    pub(in crate::compile) fn name(&self) -> Option<&'a str> {
        matches!(self.kind, Kind::Name).then_some(self.text)
    }

    /// The operands of an operator.
    pub(in crate::compile) fn operands(&self, operator: &str) -> Option<&[Expr<'a>]> {
        match &self.kind {
            Kind::Operation(own, operands) if *own == operator => Some(operands),
            _ => None,
        }
    }

    /// The arguments of a function.
    pub(in crate::compile) fn arguments(&self, function: &str) -> Option<&[Expr<'a>]> {
        match &self.kind {
            Kind::Call(own, arguments) if *own == function => Some(arguments),
            _ => None,
        }
    }

    /// Whether the name occurs.
    pub(in crate::compile) fn mentions(&self, name: &str) -> bool {
        let mut is_it = |part: &Expr<'a>| (part.name() == Some(name)).then_some(());
        self.find(&mut is_it).is_some()
    }

    /// Whether a field of this name is read.
    pub(in crate::compile) fn mentions_field(&self, name: &str) -> bool {
        let is_it =
            |part: &Expr<'a>| matches!(part.kind, Kind::Member(_, _, field) if field == name);
        self.find(&mut |part| is_it(part).then_some(())).is_some()
    }

    /// The value of a constant.
    pub(in crate::compile) fn constant(&self) -> Option<i128> {
        match &self.kind {
            Kind::Literal => self.text.parse().ok(),
            Kind::Cast(ty, value) if ty[..] == ["int64_t"] => value.constant(),
            Kind::Operation(operator, parts) => {
                let parts: Option<Vec<i128>> = parts.iter().map(Expr::constant).collect();
                match (*operator, &parts?[..]) {
                    ("-", [a]) => Some(-a),
                    ("*", [a, b]) => a.checked_mul(*b),
                    ("+", [a, b]) => a.checked_add(*b),
                    ("-", [a, b]) => a.checked_sub(*b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether the value is a constant that is not negative.
    pub(in crate::compile) fn is_natural(&self) -> bool {
        let number = self.constant();
        number.is_some_and(|number| (0..=i128::from(i64::MAX)).contains(&number))
    }

    /// Whether the expression computes a number in a known way.
    pub(in crate::compile) fn is_number(&self) -> bool {
        let all = |parts: &[Expr<'_>]| parts.iter().all(Expr::is_number);
        match &self.kind {
            Kind::Name | Kind::Member(..) | Kind::Index(_) => true,
            Kind::Literal => self.text.starts_with(|c: char| c.is_ascii_digit()),
            Kind::Cast(ty, value) => ty[..] == ["int64_t"] && value.is_number(),
            Kind::Call(..) => all(self.terms()),
            Kind::Operation("?", parts) => parts[0].is_condition() && all(&parts[1..]),
            // Bits and comparisons are arithmetic of the program, like `mul64`.
            Kind::Operation("/" | "%" | "<<" | ">>" | "!", _) | Kind::List(_) => false,
            Kind::Operation(_, parts) => all(parts),
        }
    }

    /// Whether the operands of all comparisons are numbers.
    pub(in crate::compile) fn is_condition(&self) -> bool {
        match &self.kind {
            Kind::Operation("&&" | "||" | "==" | "!=" | "<=" | ">=" | "<" | ">" | "!", parts) => {
                parts.iter().all(Expr::is_condition)
            }
            _ => self.is_number(),
        }
    }

    /// The operands that the value depends on if it is a size. The arguments of the program's own arithmetic (`add64`) are
    /// not included: its result is a dimension, which is checked as a whole.
    fn terms(&self) -> &[Expr<'a>] {
        match &self.kind {
            Kind::Cast(_, value) => slice::from_ref(value),
            Kind::Operation("?", parts) => &parts[1..],
            // A sign is not a difference.
            Kind::Operation(_, parts) if parts.len() == 1 => &[],
            Kind::Call(function, parts) | Kind::Operation(function, parts)
                if checked_function(function).is_some() =>
            {
                parts
            }
            _ => &[],
        }
    }

    /// A variable, or the field of a task.
    fn variable(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Member(_, "->", field) => Some(field),
            _ => self.name(),
        }
    }

    /// Adds the variables and the fields of tasks that the value depends on.
    pub(in crate::compile) fn names(&self, names: &mut Vec<&'a str>) {
        names.extend(self.variable());
        self.terms().iter().for_each(|term| term.names(names));
    }

    /// Whether the compiler computes a size here: the program's own arithmetic has other functions.
    pub(in crate::compile) fn is_of_sizes(&self) -> bool {
        match &self.kind {
            Kind::Operation(..) => true,
            Kind::Call(function, _) => checked_function(function).is_some(),
            _ => false,
        }
    }

    /// Whether [`Expr::checked`] equals the expression.
    pub(in crate::compile) fn is_plain(&self, checked: &BTreeSet<&str>) -> bool {
        match &self.kind {
            Kind::Name | Kind::Member(_, "->", _) => {
                !self.variable().is_some_and(|name| checked.contains(name))
            }
            Kind::Operation(operator, _) if *operator != "?" => self.terms().is_empty(),
            _ => self.terms().iter().all(|term| term.is_plain(checked)),
        }
    }

    /// The expression in checked arithmetic. The variables and fields in `checked` have a checked counterpart.
    pub(in crate::compile) fn checked(&self, checked: &BTreeSet<&str>) -> String {
        self.checked_with(checked, false)
    }

    /// Like [`Expr::checked`], for the length of a concatenation, where each term is a length.
    pub(in crate::compile) fn concatenation(&self, checked: &BTreeSet<&str>) -> String {
        self.checked_with(checked, true)
    }

    fn checked_with(&self, checked: &BTreeSet<&str>, of_lengths: bool) -> String {
        match &self.kind {
            _ if self.is_plain(checked) => self.to_string(),
            Kind::Member(task, operator, field) => format!("{task}{operator}fut_{field}"),
            Kind::Cast(_, value) => value.checked_with(checked, of_lengths),
            Kind::Operation("?", parts) => {
                let [value, other] = [&parts[1], &parts[2]].map(|part| part.checked(checked));
                format!("({} ? {value} : {other})", parts[0].text)
            }
            Kind::Call(function, parts) | Kind::Operation(function, parts) => {
                let is_sum = of_lengths && *function == "+";
                let parts = parts.iter();
                let parts = parts.map(|part| part.checked_with(checked, is_sum));
                let function = match is_sum {
                    true => "fut_concat",
                    false => checked_function(function).unwrap_or(function),
                };
                format!("{function}({})", parts.collect::<Vec<_>>().join(", "))
            }
            _ => format!("fut_{}", self.text),
        }
    }
}

/// The function of `fut_sizes.h` in place of an operator or a function that computes a size from sizes.
fn checked_function(function: &str) -> Option<&'static str> {
    match function {
        "*" => Some("fut_times"),
        "+" => Some("fut_plus"),
        "-" => Some("fut_minus"),
        "smax64" => Some("fut_size_max"),
        "smin64" => Some("fut_size_min"),
        "sdiv_up64" => Some("fut_size_div_up"),
        "sdiv_up_safe64" => Some("fut_size_div_up_safe"),
        "sext_i64_i32" => Some("fut_size_cut"),
        "sext_i32_i64" => Some("fut_size_uncut"),
        _ => None,
    }
}

/// The same for all spellings of an expression.
impl fmt::Display for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |parts: &[Expr<'_>]| {
            let parts: Vec<_> = parts.iter().map(Expr::to_string).collect();
            parts.join(", ")
        };
        match &self.kind {
            Kind::Name | Kind::Literal => f.write_str(self.text),
            Kind::Cast(ty, value) => write!(f, "({}) {value}", ty.join(" ")),
            Kind::Call(function, parts) => write!(f, "{function}({})", list(parts)),
            Kind::Operation(operator, parts) => match &parts[..] {
                [a] => write!(f, "{operator}{a}"),
                [a, b] => write!(f, "({a} {operator} {b})"),
                _ => write!(f, "({} ? {} : {})", parts[0].text, parts[1], parts[2]),
            },
            Kind::Member(value, operator, field) => write!(f, "{value}{operator}{field}"),
            Kind::Index(parts) => write!(f, "{}[{}]", parts[0], parts[1]),
            Kind::List(parts) => write!(f, "{{{}}}", list(parts)),
        }
    }
}

impl PartialEq for Expr<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

/// Whether a type begins with this token.
pub(super) fn begins_type(token: &str) -> bool {
    const WORDS: [&str; 21] = [
        "struct", "const", "volatile", "unsigned", "int", "long", "char", "void", "bool", "float",
        "double", "f16", "size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
        "uint16_t", "uint32_t", "uint64_t",
    ];
    WORDS.contains(&token) || token == "event_report_fn"
}

/// Parses the tokens of a function. `None` is a form that is not known, whose end is in front of the rest.
pub(super) struct Parser<'t, 'a> {
    pub text: &'a str,
    pub rest: &'t [&'a str],
}

impl<'a> Parser<'_, 'a> {
    /// Skips these tokens, if the rest begins with them.
    pub(super) fn skip(&mut self, tokens: &[&str]) -> Option<()> {
        let is_next = self.rest.starts_with(tokens);
        is_next.then(|| self.rest = &self.rest[tokens.len()..])
    }

    pub(super) fn take(&mut self, token: &str) -> bool {
        self.skip(&[token]).is_some()
    }

    pub(super) fn take_one(&mut self, tokens: &[&str]) -> Option<&'a str> {
        let token = *self.rest.first().filter(|token| tokens.contains(token))?;
        self.rest = &self.rest[1..];
        Some(token)
    }

    /// The text of the tokens that remained at `start` and do not remain now.
    pub(super) fn since(&self, start: &[&'a str]) -> &'a str {
        span(self.text, &start[..start.len() - self.rest.len()])
    }

    fn made(&self, start: &[&'a str], kind: Kind<'a>) -> Option<Expr<'a>> {
        let text = self.since(start);
        Some(Expr { text, kind })
    }

    pub(super) fn expr(&mut self) -> Option<Expr<'a>> {
        self.binary(0)
    }

    /// An expression whose operators outside of parentheses are of this level or bind more tightly.
    fn binary(&mut self, weakest: usize) -> Option<Expr<'a>> {
        let start = self.rest;
        let mut left = self.unary()?;
        while let Some(operator) = self.rest.first()
            && let Some(level) = LEVELS.iter().position(|level| level.contains(operator))
            && level >= weakest
        {
            self.rest = &self.rest[1..];
            let mut parts = vec![left];
            if *operator == "?" {
                parts.push(self.expr()?);
                self.skip(&[":"])?;
                parts.push(self.expr()?);
            } else {
                parts.push(self.binary(level + 1)?);
            }
            left = self.made(start, Kind::Operation(operator, parts))?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        if let Some(operator) = self.take_one(&["!", "~", "-", "&", "*"]) {
            let parts = vec![self.unary()?];
            return self.made(start, Kind::Operation(operator, parts));
        }
        if let ["(", ty, ..] = start
            && begins_type(ty)
        {
            let end = start.iter().position(|token| *token == ")")?;
            self.rest = &start[end + 1..];
            let value = Box::new(self.unary()?);
            return self.made(start, Kind::Cast(start[1..end].to_vec(), value));
        }
        self.postfix()
    }

    pub(super) fn postfix(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        let mut value = self.atom()?;
        loop {
            let kind = if let Some(operator) = self.take_one(&["->", "."]) {
                let (field, rest) = self.rest.split_first()?;
                self.rest = rest;
                Kind::Member(Box::new(value), operator, field)
            } else if self.take("[") {
                let index = self.expr()?;
                self.skip(&["]"])?;
                Kind::Index(vec![value, index])
            } else if value.name().is_none() && self.take("++") {
                // The compiler counts references: `(*mem.references)++`.
                Kind::Operation("++", vec![value])
            } else {
                return Some(value);
            };
            value = self.made(start, kind)?;
        }
    }

    fn atom(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        let (&first, rest) = start.split_first()?;
        if first == "(" {
            return self.parenthesized();
        }
        self.rest = rest;
        let kind = if first == "{" {
            Kind::List(self.elements("}")?)
        } else if first == "sizeof" {
            let end = rest.iter().position(|token| *token == ")")?;
            self.rest = &rest[end + 1..];
            Kind::Literal
        } else if first.starts_with(|c: char| c.is_ascii_digit() || c == '\'') {
            Kind::Literal
        } else if first.starts_with('"') {
            let strings = rest.iter().take_while(|next| next.starts_with('"'));
            self.rest = &rest[strings.count()..];
            Kind::Literal
        } else if !is_name(first) {
            return None;
        } else if self.take("(") {
            Kind::Call(first, self.elements(")")?)
        } else {
            Kind::Name
        };
        self.made(start, kind)
    }

    /// The expression in parentheses, without them, so that the text of a name is the name. It can be `(err = f(…))`.
    pub(super) fn parenthesized(&mut self) -> Option<Expr<'a>> {
        self.skip(&["("])?;
        let start = self.rest;
        let mut inner = self.expr()?;
        if inner.name() == Some("err") && self.take("=") {
            let call = self
                .expr()
                .filter(|call| matches!(call.kind, Kind::Call(..)))?;
            inner = self.made(start, Kind::Operation("=", vec![inner, call]))?;
        }
        self.skip(&[")"])?;
        Some(inner)
    }

    /// Elements, which can be `.field = value`, up to `end`, which is skipped.
    fn elements(&mut self, end: &str) -> Option<Vec<Expr<'a>>> {
        let mut elements = Vec::new();
        while !self.take(end) {
            if !elements.is_empty() {
                self.skip(&[","])?;
            }
            if let [".", _, "=", rest @ ..] = self.rest {
                self.rest = rest;
            }
            elements.push(self.expr()?);
        }
        Some(elements)
    }
}
