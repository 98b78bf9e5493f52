//! Applies the rules of a fault to generated text. A rule that does not match is an error:
//! otherwise a new version of the compiler could make a fault ineffective.

use crate::fault::{Part, Rule};
use regex::Regex;
use std::ops::Range;

/// The compiler's output for one program and backend.
#[derive(Clone, Debug)]
pub struct Generated {
    /// `name.c`
    pub code: String,
    /// `name.h`
    pub header: String,
    /// `name.json`
    pub manifest: String,
}

impl Generated {
    /// Applies one rule.
    ///
    /// # Errors
    /// If the rule does not match as often as it must, or changes nothing.
    pub fn apply(&mut self, rule: &Rule) -> Result<(), String> {
        match rule.part {
            Part::Code => change(&mut self.code, rule),
            Part::Header => change(&mut self.header, rule),
            Part::Manifest => change(&mut self.manifest, rule),
            Part::Kernels => {
                let place = kernels(&self.code)?;
                let mut text = literals(&self.code[place.clone()]);
                change(&mut text, rule)?;
                self.code.replace_range(place, &as_literals(&text));
                Ok(())
            }
        }
    }
}

fn change(text: &mut String, rule: &Rule) -> Result<(), String> {
    let scope = scope(text, &rule.within)?;
    let find = regex(&rule.find);
    let found = find.find_iter(&text[scope.clone()]).count();
    if found != rule.times {
        return Err(format!(
            "`{}` is {found} times in {}, expected {}",
            rule.find,
            if rule.within.is_empty() {
                "the text"
            } else {
                &rule.within
            },
            rule.times
        ));
    }
    let changed = find
        .replace_all(&text[scope.clone()], &rule.replace)
        .into_owned();
    if changed == text[scope.clone()] {
        return Err(format!("`{}` replaced by itself", rule.find));
    }
    text.replace_range(scope, &changed);
    Ok(())
}

/// The definition of a function: up to a closing brace at the beginning of a line.
fn scope(text: &str, name: &str) -> Result<Range<usize>, String> {
    if name.is_empty() {
        return Ok(0..text.len());
    }
    let heads = regex(&format!(
        r"(?m)^\w[^\n;{{}}]*\b(?:{name})\s*\([^;{{}}]*\)\s*\{{"
    ));
    let mut heads = heads.find_iter(text);
    let (Some(head), None) = (heads.next(), heads.next()) else {
        return Err(format!("there must be one function {name}"));
    };
    let end = text[head.end()..].find("\n}");
    let end = end.ok_or_else(|| format!("the function {name} does not end"))?;
    Ok(head.start()..head.end() + end + 2)
}

/// The range of the string literals of the kernels.
fn kernels(code: &str) -> Result<Range<usize>, String> {
    const HEAD: &str = "static const char *gpu_program[] = {";
    let start = code.find(HEAD).ok_or("there are no kernels")? + HEAD.len();
    // The compiler breaks lines by their length, which depends on the path of the program.
    let end = regex(r",\s*NULL\};").find(&code[start..]);
    let length = end.ok_or("the kernels do not end")?.start();
    Ok(start..start + length)
}

/// Decodes a list of string literals.
fn literals(list: &str) -> String {
    let literal = regex(r#"(?s)"((?:[^"\\]|\\.)*)""#);
    let escaped: String = literal
        .captures_iter(list)
        .map(|captures| captures[1].to_owned())
        .collect();
    let escape = regex(r"(?s)\\(.)");
    escape
        .replace_all(&escaped, |captures: &regex::Captures<'_>| {
            match &captures[1] {
                "n" => "\n".to_owned(),
                "t" => "\t".to_owned(),
                other => other.to_owned(),
            }
        })
        .into_owned()
}

/// Encodes text as string literals, one per line, as C compilers limit their length.
fn as_literals(text: &str) -> String {
    let lines: Vec<String> = text
        .split_inclusive('\n')
        .map(|line| {
            let line = line
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\t', "\\t")
                .replace('\n', "\\n");
            format!("\"{line}\"")
        })
        .collect();
    lines.join(",\n")
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::code;

    const CODE: &str =
        "int f(int x);\nint f(int x)\n{\n    return x;\n}\nint g(int x) {\n  return x;\n}\n";

    #[test]
    fn an_unexpected_number_of_matches_is_an_error() {
        let mut text = Generated {
            code: CODE.into(),
            header: String::new(),
            manifest: String::new(),
        };
        let thrice = Rule {
            times: 3,
            ..code("", "return", "")
        };
        for rule in [
            code("f", "nothing", ""),
            thrice,
            code("h", "return", ""),
            code("f", "return", "return"),
        ] {
            assert!(text.apply(&rule).is_err(), "{rule:?}");
        }
        assert_eq!(text.code, CODE);
    }
}
