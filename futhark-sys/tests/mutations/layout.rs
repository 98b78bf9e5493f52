//! Changes white space, comments and the order of declarations.

use std::ops::Range;

use crate::Random;
use crate::pieces::{File, Kind};

#[derive(Clone, Copy)]
pub enum Space {
    /// Other indentation.
    Indent,
    /// Each token on its own line.
    Tokens,
    /// Each function on one line.
    OneLine,
    /// Lines are broken and joined, spaces added and left out.
    Random,
}

/// Reflows all functions of the program.
pub fn reflow(file: &File<'_>, how: Space, random: &mut Random) -> Option<String> {
    let mut texts = file.texts();
    let indent = random.pick(&["", "\t", " ", "  ", "        "]).copied()?;
    let begins = !random.one_in(2);
    for function in &file.functions {
        for i in function.inner() {
            let (this, next) = (file.pieces[i], file.pieces[i + 1]);
            if matches!(how, Space::OneLine) && this.kind == Kind::Comment {
                let text = this.text.trim_start_matches('/').replace("*/", "");
                texts[i] = match this.text.starts_with("//") {
                    true => format!("/*{text} */"),
                    false => this.text.to_owned(),
                };
                continue;
            }
            let before = (i > 0).then(|| file.pieces[i - 1]);
            let after_comment = before.is_some_and(|piece| piece.text.starts_with("//"));
            if this.kind != Kind::Space {
                let is_end = this.text.starts_with("//") || next.kind == Kind::Space;
                let space = match how {
                    Space::Tokens => "\n",
                    Space::Random if random.one_in(8) => "\n    ",
                    Space::Random if random.one_in(8) => " ",
                    _ => "",
                };
                if !is_end {
                    texts[i] += space;
                }
                continue;
            }
            let is_tight = |kind| matches!(kind, Kind::Word | Kind::Literal);
            let can_vanish = before.is_some_and(|before| {
                is_tight(before.kind) && next.kind == Kind::Operator
                    || before.kind == Kind::Operator && is_tight(next.kind)
            });
            texts[i] = match how {
                Space::Indent => match this.text.rsplit_once('\n') {
                    Some((lines, spaces)) => {
                        let spaces = indent.repeat(spaces.len() / 4 + usize::from(begins));
                        format!("{lines}\n{spaces}")
                    }
                    None => continue,
                },
                Space::Tokens => "\n".to_owned(),
                Space::OneLine => " ".to_owned(),
                Space::Random if after_comment => "\n".to_owned(),
                Space::Random if can_vanish && random.one_in(3) => String::new(),
                Space::Random => match random.below(6) {
                    0 => "\n".to_owned(),
                    1 => " ".to_owned(),
                    2 => "\n\n\t".to_owned(),
                    _ => continue,
                },
            };
        }
    }
    Some(texts.concat())
}

/// Drops comments of the program's functions.
pub fn drop_comments(file: &File<'_>, random: &mut Random) -> Option<String> {
    let mut texts = file.texts();
    let mut dropped = false;
    let share = 1 + random.below(3);
    for function in &file.functions {
        for i in function.all.clone() {
            if file.pieces[i].kind == Kind::Comment && random.one_in(share) {
                texts[i] = " ".to_owned();
                dropped = true;
            }
        }
    }
    dropped.then(|| texts.concat())
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
pub fn add_comments(file: &File<'_>, random: &mut Random) -> Option<String> {
    let mut texts = file.texts();
    let share = 3 + random.below(40);
    for function in &file.functions {
        for i in function.inner() {
            if file.pieces[i].is_token() && random.one_in(share) {
                let comment = random.pick(&COMMENTS)?;
                texts[i] += &format!(" {comment} ");
            }
        }
    }
    Some(texts.concat())
}

/// Reorders neighbouring declarations without initialisers, in functions and in the structures that pass variables to
/// tasks.
pub fn reorder(file: &File<'_>, random: &mut Random) -> Option<String> {
    let mut areas: Vec<Range<usize>> = (file.functions.iter())
        .map(|function| function.body.clone())
        .collect();
    areas.extend(structures(file));
    let mut texts = file.texts();
    let mut reordered = false;
    for area in areas {
        for mut run in runs(file, area) {
            let places = run.clone();
            random.shuffle(&mut run);
            let order: Vec<String> = run.iter().map(|at| texts[at.clone()].concat()).collect();
            for (place, text) in places.iter().zip(order) {
                texts[place.clone()].fill(String::new());
                texts[place.start] = text;
            }
            reordered |= places != run;
        }
    }
    reordered.then(|| texts.concat())
}

fn structures(file: &File<'_>) -> Vec<Range<usize>> {
    let opens = (file.program..file.pieces.len()).filter(|&i| {
        let name = file.previous(i).filter(|_| file.pieces[i].text == "{");
        file.text(name).starts_with("futhark_mc_")
            && file.text(name.and_then(|name| file.previous(name))) == "struct"
    });
    let ranges = opens.filter_map(|open| Some(open + 1..file.close(open)?));
    ranges.collect()
}

/// The groups of at least two neighbouring declarations.
fn runs(file: &File<'_>, area: Range<usize>) -> Vec<Vec<Range<usize>>> {
    let (mut runs, mut run, mut start) = (Vec::new(), Vec::new(), None);
    for i in area {
        let piece = file.pieces[i];
        match piece.text {
            ";" => {
                let first = start.take();
                let statement = first.unwrap_or(i)..i + 1;
                let tokens: Vec<&str> = (file.pieces[statement.clone()].iter())
                    .filter(|piece| piece.kind != Kind::Space)
                    .map(|piece| piece.text)
                    .collect();
                if is_declaration(&tokens) {
                    run.push(statement);
                } else {
                    runs.push(std::mem::take(&mut run));
                }
            }
            "{" | "}" => {
                start = None;
                runs.push(std::mem::take(&mut run));
            }
            _ if piece.kind == Kind::Comment && start.is_none() => {
                runs.push(std::mem::take(&mut run));
            }
            _ if piece.is_token() && start.is_none() => start = Some(i),
            _ => {}
        }
    }
    runs.push(run);
    runs.retain(|run| run.len() > 1);
    runs
}

/// Whether a statement with these tokens is a declaration of one variable, like `struct memblock mem_1;`.
pub fn is_declaration(tokens: &[&str]) -> bool {
    const OTHER: [&str; 6] = ["return", "goto", "typedef", "extern", "static", "case"];
    let [first, .., last, ";"] = tokens else {
        return false;
    };
    let is_word = |token: &str| {
        token
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || c == b'_')
    };
    is_word(first)
        && is_word(last)
        && !OTHER.contains(first)
        && tokens[..tokens.len() - 1]
            .iter()
            .all(|t| is_word(t) || *t == "*")
        && tokens.len() > 2
}
