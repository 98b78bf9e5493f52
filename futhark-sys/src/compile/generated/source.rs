//! The definitions in a C file.

use std::collections::{BTreeMap, BTreeSet};

use super::token::{Kind, Token, tokens};

/// The directives, definitions, declarations and calls of one C file. If a name is defined for
/// several systems, the first definition counts.
#[derive(Debug, Default)]
pub(in crate::compile) struct Source<'a> {
    /// Preprocessor directives, in order.
    pub directives: Vec<&'a str>,
    /// The text between the braces of each struct.
    pub structs: BTreeMap<&'a str, &'a str>,
    pub functions: BTreeMap<&'a str, Function<'a>>,
    /// The names of declared functions, in order.
    pub prototypes: Vec<&'a str>,
    /// Every name in front of a parenthesis, in macros as well.
    pub calls: BTreeSet<&'a str>,
}

/// A function definition.
#[derive(Clone, Copy, Debug)]
pub(in crate::compile) struct Function<'a> {
    /// The text between the parentheses.
    pub parameters: &'a str,
    /// The text between the braces.
    pub body: &'a str,
}

impl<'a> Source<'a> {
    pub(in crate::compile) fn read(text: &'a str) -> Source<'a> {
        let mut source = Source::default();
        let mut code = tokens(text);
        code.retain(|token| {
            let is_directive = token.kind == Kind::Directive;
            if is_directive {
                source.directives.push(token.text);
            }
            !is_directive
        });
        source.calls.extend(calls(&code));
        for directive in &source.directives {
            // Without its `#`, the content of a directive consists of ordinary tokens.
            source.calls.extend(calls(&tokens(&directive[1..])));
        }
        let mut rest = &code[..];
        while !rest.is_empty() {
            rest = source.read_item(text, rest);
        }
        source
    }

    /// The names of the functions that the bodies of some functions call.
    pub(super) fn called(&self, by: impl Fn(&str) -> bool) -> BTreeSet<&'a str> {
        let callers = self.functions.iter().filter(|(name, _)| by(name));
        callers
            .flat_map(|(_, f)| calls(&tokens(f.body)).collect::<Vec<_>>())
            .collect()
    }

    /// Reads the first declaration or definition of `tokens` and returns the tokens after it.
    fn read_item<'t>(&mut self, text: &'a str, tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
        let Some(end) = tokens.iter().position(|t| t.is(";") || t.is("{")) else {
            return &[];
        };
        // The closing brace of `extern "C"` can precede a declaration.
        let head = &tokens[..end];
        let start = head.iter().take_while(|t| t.is("}")).count();
        let head = &head[start..];
        if tokens[end].is(";") {
            self.prototypes
                .extend(declarator(head).map(|(name, ..)| name));
            return &tokens[end + 1..];
        }
        if head.first().is_some_and(|token| token.text == "extern") && head.len() == 2 {
            return &tokens[end + 1..];
        }
        let length = block(text, &tokens[end..]);
        let close = (end + length).min(tokens.len() - 1);
        let body = &text[tokens[end].end()..tokens[close].at];
        if let [keyword, name] = head
            && keyword.text == "struct"
        {
            self.structs.entry(name.text).or_insert(body);
        } else if let Some((name, open, close)) = declarator(head) {
            let parameters = &text[open.end()..close.at];
            let function = Function { parameters, body };
            self.functions.entry(name).or_insert(function);
        }
        &tokens[close + 1..]
    }
}

/// The name of a function, and its parentheses, which end the head of a declaration.
fn declarator<'a, 't>(head: &'t [Token<'a>]) -> Option<(&'a str, &'t Token<'a>, &'t Token<'a>)> {
    let close = head.last().filter(|token| token.is(")"))?;
    let mut depth = 0;
    let open = head.iter().rposition(|token| {
        depth += i32::from(token.is(")")) - i32::from(token.is("("));
        depth == 0
    })?;
    let name = head[..open].last()?;
    (name.kind == Kind::Word).then_some((name.text, &head[open], close))
}

/// The index of the brace that closes the block at the beginning of `tokens`.
///
/// Braces need not be balanced, because directives can select between two beginnings of a block.
/// Therefore a brace at the beginning of a line always closes, as it does in all generated code.
fn block(text: &str, tokens: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate() {
        if token.is("{") {
            depth += 1;
        } else if token.is("}") {
            depth -= 1;
            let starts_line = token.at == 0 || text.as_bytes()[token.at - 1] == b'\n';
            let one_line = || !text[tokens[0].at..token.at].contains('\n');
            if starts_line || (depth == 0 && (one_line() || !is_function(text, &tokens[0]))) {
                return i;
            }
        }
    }
    tokens.len()
}

/// Whether a block belongs to a function, as opposed to an initialiser or a type.
fn is_function(text: &str, open: &Token<'_>) -> bool {
    text[..open.at].trim_end().ends_with(')')
}

/// The names in front of parentheses.
fn calls<'a>(tokens: &[Token<'a>]) -> impl Iterator<Item = &'a str> {
    let pairs = tokens.windows(2);
    let pairs = pairs.filter(|pair| pair[0].kind == Kind::Word && pair[1].is("("));
    pairs.map(|pair| pair[0].text)
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
        assert_eq!(source.functions["last"].parameters, "int b");
        assert!(source.functions["last"].body.contains("clSixth"));
        assert!(source.functions["f"].parameters.ends_with("(*g)(int)"));
        assert_eq!(source.structs["pair"].matches("int").count(), 2);
        assert_eq!(source.structs["empty"].trim(), "");
    }

    #[test]
    fn calls_are_found_outside_of_literals_and_comments() {
        let calls = Source::read(TEXT).calls;
        let calls: Vec<_> = calls.into_iter().filter(|c| c.starts_with("cl")).collect();
        assert_eq!(calls, ["clFirst", "clThird"]);
    }
}
