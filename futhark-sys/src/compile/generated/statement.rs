//! The statements of the functions of a program.
//!
//! One pretty printer writes them, in few forms. A statement in another form is an error, so that no rule of `unit` overlooks
//! it.

use std::collections::BTreeMap;

use futhark_manifest::Version;

use super::expr::{Expr, Parser, begins_type};
use super::source::Source;
use super::token::{is_directive, is_name, place, span, tokens};
use crate::compile::error::Error;

/// A function of the program.
pub(in crate::compile) struct Function<'a> {
    pub name: &'a str,
    pub parameters: Vec<&'a str>,
    pub body: Vec<Statement<'a>>,
}

/// A statement. Its text is a slice of the file, which gives its place.
pub(in crate::compile) struct Statement<'a> {
    pub text: &'a str,
    pub kind: Kind<'a>,
}

pub(in crate::compile) enum Kind<'a> {
    Block(Vec<Statement<'a>>),
    /// Also `while`; the second statement follows `else`.
    If(Expr<'a>, Vec<Statement<'a>>),
    For(Loop<'a>),
    Declare {
        ty: &'a str,
        name: &'a str,
        value: Option<Expr<'a>>,
    },
    Assign {
        target: Expr<'a>,
        operator: &'a str,
        value: Expr<'a>,
    },
    /// A call, or `(void) x`.
    Evaluate(Expr<'a>),
    Return(Option<Expr<'a>>),
    /// `goto`, a label, or nothing.
    Jump,
}

/// `for (int64_t variable = from; variable < to; variable++) body`
pub(in crate::compile) struct Loop<'a> {
    pub variable: &'a str,
    pub from: Expr<'a>,
    pub to: Expr<'a>,
    pub body: Box<Statement<'a>>,
}

/// The functions of a program, and the functions that it calls to fill arrays and launch kernels. `*` stands for any end
/// of a name.
const OF_PROGRAM: [&str; 5] = [
    "futhark_mc_*",
    "gpu_kernel_*",
    "futrts_builtinzh*",
    "init_constants",
    "free_constants",
];

/// Whether a function with this name and these parameters is one of the program.
pub(in crate::compile) fn is_of_program(name: &str, parameters: &[&str]) -> bool {
    OF_PROGRAM.iter().any(|pattern| matches(pattern, name))
        || name.starts_with("futrts_")
            && parameters.starts_with(&["struct", "futhark_context", "*", "ctx"])
}

/// Whether a name is `pattern`, in which `*` stands for any end.
pub(in crate::compile) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// Parses the functions for which `is_wanted` holds.
pub(in crate::compile) fn functions<'a>(
    source: &Source<'a>,
    version: &Version,
    is_wanted: impl Fn(&str, &[&str]) -> bool,
) -> Result<Vec<Function<'a>>, Error> {
    let functions = source.functions.iter();
    let wanted = functions.filter(|(name, function)| is_wanted(name, &function.parameters));
    let parsed = wanted.map(|(name, function)| {
        let fail = |what: &str, item: &str| {
            let why = format!("a {what} of `{name}` is not in a known form");
            Error::unsupported(version, item, &why)
        };
        if let Some(directive) = unknown_directive(&function.body) {
            return Err(fail("directive", directive));
        }
        let code = function.body.iter().copied();
        let code: Vec<&str> = code.filter(|token| !is_directive(token)).collect();
        let (text, rest) = (source.text, &code[..]);
        let (mut parser, mut body) = (Parser { text, rest }, Vec::new());
        while let Some(first) = parser.rest.first() {
            let Some(statement) = parser.statement() else {
                let end = place(text, parser.rest.first().unwrap_or(first));
                let start = text[..end].rfind('\n').map_or(0, |start| start + 1);
                let line = text[start..].lines().next().unwrap_or_default();
                return Err(fail("statement", line.trim()));
            };
            body.push(statement);
        }
        let parameters = function.parameters.clone();
        Ok(Function {
            name,
            parameters,
            body,
        })
    });
    parsed.collect()
}

