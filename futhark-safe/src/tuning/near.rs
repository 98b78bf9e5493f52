//! Names that are similar to an unknown one.

/// The largest number of names in a message.
const MOST: usize = 3;

/// Up to three names that differ from `name` by few edits, the nearest first.
pub(crate) fn near<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
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
