//! The text of a program: its entry points, their inputs, and what the interpreter answers.

use anyhow::{Context as _, Result, ensure};
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// The time for all calls of a program, in seconds.
const LIMIT: &str = "10";

/// An entry point, whose types are as `generate` writes them.
pub struct Entry {
    pub name: String,
    /// Element type and rank.
    results: Vec<(String, usize)>,
    pub inputs: Vec<String>,
}

/// The entry points of a source, each after lines with its inputs.
pub fn entries(source: &str) -> Vec<Entry> {
    let (mut entries, mut inputs) = (Vec::new(), Vec::new());
    for line in source.lines() {
        if let Some(input) = line
            .strip_prefix("-- input { ")
            .and_then(|rest| rest.strip_suffix(" }"))
        {
            inputs.push(input.to_owned());
        } else if let Some((name, rest)) = line
            .strip_prefix("entry ")
            .and_then(|rest| rest.split_once(' '))
        {
            let types = rest
                .split_once(" : (")
                .and_then(|(_, types)| types.split_once(") ="));
            let types = types.map_or("", |(types, _)| types).split(", ");
            let result = |ty: &str| {
                let elem = ty.rsplit(']').next().unwrap_or(ty);
                (elem.to_owned(), ty.matches('[').count())
            };
            let (name, results) = (name.to_owned(), types.map(result).collect());
            entries.push(Entry {
                name,
                results,
                inputs: std::mem::take(&mut inputs),
            });
        }
    }
    entries
}

/// Writes the program with test blocks that expect what the interpreter answers; calls that it does not end in time are left
/// out. Fails, and leaves no file, if the program is not valid.
pub fn write(source: &str, path: &Path, interpreter: &Path) -> Result<()> {
    std::fs::write(path, source)?;
    let answered = answers(source, path, interpreter);
    let Ok(answers) = &answered else {
        std::fs::remove_file(path)?;
        return answered.map(|_| ());
    };
    let mut answers = answers.iter();
    let mut text = String::new();
    for line in source.lines() {
        if line.starts_with("-- input") {
            match answers.next() {
                Some(Some(output)) => text += &format!("{line}\n-- output {{ {output} }}\n"),
                Some(None) => text += &format!("{line} error: .*\n"),
                None => {}
            }
            continue;
        }
        text += &format!("{line}\n");
    }
    Ok(std::fs::write(path, text)?)
}

/// The results of calls, or `None` for those that fail.
fn answers(source: &str, path: &Path, interpreter: &Path) -> Result<Vec<Option<String>>> {
    let entries = entries(source);
    let mut calls = Vec::new();
    for entry in &entries {
        calls.extend(entry.inputs.iter().map(|input| (entry, input)));
    }
    let script: String = calls
        .iter()
        .map(|(entry, input)| call(entry, input))
        .collect();
    let stdin = path.with_extension("in");
    std::fs::write(&stdin, script)?;
    let mut command = Command::new("timeout");
    command
        .args([
            OsStr::new(LIMIT),
            interpreter.as_os_str(),
            OsStr::new("repl"),
        ])
        .arg(path);
    let text = String::from_utf8(command.stdin(File::open(stdin)?).output()?.stdout)?;
    let (before, mut rest) = text
        .split_once("[0]> ")
        .context("the interpreter does not start")?;
    let error = before.find("Error at").map(|at| &before[at..]);
    ensure!(error.is_none(), "{}", error.unwrap_or_default());
    let mut answers = Vec::new();
    for (number, (entry, _)) in calls.iter().enumerate() {
        let Some((text, behind)) = rest.split_once(&format!("\n[{}]> ", number + 1)) else {
            break;
        };
        // Other errors have no stack trace.
        let has_failed = text.starts_with("Error at\n-> #0");
        answers.push(if has_failed {
            None
        } else {
            Some(output(entry, text)?)
        });
        rest = behind;
    }
    Ok(answers)
}

/// An expression with the results of a call, each array after its dimensions.
fn call(entry: &Entry, input: &str) -> String {
    let names: Vec<_> = (0..entry.results.len()).map(|i| format!("r{i}")).collect();
    let arguments: Vec<_> = values(input)
        .into_iter()
        .map(|value| argument(&value))
        .collect();
    let results = names
        .iter()
        .zip(&entry.results)
        .map(|(name, (_, rank))| match rank {
            0 => name.clone(),
            rank => format!("dims{rank} {name}, {name}"),
        });
    let results: Vec<_> = results.collect();
    format!(
        "let ({}) = {} {} in ({})\n",
        names.join(", "),
        entry.name,
        arguments.join(" "),
        results.join(", ")
    )
}

/// The parts of a text between spaces that are not in parentheses.
pub fn values(text: &str) -> Vec<String> {
    let (mut values, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        match (c, depth) {
            (' ', 0) => values.push(String::new()),
            _ => values.last_mut().expect("one value").push(c),
        }
    }
    values.retain(|value| !value.is_empty());
    values
}

fn argument(value: &str) -> String {
    let Some(ty) = value
        .strip_prefix("empty(")
        .and_then(|ty| ty.strip_suffix(')'))
    else {
        return format!("({value})");
    };
    zero(ty)
}

/// A value of the type.
pub fn zero(ty: &str) -> String {
    match (ty.strip_prefix('[').and_then(|ty| ty.split_once(']')), ty) {
        (Some((dim, row)), _) => format!("(replicate ({dim}) {})", zero(row)),
        (None, "bool") => "false".to_owned(),
        (None, "rec") => "{a = 0, b = false, c = 0}".to_owned(),
        (None, "sum") => "(#none : sum)".to_owned(),
        (None, number) => format!("0{number}"),
    }
}

/// The results in the form of test blocks.
fn output(entry: &Entry, text: &str) -> Result<String> {
    let separators = |c: char| c.is_whitespace() || "()[],".contains(c);
    let mut words = text.split(separators).filter(|word| !word.is_empty());
    let mut next = || {
        words
            .next()
            .with_context(|| format!("not a result: {text}"))
    };
    let mut outputs = Vec::new();
    for (elem, rank) in &entry.results {
        let dims: Vec<usize> = (0..*rank)
            .map(|_| Ok(next()?.parse()?))
            .collect::<Result<_>>()?;
        let count: usize = dims.iter().product();
        let suffix = if elem == "bool" { "" } else { elem };
        let mut rows: Vec<_> = (0..count)
            .map(|_| Ok(next()?.trim_end_matches(suffix).to_owned() + suffix))
            .collect::<Result<_>>()?;
        if count == 0 {
            rows = vec![format!(
                "empty({}{elem})",
                dims.iter()
                    .map(|dim| format!("[{dim}]"))
                    .collect::<String>()
            )];
        } else {
            for dim in dims.iter().rev() {
                rows = rows
                    .chunks(*dim)
                    .map(|row| format!("[{}]", row.join(", ")))
                    .collect();
            }
        }
        outputs.append(&mut rows);
    }
    ensure!(words.next().is_none(), "not a result: {text}");
    Ok(outputs.join(" "))
}