/// A directive in the function that neither gives a field of `struct constants` a short name, `#define x_1 (ctx->constants->x_1)`,
/// nor encloses the sum of a result and a number that only ISPC has.
fn unknown_directive<'a>(body: &[&'a str]) -> Option<&'a str> {
    let definition = |name: &str| format!("#define {name} (ctx->constants->{name})");
    let is_known = |at: usize| match tokens(&body[at][1..])[..] {
        ["define", name, ..] => body[at] == definition(name),
        // Of nothing else: it could remove one of our macros.
        ["undef", name] => body.contains(&&*definition(name)),
        ["if", "defined", "(", "ISPC", ")"] => {
            matches!(body[at + 1..], [_, ".", _, "+=", "programIndex", ";", ..])
        }
        ["endif"] => true,
        _ => false,
    };
    let mut directives = (0..body.len()).filter(|&at| is_directive(&body[at]));
    directives.find(|&at| !is_known(at)).map(|at| body[at])
}

impl<'a> Function<'a> {
    /// Calls `visit` with all statements, in the order of the text.
    pub(in crate::compile) fn visit<'s>(&'s self, visit: &mut impl FnMut(&'s Statement<'a>)) {
        self.body
            .iter()
            .for_each(|statement| statement.visit(visit));
    }

    /// All statements, in the order of the text.
    pub(in crate::compile) fn statements(&self) -> Vec<&Statement<'a>> {
        let mut all = Vec::new();
        self.visit(&mut |statement| all.push(statement));
        all
    }

    /// The types of parameters and variables, by name; the last word of a type of several.
    pub(in crate::compile) fn types(&self) -> BTreeMap<&'a str, &'a str> {
        let words = self.parameters.windows(2);
        let parameters = words.filter(|words| is_name(words[0]));
        let mut types: BTreeMap<_, _> = parameters.map(|words| (words[1], words[0])).collect();
        for statement in self.statements() {
            if let Kind::Declare { ty, name, .. } = &statement.kind {
                types.insert(name, ty);
            }
        }
        types
    }
}

impl<'a> Statement<'a> {
    /// The statements in this one.
    pub(in crate::compile) fn inner(&self) -> &[Statement<'a>] {
        match &self.kind {
            Kind::Block(inner) | Kind::If(_, inner) => inner,
            Kind::For(Loop { body, .. }) => std::slice::from_ref(body),
            _ => &[],
        }
    }

    /// The statements of a block, or the statement itself.
    pub(in crate::compile) fn as_block(&self) -> &[Statement<'a>] {
        match &self.kind {
            Kind::Block(inner) => inner,
            _ => std::slice::from_ref(self),
        }
    }

    /// The expressions outside of inner statements.
    pub(in crate::compile) fn expressions(&self) -> Vec<&Expr<'a>> {
        match &self.kind {
            Kind::If(value, _) | Kind::Evaluate(value) => vec![value],
            Kind::For(Loop { from, to, .. }) => vec![from, to],
            Kind::Assign { target, value, .. } => vec![target, value],
            Kind::Declare { value, .. } | Kind::Return(value) => value.iter().collect(),
            Kind::Block(_) | Kind::Jump => Vec::new(),
        }
    }

    /// Calls `visit` with this statement and all statements in it, in the order of the text.
    pub(in crate::compile) fn visit<'s>(&'s self, visit: &mut impl FnMut(&'s Statement<'a>)) {
        visit(self);
        self.inner().iter().for_each(|inner| inner.visit(visit));
    }

    /// The first thing that `found` returns for an expression in this statement and the statements in it.
    pub(in crate::compile) fn find<'s, T>(
        &'s self,
        found: &mut impl FnMut(&'s Expr<'a>) -> Option<T>,
    ) -> Option<T> {
        let own = self.expressions().into_iter().find_map(|e| e.find(found));
        own.or_else(|| self.inner().iter().find_map(|inner| inner.find(found)))
    }

    /// The expressions outside of inner statements and all their parts, in the order of the text.
    pub(in crate::compile) fn parts(&self) -> Vec<&Expr<'a>> {
        let mut all = Vec::new();
        for expr in self.expressions() {
            expr.find(&mut |part| {
                all.push(part);
                None::<()>
            });
        }
        all
    }

    /// The variable that gets a value, the operator, and the value.
    pub(in crate::compile) fn set(&self) -> Option<(&'a str, &'a str, &Expr<'a>)> {
        match &self.kind {
            Kind::Declare { name, value, .. } => Some((name, "=", value.as_ref()?)),
            Kind::Assign {
                target,
                operator,
                value,
            } => Some((target.name()?, operator, value)),
            _ => None,
        }
    }
}

