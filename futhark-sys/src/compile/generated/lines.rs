//! The statements of generated functions that compute sizes, allocate, or check.

use std::ops::Range;

use futhark_manifest::Version;

use super::expr::Expr;
use super::source::Source;
use super::token::{group, is_name, place, span, strip};
use crate::compile::error::Error;

/// A statement, or a line of other text.
pub(in crate::compile) struct Line<'a> {
    pub text: &'a str,
    /// The function of the program whose body the line belongs to.
    pub function: Option<&'a str>,
    pub tokens: Vec<&'a str>,
    pub statement: Statement<'a>,
}

impl<'a> Line<'a> {
    pub(in crate::compile) fn indent(&self) -> &'a str {
        &self.text[..self.text.len() - self.text.trim_start().len()]
    }
}

/// The statement on a line. Values are `None` if they are not in a known form.
pub(in crate::compile) enum Statement<'a> {
    Set(Set<'a>),
    /// `int64_t name;`
    Declare(&'a str),
    /// A line that passes sizes to the runtime.
    Pass(Passed<'a>),
    /// `for (int64_t i_1 = 0; i_1 < count; i_1++) {`: the count, and whether the loop is a fill with a value that needs
    /// no memory: it has no body, and its variable is a `nest_i`.
    Loop(Option<Expr<'a>>, bool),
    /// `int64_t free_name;` in a structure that passes variables to a task of multicore
    Field(&'a str),
    /// `task.free_name = name;`
    Store {
        task: &'a str,
        name: &'a str,
    },
    /// `int64_t name = task->free_name;`
    Load {
        task: &'a str,
        name: &'a str,
    },
    /// `bool name = condition;`
    Test {
        name: &'a str,
        condition: &'a str,
    },
    /// `if (!condition) {`
    Check(&'a str),
    /// `set_error(ctx, msgprintf(…`
    Message(Message<'a>),
    Other,
}

/// `int64_t name = value;`, `name = value;`, `name += value;` and the like.
pub(in crate::compile) struct Set<'a> {
    pub name: &'a str,
    pub is_definition: bool,
    pub operator: &'a str,
    pub value: Option<Expr<'a>>,
}

/// What the runtime does with the sizes on a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::compile) enum Purpose {
    /// The bytes of an allocation, in its call or in the condition in front of it.
    Allocate,
    /// The iterations of a parallel loop of multicore.
    Iterate,
    /// The elements that a function of a GPU backend fills.
    Fill,
    /// Grid, block and shared memory of a kernel.
    Launch,
    /// The shape of a copy.
    Copy,
}

/// The sizes on a line, and their places in its text, in order.
pub(in crate::compile) struct Passed<'a> {
    pub purpose: Purpose,
    pub sizes: Vec<(Range<usize>, Expr<'a>)>,
}

/// The message of a failed check.
pub(in crate::compile) struct Message<'a> {
    /// The text, with `%` in place of each number.
    pub text: String,
    /// The expressions of the numbers, in order.
    pub values: Vec<&'a str>,
}

pub(in crate::compile) fn read<'a>(
    source: &Source<'a>,
    version: &Version,
) -> Result<Vec<Line<'a>>, Error> {
    let mut rest = &source.tokens[..];
    let (mut in_struct, mut function) = (false, None);
    let mut physical = source.text.lines();
    let lines = std::iter::from_fn(|| {
        let first = physical.next()?;
        let start = place(source.text, first);
        let mut end = start + first.len();
        let mut count = 0;
        loop {
            let more = rest[count..].iter();
            count += more
                .take_while(|token| place(source.text, token) < end)
                .count();
            // The lines of the runtime's own statements are known.
            let is_of_program = function.is_some() || !first.starts_with(' ');
            let is_broken = is_of_program && is_broken(&rest[..count]);
            let Some(next) = is_broken.then(|| physical.next()).flatten() else {
                break;
            };
            end = place(source.text, next) + next.len();
        }
        let text = &source.text[start..end];
        let (own, after) = rest.split_at(count);
        let tokens = own.to_vec();
        rest = after;
        if text.starts_with("struct ") || text.starts_with('}') {
            in_struct = text.ends_with('{');
        }
        let statement = match Passed::read(text, &tokens) {
            Ok(None) => statement(text, &tokens, in_struct),
            Ok(Some(passed)) => Statement::Pass(passed),
            Err(receiver) => {
                let why = format!("the size in `{}` cannot be read", text.trim());
                return Some(Err(Error::unsupported(version, receiver, &why)));
            }
        };
        let (inside, next) = match function {
            Some(_) if text.starts_with('}') => (function, None),
            None if !text.starts_with(' ') => match function_of_program(&tokens) {
                begun if text.ends_with('}') => (begun, None),
                begun => (None, begun),
            },
            _ => (function, function),
        };
        function = next;
        Some(Ok(Line {
            text,
            function: inside,
            tokens,
            statement,
        }))
    });
    lines.collect()
}

/// Whether a statement goes on after these tokens: the compiler breaks lines of more than 8000 columns.
fn is_broken(tokens: &[&str]) -> bool {
    const INNER: [&str; 19] = [
        ",", "=", "?", "+", "-", "*", "/", "%", "&", "|", "^", "&&", "||", "==", "!=", "<", "<=",
        ">", ">=",
    ];
    let depth = tokens.iter().fold(0, |depth, token| {
        depth + i32::from(*token == "(") - i32::from(*token == ")")
    });
    depth > 0 || tokens.last().is_some_and(|last| INNER.contains(last))
}

/// The functions of a program, and the functions that it calls to fill arrays and launch kernels, which get
/// their checks when they are written.
const OF_PROGRAM: [&str; 5] = [
    "futhark_mc_*",
    "gpu_kernel_*",
    "futrts_builtinzh*",
    "init_constants",
    "free_constants",
];

/// Whether a function with this name and these parameters is one of the program.
pub(super) fn is_of_program(name: &str, parameters: &[&str]) -> bool {
    OF_PROGRAM.iter().any(|pattern| matches(pattern, name))
        || name.starts_with("futrts_")
            && parameters.starts_with(&["struct", "futhark_context", "*", "ctx"])
}

/// The function of the program whose definition begins with a line of these `tokens`.
fn function_of_program<'a>(tokens: &[&'a str]) -> Option<&'a str> {
    let open = tokens.iter().position(|token| *token == "(")?;
    let name = tokens[..open].last()?;
    let is_definition = open > 1 && tokens.last() != Some(&";");
    (is_definition && is_of_program(name, &tokens[open + 1..])).then_some(name)
}

