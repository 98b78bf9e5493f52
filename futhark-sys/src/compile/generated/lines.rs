//! The statements of generated functions that compute sizes, allocate, or check.

use std::ops::Range;
use std::slice::from_ref;

use futhark_manifest::Version;

use super::expr::Expr;
use super::token::identifier;
use crate::compile::error::Error;

/// A line of the generated C.
pub(in crate::compile) struct Line<'a> {
    pub text: &'a str,
    pub statement: Statement<'a>,
}

impl<'a> Line<'a> {
    pub(in crate::compile) fn indent(&self) -> &'a str {
        &self.text[..self.text.len() - self.text.trim_start().len()]
    }
}

/// The statement on a line. Values are `None` if they are not in a known form.
pub(in crate::compile) enum Statement<'a> {
    /// `int64_t name = value;`
    Define {
        name: &'a str,
        value: Option<Expr<'a>>,
    },
    /// `int64_t name;`
    Declare(&'a str),
    /// `name = value;`
    Assign {
        name: &'a str,
        value: Option<Expr<'a>>,
    },
    /// `tmp_offs_1 += length;`: the length of one part of a concatenation.
    Advance {
        offset: &'a str,
        length: &'a str,
    },
    /// A line that passes sizes to the runtime.
    Pass(Passed<'a>),
    /// `for (int64_t i_1 = 0; i_1 < count; i_1++) {`
    Loop {
        count: Option<Expr<'a>>,
        /// A fill with a value that needs no memory: the loop has no body, and its variable is a `nest_i`.
        is_empty: bool,
    },
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

/// What the runtime does with the sizes on a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::compile) enum Purpose {
    /// The bytes of an allocation, in its call or in the condition in front of it.
    Allocate,
    /// The iterations of a parallel loop of multicore or ispc.
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

/// Reads each line of `c_text`.
pub(in crate::compile) fn read<'a>(
    c_text: &'a str,
    version: &Version,
) -> Result<Vec<Line<'a>>, Error> {
    let mut in_struct = false;
    let lines = c_text.lines().map(|text| {
        if text.starts_with("struct ") || text.starts_with('}') {
            in_struct = text.ends_with('{');
        }
        let statement = statement(text, in_struct).map_err(|item| {
            let why = format!("the size in `{}` cannot be read", text.trim());
            Error::unsupported(version, item, &why)
        })?;
        Ok(Line { text, statement })
    });
    lines.collect()
}

/// The error is the name of the function that receives a size.
fn statement(line: &str, in_struct: bool) -> Result<Statement<'_>, &str> {
    if let Some(passed) = Passed::read(line)? {
        return Ok(Statement::Pass(passed));
    }
    let text = line.trim_start();
    let statement = field(text)
        .filter(|_| in_struct)
        .or_else(|| task(text))
        .or_else(|| define(text))
        .or_else(|| counted_loop(text))
        .or_else(|| advance(text))
        .or_else(|| test(text))
        .or_else(|| check(text))
        .or_else(|| Message::read(text).map(Statement::Message));
    Ok(statement.unwrap_or(Statement::Other))
}

fn define(text: &str) -> Option<Statement<'_>> {
    let text = text.strip_prefix("const ").unwrap_or(text);
    let code = text.strip_suffix(';')?;
    let (is_definition, code) = match code.strip_prefix("int64_t ") {
        Some(rest) => (true, rest),
        None => (false, code),
    };
    let (name, value) = match code.split_once(" = ") {
        Some((name, value)) => (name, Some(value)),
        None => (code, None),
    };
    if identifier(name) != name || name.is_empty() {
        return None;
    }
    match (is_definition, value) {
        (true, None) => Some(Statement::Declare(name)),
        (true, Some(value)) => {
            let value = Expr::parse(value);
            Some(Statement::Define { name, value })
        }
        (false, Some(value)) => {
            let value = Expr::parse(value);
            Some(Statement::Assign { name, value })
        }
        (false, None) => None,
    }
}

