//! Renames variables of the program.

use std::collections::{BTreeMap, BTreeSet};

use crate::Random;
use crate::pieces::{File, Kind};

/// New names by old ones.
pub type Names = BTreeMap<String, String>;

#[derive(Clone, Copy)]
pub enum Scheme {
    /// `tmp_offs_12` → `tmp_offs_7`
    Numbers,
    /// `tmp_offs_12` → `v12`
    NoUnderscore,
    /// `tmp_offs_12` → `varbc`
    NoNumber,
    /// `tmp_offs_12` → `stem4_12`
    Prefixes,
    /// `bytes_12` → `tmp_offs_12`
    ExchangedPrefixes,
}

/// The prefixes that the compiler uses for special variables.
const SPECIAL: [&str; 12] = [
    "tmp_offs",
    "conc_tmp",
    "free",
    "nest_i",
    "mem",
    "bytes",
    "binop_x",
    "i",
    "n",
    "cond",
    "dim_match",
    "mem_cached_sizze",
];

/// New names for the variables of the program whose names end in a number; `None` if there is none.
pub fn choose(file: &File<'_>, scheme: Scheme, random: &mut Random) -> Option<Names> {
    let variables = variables(file);
    let parts: Vec<(&str, &str)> = (variables.iter())
        .filter_map(|name| name.rsplit_once('_'))
        .collect();
    let stems = BTreeSet::from_iter(parts.iter().map(|(stem, _)| *stem));
    let numbers = BTreeSet::from_iter(parts.iter().map(|(_, number)| *number));
    let places: BTreeMap<_, _> = stems.iter().copied().zip(0..).collect();
    let mut other_stems: Vec<&str> = stems.iter().copied().chain(SPECIAL).collect();
    random.shuffle(&mut other_stems);
    let other_stems: BTreeMap<_, _> = stems.into_iter().zip(other_stems).collect();
    let mut other_numbers = Vec::from_iter(numbers.iter().copied());
    random.shuffle(&mut other_numbers);
    let other_numbers: BTreeMap<_, _> = numbers.into_iter().zip(other_numbers).collect();
    let mut taken: BTreeSet<String> = (file.pieces.iter())
        .filter(|piece| piece.is_name() && !variables.contains(piece.text))
        .map(|piece| piece.text.to_owned())
        .collect();
    let mut names = Names::new();
    for (i, (old, (stem, number))) in variables.iter().zip(parts).enumerate() {
        let mut new = match scheme {
            Scheme::Numbers => format!("{stem}_{}", other_numbers[number]),
            Scheme::NoUnderscore => format!("v{number}"),
            Scheme::NoNumber => format!("var{}", letters(i)),
            Scheme::Prefixes => format!("stem{}_{number}", places[stem]),
            Scheme::ExchangedPrefixes => format!("{}_{number}", other_stems[stem]),
        };
        while !taken.insert(new.clone()) {
            new.push(if matches!(scheme, Scheme::NoNumber) {
                'x'
            } else {
                '0'
            });
        }
        names.insert((*old).to_owned(), new);
    }
    (!names.is_empty()).then_some(names)
}

/// The file with new names outside of the runtime.
pub fn rename(file: &File<'_>, names: &Names) -> String {
    let mut runtime = vec![false; file.pieces.len()];
    for section in &file.sections {
        runtime[section.body.clone()].fill(true);
    }
    let pieces = file.pieces.iter().zip(runtime);
    pieces
        .map(|(piece, is_runtime)| match is_runtime {
            true => piece.text.to_owned(),
            false => renamed(piece.text, names),
        })
        .collect()
}

/// A variable, the text of its name in quotes, or other text, after the renaming.
pub fn renamed(text: &str, names: &Names) -> String {
    let quoted = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    match (names.get(text), quoted.and_then(|name| names.get(name))) {
        (Some(new), _) => new.clone(),
        (_, Some(new)) => format!("\"{new}\""),
        _ => text.to_owned(),
    }
}

/// The names ending in a number that the text after the runtime declares as variables or fields, and that are nothing
/// else.
fn variables<'a>(file: &File<'a>) -> BTreeSet<&'a str> {
    const TAGS: [&str; 3] = ["struct", "enum", "union"];
    const OTHERS: [&str; 3] = ["futhark_", "futrts_", "gpu_kernel_"];
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    let (mut before, mut previous) = ("", "");
    for (i, piece) in file.pieces.iter().enumerate() {
        if piece.kind == Kind::Directive {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            others.extend(piece.text.split(|c| !is_word(c)));
        }
        if !piece.is_token() {
            continue;
        }
        if piece.is_name() && ends_in_number(piece.text) {
            let next = file.text(file.next(i));
            let is_of_type = is_type(previous) || TAGS.contains(&before) || previous == "*";
            if next == "("
                || TAGS.contains(&previous)
                || OTHERS.iter().any(|start| piece.text.starts_with(start))
                || file.is_runtime(i)
            {
                others.insert(piece.text);
            } else if i >= file.program && is_of_type && [";", "=", ",", ")", "["].contains(&next) {
                found.insert(piece.text);
            }
        }
        (before, previous) = (previous, piece.text);
    }
    found.retain(|name| !others.contains(name));
    found
}

pub fn is_type(word: &str) -> bool {
    word.ends_with("_t")
        || [
            "bool", "float", "double", "f16", "int", "char", "gpu_mem", "cl_mem",
        ]
        .contains(&word)
}

fn ends_in_number(name: &str) -> bool {
    let number = name.rsplit_once('_').map_or("", |(_, number)| number);
    !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
}

/// A different word for each number.
fn letters(mut number: usize) -> String {
    let mut word = String::new();
    loop {
        word.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
        if number == 0 {
            return word;
        }
    }
}
