//! Integer expressions that compute sizes in the generated C.

use std::collections::BTreeSet;
use std::fmt;

use super::token::{group, is_name, span, tokens};

/// An expression. Everything except arithmetic on sizes is text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::compile) enum Expr<'a> {
    /// A variable.
    Name(&'a str),
    /// A constant or another expression without a checked counterpart.
    Text(&'a str),
    /// A function and its arguments, or one of the operators `*`, `+` and `-` and its operands.
    Call(&'a str, Vec<Expr<'a>>),
    /// `condition ? value : other`, such as a size that a tuning parameter can set.
    Choice(&'a str, Box<[Expr<'a>; 2]>),
}

impl<'a> Expr<'a> {
    /// Parses all `tokens` of `text`; `None` if they are not in the known form.
    pub(in crate::compile) fn parse(text: &'a str, tokens: &[&'a str]) -> Option<Expr<'a>> {
        let mut parser = Parser { text, rest: tokens };
        let expr = parser.sum()?;
        parser.rest.is_empty().then_some(expr)
    }

    /// Parses the right-hand side of an assignment, which can be a choice.
    pub(in crate::compile) fn parse_value(text: &'a str, tokens: &[&'a str]) -> Option<Expr<'a>> {
        let mut parser = Parser { text, rest: tokens };
        let expr = parser.choice()?;
        parser.rest.is_empty().then_some(expr)
    }

    /// Parses a condition: the operands of its comparisons; `None` if one is not in the known form.
    pub(in crate::compile) fn operands(condition: &'a str) -> Option<Vec<Expr<'a>>> {
        Self::operands_of(condition, &tokens(condition))
    }

    fn operands_of(text: &'a str, condition: &[&'a str]) -> Option<Vec<Expr<'a>>> {
        const OPERATORS: [&str; 8] = ["&&", "||", "==", "!=", "<=", ">=", "<", ">"];
        for operator in OPERATORS {
            let mut at = 0;
            while let Some(token) = condition.get(at) {
                if *token == operator {
                    let mut all = Self::operands_of(text, &condition[..at])?;
                    all.extend(Self::operands_of(text, &condition[at + 1..])?);
                    return Some(all);
                }
                at += group(&condition[at..])?;
            }
        }
        match (Expr::parse(text, condition), condition) {
            (Some(value), _) => Some(vec![value]),
            (None, ["!", inner @ ..] | ["(", inner @ .., ")"]) => Self::operands_of(text, inner),
            _ => None,
        }
    }

    /// Adds the variables that the value depends on. The arguments of the program's own arithmetic
    /// (`add64`) are not included: its result is a dimension, which is checked as a whole.
    pub(in crate::compile) fn names(&self, names: &mut Vec<&'a str>) {
        match self {
            Expr::Name(name) => names.push(name),
            Expr::Text(_) => {}
            Expr::Call(function, arguments) => {
                if checked_function(function).is_some() {
                    arguments.iter().for_each(|argument| argument.names(names));
                }
            }
            Expr::Choice(_, values) => values.iter().for_each(|value| value.names(names)),
        }
    }

    /// Whether the value is a constant that is not negative.
    pub(in crate::compile) fn is_natural(&self) -> bool {
        match self {
            Expr::Text(text) => {
                let digits = text.strip_prefix("(int64_t) ").unwrap_or(text);
                digits.parse::<i64>().is_ok_and(|number| number >= 0)
            }
            _ => false,
        }
    }

    /// Whether [`Expr::checked`] equals the expression.
    pub(in crate::compile) fn is_plain(&self, checked: &BTreeSet<&str>) -> bool {
        match self {
            Expr::Name(name) => !checked.contains(name),
            Expr::Text(_) => true,
            Expr::Call(function, arguments) => {
                checked_function(function).is_none()
                    || is_name(function) && arguments.iter().all(|a| a.is_plain(checked))
            }
            Expr::Choice(_, values) => values.iter().all(|value| value.is_plain(checked)),
        }
    }

    /// The expression in checked arithmetic. The variables in `checked` have a checked counterpart.
    pub(in crate::compile) fn checked(&self, checked: &BTreeSet<&str>) -> String {
        match self {
            Expr::Name(name) if checked.contains(name) => format!("fut_{name}"),
            Expr::Call(function, arguments) if !self.is_plain(checked) => {
                let arguments: Vec<_> = arguments.iter().map(|a| a.checked(checked)).collect();
                let function = checked_function(function).unwrap_or(function);
                format!("{function}({})", arguments.join(", "))
            }
            Expr::Choice(condition, values) => {
                let [value, other] = values.each_ref().map(|value| value.checked(checked));
                format!("({condition} ? {value} : {other})")
            }
            _ => self.to_string(),
        }
    }

    /// Like [`Expr::checked`], for the length of a concatenation, where each term is a length.
    pub(in crate::compile) fn concatenation(&self, checked: &BTreeSet<&str>) -> String {
        match self {
            Expr::Call("+", terms) => {
                let terms = terms.iter().map(|term| term.concatenation(checked));
                format!("fut_concat({})", terms.collect::<Vec<_>>().join(", "))
            }
            _ => self.checked(checked),
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

impl fmt::Display for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Name(text) | Expr::Text(text) => f.write_str(text),
            Expr::Call(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(Expr::to_string).collect();
                match is_name(function) {
                    true => write!(f, "{function}({})", arguments.join(", ")),
                    false => write!(f, "({})", arguments.join(&format!(" {function} "))),
                }
            }
            Expr::Choice(condition, values) => {
                write!(f, "({condition} ? {} : {})", values[0], values[1])
            }
        }
    }
}

