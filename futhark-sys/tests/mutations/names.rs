//! Renames variables of the program.

use std::collections::{BTreeMap, BTreeSet};

use crate::Random;
use crate::file::{File, is_directive, is_name};
use crate::kinds::Mutated;

/// New names by old ones.
pub type Names = BTreeMap<String, String>;

/// The prefixes that the compiler uses for special variables.
const SPECIAL: &str =
    "tmp_offs conc_tmp free nest_i mem bytes binop_x i n cond dim_match mem_cached_sizze";

/// Renames the variables of the program whose names end in a number.
pub fn rename(file: &File<'_>, random: &mut Random, pattern: &str) -> Option<Mutated> {
    let variables = variables(file);
    let parts: Vec<(&str, &str)> = (variables.iter())
        .filter_map(|name| name.rsplit_once('_'))
        .collect();
    let stems = BTreeSet::from_iter(parts.iter().map(|(stem, _)| *stem));
    let numbers = BTreeSet::from_iter(parts.iter().map(|(_, number)| *number));
    let places: BTreeMap<_, _> = stems.iter().copied().zip(0..).collect();
    let mut exchanged = |of: BTreeSet<_>, others: &str| -> BTreeMap<&str, String> {
        let all = of.iter().copied().chain(others.split_whitespace());
        let mut all: Vec<String> = all.map(str::to_owned).collect();
        random.shuffle(&mut all);
        of.into_iter().zip(all).collect()
    };
    let (other_stems, other_numbers) = (exchanged(stems, SPECIAL), exchanged(numbers, ""));
    let others = file.tokens.iter().filter(|name| !variables.contains(*name));
    let mut taken: BTreeSet<String> = others.map(|name| (*name).to_owned()).collect();
    let mut names = Names::new();
    for (i, (old, (stem, number))) in variables.iter().zip(parts).enumerate() {
        let letters: Vec<u8> = i.to_string().bytes().map(|digit| digit + 49).collect();
        let mut new = pattern
            .replace("{stem}", stem)
            .replace("{number}", number)
            .replace("{other_stem}", &other_stems[stem])
            .replace("{other_number}", &other_numbers[number])
            .replace("{place}", &places[stem].to_string())
            .replace("{letters}", &String::from_utf8_lossy(&letters));
        while !taken.insert(new.clone()) {
            new.push('0');
        }
        names.insert((*old).to_owned(), new);
    }
    let tokens = (file.program..file.tokens.len()).map(|i| (i, renamed(file.tokens[i], &names)));
    let changed = tokens.filter(|(i, new)| file.tokens[*i] != new);
    let edits = changed
        .map(|(i, new)| (file.bytes(i..i + 1), new))
        .collect();
    let mutated = file.edited(edits)?;
    Some(Mutated { names, ..mutated })
}

/// A variable, the text of its name in quotes, or other text, after the renaming.
pub fn renamed(text: &str, names: &Names) -> String {
    match names.get(text.trim_matches('"')) {
        Some(new) if text.starts_with('"') => format!("\"{new}\""),
        Some(new) => new.clone(),
        None => text.to_owned(),
    }
}

/// The names ending in a number that the text after the runtime declares as variables or fields, and that are nothing
/// else.
fn variables<'a>(file: &File<'a>) -> BTreeSet<&'a str> {
    const TAGS: [&str; 3] = ["struct", "enum", "union"];
    const OTHERS: [&str; 3] = ["futhark_", "futrts_", "gpu_kernel_"];
    let mut found = BTreeSet::new();
    let mut others: BTreeSet<&str> = file.tokens[..file.program].iter().copied().collect();
    for window in file.tokens[file.program..].windows(4) {
        let &[before, previous, name, next] = window else {
            continue;
        };
        if is_directive(name) {
            others.extend(name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
        }
        let number = name.rsplit_once('_').map_or("", |(_, number)| number);
        if !is_name(name) || number.is_empty() || !number.bytes().all(|c| c.is_ascii_digit()) {
            continue;
        }
        let is_of_type = is_type(previous) || TAGS.contains(&before) || previous == "*";
        if next == "(" || TAGS.contains(&previous) || OTHERS.iter().any(|o| name.starts_with(o)) {
            others.insert(name);
        } else if is_of_type && [";", "=", ",", ")", "["].contains(&next) {
            found.insert(name);
        }
    }
    &found - &others
}

pub fn is_type(word: &str) -> bool {
    const OTHERS: [&str; 8] = [
        "bool", "float", "double", "f16", "int", "char", "gpu_mem", "cl_mem",
    ];
    word.ends_with("_t") || OTHERS.contains(&word)
}