fn counted_loop(text: &str) -> Option<Statement<'_>> {
    let (name, code) = text.strip_prefix("for (int64_t ")?.split_once(" = 0; ")?;
    let code = code.strip_prefix(name)?.strip_prefix(" < ")?;
    let (count, end) = code.split_once("; ")?;
    let count = Expr::parse(count);
    let is_empty = name.starts_with("nest_i_") && end.ends_with("{ }");
    Some(Statement::Loop { count, is_empty })
}

fn field(text: &str) -> Option<Statement<'_>> {
    let name = text.strip_prefix("int64_t free_")?.strip_suffix(';')?;
    Some(Statement::Field(name))
}

/// `name += value;` and the like.
fn advance(text: &str) -> Option<Statement<'_>> {
    let (name, value) = text.strip_suffix(';')?.split_once("= ")?;
    let (name, is_sum) = match name.strip_suffix(" +") {
        Some(name) => (name, true),
        None => (name.trim_end_matches(['-', '*', '/', ' ']), false),
    };
    if identifier(name) != name {
        return None;
    }
    if is_sum && name.starts_with("tmp_offs_") {
        let (offset, length) = (name, value);
        return Some(Statement::Advance { offset, length });
    }
    Some(Statement::Assign { name, value: None })
}

fn task(text: &str) -> Option<Statement<'_>> {
    let (target, value) = text.strip_suffix(';')?.split_once(" = ")?;
    if let Some(name) = target.strip_prefix("int64_t ") {
        let task = value.strip_suffix(name)?.strip_suffix("->free_")?;
        return Some(Statement::Load { task, name });
    }
    let task = target.strip_suffix(value)?.strip_suffix(".free_")?;
    Some(Statement::Store { task, name: value })
}

fn test(text: &str) -> Option<Statement<'_>> {
    let code = text.strip_prefix("bool ")?.strip_suffix(';')?;
    let (name, condition) = code.split_once(" = ")?;
    Some(Statement::Test { name, condition })
}

fn check(text: &str) -> Option<Statement<'_>> {
    let condition = text.strip_prefix("if (!")?.strip_suffix(") {")?;
    Some(Statement::Check(condition))
}

/// The functions of the runtime that get sizes, and the places of these in their arguments.
const RECEIVERS: [(&str, Purpose, Range<usize>); 8] = [
    // memblock_alloc(ctx, &mem, SIZE, "mem")
    ("memblock_alloc(ctx, ", Purpose::Allocate, 1..2),
    ("memblock_alloc_device(ctx, ", Purpose::Allocate, 1..2),
    // lexical_realloc(ctx, &mem, &mem_cached_sizze, SIZE)
    ("lexical_realloc(ctx, ", Purpose::Allocate, 2..3),
    // futhark_mc_schedule_shim_1(ctx, &task, ITERATIONS)
    ("futhark_mc_schedule_shim_", Purpose::Iterate, 1..2),
    // futrts_builtinzhreplicate_i32(ctx, mem, COUNT, value)
    ("futrts_builtinzh", Purpose::Fill, 1..2),
    // gpu_kernel_f(ctx, GRID, GRID, GRID, BLOCK, BLOCK, BLOCK, SHARED, …)
    ("gpu_kernel_", Purpose::Launch, 0..7),
    // lmad_copy_4b(ctx, …, (int64_t []) {SHAPE, …})
    ("lmad_copy_", Purpose::Copy, 0..0),
    // if (mem_cached_sizze < SIZE) {
    ("_cached_sizze_", Purpose::Allocate, 0..0),
];

