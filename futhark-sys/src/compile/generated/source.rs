//! The definitions in a C file.

use std::collections::{BTreeMap, BTreeSet};

use super::runtime::{self, Section};
use super::token::{group, is_directive, is_name, place, span, tokens};

/// The directives, definitions, declarations and calls of one C file. If a name is defined for
/// several systems, the first definition counts.
#[derive(Debug, Default)]
pub(in crate::compile) struct Source<'a> {
    pub text: &'a str,
    pub tokens: Vec<&'a str>,
    /// Preprocessor directives, in order.
    pub directives: Vec<&'a str>,
    /// The tokens between the braces of each struct.
    pub structs: BTreeMap<&'a str, Vec<&'a str>>,
    pub functions: BTreeMap<&'a str, Function<'a>>,
    /// The functions with external linkage among them.
    pub external: BTreeSet<&'a str>,
    /// The names of declared functions, in order.
    pub prototypes: Vec<&'a str>,
    /// Every name in front of a parenthesis, in macros as well.
    pub calls: BTreeSet<&'a str>,
    /// The sections of the runtime.
    runtime: Vec<Section<'a>>,
}

/// The tokens of a function definition.
#[derive(Clone, Debug)]
pub(in crate::compile) struct Function<'a> {
    /// Those between the parentheses.
    pub parameters: Vec<&'a str>,
    /// Those between the braces, with the directives.
    pub body: Vec<&'a str>,
}

impl<'a> Source<'a> {
    pub(in crate::compile) fn read(text: &'a str) -> Source<'a> {
        let tokens = tokens(text);
        let directives: Vec<&str> = tokens.iter().copied().filter(is_directive).collect();
        // Without its `#`, the content of a directive consists of ordinary tokens.
        let in_macros = directives.iter().flat_map(|line| self::tokens(&line[1..]));
        let in_macros: Vec<&str> = in_macros.collect();
        let mut source = Source {
            text,
            calls: calls(&tokens).chain(calls(&in_macros)).collect(),
            directives,
            runtime: runtime::sections(text),
            ..Source::default()
        };
        let mut rest = &tokens[..];
        while !rest.is_empty() {
            rest = source.read_item(rest);
        }
        source.tokens = tokens;
        source
    }

    /// The names of the functions that the bodies of some functions call.
    pub(super) fn called(&self, by: impl Fn(&str) -> bool) -> BTreeSet<&'a str> {
        let callers = self.functions.iter().filter(|(name, _)| by(name));
        callers
            .flat_map(|(_, function)| calls(&function.body))
            .collect()
    }

    /// Whether the token is in a section of the runtime.
    pub(in crate::compile) fn is_runtime(&self, token: &str) -> bool {
        let at = place(self.text, token);
        let mut sections = self.runtime.iter();
        sections.any(|(_, section)| section.contains(&at))
    }