const ASSIGNMENTS: [&str; 5] = ["=", "+=", "-=", "*=", "/="];

fn statement<'a>(line: &'a str, tokens: &[&'a str], in_struct: bool) -> Statement<'a> {
    let of_task = |field: &str, name: &str| field.strip_prefix("free_") == Some(name);
    let tokens = tokens.strip_prefix(&["const"]).unwrap_or(tokens);
    if let Some(([_], parts)) = strip(tokens, "set_error ( ctx , msgprintf ( $ ,") {
        return Statement::Message(Message::read(line, parts));
    }
    if let Some(([name, index], rest)) = strip(tokens, "for ( int64_t $ = 0 ; $ <")
        && name == index
    {
        let end = rest.iter().position(|token| *token == ";");
        let count = end.and_then(|end| Expr::parse(line, &rest[..end]));
        let is_empty = name.starts_with("nest_i_") && rest.ends_with(&["{", "}"]);
        return Statement::Loop(count, is_empty);
    }
    match *tokens {
        ["int64_t", name, ";"] => match name.strip_prefix("free_") {
            Some(name) if in_struct => Statement::Field(name),
            _ => Statement::Declare(name),
        },
        ["int64_t", name, "=", task, "->", field, ";"] if of_task(field, name) => {
            Statement::Load { task, name }
        }
        [task, ".", field, "=", name, ";"] if of_task(field, name) => {
            Statement::Store { task, name }
        }
        ["bool", name, "=", ref condition @ .., ";"] => {
            let condition = span(line, condition);
            Statement::Test { name, condition }
        }
        ["if", "(", "!", ref condition @ .., ")", "{"] => Statement::Check(span(line, condition)),
        _ => set(line, tokens).map_or(Statement::Other, Statement::Set),
    }
}

fn set<'a>(line: &'a str, tokens: &[&'a str]) -> Option<Set<'a>> {
    let assignment = tokens.strip_prefix(&["int64_t"]).unwrap_or(tokens);
    let is_definition = assignment.len() < tokens.len();
    let [name, operator, value @ .., ";"] = assignment else {
        return None;
    };
    let is_assigned = ASSIGNMENTS.contains(operator) && (*operator == "=" || !is_definition);
    (is_name(name) && is_assigned).then(|| Set {
        name,
        is_definition,
        operator,
        value: Expr::parse_value(line, value),
    })
}

/// The functions of the runtime that get sizes, and the places of these in their arguments after `ctx`.
pub(super) const RECEIVERS: [(&str, Purpose, Range<usize>); 6] = [
    // memblock_alloc(ctx, &mem, SIZE, "mem")
    ("memblock_alloc", Purpose::Allocate, 1..2),
    ("memblock_alloc_device", Purpose::Allocate, 1..2),
    // lexical_realloc(ctx, &mem, &mem_cached_sizze, SIZE)
    ("lexical_realloc", Purpose::Allocate, 2..3),
    // futrts_builtinzhreplicate_i32(ctx, mem, COUNT, value)
    ("futrts_builtinzh*", Purpose::Fill, 1..2),
    // gpu_kernel_f(ctx, GRID, GRID, GRID, BLOCK, BLOCK, BLOCK, SHARED, …)
    ("gpu_kernel_*", Purpose::Launch, 0..7),
    // lmad_copy_4b(ctx, …, (int64_t []) {SHAPE, …})
    ("lmad_copy_*", Purpose::Copy, 0..0),
];

/// Whether a name is `pattern`, in which `*` stands for any end.
pub(in crate::compile) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

impl<'a> Passed<'a> {
    /// `None` if the line passes no size; the error is the function that receives one in an unknown form.
    fn read(line: &'a str, tokens: &[&'a str]) -> Result<Option<Passed<'a>>, &'a str> {
        match tokens {
            // if (mem_cached_sizze < SIZE) {
            ["if", "(", name, "<", size @ .., ")", "{"] if name.contains("_cached_sizze_") => {
                return Self::parse(line, "lexical_realloc", Purpose::Allocate, &[size]);
            }
            [task @ .., ";"] => {
                let field = [".", "iterations", "="];
                if let Some(at) = task.windows(3).position(|tokens| tokens == field) {
                    return Self::parse(line, "iterations", Purpose::Iterate, &[&task[at + 3..]]);
                }
            }
            _ => {}
        }
        for (i, name) in tokens.iter().enumerate() {
            let receiver = RECEIVERS
                .iter()
                .find(|(pattern, ..)| matches(pattern, name));
            // Definitions and prototypes begin with a type.
            if let (Some((_, purpose, places)), ["(", "ctx", ",", list @ ..]) =
                (receiver, &tokens[i + 1..])
            {
                let mut arguments = arguments(list).ok_or(*name)?;
                let sizes = match purpose {
                    Purpose::Copy => match arguments.pop() {
                        Some(["(", "int64_t", "[", "]", ")", "{", shape @ ..]) => {
                            self::arguments(shape)
                        }
                        _ => None,
                    },
                    _ => arguments.get(places.clone()).map(<[_]>::to_vec),
                };
                return Self::parse(line, name, *purpose, &sizes.ok_or(*name)?);
            }
        }
        Ok(None)
    }

    fn parse(
        line: &'a str,
        receiver: &'a str,
        purpose: Purpose,
        sizes: &[&[&'a str]],
    ) -> Result<Option<Passed<'a>>, &'a str> {
        // The functions of the API multiply dimensions of existing arrays, which are valid.
        let is_dimension = |tokens: &[&str]| tokens == ["->", "shape", "["];
        if sizes.iter().any(|size| size.windows(3).any(is_dimension)) {
            return Ok(None);
        }
        let read = |size: &&[&'a str]| {
            let start = place(line, size.first()?);
            let place = start..start + span(line, size).len();
            Some((place, Expr::parse(line, size)?))
        };
        let sizes = sizes.iter().map(read).collect::<Option<_>>();
        let sizes = sizes.ok_or(receiver)?;
        Ok(Some(Passed { purpose, sizes }))
    }
}

/// The elements of a list, up to the bracket that closes it.
pub(in crate::compile) fn arguments<'t, 'a>(list: &'t [&'a str]) -> Option<Vec<&'t [&'a str]>> {
    let mut arguments = Vec::new();
    let (mut begin, mut at) = (0, 0);
    loop {
        match *list.get(at)? {
            end @ ("," | ")" | "}" | "]") => {
                arguments.push(&list[begin..at]);
                if end != "," {
                    return Some(arguments);
                }
                at += 1;
                begin = at;
            }
            _ => at += group(&list[at..])?,
        }
    }
}

impl<'a> Message<'a> {
    /// Reads the arguments after the format in `set_error(ctx, msgprintf("<format>", "<text>", (long long) <value>, "<text>" …`
    fn read(line: &'a str, mut tokens: &[&'a str]) -> Message<'a> {
        let (mut text, mut values) = (String::new(), Vec::new());
        loop {
            tokens = match tokens {
                [literal, rest @ ..] if literal.starts_with('"') => {
                    text.push_str(&literal[1..literal.len() - 1]);
                    rest
                }
                [",", "(", "long", "long", ")", rest @ ..] => {
                    let end = rest
                        .iter()
                        .position(|token| *token == ",")
                        .unwrap_or(rest.len());
                    text.push('%');
                    values.push(span(line, &rest[..end]));
                    &rest[end..]
                }
                [",", rest @ ..] => rest,
                _ => return Message { text, values },
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_statement_is_one() {
        let head = "int futrts_f_1(struct futhark_context *ctx,\n        int64_t n_3)";
        let launch = "    err = gpu_kernel_f_2(ctx, n_3, 1, 1, n_4 *\n        m_5, 1, 1, (int64_t) 0, n_6,\n        mem_7.mem);";
        let definition = format!("{head}\n{{\n{launch}\n}}\n");
        let lines = read(&Source::read(&definition), &Version::new("0.26.1")).unwrap();
        let texts: Vec<_> = lines.iter().map(|line| line.text).collect();
        assert_eq!(texts, [head, "{", launch, "}"]);
        assert!(matches!(&lines[2].statement, Statement::Pass(passed) if passed.sizes.len() == 7));
        assert_eq!(lines[2].function, Some("futrts_f_1"));

        // A prototype begins no function.
        let prototype = format!("{head};\nint other(int x)\n{{\n    x = 1;\n}}\n");
        let lines = read(&Source::read(&prototype), &Version::new("0.26.1")).unwrap();
        assert!(lines.iter().all(|line| line.function.is_none()));
    }

    #[test]
    fn an_allocation_with_an_unknown_size_is_refused() {
        for (line, function) in [
            (
                "memblock_alloc(ctx, &mem_1, n_2 << 3, \"mem_1\")",
                "memblock_alloc",
            ),
            (
                "memblock_alloc_device(ctx, &mem_1)",
                "memblock_alloc_device",
            ),
            ("lexical_realloc(ctx, &mem_1)", "lexical_realloc"),
            (
                "if (mem_1_cached_sizze_2 < n_3 ? 1 : 2) {",
                "lexical_realloc",
            ),
        ] {
            let text = format!("    int64_t n_2 = (int64_t) 1;\n    {line}\n");
            let Err(error) = read(&Source::read(&text), &Version::new("0.26.1")) else {
                panic!("{line} is accepted")
            };
            error.refuses_a_form_of_0_26_1(&[function]);
        }
        let derived = "if (memblock_alloc(ctx, &v->mem, arr->shape[2] * 4, \"v\"))";
        assert!(read(&Source::read(derived), &Version::new("0.26.1")).is_ok());
    }
}
