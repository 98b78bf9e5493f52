//! Changes that must be refused: in the runtime, and statements that the compiler does not write.

use crate::Random;
use crate::file::{Edits, File, Function, is_end, is_word};
use crate::kinds::Mutated;

/// Changes one token of a section of the runtime.
pub fn runtime_token(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    let (name, section) = random.pick(&file.sections)?;
    let at = section.start + random.below(section.len());
    let old = file.tokens[at];
    let new = match is_word(old) {
        true => format!("{old}_"),
        false => old.repeat(2),
    };
    let what = format!("{name}: `{old}` became `{new}`");
    let mutated = file.edited(vec![(file.bytes(at..at + 1), new)])?;
    Some(Mutated { what, ..mutated })
}

/// Drops a comment of the runtime or changes white space in it.
pub fn runtime_blank(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    let (name, section) = random.pick(&file.sections)?;
    let is_comment = random.one_in(2);
    // The markers are comments, too.
    let gaps = (section.start.max(1)..section.end + 1).map(|at| file.gap(at));
    let old = |gap: &std::ops::Range<usize>| &file.source[gap.clone()];
    let gaps = gaps.filter(|gap| !old(gap).is_empty() && old(gap).trim().is_empty() != is_comment);
    let gaps: Vec<_> = gaps.collect();
    let gap = random.pick(&gaps)?;
    let new = match is_comment {
        true => "\n".to_owned(),
        false => old(gap).repeat(2),
    };
    let what = format!("{name}: `{}`", old(gap));
    let mutated = file.edited(vec![(gap.clone(), new)])?;
    Some(Mutated { what, ..mutated })
}

/// Statements in sections `[kind]`.
const STATEMENTS: &str = include_str!("statements.txt");

/// Inserts a statement of a kind after the definition of a size.
pub fn statement(file: &File<'_>, random: &mut Random, kind: &str) -> Option<Mutated> {
    let lines = STATEMENTS
        .lines()
        .skip_while(|line| line.trim_matches(['[', ']']) != kind);
    let all: Vec<&str> = lines.skip(1).take_while(|line| !line.is_empty()).collect();
    let mut places = Vec::new();
    for function in file.plain_functions() {
        for i in function
            .body
            .clone()
            .filter(|&i| is_size(file, function, i))
        {
            let before = i - 1 - usize::from(file.tokens[i - 1] == "int64_t");
            let end = (i..function.body.end).find(|&at| file.tokens[at] == ";");
            if file.tokens[i + 1] == "=" && is_end(file.tokens[before]) {
                places.extend(end.map(|end| (function.name, file.tokens[i], end)));
            }
        }
    }
    let (function, size, end) = *random.pick(&places)?;
    let statement = random.pick(&all)?.replace('$', size).replace('@', "\n");
    let place = file.bytes(end..end + 1).end;
    let mutated = file.edited(vec![(place..place, format!("\n    {statement}"))])?;
    Some(Mutated {
        what: format!("`{statement}` in {function}"),
        size: size.to_owned(),
        ..mutated
    })
}

fn is_size(file: &File<'_>, function: &Function<'_>, at: usize) -> bool {
    let (function, name) = (function.name.to_owned(), file.tokens[at].to_owned());
    file.sizes.contains(&(function, name))
}

/// The beginnings of functions that get sizes.
const RECEIVERS: [&str; 5] = [
    "memblock_alloc",
    "lexical_realloc",
    "lmad_copy_",
    "scheduler_prepare_task",
    "scheduler_execute_task",
];

/// Changes a part of a statement so that it has a form that the compiler does not write.
pub fn changed_form(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    const LOOPS: [(&str, &str); 4] = [("<", "<="), ("<", "!="), ("++", " += 2"), ("++", "--")];
    let is_program = |name: &str| name.starts_with("futrts_") || name.starts_with("futhark_mc_");
    let mut edits: [Edits; 3] = Default::default();
    let mut add = |kind: usize, at, new: String| edits[kind].push((file.bytes(at..at + 1), new));
    for function in file.plain_functions().filter(|f| is_program(f.name)) {
        for i in function.body.clone() {
            let token = file.tokens[i];
            if token == "int64_t" && is_size(file, function, i + 1) {
                let ty = random.pick(&["int", "size_t", "uint32_t", "ptrdiff_t"])?;
                add(0, i, (*ty).to_owned());
            }
            if RECEIVERS.iter().any(|receiver| token.starts_with(receiver)) {
                add(1, i, format!("other_{token}"));
            }
            if token == "for"
                && let Some(end) = file.close(i + 1)
            {
                let (from, to) = random.pick(&LOOPS)?;
                let at = (i..end).find(|&at| file.tokens[at] == *from);
                at.into_iter().for_each(|at| add(2, at, (*to).to_owned()));
            }
        }
    }
    let first = random.below(3);
    let edit = (first..first + 3).find_map(|kind| random.pick(&edits[kind % 3]))?;
    let what = format!("`{}` became `{}`", &file.source[edit.0.clone()], edit.1);
    let mutated = file.edited(vec![edit.clone()])?;
    Some(Mutated { what, ..mutated })
}