    /// Reads the first declaration or definition of `tokens` and returns the tokens after it.
    fn read_item<'t>(&mut self, tokens: &'t [&'a str]) -> &'t [&'a str] {
        let Some(end) = tokens.iter().position(|token| matches!(*token, ";" | "{")) else {
            return &[];
        };
        // The closing brace of `extern "C"` can precede a declaration.
        let is_before = |token: &&&str| **token == "}" || is_directive(token);
        let start = tokens.iter().take_while(is_before).count();
        let (head, rest) = (&tokens[start..end], &tokens[end + 1..]);
        if tokens[end] == ";" {
            self.prototypes
                .extend(declarator(head).map(|(name, _)| name));
            return rest;
        }
        if let ["extern", _] = head {
            return rest;
        }
        let body = &rest[..self.block(head, &tokens[end..])];
        if let ["struct", name] = head {
            self.structs.entry(name).or_insert(body.to_vec());
        } else if let Some((name, parameters)) = declarator(head) {
            if !head.iter().any(|token| INTERNAL.contains(token)) {
                self.external.insert(name);
            }
            let (parameters, body) = (parameters.to_vec(), body.to_vec());
            self.functions
                .entry(name)
                .or_insert(Function { parameters, body });
        }
        rest.get(body.len() + 1..).unwrap_or_default()
    }

    /// The number of tokens in the braces at the beginning of `tokens`, which `head` precedes.
    ///
    /// In the runtime, braces need not be balanced, because directives can select between two beginnings of a block.
    /// There a brace at the beginning of a line always closes.
    fn block(&self, head: &[&str], tokens: &[&'a str]) -> usize {
        let is_lenient = self.runtime.is_empty() || self.is_runtime(tokens[0]);
        let is_function = is_lenient && head.last() == Some(&")");
        let mut depth = 0;
        for (i, token) in tokens.iter().enumerate() {
            if *token == "{" {
                depth += 1;
            } else if *token == "}" {
                depth -= 1;
                let ends = || !is_function || !span(self.text, &tokens[..=i]).contains('\n');
                let starts_line = || self.text[..place(self.text, token)].ends_with('\n');
                if is_lenient && starts_line() || depth == 0 && ends() {
                    return i - 1;
                }
            }
        }
        tokens.len() - 1
    }
}

/// The specifiers of functions with internal linkage; the macros contain `static`.
const INTERNAL: [&str; 3] = ["static", "SCALAR_FUN_ATTR", "FUTHARK_FUN_ATTR"];

/// The name of a function, and its parameters, which end the head of a declaration.
fn declarator<'a, 't>(head: &'t [&'a str]) -> Option<(&'a str, &'t [&'a str])> {
    let ends = |at: &usize| head[*at] == "(" && group(&head[*at..]) == Some(head.len() - at);
    let open = (1..head.len()).find(ends)?;
    let name = head[open - 1];
    is_name(name).then(|| (name, &head[open + 1..head.len() - 1]))
}

/// The names in front of parentheses.
pub(super) fn calls<'a>(tokens: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let pairs = tokens.windows(2);
    let calls = pairs.filter(|pair| is_name(pair[0]) && pair[1] == "(");
    calls.map(|pair| pair[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
#include <stdio.h> // for FILE
#define TWICE(x) \
  clFirst(x)
extern "C" {
int declared(int x);
}
static const char *kernels[] = {"void clFake() {", NULL};
struct pair { int v0; struct { int x; } v1; };
struct empty {
};
/* clSecond( */
static inline int one(int x) { return '"' + clThird (x); }
#ifdef A
int f(int a,
      void (*g)(int)) {
  if (a) {
#else
int f(void)
{
#endif
  }
}
// clFourth(
hipError_t last(int b)
{
    f("clFifth(x)\" clSixth(y)", b);
}
"#;

    #[test]
    fn definitions_are_found() {
        let source = Source::read(TEXT);
        assert_eq!(source.directives.len(), 5);
        assert_eq!(source.directives[1], "#define TWICE(x) \\\n  clFirst(x)");
        assert_eq!(source.prototypes, ["declared"]);
        let names: Vec<_> = source.functions.keys().copied().collect();
        assert_eq!(names, ["f", "last", "one"]);
        assert_eq!(source.functions["last"].parameters, ["int", "b"]);
        assert!(source.functions["last"].body[2].contains("clSixth"));
        let parameters = span(TEXT, &source.functions["f"].parameters);
        assert!(parameters.ends_with("(*g)(int)"));
        let ints = source.structs["pair"]
            .iter()
            .filter(|token| **token == "int");
        assert_eq!(ints.count(), 2);
        assert!(source.structs["empty"].is_empty());
    }

    #[test]
    fn calls_are_found_outside_of_literals_and_comments() {
        let calls = Source::read(TEXT).calls;
        let calls: Vec<_> = calls.into_iter().filter(|c| c.starts_with("cl")).collect();
        assert_eq!(calls, ["clFirst", "clThird"]);
    }
}
