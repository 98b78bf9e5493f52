//! Scripts: expressions that call entry points to make the arguments of a test case.
//!
//! ```text
//! expression = NAME atom… | atom | let …
//! atom       = NAME | VALUE | "text" | ( expression, … ) | { … } | $builtin
//! ```

use crate::values::{self, HostValue, TextError};

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exp {
    /// A call of an entry point.
    Call(String, Vec<Exp>),
    /// A call of one of the functions that the language of scripts has itself.
    Builtin(String, Vec<Exp>),
    /// A value.
    Value(HostValue),
    /// Several values.
    Tuple(Vec<Exp>),
    /// What is understood by others, but not here: its name.
    Other(&'static str),
}

/// Parses a script.
///
/// # Errors
/// If it is none.
pub fn parse(text: &str) -> Result<Exp, TextError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
    };
    let exp = parser.expression()?;
    if matches!(exp, Exp::Other("let")) {
        return Ok(exp);
    }
    match parser.peek() {
        None => Ok(exp),
        Some(found) => {
            Err(parser.error(format!("expected the end of the script, found {found:?}")))
        }
    }
}

/// How deep parentheses may nest: what nests deeper is not followed to where the stack ends.
const DEEPEST: usize = 100;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// How many parentheses are open.
    depth: usize,
}

impl Parser<'_> {
    fn expression(&mut self) -> Result<Exp, TextError> {
        let builtin = self.eat('$');
        let Some(name) = self.name() else {
            return self.atom();
        };
        if name == "let" {
            return Ok(Exp::Other("let"));
        }
        let mut arguments = Vec::new();
        while self
            .peek()
            .is_some_and(|c| !matches!(c, ')' | '}' | ',' | '='))
        {
            arguments.push(self.atom()?);
        }
        Ok(if builtin {
            Exp::Builtin(name, arguments)
        } else {
            Exp::Call(name, arguments)
        })
    }

    fn atom(&mut self) -> Result<Exp, TextError> {
        match self.peek() {
            Some('(') => self.tuple(),
            Some('{') => self.record(),
            Some('$') => {
                self.at += 1;
                let name = self
                    .name()
                    .ok_or_else(|| self.expected("a name behind '$'"))?;
                Ok(Exp::Builtin(name, Vec::new()))
            }
            Some(c) if c.is_alphabetic() => {
                let start = self.at;
                // `true`, `f32.nan` and `empty(...)` begin as names do.
                if let Ok(value) = self.value() {
                    return Ok(value);
                }
                self.at = start;
                let name = self.name().ok_or_else(|| self.expected("a name"))?;
                Ok(Exp::Call(name, Vec::new()))
            }
            Some(_) => self.value(),
            None => Err(self.expected("an expression")),
        }
    }

    fn tuple(&mut self) -> Result<Exp, TextError> {
        self.eat('(');
        if self.depth == DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} parentheses are open")));
        }
        self.depth += 1;
        let mut parts = Vec::new();
        while !self.eat(')') {
            let part = self.expression()?;
            if part == Exp::Other("let") {
                // What follows cannot be told apart without reading all of it.
                self.at = self.text.len();
                return Ok(part);
            }
            parts.push(part);
            if !self.eat(',') && self.peek() != Some(')') {
                return Err(self.expected("',' or ')'"));
            }
        }
        self.depth -= 1;
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Exp::Tuple(parts),
        })
    }

    /// Its fields are passed over.
    fn record(&mut self) -> Result<Exp, TextError> {
        let mut depth = 0usize;
        for (offset, c) in self.text[self.at..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at += offset + 1;
                return Ok(Exp::Other("record"));
            }
        }
        Err(self.expected("'}'"))
    }

    fn value(&mut self) -> Result<Exp, TextError> {
        let start = self.at;
        let place = |error: TextError| TextError {
            at: start + error.at,
            message: error.message,
        };
        let (value, length) = values::parse_one(&self.text[start..]).map_err(place)?;
        let value = value.by_itself().map_err(place)?;
        self.at += length;
        Ok(Exp::Value(value))
    }

    fn name(&mut self) -> Option<String> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let length = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
        let name = rest[..length].to_owned();
        let is_name = name.starts_with(char::is_alphabetic)
            && !matches!(name.as_str(), "true" | "false" | "empty")
            && !rest[length..].starts_with('.');
        if is_name {
            self.at += length;
        }
        is_name.then_some(name)
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn expected(&mut self, what: &str) -> TextError {
        let found = self
            .peek()
            .map_or("the end".to_owned(), |c| format!("{c:?}"));
        self.error(format!("expected {what}, found {found}"))
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

    fn value(text: &str) -> Exp {
        Exp::Value(values::parse(text).unwrap()[0].by_itself().unwrap())
    }

    fn call(name: &str, arguments: Vec<Exp>) -> Exp {
        Exp::Call(name.to_owned(), arguments)
    }

    #[test]
    fn calls_have_values_names_and_calls_as_arguments() {
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
    fn tuples_and_builtin_functions() {
        let loaded = Exp::Builtin("loaddata".to_owned(), vec![value("\"a.in\"")]);
        let expected = Exp::Tuple(vec![loaded, value("empty([0]i32)")]);
        assert_eq!(
            parse("($loaddata \"a.in\", empty([0]i32))").unwrap(),
            expected
        );
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert_eq!(parse("let x = f 1 in g x").unwrap(), Exp::Other("let"));
        assert_eq!(
            parse("f {a = 1, b = {}}").unwrap(),
            call("f", vec![Exp::Other("record")])
        );
    }

    #[test]
    fn what_is_no_script_is_refused_where_it_stands() {
        assert_eq!(parse("f 1,").unwrap_err().at, 3);
        assert_eq!(parse("").unwrap_err().at, 0);
        assert!(parse(&"(".repeat(100_000)).is_err());
        for wrong in ["f (", "f )", "[1", "{", "$", "f ="] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