impl<'a> Passed<'a> {
    /// `None` if the line passes no size; the error is the function that receives one in an unknown form.
    pub(super) fn read(line: &'a str) -> Result<Option<Passed<'a>>, &'a str> {
        let code = line.strip_suffix(';').unwrap_or(line);
        if let Some((task, value)) = code.split_once(".iterations = ")
            && !task.contains('"')
        {
            let place = code.len() - value.len()..code.len();
            return Self::parse(line, "iterations", Purpose::Iterate, from_ref(&place));
        }
        for (function, purpose, places) in RECEIVERS {
            // Neither in a string nor in a longer name.
            let code = &line[..line.find('"').unwrap_or(line.len())];
            let is_part = |&(at, _): &(usize, &str)| {
                let before = code[..at].chars().next_back();
                !function.starts_with('_') && before.is_some_and(is_word)
            };
            let Some((at, _)) = code.match_indices(function).find(|found| !is_part(found)) else {
                continue;
            };
            let name = identifier(&line[at..]);
            if places.is_empty() && purpose == Purpose::Allocate {
                let size = line.find(" < ").zip(line.strip_suffix(") {"));
                let Some((less, code)) = size else { continue };
                let place = less + 3..code.len();
                return Self::parse(line, "lexical_realloc", purpose, from_ref(&place));
            }
            // Definitions and prototypes begin with a type.
            let Some(open) = line[at + name.len()..].strip_prefix("(ctx, ") else {
                continue;
            };
            let start = line.len() - open.len();
            let sizes = match purpose {
                Purpose::Copy => shape(line, start),
                _ => arguments(line, start).and_then(|all| Some(all.get(places)?.to_vec())),
            };
            return Self::parse(line, name, purpose, &sizes.ok_or(name)?);
        }
        Ok(None)
    }

    fn parse(
        line: &'a str,
        function: &'a str,
        purpose: Purpose,
        places: &[Range<usize>],
    ) -> Result<Option<Passed<'a>>, &'a str> {
        // The functions of the API multiply dimensions of existing arrays, which are valid.
        if places
            .iter()
            .any(|place| line[place.clone()].contains("->shape["))
        {
            return Ok(None);
        }
        let read = |place: &Range<usize>| Some((place.clone(), Expr::parse(&line[place.clone()])?));
        let sizes = places.iter().map(read).collect::<Option<_>>();
        let sizes = sizes.ok_or(function)?;
        Ok(Some(Passed { purpose, sizes }))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The arguments of a call, of which the first begins at `start`.
fn arguments(line: &str, start: usize) -> Option<Vec<Range<usize>>> {
    let mut arguments = Vec::new();
    let (mut depth, mut begin) = (0, start);
    let (mut in_string, mut escaped) = (false, false);
    for (i, c) in line[start..].char_indices().map(|(i, c)| (start + i, c)) {
        if c == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = c == '\\' && !escaped;
        if in_string {
            continue;
        }
        match c {
            ')' | '}' | ']' if depth == 0 => {
                arguments.push(begin..i);
                return Some(arguments);
            }
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(begin..i);
                begin = i + 2;
            }
            _ => {}
        }
    }
    None
}

/// The dimensions of a copy: the elements of the last argument, `(int64_t []) {n, m}`.
fn shape(line: &str, start: usize) -> Option<Vec<Range<usize>>> {
    let last = arguments(line, start)?.pop()?;
    let elements = line[last.clone()].strip_prefix("(int64_t []) {")?;
    arguments(line, last.end - elements.len())
}

impl<'a> Message<'a> {
    /// Reads `set_error(ctx, msgprintf("<format>", "<text>", (long long) <value>, "<text>" …`
    fn read(text: &'a str) -> Option<Message<'a>> {
        let mut rest = text.strip_prefix("set_error(ctx, msgprintf(\"")?;
        rest = rest.split_once("\", \"")?.1;
        let mut message = Message {
            text: String::new(),
            values: Vec::new(),
        };
        loop {
            let (text, after) = literal(rest)?;
            message.text.push_str(text);
            rest = after.strip_prefix(", ").unwrap_or(after);
            if let Some(value) = rest.strip_prefix("(long long) ") {
                let (value, after) = value.split_once(", ")?;
                message.text.push('%');
                message.values.push(value);
                rest = after;
            }
            match rest.strip_prefix('"') {
                Some(next) => rest = next,
                None => return Some(message),
            }
        }
    }
}

/// The text before the quote that ends a string literal, and the text after the quote.
fn literal(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::error::ErrorKind;

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
            let Err(error) = read(&text, &Version::new("0.26.1")) else {
                panic!("{line} is accepted")
            };
            assert_eq!(error.kind(), ErrorKind::Layout);
            for word in [function, "0.26.1", "UPGRADING.md"] {
                assert!(error.to_string().contains(word), "{error}");
            }
        }
        let derived = "if (memblock_alloc(ctx, &v->mem, arr->shape[2] * 4, \"v\"))";
        assert!(read(derived, &Version::new("0.26.1")).is_ok());
    }
}
