//! Scripts: expressions that call entry points to create the arguments of a test case.
//!
//! ```text
//! expression = let pattern = expression (let …)* in expression | FUNCTION atom… | atom
//! atom       = VALUE | "text" | ( expression, … ) | { FIELD = expression, … } | FUNCTION
//! pattern    = NAME | ( NAME, … )
//! FUNCTION   = NAME | $NAME
//! ```
//!
//! The grammar is that of `futhark test`, so that both accept the same scripts. Comments below
//! mark its peculiarities.

use crate::values::{Cursor, HostValue, TextError};

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exp {
    /// A call of an entry point or, if the name starts with `$`, of a function of the script language;
    /// or the value of a local name.
    Call(String, Vec<Exp>),
    /// A value.
    Value(HostValue),
    /// A tuple.
    Tuple(Vec<Exp>),
    /// A record: its fields.
    Record(Vec<(String, Exp)>),
    /// Local names: each binding can use the previous ones.
    Let(Vec<(Vec<String>, Exp)>, Box<Exp>),
}

/// Parses a script.
pub fn parse(text: &str) -> Result<Exp, TextError> {
    let mut parser = Cursor::new(text);
    let exp = parser.expression()?;
    match parser.next() {
        None => Ok(exp),
        Some(_) => Err(parser.expected("the end of the script")),
    }
}

/// Words that are not names.
const RESERVED: [&str; 2] = ["let", "in"];