struct Parser<'t, 'a> {
    text: &'a str,
    rest: &'t [&'a str],
}

impl<'a> Parser<'_, 'a> {
    fn take(&mut self, token: &str) -> bool {
        self.take_one(&[token]).is_some()
    }

    fn take_one(&mut self, tokens: &[&str]) -> Option<&'a str> {
        let (token, rest) = self.rest.split_first()?;
        let found = tokens.contains(token).then_some(*token)?;
        self.rest = rest;
        Some(found)
    }

    /// The text between the beginning of the tokens that remained at `start`, and now.
    fn text_since(&self, start: &[&'a str]) -> Expr<'a> {
        Expr::Text(span(self.text, &start[..start.len() - self.rest.len()]))
    }

    /// A sum, or a choice whose condition has operands in the known form.
    fn choice(&mut self) -> Option<Expr<'a>> {
        let mut at = 0;
        while let Some(token) = self.rest.get(at) {
            match *token {
                "?" => {
                    let (condition, rest) = self.rest.split_at(at);
                    Expr::operands_of(self.text, condition)?;
                    self.rest = &rest[1..];
                    let value = self.choice()?;
                    let other = self.take(":").then(|| self.choice())??;
                    let values = Box::new([value, other]);
                    return Some(Expr::Choice(span(self.text, condition), values));
                }
                "," | ":" | ")" | "]" | "}" => break,
                _ => at += group(&self.rest[at..])?,
            }
        }
        self.sum()
    }

    fn sum(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        let mut left = self.product()?;
        loop {
            if let Some(operator) = self.take_one(&["+", "-"]) {
                left = Expr::Call(operator, vec![left, self.product()?]);
            } else if self.take_one(&["&", "|", "^"]).is_some() {
                // Arithmetic of the program, like `mul64`.
                self.sum()?;
                left = self.text_since(start);
            } else {
                return Some(left);
            }
        }
    }

    fn product(&mut self) -> Option<Expr<'a>> {
        let mut left = self.atom()?;
        while let Some(operator) = self.take_one(&["*"]) {
            left = Expr::Call(operator, vec![left, self.atom()?]);
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        match *start {
            ["(", "int64_t", ")", "-", number, ..] if is_number(number) => self.rest = &start[5..],
            ["(", "int64_t", ")", number, ..] if is_number(number) => self.rest = &start[4..],
            // Another cast.
            ["(", name, ")", ..] if is_name(name) => return None,
            ["-" | "~", ..] => {
                self.rest = &start[1..];
                self.atom()?;
            }
            // ((int64_t *) mem_1.mem)[i_2 + 1]: an element, whose value the program computed
            ["(", "(", ..] if self.skip("(") && self.skip("[") => {}
            ["(", ..] => {
                self.rest = &start[1..];
                let inner = self.choice()?;
                return self.take(")").then_some(inner);
            }
            [name, "(", ..] if is_name(name) => return self.call(name),
            [word, ref rest @ ..] if word != "*" && !matches!(rest, ["->" | ".", ..]) => {
                self.rest = rest;
                return match is_name(word) {
                    true => Some(Expr::Name(word)),
                    false => word
                        .starts_with(|c: char| c.is_ascii_digit())
                        .then_some(Expr::Text(word)),
                };
            }
            _ => {
                // ctx->max_thread_block_size, *ctx->tuning_params.f_1, in0->v1->shape[0]
                self.take("*");
                self.name()?;
                while self.take("->") || self.take(".") {
                    self.name()?;
                    self.skip("[");
                }
            }
        }
        Some(self.text_since(start))
    }

    fn name(&mut self) -> Option<()> {
        let (name, rest) = self.rest.split_first()?;
        self.rest = rest;
        is_name(name).then_some(())
    }

    fn call(&mut self, function: &'a str) -> Option<Expr<'a>> {
        let start = self.rest;
        self.rest = &start[2..];
        if let Some(arguments) = self.arguments() {
            return Some(Expr::Call(function, arguments));
        }
        // Arguments of other types, such as floats.
        self.rest = &start[1..];
        let is_text = self.skip("(") && checked_function(function).is_none();
        is_text.then(|| self.text_since(start))
    }

    fn arguments(&mut self) -> Option<Vec<Expr<'a>>> {
        let mut arguments = vec![self.choice()?];
        while self.take(",") {
            arguments.push(self.choice()?);
        }
        self.take(")").then_some(arguments)
    }

    /// Skips a group that begins with this bracket.
    fn skip(&mut self, open: &str) -> bool {
        let end = match self.rest.first() == Some(&open) {
            true => group(self.rest),
            false => None,
        };
        self.rest = &self.rest[end.unwrap_or(0)..];
        end.is_some()
    }
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit())
}
