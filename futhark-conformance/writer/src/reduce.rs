//! Smaller variants of a program, by its indentation and parentheses; many of them are not valid.

use crate::source::{values, zero};

/// The shortest first.
pub fn variants(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines: Vec<&str> = source.lines().collect();
    let without = |from: usize, to: usize, instead: &str| {
        let lines = [
            &lines[..from],
            Vec::from_iter((!instead.is_empty()).then_some(instead)).as_slice(),
            &lines[to..],
        ]
        .concat();
        lines.join("\n") + "\n"
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    // The line of a definition, a statement or an input, with the lines that belong to it.
    let end = |at: usize| {
        let deeper = lines[at + 1..]
            .iter()
            .take_while(|line| indent(line) > indent(lines[at]));
        at + 1 + deeper.count()
    };
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("entry") || line.starts_with("def") || line.starts_with("type") {
            let before = |start: &str| {
                at - lines[..at]
                    .iter()
                    .rev()
                    .take_while(|line| line.starts_with(start))
                    .count()
            };
            found.push(without(before("--"), end(at), ""));
            let first = before("-- input");
            if at - first > 1 {
                found.extend((first..at).map(|input| without(first, at, lines[input])));
            }
        }
    }
    let lets = (0..lines.len())
        .rev()
        .filter(|&at| lines[at].trim_start().starts_with("let "));
    for at in lets.clone() {
        found.push(without(at, end(at), ""));
    }
    for at in lets {
        // The statement with a simple value.
        let (head, _) = lines[at].split_once(" = ").unwrap_or((lines[at], ""));
        let types = head
            .split_once('(')
            .map_or("", |(_, vars)| vars)
            .trim_end_matches(')');
        let zeros: Vec<_> = types
            .split(", ")
            .map(|var| zero(var.split(": ").last().unwrap_or("")))
            .collect();
        found.push(without(
            at,
            end(at),
            &format!("{head} = ({})", zeros.join(", ")),
        ));
    }
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with(' ') {
            found.extend(
                shorter(line)
                    .into_iter()
                    .map(|line| without(at, at + 1, &line)),
            );
        }
    }
    found.extend(without_result(source));
    // One entry point alone.
    let items: Vec<_> = source.split("\n\n").collect();
    for entry in items.iter().filter(|item| item.contains("\nentry ")) {
        let is_kept = |item: &&&str| *item == entry || !item.contains("\nentry ");
        found.push(
            items
                .iter()
                .filter(is_kept)
                .copied()
                .collect::<Vec<_>>()
                .join("\n\n"),
        );
    }
    found.retain(|variant| variant.len() < source.len());
    found.sort_by_key(String::len);
    found
}

/// The line with the content of a pair of parentheses replaced by a part of it.
fn shorter(line: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for (at, c) in line.char_indices() {
        match c {
            '(' => open.push(at),
            ')' => {
                let Some(start) = open.pop() else { continue };
                for part in values(&line[start + 1..at]) {
                    found.push(format!("{}{part}{}", &line[..start], &line[at + 1..]));
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(String::len);
    found
}

/// Without one of the results of the only entry point.
fn without_result(source: &str) -> Vec<String> {
    let parts = (|| {
        let (before, rest) = source.rsplit_once(" : (")?;
        let (types, rest) = rest.split_once(") =")?;
        let (body, results) = rest.rsplit_once("\n  in (")?;
        Some((
            before,
            types.split(", "),
            body,
            results.trim_end().strip_suffix(')')?.split(", "),
        ))
    })();
    let Some((before, types, body, results)) = parts else {
        return Vec::new();
    };
    let (types, results): (Vec<_>, Vec<_>) = (types.collect(), results.collect());
    let count = if types.len() == results.len() && types.len() > 1 {
        types.len()
    } else {
        0
    };
    let except = |all: &[&str], i: usize| [&all[..i], &all[i + 1..]].concat().join(", ");
    (0..count)
        .map(|i| {
            format!(
                "{before} : ({}) ={body}\n  in ({})\n",
                except(&types, i),
                except(&results, i)
            )
        })
        .collect()
}
