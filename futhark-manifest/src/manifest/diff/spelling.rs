//! Compares names of types as texts.
//!
//! This does not interpret the names. It decides whether a difference between the names of
//! two matched types must be reported.

use crate::spaces::{is_word, squeezed};

/// Whether `old` becomes `new` when the old name of each part is replaced with its new name.
/// `parts` holds pairs of an old and a new name.
pub(super) fn follows(old: &str, new: &str, parts: &[(&str, &str)]) -> bool {
    // With more renamed parts the rename of the whole type is reported as well.
    const MAX_PARTS: usize = 16;
    if parts.is_empty() || parts.len() > MAX_PARTS {
        return false;
    }
    let parts: Vec<_> = parts
        .iter()
        .map(|(old, new)| (squeezed(old), squeezed(new)))
        .collect();
    replace_parts(&squeezed(old), &parts) == squeezed(new)
}

/// Replaces the names of parts in one pass, so that a new name that equals another part's old name
/// is not replaced again. Where several parts match, the longest is replaced.
fn replace_parts(text: &str, parts: &[(String, String)]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let before = &text[..text.len() - rest.len()];
        let found = parts
            .iter()
            .filter(|(old, _)| is_type_name(before, rest, old))
            .max_by_key(|(old, _)| old.len());
        let (replaced, new) = match found {
            Some((old, new)) => (old.len(), new.as_str()),
            None => (c.len_utf8(), &rest[..c.len_utf8()]),
        };
        result.push_str(new);
        rest = &rest[replaced..];
    }
    result
}

/// Whether `rest` starts with `name` as the name of a type: not as a part of a longer word, nor as
/// the name of a field or of a variant.
fn is_type_name(before: &str, rest: &str, name: &str) -> bool {
    let Some(after) = rest.strip_prefix(name).filter(|_| !name.is_empty()) else {
        return false;
    };
    let joined = |left: &str, right: &str| left.ends_with(is_word) && right.starts_with(is_word);
    let is_field_or_variant = after.starts_with(':') || before.ends_with('#');
    !joined(before, name) && !joined(name, after) && !is_field_or_variant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_parts_explain_a_renamed_whole() {
        let part = [("pt", "point")];
        assert!(follows("[]pt", "[]point", &part));
        assert!(follows("(pt, pt)", "(point, point)", &part));
        assert!(follows("{a:pt}", "{a: point}", &part));
        for (old, new) in [("pts", "points"), ("[]pt", "[]spot"), ("pt'", "point'")] {
            assert!(!follows(old, new, &part), "{old} {new}");
        }
        assert!(!follows("[]pt", "[]pt", &[]));
        let two = [("opt i32", "opt i64"), ("b", "c")];
        assert!(follows("(opt i32, b)", "(opt i64, c)", &two));
    }

    #[test]
    fn parts_are_replaced_once() {
        let chain = [("a", "b"), ("b", "c")];
        assert!(follows("(a, b)", "(b, c)", &chain));
        assert!(!follows("(a, b)", "(c, c)", &chain));
        let swap = [("a", "b"), ("b", "a")];
        assert!(follows("(a, b)", "(b, a)", &swap));
        let nested = [("pt", "point"), ("[]pt", "points")];
        assert!(follows("([]pt, pt)", "(points, point)", &nested));
    }

    #[test]
    fn names_of_fields_and_variants_are_kept() {
        let part = [("pt", "point")];
        assert!(follows("{pt: pt}", "{pt: point}", &part));
        assert!(follows("#pt pt | #none", "#pt point | #none", &part));
    }
}