impl<'a> Parser<'_, 'a> {
    fn statement(&mut self) -> Option<Statement<'a>> {
        let start = self.rest;
        let kind = self.kind()?;
        let text = self.since(start);
        Some(Statement { text, kind })
    }

    fn kind(&mut self) -> Option<Kind<'a>> {
        let first = *self.rest.first()?;
        match self.rest {
            [";", rest @ ..]
            | ["cleanup" | "end", ":", rest @ ..]
            | ["goto", "cleanup" | "end", ";", rest @ ..] => {
                self.rest = rest;
                Some(Kind::Jump)
            }
            ["{", rest @ ..] => {
                self.rest = rest;
                let mut inner = Vec::new();
                while !self.take("}") {
                    inner.push(self.statement()?);
                }
                Some(Kind::Block(inner))
            }
            ["if" | "while", rest @ ..] => {
                self.rest = rest;
                let condition = self.parenthesized()?;
                let mut inner = vec![self.statement()?];
                if first == "if" && self.take("else") {
                    inner.push(self.statement()?);
                }
                Some(Kind::If(condition, inner))
            }
            ["for", "(", ty, variable, "=", rest @ ..] if begins_type(ty) => {
                self.rest = rest;
                let from = self.expr()?;
                self.skip(&[";", variable, "<"])?;
                let to = self.expr()?;
                self.skip(&[";", variable, "++", ")"])?;
                let body = Box::new(self.statement()?);
                Some(Kind::For(Loop {
                    variable,
                    from,
                    to,
                    body,
                }))
            }
            _ => {
                let kind = self.simple()?;
                self.skip(&[";"])?;
                Some(kind)
            }
        }
    }

    /// A statement in front of a semicolon.
    fn simple(&mut self) -> Option<Kind<'a>> {
        if self.take("return") {
            let value = match self.rest.first() {
                Some(&";") => None,
                _ => Some(self.expr()?),
            };
            return Some(Kind::Return(value));
        }
        if begins_type(self.rest.first()?) {
            return self.declaration();
        }
        let target = self.expr()?;
        let Some(operator) = self.take_one(&["=", "+=", "-=", "*="]) else {
            let is_known = !matches!(target.kind, super::expr::Kind::Operation(..));
            return is_known.then_some(Kind::Evaluate(target));
        };
        let value = self.expr()?;
        Some(Kind::Assign {
            target,
            operator,
            value,
        })
    }

    fn declaration(&mut self) -> Option<Kind<'a>> {
        let is_type = |token: &&&str| is_name(token) || **token == "*";
        let words = self.rest.iter().take_while(is_type).count();
        let (words, rest) = self.rest.split_at(words);
        self.rest = match rest {
            // Arrays have a constant size.
            ["[", size, "]", rest @ ..] if size.bytes().all(|byte| byte.is_ascii_digit()) => rest,
            rest => rest,
        };
        let (name, ty) = words.split_last()?;
        let value = match self.take("=") {
            true => Some(self.expr()?),
            false => None,
        };
        let is_known = is_name(name) && !ty.is_empty();
        is_known.then(|| Kind::Declare {
            ty: span(self.text, ty),
            name,
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_directive_is_refused_anywhere_in_a_function() {
        let text = "int init_constants(struct futhark_context *ctx)\n{\n#define x_1 (ctx->constants->x_1)\n  int err = 0;\n  \
             ;\n  return err;\n#undef x_1\n}\n";
        let (known, version) = (
            "#define x_1 (ctx->constants->x_1)\n",
            Version::new("0.26.1"),
        );
        let parse = |text: &str| {
            let parsed = functions(&Source::read(text), &version, is_of_program);
            parsed.map(|functions| functions[0].body.len())
        };
        assert_eq!(parse(text).unwrap(), 3);
        for place in [known, "  ;\n", "#undef x_1\n"] {
            for directive in ["#undef fut_times", "#define y_2 1", "#pragma omp parallel"] {
                let with = format!("{directive}\n{place}");
                let error = parse(&text.replace(place, &with)).unwrap_err();
                error.refuses_a_form_of_0_26_1(&[directive, "a directive"]);
            }
        }
    }
}