impl Cursor<'_> {
    pub(super) fn expression(&mut self) -> Result<Exp, TextError> {
        self.nested(|cursor| {
            // `let` needs no following space: `letx = 1 in x` binds `x`.
            match cursor.eat_next("let") {
                true => cursor.bindings(),
                false => cursor.call_or_atom(),
            }
        })
    }

    /// Bindings, after the first `let`.
    fn bindings(&mut self) -> Result<Exp, TextError> {
        let mut bindings = Vec::new();
        loop {
            let pattern = self.bound_names()?;
            self.need("=")?;
            bindings.push((pattern, self.expression()?));
            if self.eat_next("in") {
                let body = self.expression()?;
                return Ok(Exp::Let(bindings, Box::new(body)));
            }
            // 0.25.32 accepts a missing `in` before another `let`, 0.25.27 does not.
            if !self.eat_next("let") {
                return Err(self.expected("'in'"));
            }
        }
    }

    fn bound_names(&mut self) -> Result<Vec<String>, TextError> {
        if self.eat_next("(") {
            return self.list(")", Cursor::need_name);
        }
        self.need_name().map(|name| vec![name])
    }

    /// A word at the start of an expression is a function, even `true`; it is a value only as an
    /// argument.
    fn call_or_atom(&mut self) -> Result<Exp, TextError> {
        self.skip_space();
        if self.rest().starts_with("empty(")
            && let Ok(value) = self.constant()
        {
            return Ok(value);
        }
        let Some(function) = self.function()? else {
            return self.atom();
        };
        let mut arguments = Vec::new();
        while self.begins_atom() {
            arguments.push(self.atom()?);
        }
        Ok(Exp::Call(function, arguments))
    }

    fn atom(&mut self) -> Result<Exp, TextError> {
        match self.next() {
            Some('(') => {
                self.eat_next("(");
                let mut parts = self.list(")", Cursor::expression)?;
                Ok(match parts.len() {
                    1 => parts.remove(0),
                    _ => Exp::Tuple(parts),
                })
            }
            Some('{') => {
                self.eat_next("{");
                self.list("}", Cursor::field).map(Exp::Record)
            }
            Some(c) if c == '$' || c.is_alphabetic() => {
                // `true`, `f32.nan` and `empty(...)` start like names.
                if let Ok(value) = self.constant() {
                    return Ok(value);
                }
                match self.function()? {
                    Some(function) => Ok(Exp::Call(function, Vec::new())),
                    None => Err(self.expected("a name")),
                }
            }
            Some(_) => self.constant(),
            None => Err(self.expected("an expression")),
        }
    }

    /// Elements separated by commas, up to the closing bracket; a trailing comma is allowed.
    fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, TextError>,
    ) -> Result<Vec<T>, TextError> {
        let mut items = Vec::new();
        while !self.eat_next(close) {
            items.push(item(self)?);
            if !self.eat_next(",") {
                self.need(close)?;
                break;
            }
        }
        Ok(items)
    }

    fn field(&mut self) -> Result<(String, Exp), TextError> {
        let name = self.need_name()?;
        self.need("=")?;
        Ok((name, self.expression()?))
    }

    fn function(&mut self) -> Result<Option<String>, TextError> {
        if self.eat_next("$") {
            return self.need_name().map(|name| Some(format!("${name}")));
        }
        Ok(self.name())
    }

    fn begins_atom(&mut self) -> bool {
        match self.next() {
            Some(c) if c.is_alphabetic() => {
                let start = self.at;
                let found = self.name().is_some();
                self.at = start;
                found
            }
            Some(c) => c.is_ascii_digit() || "$({[\"-+".contains(c),
            None => false,
        }
    }

    fn constant(&mut self) -> Result<Exp, TextError> {
        let start = self.at;
        let value = self.value();
        if value.is_err() {
            self.at = start;
        }
        value.map(Exp::Value)
    }

    fn name(&mut self) -> Option<String> {
        self.skip_space();
        let start = self.at;
        let name = self.until(|c| !(c.is_alphanumeric() || c == '_' || c == '\''));
        let is_name = name.starts_with(char::is_alphabetic) && !RESERVED.contains(&name);
        self.at = if is_name { self.at } else { start };
        is_name.then(|| name.to_owned())
    }

    fn need_name(&mut self) -> Result<String, TextError> {
        self.name().ok_or_else(|| self.expected("a name"))
    }

    fn need(&mut self, text: &str) -> Result<(), TextError> {
        if self.eat_next(text) {
            return Ok(());
        }
        Err(self.expected(&format!("{text:?}")))
    }

    /// The next character after white space.
    fn next(&mut self) -> Option<char> {
        self.skip_space();
        self.peek()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values;

    fn value(text: &str) -> Exp {
        Exp::Value(values::parse(text).unwrap().remove(0))
    }

    fn call(name: &str, arguments: Vec<Exp>) -> Exp {
        Exp::Call(name.to_owned(), arguments)
    }

    #[test]
    fn arguments_can_be_values_names_and_calls() {
        assert_eq!(parse(" k ").unwrap(), call("k", vec![]));
        let expected = call(
            "f'",
            vec![
                value("-1i64"),
                value("[1, 2]"),
                call("k", vec![]),
                call("g", vec![value("f32.nan"), value("true")]),
            ],
        );
        assert_eq!(
            parse("f' -1i64 [1,2] k (g f32.nan true)").unwrap(),
            expected
        );
    }

    #[test]
    fn tuples_and_builtin_functions_are_parsed() {
        let loaded = call("$loaddata", vec![value("\"a.in\"")]);
        let expected = Exp::Tuple(vec![loaded, value("empty([0]i32)")]);
        assert_eq!(
            parse("($loaddata \"a.in\", empty([0]i32))").unwrap(),
            expected
        );
    }

    #[test]
    fn let_bindings_and_records_are_parsed() {
        let x = || call("x", vec![]);
        let bound = |names: &[&str], exp| (names.iter().map(|&n| n.to_owned()).collect(), exp);
        let expected = Exp::Let(
            vec![
                bound(&["x"], call("f", vec![value("1")])),
                bound(&["y", "in'"], Exp::Tuple(vec![x(), x()])),
            ],
            Box::new(call("g", vec![call("y", vec![])])),
        );
        for text in [
            "let x = f 1 let (y, in') = (x, x) in g y",
            "let x=f 1 let(y,in',)=(x,x,)in g y",
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
        let nested = "let x = f 1 in let (y, in') = (x, x) in g y";
        assert!(matches!(parse(nested).unwrap(), Exp::Let(one, _) if one.len() == 1));
        let record = Exp::Record(vec![
            ("a".to_owned(), value("1")),
            ("b".to_owned(), Exp::Record(vec![])),
        ]);
        assert_eq!(
            parse("f {a = 1, b = {}} (x)").unwrap(),
            call("f", vec![record, x()])
        );
    }

    #[test]
    fn a_leading_word_is_a_function_even_true() {
        assert_eq!(parse("true").unwrap(), call("true", vec![]));
        assert_eq!(parse("f true").unwrap(), call("f", vec![value("true")]));
        assert_eq!(parse("empty([0]i32)").unwrap(), value("empty([0]i32)"));
        assert!(parse("f32.nan").is_err());
    }

    #[test]
    fn invalid_scripts_are_errors_with_a_position() {
        assert_eq!(parse("f 1,").unwrap_err().at, 3);
        assert_eq!(parse("").unwrap_err().at, 0);
        for open in ["(", "{a=", "let x = "] {
            assert!(parse(&open.repeat(100_000)).is_err());
        }
        for wrong in [
            "f (",
            "f )",
            "[1",
            "{",
            "$",
            "f =",
            "(,)",
            "{a}",
            "let x = 1",
            "let 1 = 1 in 1",
            "letter",
            "in",
            "f in",
            "let x = 1 in in",
            "[1, f 2]",
            "f (a).b",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
