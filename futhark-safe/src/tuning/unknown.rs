//! Names that a program does not have.

use futhark_manifest::Printable;

use super::file::{Line, Tuning};
use crate::error::Error;

/// The names of defaults, which every GPU backend accepts like tuning parameters.
pub(super) const DEFAULTS: [&str; 9] = [
    "default_cache",
    "default_grid_size",
    "default_group_size",
    "default_num_groups",
    "default_reg_tile_size",
    "default_shared_memory",
    "default_thread_block_size",
    "default_threshold",
    "default_tile_size",
];

/// The error for the first line of `tuning` whose name is not in `names`, nor one that every program has.
#[cfg(feature = "build")]
pub(crate) fn unknown_in(tuning: &Tuning, names: &[&str]) -> Option<Error> {
    let is_known = |name: &str| {
        // Manifests do not list the parameters of functions of the compiler.
        names.contains(&name) || DEFAULTS.contains(&name) || name.starts_with("builtin#")
    };
    let mut lines = tuning.lines().iter();
    let line = lines.find(|line| !is_known(&line.name))?;
    Some(unknown(tuning, line, names))
}

/// The error for a line whose name is not in `names`.
pub(super) fn unknown(tuning: &Tuning, line: &Line, names: &[&str]) -> Error {
    let near = near(&line.name, names.iter().chain(&DEFAULTS).copied());
    let hint = match near.is_empty() {
        true => "run `futhark autotune` again with the compiler of the program".to_owned(),
        false => format!("similar names: {}", near.join(", ")),
    };
    let message = format!(
        "{}: the program has no tuning parameter `{}`; {hint}",
        tuning.place(line.number),
        Printable(&line.name)
    );
    Error::invalid("tuning", message)
}

/// The largest number of names in a message.
const MOST: usize = 3;

/// Up to three names that differ from `name` by few edits, the nearest first.
fn near<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let most = (name.chars().count() / 3).max(2);
    let distances = names
        .into_iter()
        .map(|other| (distance(name, other), other));
    let mut near: Vec<_> = distances
        .filter(|(distance, _)| *distance <= most)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// The Levenshtein distance: how many characters must be inserted, removed or replaced.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("par_0", "par_1", 1),
            ("ä", "a", 1),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_similar_names_are_near() {
        let names = [
            "f.suff_outer_par_0",
            "f.suff_outer_par_1",
            "g.tile_size_1234",
        ];
        assert_eq!(near("f.suff_outer_par", names), names[..2]);
        assert_eq!(near("f.suff_outer_par_1", names)[0], names[1]);
        assert!(near("x", names).is_empty());
    }
}
