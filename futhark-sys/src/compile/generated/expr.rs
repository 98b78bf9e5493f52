//! The expressions of the functions of a program.

use std::collections::BTreeSet;
use std::fmt;

use super::token::{group, is_name, span};

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
    Index(Box<[Expr<'a>; 2]>),
    /// `{a, b}`
    List(Vec<Expr<'a>>),
}

/// The binary operators, weakest first.
const LEVELS: [&[&str]; 12] = [
    &["=", "+=", "-=", "*=", "/=", "%=", "^="],
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
const CHOICE: usize = 1;

/// The operator of `.field = value` in a list.
const FIELD: &str = ".=";

impl<'a> Expr<'a> {
    /// Parses all `tokens` of `text`; `None` if they are not one expression.
    pub(super) fn parse(text: &'a str, tokens: &[&'a str]) -> Option<Expr<'a>> {
        let mut parser = Parser { text, rest: tokens };
        let expr = parser.binary(0)?;
        parser.rest.is_empty().then_some(expr)
    }

    /// The operands of one level.
    pub(in crate::compile) fn parts(&self) -> Vec<&Expr<'a>> {
        match &self.kind {
            Kind::Name | Kind::Literal => Vec::new(),
            Kind::Cast(_, value) | Kind::Member(value, ..) => vec![value],
            Kind::Call(_, parts) | Kind::Operation(_, parts) | Kind::List(parts) => {
                parts.iter().collect()
            }
            Kind::Index(parts) => parts.iter().collect(),
        }
    }

    /// The first part in the order of the text for which `found` returns something, the expression itself included.
    pub(in crate::compile) fn find<'s, T>(
        &'s self,
        found: &mut impl FnMut(&'s Expr<'a>) -> Option<T>,
    ) -> Option<T> {
        found(self).or_else(|| self.parts().into_iter().find_map(|part| part.find(found)))
    }

    pub(in crate::compile) fn name(&self) -> Option<&'a str> {
        matches!(self.kind, Kind::Name).then_some(self.text)
    }

    /// Whether the value of the expression is all that it computes, besides calls, and `err = f(…)` as an operand.
    pub(super) fn has_no_assignment(&self) -> bool {
        let mut assigns = |part: &Expr<'a>| {
            let Kind::Operation(operator, operands) = &part.kind else {
                return None;
            };
            // The compiler counts references, `(*mem.references)++`.
            let is_counted = matches!(*operator, "++" | "--") && operands[0].name().is_some();
            let is_change = is_counted || LEVELS[0].contains(operator);
            let is_error = matches!(&operands[..], [err, call] if *operator == "="
                && err.name() == Some("err") && matches!(call.kind, Kind::Call(..)));
            (is_change && !is_error).then_some(())
        };
        self.find(&mut assigns).is_none()
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
            Kind::Operation("-", parts) if parts.len() == 1 => Some(-parts[0].constant()?),
            Kind::Operation(operator, parts) => {
                let [a, b] = &parts[..] else {
                    return None;
                };
                let (a, b) = (a.constant()?, b.constant()?);
                match *operator {
                    "*" => a.checked_mul(b),
                    "+" => a.checked_add(b),
                    "-" => a.checked_sub(b),
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
            Kind::Call(function, arguments) => {
                checked_function(function).is_none() || all(arguments)
            }
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

    /// Adds the variables and the fields of tasks that the value depends on. The arguments of the program's own arithmetic
    /// (`add64`) are not included: its result is a dimension, which is checked as a whole.
    pub(in crate::compile) fn names(&self, names: &mut Vec<&'a str>) {
        match &self.kind {
            Kind::Name => names.push(self.text),
            Kind::Member(_, "->", field) => names.push(field),
            Kind::Cast(_, value) => value.names(names),
            Kind::Operation("?", parts) => parts[1..].iter().for_each(|part| part.names(names)),
            Kind::Call(function, parts) | Kind::Operation(function, parts)
                if checked_function(function).is_some() && !self.is_sign() =>
            {
                parts.iter().for_each(|part| part.names(names));
            }
            _ => {}
        }
    }

    /// Whether the compiler computes a size here: the program's own arithmetic has other functions.
    pub(in crate::compile) fn is_of_sizes(&self) -> bool {
        match &self.kind {
            Kind::Operation(..) => true,
            Kind::Call(function, _) => checked_function(function).is_some(),
            _ => false,
        }
    }

    /// Whether the operator is a sign.
    fn is_sign(&self) -> bool {
        matches!(&self.kind, Kind::Operation(_, parts) if parts.len() == 1)
    }

    /// Whether [`Expr::checked`] equals the expression.
    pub(in crate::compile) fn is_plain(&self, checked: &BTreeSet<&str>) -> bool {
        let all = |parts: &[Expr<'_>]| parts.iter().all(|part| part.is_plain(checked));
        match &self.kind {
            Kind::Name => !checked.contains(self.text),
            Kind::Member(_, "->", field) => !checked.contains(field),
            Kind::Cast(_, value) => value.is_plain(checked),
            Kind::Call(function, arguments) => {
                checked_function(function).is_none() || all(arguments)
            }
            Kind::Operation("?", parts) => all(&parts[1..]),
            Kind::Operation(operator, _) => checked_function(operator).is_none() || self.is_sign(),
            _ => true,
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
            Kind::Name => format!("fut_{}", self.text),
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
            _ => self.to_string(),
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
        let list = |parts: &[Expr<'_>], separator: &str| {
            let parts: Vec<_> = parts.iter().map(Expr::to_string).collect();
            parts.join(separator)
        };
        match &self.kind {
            Kind::Name | Kind::Literal => f.write_str(self.text),
            Kind::Cast(ty, value) => write!(f, "({}) {value}", ty.join(" ")),
            Kind::Call(function, parts) => write!(f, "{function}({})", list(parts, ", ")),
            Kind::Operation("?", parts) => {
                write!(f, "({} ? {} : {})", parts[0].text, parts[1], parts[2])
            }
            Kind::Operation(operator, parts) if parts.len() == 1 => {
                write!(f, "{operator}{}", parts[0])
            }
            Kind::Operation(operator, parts) => {
                write!(f, "({})", list(parts, &format!(" {operator} ")))
            }
            Kind::Member(value, operator, field) => write!(f, "{value}{operator}{field}"),
            Kind::Index(parts) => write!(f, "{}[{}]", parts[0], parts[1]),
            Kind::List(parts) => write!(f, "{{{}}}", list(parts, ", ")),
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
    const WORDS: [&str; 22] = [
        "struct",
        "const",
        "volatile",
        "unsigned",
        "int",
        "long",
        "char",
        "void",
        "bool",
        "float",
        "double",
        "f16",
        "size_t",
        "event_report_fn",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
    ];
    WORDS.contains(&token)
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

    /// An expression whose tokens are those that remained at `start` and do not remain now.
    fn expr(&self, start: &[&'a str], kind: Kind<'a>) -> Expr<'a> {
        let text = span(self.text, &start[..start.len() - self.rest.len()]);
        Expr { text, kind }
    }

    fn binary(&mut self, level: usize) -> Option<Expr<'a>> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let start = self.rest;
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.take_one(operators) {
            let mut parts = vec![left];
            match level {
                CHOICE => {
                    parts.push(self.binary(CHOICE)?);
                    parts.push(self.take(":").then(|| self.binary(CHOICE))??);
                }
                0 => parts.push(self.binary(0)?),
                _ => parts.push(self.binary(level + 1)?),
            }
            left = self.expr(start, Kind::Operation(operator, parts));
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        if let Some(operator) = self.take_one(&["!", "~", "-", "&", "*"]) {
            let parts = vec![self.unary()?];
            return Some(self.expr(start, Kind::Operation(operator, parts)));
        }
        if let ["(", first, ..] = start
            && begins_type(first)
        {
            let end = group(start)?;
            let ty = start[1..end - 1].to_vec();
            self.rest = &start[end..];
            let value = match self.rest.first() {
                Some(&"{") => self.list()?,
                _ => self.unary()?,
            };
            return Some(self.expr(start, Kind::Cast(ty, Box::new(value))));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        let mut value = self.atom()?;
        loop {
            if let Some(operator) = self.take_one(&["->", "."]) {
                let (field, rest) = self.rest.split_first()?;
                self.rest = rest;
                value = self.expr(start, Kind::Member(Box::new(value), operator, field));
            } else if self.take("[") {
                let index = self.binary(0)?;
                if !self.take("]") {
                    return None;
                }
                value = self.expr(start, Kind::Index(Box::new([value, index])));
            } else if let Some(operator) = self.take_one(&["++", "--"]) {
                value = self.expr(start, Kind::Operation(operator, vec![value]));
            } else {
                return Some(value);
            }
        }
    }

    fn atom(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        let (&first, rest) = start.split_first()?;
        if first == "(" {
            self.rest = rest;
            // Without the parentheses, so that the text of a name is the name.
            let inner = self.binary(0)?;
            return self.take(")").then_some(inner);
        }
        if let ["sizeof", "(", ..] = start {
            self.rest = &start[1 + group(&start[1..])?..];
            return Some(self.expr(start, Kind::Literal));
        }
        self.rest = rest;
        if first == "{" {
            self.rest = start;
            return self.list();
        }
        if first.starts_with(['"', '\'']) {
            while self.rest.first().is_some_and(|next| next.starts_with('"')) {
                self.rest = &self.rest[1..];
            }
            return Some(self.expr(start, Kind::Literal));
        }
        if first.starts_with(|c: char| c.is_ascii_digit()) {
            self.fraction(first);
            return Some(self.expr(start, Kind::Literal));
        }
        if !is_name(first) {
            return None;
        }
        if !self.take("(") {
            return Some(self.expr(start, Kind::Name));
        }
        let arguments = self.elements(")")?;
        Some(self.expr(start, Kind::Call(first, arguments)))
    }

    /// The rest of a float, whose first token is `number`: `. 5e - 3`.
    fn fraction(&mut self, number: &str) {
        let mut last = number;
        if let [".", rest @ ..] = self.rest {
            self.rest = rest;
            if let [digits, rest @ ..] = self.rest
                && digits.starts_with(|c: char| c.is_ascii_alphanumeric())
            {
                (last, self.rest) = (digits, rest);
            }
        }
        if let ["+" | "-", _, rest @ ..] = self.rest
            && last.ends_with(['e', 'E'])
            && !last.starts_with("0x")
        {
            self.rest = rest;
        }
    }

    fn list(&mut self) -> Option<Expr<'a>> {
        let start = self.rest;
        let elements = self.take("{").then(|| self.elements("}"))??;
        Some(self.expr(start, Kind::List(elements)))
    }

    fn elements(&mut self, end: &str) -> Option<Vec<Expr<'a>>> {
        let mut elements = Vec::new();
        if self.take(end) {
            return Some(elements);
        }
        loop {
            let is_field = self.take(".");
            let mut element = self.binary(0)?;
            if let (true, Kind::Operation(operator @ "=", _)) = (is_field, &mut element.kind) {
                *operator = FIELD;
            }
            elements.push(element);
            if self.take(end) {
                return Some(elements);
            }
            if !self.take(",") {
                return None;
            }
        }
    }
}
