//! Changes white space, comments and the order of declarations.

use std::ops::Range;

use crate::Random;
use crate::file::{Edits, File, is_directive, is_end, is_word};
use crate::kinds::Mutated;

/// Replaces the white space between the tokens of the program's functions.
fn reflow(
    file: &File<'_>,
    random: &mut Random,
    mut space: impl FnMut(&str, &mut Random) -> String,
) -> Option<Mutated> {
    let mut edits = Edits::new();
    for i in gaps(file) {
        let old = &file.source[file.gap(i)];
        let comment = old.trim();
        let mut new = space(&old[old.trim_end().len()..], random);
        let is_operator = |i: usize| !is_word(file.tokens[i]) && !file.tokens[i].starts_with('"');
        if new.is_empty() && !old.is_empty() && is_operator(i - 1) == is_operator(i) {
            new = " ".to_owned();
        }
        if !comment.is_empty() {
            new = match comment.starts_with("//") && !new.contains('\n') {
                true => format!("/*{}*/", comment.replace("*/", "").replace("//", "")),
                false => format!(" {comment}{new}"),
            };
        }
        edits.push((file.gap(i), new));
    }
    file.edited(edits)
}

/// The tokens with a gap before them in functions.
fn gaps<'f>(file: &'f File<'_>) -> impl Iterator<Item = usize> + 'f {
    let functions = file.plain_functions();
    functions.flat_map(|function| function.all.start + 1..function.all.end)
}

pub fn indent(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    let indent = *random.pick(&["", "\t", " ", "  ", "        "])?;
    let more = random.below(2);
    reflow(file, random, |old, _| match old.rsplit_once('\n') {
        Some((lines, spaces)) => format!("{lines}\n{}", indent.repeat(spaces.len() / 4 + more)),
        None => old.to_owned(),
    })
}

pub fn a_token_per_line(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    reflow(file, random, |_, _| "\n".to_owned())
}

pub fn a_function_per_line(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    reflow(file, random, |_, _| " ".to_owned())
}

pub fn break_and_join(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    let spaces = ["\n", " ", "\n\n\t", "", "\n    "];
    reflow(file, random, |old, random| {
        let new = spaces.get(random.below(10)).copied();
        new.unwrap_or(old).to_owned()
    })
}

/// Drops comments of the program's functions.
pub fn drop_comments(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    let share = 1 + random.below(3);
    let with_comment = gaps(file).filter(|&i| !file.source[file.gap(i)].trim().is_empty());
    let dropped = with_comment.filter(|_| random.one_in(share));
    let edits = dropped.map(|i| (file.gap(i), " ".to_owned())).collect();
    file.edited(edits)
}

/// Texts of comments that look like code which a reader of the text could look for.
const COMMENTS: [&str; 12] = [
    "/* } */",
    "/* { */",
    "/* ; */",
    "// goto cleanup;\n",
    "// int64_t n_1 = a_2 * b_3;\n",
    "// tmp_offs_1 += n_2;\n",
    "/* if (!(n_1 == n_2)) { */",
    "// memblock_alloc(ctx, &mem_1, bytes_2, \"mem_1\")\n",
    "/* \" */",
    "// '\n",
    "/*\n}\n*/",
    "// FUT_CHECK_COUNT(n_1)\n",
];

/// Adds comments between tokens of the program's functions.
pub fn add_comments(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    let share = 3 + random.below(40);
    let mut edits = Edits::new();
    for i in gaps(file) {
        if random.one_in(share) {
            let start = file.gap(i).start;
            edits.push((start..start, format!(" {} ", random.pick(&COMMENTS)?)));
        }
    }
    file.edited(edits)
}

/// Reorders neighbouring declarations without initialisers, in functions and in the structures that pass variables to
/// tasks.
pub fn reorder(file: &File<'_>, random: &mut Random) -> Option<Mutated> {
    let mut edits = Edits::new();
    let (mut run, mut start, mut i) = (Vec::<Range<usize>>::new(), file.program, file.program);
    while i < file.tokens.len() {
        let token = file.tokens[i];
        if is_end(token) || is_directive(token) {
            if is_declaration(&file.tokens[start..=i]) {
                run.push(start..i + 1);
            } else {
                let mut shuffled = run.clone();
                random.shuffle(&mut shuffled);
                for (place, new) in run.drain(..).zip(shuffled) {
                    edits.push((file.bytes(place), file.span(new).to_owned()));
                }
            }
            start = i + 1;
        }
        if token == "{" && file.tokens[i - 2] == "struct" {
            // The order of other fields is known.
            if !file.tokens[i - 1].starts_with("futhark_mc_") {
                i = file.close(i)?;
                start = i + 1;
            }
        }
        i += 1;
    }
    file.edited(edits)
}

/// Whether a statement with these tokens is a declaration of one variable, like `struct memblock mem_1;`.
pub fn is_declaration(tokens: &[impl AsRef<str>]) -> bool {
    const OTHER: [&str; 6] = ["return", "goto", "typedef", "extern", "static", "case"];
    let tokens: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
    let [first, inner @ .., last, ";"] = &tokens[..] else {
        return false;
    };
    let is_inner = |token: &&str| is_word(token) || *token == "*";
    is_word(first) && is_word(last) && inner.iter().all(is_inner) && !OTHER.contains(first)
}
