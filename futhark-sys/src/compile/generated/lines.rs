//! The statements of generated functions that compute sizes, allocate, or check.

use futhark_manifest::Version;

use super::expr::Expr;
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

/// The statement on a line.
pub(in crate::compile) enum Statement<'a> {
    /// `int64_t name = value;`
    Define {
        name: &'a str,
        value: Expr<'a>,
    },
    /// `tmp_offs_1 += length;`: the length of one part of a concatenation.
    Advance {
        offset: &'a str,
        length: &'a str,
    },
    /// A call that allocates, or the condition in front of it.
    Allocate(Allocation<'a>),
    /// `int64_t free_name;`: a variable of a task of multicore.
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
    /// `bool name = a == b;`
    Compare {
        name: &'a str,
        values: [&'a str; 2],
    },
    /// `if (!condition) {`
    Check(&'a str),
    /// `set_error(ctx, msgprintf(…`
    Message(Message<'a>),
    Other,
}

/// An allocation: its size, and the text of the line before and after it.
pub(in crate::compile) struct Allocation<'a> {
    pub before: &'a str,
    pub size: Expr<'a>,
    pub after: &'a str,
}

/// The message of a failed check.
pub(in crate::compile) struct Message<'a> {
    /// The text, with `%` in place of each number.
    pub text: String,
    /// The expressions of the numbers, in order.
    pub values: Vec<&'a str>,
}

/// Reads each line of `c_text`.
pub(super) fn read<'a>(c_text: &'a str, version: &Version) -> Result<Vec<Line<'a>>, Error> {
    let lines = c_text.lines().map(|text| {
        let statement = statement(text).map_err(|item| {
            let why = format!("the size in `{}` cannot be read", text.trim());
            Error::unsupported(version, item, &why)
        })?;
        Ok(Line { text, statement })
    });
    lines.collect()
}

/// The error is the name of the function that allocates.
fn statement(line: &str) -> Result<Statement<'_>, &'static str> {
    if let Some(allocation) = Allocation::read(line)? {
        return Ok(Statement::Allocate(allocation));
    }
    let text = line.trim_start();
    let statement = define(text)
        .or_else(|| advance(text))
        .or_else(|| task(text))
        .or_else(|| compare(text))
        .or_else(|| check(text))
        .or_else(|| Message::read(text).map(Statement::Message));
    Ok(statement.unwrap_or(Statement::Other))
}

fn define(text: &str) -> Option<Statement<'_>> {
    let text = text.strip_prefix("const ").unwrap_or(text);
    let (name, value) = text.strip_prefix("int64_t ")?.split_once(" = ")?;
    let value = Expr::parse(value.strip_suffix(';')?)?;
    Some(Statement::Define { name, value })
}

fn advance(text: &str) -> Option<Statement<'_>> {
    let (offset, length) = text.strip_suffix(';')?.split_once(" += ")?;
    let is_offset = offset.starts_with("tmp_offs_");
    is_offset.then_some(Statement::Advance { offset, length })
}

fn task(text: &str) -> Option<Statement<'_>> {
    let text = text.strip_suffix(';')?;
    if let Some(name) = text.strip_prefix("int64_t free_") {
        return Some(Statement::Field(name));
    }
    let (target, value) = text.split_once(" = ")?;
    if let Some(name) = target.strip_prefix("int64_t ") {
        let task = value.strip_suffix(name)?.strip_suffix("->free_")?;
        return Some(Statement::Load { task, name });
    }
    let task = target.strip_suffix(value)?.strip_suffix(".free_")?;
    Some(Statement::Store { task, name: value })
}

fn compare(text: &str) -> Option<Statement<'_>> {
    let (name, value) = text.strip_prefix("bool ")?.split_once(" = ")?;
    let (a, b) = value.trim_end_matches(';').split_once(" == ")?;
    let values = [a, b];
    Some(Statement::Compare { name, values })
}

fn check(text: &str) -> Option<Statement<'_>> {
    let condition = text.strip_prefix("if (!")?.strip_suffix(") {")?;
    Some(Statement::Check(condition))
}

impl<'a> Allocation<'a> {
    fn read(line: &'a str) -> Result<Option<Allocation<'a>>, &'static str> {
        let Some((function, size)) = Self::size(line) else {
            return Ok(None);
        };
        let (start, end) = size.ok_or(function)?;
        let size = line.get(start..end).ok_or(function)?;
        match Expr::parse(size) {
            Some(expr) => Ok(Some(Allocation {
                before: &line[..start],
                size: expr,
                after: &line[end..],
            })),
            // The functions of the API multiply dimensions of existing arrays, which are valid.
            None if size.contains("->shape[") => Ok(None),
            None => Err(function),
        }
    }

    /// The function that allocates on this line, and the range of the size.
    fn size(line: &str) -> Option<(&'static str, Option<(usize, usize)>)> {
        // The arguments of calls are separated by a comma and a space.
        let argument = |call: usize, n: usize| {
            let (at, _) = line[call..].match_indices(", ").nth(n)?;
            Some(call + at + 2)
        };
        if let Some(call) = line.find("lexical_realloc(ctx, ") {
            // lexical_realloc(ctx, &mem, &mem_cached_sizze, SIZE)
            let range = argument(call, 2).zip(line.rfind(')'));
            return Some(("lexical_realloc", range));
        }
        if line.contains("_cached_sizze_")
            && let Some(less) = line.find(" < ")
        {
            // if (mem_cached_sizze < SIZE) {
            let end = line.strip_suffix(") {").map(str::len);
            return Some(("lexical_realloc", end.map(|end| (less + 3, end))));
        }
        for function in ["memblock_alloc", "memblock_alloc_device"] {
            if let Some(call) = line.find(&format!("{function}(ctx, ")) {
                // memblock_alloc(ctx, &mem, SIZE, "mem")
                let range = argument(call, 1).zip(line.rfind(", \""));
                return Some((function, range));
            }
        }
        None
    }
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
                "memblock_alloc_device(ctx, &mem_1, n_2)",
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
