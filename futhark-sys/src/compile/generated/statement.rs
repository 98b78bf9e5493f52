//! The statements of the functions of a program.
//!
//! One pretty printer writes them, in few forms. A statement in another form is an error, so that no rule of `unit` overlooks
//! it.

use std::collections::BTreeMap;

use futhark_manifest::Version;

use super::expr::{Expr, begins_type};
use super::source::Source;
use super::token::{group, is_name, place, span, tokens};
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
        if let Some(directive) = unknown_directive(source, &function.body) {
            let why = format!("a directive in `{name}` is not in a known form");
            return Err(Error::unsupported(version, directive, &why));
        }
        let mut parser = Parser {
            text: source.text,
            rest: &function.body,
        };
        Ok(Function {
            name,
            parameters: function.parameters.clone(),
            body: parser.statements().map_err(|rest| {
                let line = &source.text[place(source.text, rest)..];
                let line = line.lines().next().unwrap_or_default();
                let why = format!("a statement of `{name}` is not in a known form");
                Error::unsupported(version, line, &why)
            })?,
        })
    });
    parsed.collect()
}

/// A directive in the function that neither gives a field of `struct constants` a short name, `#define x_1 (ctx->constants->x_1)`,
/// nor encloses the sum of a result and a number that only ISPC has.
fn unknown_directive<'a>(source: &Source<'a>, body: &[&'a str]) -> Option<&'a str> {
    let (first, last) = (body.first()?, body.last()?);
    let body = place(source.text, first)..place(source.text, last);
    // `#undef` of nothing else: it could remove one of our macros.
    let is_constant = |name: &str| {
        let definition = format!("#define {name} (ctx->constants->{name})");
        source.directives.iter().any(|other| *other == definition)
    };
    let is_known = |directive: &str| match *tokens(&directive[1..]) {
        [
            "define",
            name,
            "(",
            "ctx",
            "->",
            "constants",
            "->",
            field,
            ")",
        ] => name == field && is_constant(name),
        ["undef", name] => is_constant(name),
        ["if", "defined", "(", "ISPC", ")"] | ["endif"] => {
            let rest = &source.text[place(source.text, directive) + directive.len()..];
            let statement = rest.split('#').next().unwrap_or_default();
            *directive == *"#endif"
                || matches!(
                    tokens(statement)[..],
                    [_, ".", _, "+=", "programIndex", ";"]
                )
        }
        _ => false,
    };
    let mut directives = source.directives.iter().copied();
    directives
        .find(|directive| body.contains(&place(source.text, directive)) && !is_known(directive))
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

struct Parser<'t, 'a> {
    text: &'a str,
    rest: &'t [&'a str],
}

/// The error is the first token of what cannot be parsed.
type Parsed<'a, T> = Result<T, &'a str>;

impl<'t, 'a> Parser<'t, 'a> {
    fn statements(&mut self) -> Parsed<'a, Vec<Statement<'a>>> {
        let mut statements = Vec::new();
        while !self.rest.is_empty() {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<'a, Statement<'a>> {
        let start = self.rest;
        let first = *start.first().ok_or(self.text)?;
        let kind = self.kind(first).ok_or(first);
        let kind = kind.and_then(|kind| kind)?;
        let text = span(self.text, &start[..start.len() - self.rest.len()]);
        let statement = Statement { text, kind };
        let mut expressions = statement.expressions().into_iter();
        match expressions.all(Expr::has_no_assignment) {
            true => Ok(statement),
            false => Err(first),
        }
    }

    /// `None` if the statement is not in a known form.
    fn kind(&mut self, first: &'a str) -> Option<Parsed<'a, Kind<'a>>> {
        let start = self.rest;
        Some(Ok(match *start {
            [";", ..] => {
                self.rest = &start[1..];
                Kind::Jump
            }
            ["cleanup" | "end", ":", ..] => {
                self.rest = &start[2..];
                Kind::Jump
            }
            ["goto", "cleanup" | "end", ";", ..] => {
                self.rest = &start[3..];
                Kind::Jump
            }
            ["{", ..] => {
                let mut inner = self.within("{")?;
                match inner.statements() {
                    Ok(statements) => Kind::Block(statements),
                    Err(wrong) => return Some(Err(wrong)),
                }
            }
            ["if" | "while", ..] => {
                self.rest = &start[1..];
                let condition = self.within("(")?.all()?;
                let mut inner = vec![match self.statement() {
                    Ok(statement) => statement,
                    Err(wrong) => return Some(Err(wrong)),
                }];
                if first == "if" && self.rest.first() == Some(&"else") {
                    self.rest = &self.rest[1..];
                    inner.push(match self.statement() {
                        Ok(statement) => statement,
                        Err(wrong) => return Some(Err(wrong)),
                    });
                }
                Kind::If(condition, inner)
            }
            ["for", ..] => {
                self.rest = &start[1..];
                let mut head = self.within("(")?;
                let [from, condition, step] = [head.until(";")?, head.until(";")?, head.rest];
                let [ty, variable, "=", from @ ..] = from else {
                    return None;
                };
                let [compared, "<", to @ ..] = condition else {
                    return None;
                };
                if !begins_type(ty) || compared != variable || step != [*variable, "++"] {
                    return None;
                }
                let parse = |tokens| Expr::parse(self.text, tokens);
                let (from, to) = (parse(from)?, parse(to)?);
                let body = match self.statement() {
                    Ok(statement) => Box::new(statement),
                    Err(wrong) => return Some(Err(wrong)),
                };
                Kind::For(Loop {
                    variable,
                    from,
                    to,
                    body,
                })
            }
            _ => self.simple()?,
        }))
    }

    /// A statement that ends with a semicolon.
    fn simple(&mut self) -> Option<Kind<'a>> {
        let tokens = self.until(";")?;
        let parse = |tokens| Expr::parse(self.text, tokens);
        if let ["return", value @ ..] = tokens {
            let value = match value.is_empty() {
                true => None,
                false => Some(parse(value)?),
            };
            return Some(Kind::Return(value));
        }
        let is_declaration = match tokens {
            [ty, name, ..] if is_name(ty) && is_name(name) => true,
            [ty, "*", name] | [ty, "*", name, "=", ..] => is_name(ty) && is_name(name),
            _ => begins_type(tokens.first()?),
        };
        if is_declaration {
            return self.declaration(tokens);
        }
        let value = parse(tokens)?;
        let super::expr::Kind::Operation(operator, parts) = value.kind else {
            return Some(Kind::Evaluate(value));
        };
        let is_assignment =
            operator.ends_with('=') && !matches!(operator, "==" | "!=" | "<=" | ">=");
        let [target, value] = <[_; 2]>::try_from(parts).ok()?;
        is_assignment.then_some(Kind::Assign {
            target,
            operator,
            value,
        })
    }

    fn declaration(&self, tokens: &[&'a str]) -> Option<Kind<'a>> {
        let equals = tokens.iter().position(|token| *token == "=");
        let (head, value) = tokens.split_at(equals.unwrap_or(tokens.len()));
        let value = match value {
            [] => None,
            value => Some(Expr::parse(self.text, &value[1..])?),
        };
        // The type and the name; arrays have a constant size behind it.
        let head = match head {
            [head @ .., "[", size, "]"] if size.bytes().all(|byte| byte.is_ascii_digit()) => head,
            head => head,
        };
        let (name, ty) = head.split_last()?;
        let is_type = |token: &&str| is_name(token) || *token == "*";
        let is_known =
            is_name(name) && !ty.is_empty() && ty.iter().all(is_type) && ty[0] != "static";
        is_known.then(|| Kind::Declare {
            ty: span(self.text, ty),
            name,
            value,
        })
    }

    /// All remaining tokens as an expression.
    fn all(&self) -> Option<Expr<'a>> {
        Expr::parse(self.text, self.rest)
    }

    /// The tokens up to `end` outside of brackets, which is skipped.
    fn until(&mut self, end: &str) -> Option<&'t [&'a str]> {
        let mut at = 0;
        while *self.rest.get(at)? != end {
            at += group(&self.rest[at..])?;
        }
        let (tokens, rest) = self.rest.split_at(at);
        self.rest = &rest[1..];
        Some(tokens)
    }

    /// A parser of the tokens in the brackets at the beginning, which are skipped.
    fn within(&mut self, open: &str) -> Option<Parser<'t, 'a>> {
        let end = group(self.rest).filter(|_| self.rest.first() == Some(&open))?;
        let (tokens, rest) = self.rest.split_at(end);
        self.rest = rest;
        let text = self.text;
        let rest = &tokens[1..end - 1];
        Some(Parser { text, rest })
    }
}
