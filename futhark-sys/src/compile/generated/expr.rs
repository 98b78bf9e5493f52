//! Integer expressions that compute sizes in the generated C.

use std::collections::BTreeSet;
use std::fmt;

/// An expression. Everything except arithmetic on sizes is text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::compile) enum Expr<'a> {
    /// A variable.
    Name(&'a str),
    /// A constant or another expression without a checked counterpart.
    Text(&'a str),
    Times(Box<Expr<'a>>, Box<Expr<'a>>),
    Plus(Box<Expr<'a>>, Box<Expr<'a>>),
    Minus(Box<Expr<'a>>, Box<Expr<'a>>),
    Call(&'a str, Vec<Expr<'a>>),
}

impl<'a> Expr<'a> {
    /// Parses all of `text`; `None` if it is not in the known form.
    pub(in crate::compile) fn parse(text: &'a str) -> Option<Expr<'a>> {
        let mut parser = Parser { text, at: 0 };
        let expr = parser.sum()?;
        (parser.at == text.len()).then_some(expr)
    }

    /// Parses a condition: the operands of its comparisons; `None` if one is not in the known form.
    pub(in crate::compile) fn operands(condition: &'a str) -> Option<Vec<Expr<'a>>> {
        const OPERATORS: [&str; 8] = [" && ", " || ", " == ", " != ", " <= ", " >= ", " < ", " > "];
        let outside = |at: usize| {
            let before = condition[..at].bytes();
            before.fold(0, |depth, byte| {
                depth + i32::from(byte == b'(') - i32::from(byte == b')')
            }) == 0
        };
        for operator in OPERATORS {
            let mut places = condition.match_indices(operator);
            if let Some((at, _)) = places.find(|&(at, _)| outside(at)) {
                let mut all = Expr::operands(&condition[..at])?;
                all.extend(Expr::operands(&condition[at + operator.len()..])?);
                return Some(all);
            }
        }
        let inner = condition.strip_prefix('!').unwrap_or(condition);
        let inner = inner
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        match Expr::parse(condition) {
            Some(value) => Some(vec![value]),
            None => Expr::operands(inner?),
        }
    }

    /// Adds the variables that the value depends on. The arguments of the program's own arithmetic
    /// (`add64`) are not included: its result is a dimension, which is checked as a whole.
    pub(in crate::compile) fn names(&self, names: &mut Vec<&'a str>) {
        match self {
            Expr::Name(name) => names.push(name),
            Expr::Text(_) => {}
            Expr::Times(a, b) | Expr::Plus(a, b) | Expr::Minus(a, b) => {
                a.names(names);
                b.names(names);
            }
            Expr::Call(function, arguments) => {
                if checked_function(function).is_some() {
                    arguments.iter().for_each(|argument| argument.names(names));
                }
            }
        }
    }

    /// Whether the value does not depend on variables.
    pub(in crate::compile) fn is_constant(&self) -> bool {
        match self {
            Expr::Text(text) => text.starts_with(|c: char| c == '(' || c.is_ascii_digit()),
            _ => false,
        }
    }

    /// Whether [`Expr::checked`] equals the expression.
    pub(in crate::compile) fn is_plain(&self, checked: &BTreeSet<&str>) -> bool {
        match self {
            Expr::Name(name) => !checked.contains(name),
            Expr::Text(_) => true,
            Expr::Times(..) | Expr::Plus(..) | Expr::Minus(..) => false,
            Expr::Call(function, arguments) => {
                checked_function(function).is_none()
                    || arguments.iter().all(|a| a.is_plain(checked))
            }
        }
    }

    /// The expression in checked arithmetic. The variables in `checked` have a checked counterpart.
    pub(in crate::compile) fn checked(&self, checked: &BTreeSet<&str>) -> String {
        let two = |function: &str, a: &Expr<'_>, b: &Expr<'_>| {
            format!("{function}({}, {})", a.checked(checked), b.checked(checked))
        };
        match self {
            Expr::Name(name) if checked.contains(name) => format!("fut_{name}"),
            Expr::Times(a, b) => two("fut_times", a, b),
            Expr::Plus(a, b) => two("fut_plus", a, b),
            Expr::Minus(a, b) => two("fut_minus", a, b),
            Expr::Call(function, arguments) if !self.is_plain(checked) => {
                let arguments: Vec<_> = arguments.iter().map(|a| a.checked(checked)).collect();
                let function = checked_function(function).unwrap_or(function);
                format!("{function}({})", arguments.join(", "))
            }
            _ => self.to_string(),
        }
    }

    /// Like [`Expr::checked`], for the length of a concatenation, where each term is a length.
    pub(in crate::compile) fn concatenation(&self, checked: &BTreeSet<&str>) -> String {
        match self {
            Expr::Plus(a, b) => format!(
                "fut_concat({}, {})",
                a.concatenation(checked),
                b.concatenation(checked)
            ),
            _ => self.checked(checked),
        }
    }
}

/// The function of `fut_sizes.h` in place of one that computes a size from sizes.
fn checked_function(function: &str) -> Option<&'static str> {
    match function {
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
            Expr::Times(a, b) => write!(f, "({a} * {b})"),
            Expr::Plus(a, b) => write!(f, "({a} + {b})"),
            Expr::Minus(a, b) => write!(f, "({a} - {b})"),
            Expr::Call(function, arguments) => {
                write!(f, "{function}(")?;
                for (i, argument) in arguments.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{argument}")?;
                }
                f.write_str(")")
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn sum(&mut self) -> Option<Expr<'a>> {
        let start = self.at;
        let mut left = self.product()?;
        loop {
            if self.take(" + ") {
                left = Expr::Plus(Box::new(left), Box::new(self.product()?));
            } else if self.take(" - ") {
                left = Expr::Minus(Box::new(left), Box::new(self.product()?));
            } else if self.take(" & ") || self.take(" | ") || self.take(" ^ ") {
                // Arithmetic of the program, like `mul64`.
                self.product()?;
                left = Expr::Text(&self.text[start..self.at]);
            } else {
                return Some(left);
            }
        }
    }

    fn product(&mut self) -> Option<Expr<'a>> {
        let mut left = self.atom()?;
        while self.take(" * ") {
            left = Expr::Times(Box::new(left), Box::new(self.atom()?));
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<Expr<'a>> {
        let start = self.at;
        if self.take("(int64_t) ") {
            self.take("-");
            self.word(|c| c.is_ascii_digit())?;
            return Some(Expr::Text(&self.text[start..self.at]));
        }
        if self.take("-") || self.take("~") {
            self.atom()?;
            return Some(Expr::Text(&self.text[start..self.at]));
        }
        if self.rest().starts_with("((") {
            // ((int64_t *) mem_1.mem)[i_2 + 1]: an element, whose value the program computed
            let is_element = self.group('(', ')').is_some() && self.group('[', ']').is_some();
            if is_element {
                return Some(Expr::Text(&self.text[start..self.at]));
            }
            self.at = start;
        }
        if self.take("(") {
            let inner = self.sum()?;
            return self.take(")").then_some(inner);
        }
        self.take("*");
        let word = self.word(|c| c.is_ascii_alphanumeric() || c == '_')?;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(Expr::Text(word));
        }
        let mut is_name = self.text[start..self.at] == *word;
        // ctx->max_thread_block_size, *ctx->tuning_params.f_1, in0->v1->shape[0]
        while self.take("->") || self.take(".") {
            self.word(|c| c.is_ascii_alphanumeric() || c == '_')?;
            self.group('[', ']');
            is_name = false;
        }
        if !is_name {
            return Some(Expr::Text(&self.text[start..self.at]));
        }
        if !self.rest().starts_with('(') {
            return Some(Expr::Name(word));
        }
        let open = self.at;
        if let Some(arguments) = self.arguments() {
            return Some(Expr::Call(word, arguments));
        }
        // Arguments of other types, such as floats.
        self.at = open;
        self.group('(', ')')?;
        let text = &self.text[start..self.at];
        checked_function(word).is_none().then_some(Expr::Text(text))
    }

    fn arguments(&mut self) -> Option<Vec<Expr<'a>>> {
        self.take("(");
        let mut arguments = vec![self.sum()?];
        while self.take(", ") {
            arguments.push(self.sum()?);
        }
        self.take(")").then_some(arguments)
    }

    /// Skips a group in parentheses or brackets.
    fn group(&mut self, open: char, close: char) -> Option<()> {
        if !self.rest().starts_with(open) {
            return None;
        }
        let mut depth = 0;
        for (i, c) in self.rest().char_indices() {
            depth += i32::from(c == open) - i32::from(c == close);
            if depth == 0 {
                self.at += i + 1;
                return Some(());
            }
        }
        None
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }
}
