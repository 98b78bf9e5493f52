//! From Futhark's names to Rust's: total, deterministic, and without collisions in a scope.

use std::collections::HashSet;

/// The names that were given out in one scope.
#[derive(Default)]
pub(super) struct Scope(HashSet<String>);

impl Scope {
    /// A scope in which `names` are taken.
    pub(super) fn with(names: &[&str]) -> Scope {
        Scope(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// The Rust name of a function, parameter or field.
    pub(super) fn value(&mut self, futhark: &str) -> String {
        let name = self.unique(snake(futhark), "_");
        escape(name)
    }

    /// The Rust name of a type.
    pub(super) fn ty(&mut self, futhark: &str) -> String {
        let name = self.unique(camel(futhark), "");
        escape(name)
    }

    fn unique(&mut self, name: String, separator: &str) -> String {
        if self.0.insert(name.clone()) {
            return name;
        }
        let mut number = 2;
        loop {
            let numbered = format!("{name}{separator}{number}");
            if self.0.insert(numbered.clone()) {
                return numbered;
            }
            number += 1;
        }
    }
}

/// What an operator's characters are called.
const OPERATORS: [(char, &str); 17] = [
    ('+', "plus"),
    ('-', "minus"),
    ('*', "times"),
    ('/', "slash"),
    ('%', "percent"),
    ('=', "equals"),
    ('!', "bang"),
    ('<', "less"),
    ('>', "greater"),
    ('|', "bar"),
    ('&', "and"),
    ('^', "caret"),
    ('~', "tilde"),
    ('$', "dollar"),
    ('@', "at"),
    ('?', "question"),
    ('`', "tick"),
];

fn snake(futhark: &str) -> String {
    let mut name = String::new();
    let operator = !futhark.is_empty() && futhark.chars().all(|c| spelled(c).is_some());
    if operator {
        name.push_str("op");
    }
    for c in futhark.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => name.push(c),
            '\'' => name.push_str("_prime"),
            _ => {
                name.push('_');
                name.push_str(spelled(c).unwrap_or_default());
            }
        }
    }
    // `_` alone is no name in Rust, and nothing may begin with a digit.
    if name.is_empty() || name.chars().all(|c| c == '_') {
        name = "arg".to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

fn spelled(c: char) -> Option<&'static str> {
    OPERATORS
        .iter()
        .find(|(operator, _)| *operator == c)
        .map(|(_, word)| *word)
}

/// Longer names of types are cut and end in a hash of the whole.
const LONGEST: usize = 60;

fn camel(futhark: &str) -> String {
    if futhark == "()" {
        return "Unit".to_owned();
    }
    let mut name = String::new();
    if futhark.starts_with('(') {
        name.push_str("Tuple");
    }
    let mut start_of_word = true;
    let mut characters = futhark.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '[' && characters.peek() == Some(&']') {
            name.push_str("Array");
        }
        if c == '\'' {
            name.push_str("Prime");
        }
        if c.is_ascii_alphanumeric() {
            name.push(if start_of_word {
                c.to_ascii_uppercase()
            } else {
                c
            });
        }
        start_of_word = !c.is_ascii_alphanumeric();
    }
    if name.is_empty() {
        name.push_str("Opaque");
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'T');
    }
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        let hash = futhark
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
        name.push_str(&format!("{hash:016x}"));
    }
    name
}

/// Words that no identifier may be; the second list cannot even be raw.
const KEYWORDS: [&str; 48] = [
    "as", "break", "const", "continue", "else", "enum", "extern", "false", "fn", "for", "if",
    "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "static",
    "struct", "trait", "true", "type", "unsafe", "use", "where", "while", "async", "await", "dyn",
    "abstract", "become", "box", "do", "final", "macro", "override", "priv", "typeof", "unsized",
    "virtual", "yield", "try", "gen",
];
const NEVER_RAW: [&str; 4] = ["self", "Self", "super", "crate"];

fn escape(name: String) -> String {
    if KEYWORDS.contains(&name.as_str()) {
        format!("r#{name}")
    } else if NEVER_RAW.contains(&name.as_str()) {
        format!("{name}_")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(futhark: &str) -> String {
        Scope::default().value(futhark)
    }

    fn ty(futhark: &str) -> String {
        Scope::default().ty(futhark)
    }

    #[test]
    fn values() {
        assert_eq!(value("mean"), "mean");
        assert_eq!(value("f'"), "f_prime");
        assert_eq!(value("+++"), "op_plus_plus_plus");
        assert_eq!(value("move"), "r#move");
        assert_eq!(value("self"), "self_");
        assert_eq!(value("0"), "_0");
        assert_eq!(value("_"), "arg");
        assert_eq!(value("m.f"), "m_f");
        assert_eq!(value(""), "arg");
    }

    #[test]
    fn types() {
        assert_eq!(ty("pt"), "Pt");
        assert_eq!(ty("[]pt"), "ArrayPt");
        assert_eq!(ty("(f32, (i32, bool))"), "TupleF32I32Bool");
        assert_eq!(ty("{bar:f32, foo:[]i32}"), "BarF32FooArrayI32");
        assert_eq!(ty("none: | some:i32"), "NoneSomeI32");
        assert_eq!(ty("()"), "Unit");
        assert_eq!(ty("{}"), "Opaque");
        assert!(ty(&"a".repeat(200)).len() < 80);
    }

    #[test]
    fn nothing_is_given_out_twice() {
        let mut scope = Scope::with(&["Array"]);
        assert_eq!(scope.ty("array"), "Array2");
        assert_eq!(scope.ty("f"), "F");
        assert_eq!(scope.ty("(f"), "TupleF");
        assert_eq!(scope.ty("F"), "F2");
        let mut scope = Scope::default();
        assert_eq!(scope.value("f'"), "f_prime");
        assert_eq!(scope.value("f_prime"), "f_prime_2");
        // A keyword and its escape are one name.
        assert_eq!(scope.value("self"), "self_");
        assert_eq!(scope.value("self_"), "self_");
    }
}
