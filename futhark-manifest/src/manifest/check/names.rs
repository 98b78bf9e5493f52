//! Rules for C names, which generators insert into code unchanged.

use std::collections::HashMap;

use crate::manifest::code::Code;
use crate::manifest::finding::{Finding, quote};
use crate::manifest::syntax::Manifest;
use crate::manifest::walk::{Part, walk};
use crate::names::C;
use crate::text::Printable;

/// Reports C names that are not identifiers or are used twice. Functions and structs have separate name
/// spaces in C, but Futhark never uses one name for both.
pub(super) fn report(manifest: &Manifest, findings: &mut Vec<Finding>) {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    walk(manifest, &mut |path, part| match c_name(part) {
        None => {}
        Some(Ok(name)) => *uses.entry(name).or_default() += 1,
        Some(Err((expected, found))) => {
            findings.push(Finding::new(
                Code::InvalidCName,
                path,
                expected,
                quote(found),
            ));
        }
    });
    if !uses
        .iter()
        .any(|(name, &uses)| uses > 1 || is_of_library(name))
    {
        return;
    }
    // Build paths in a second walk, only if a name is shared: they cost more than names.
    let mut first: HashMap<&str, String> = HashMap::new();
    walk(manifest, &mut |path, part| match c_name(part) {
        Some(Ok(name)) if is_of_library(name) => {
            let expected = "a C name that nothing else has";
            let found = format!("{}, used by every library", quote(name));
            findings.push(Finding::new(Code::DuplicateCName, path, expected, found));
        }
        Some(Ok(name)) if uses[name] > 1 => match first.get(name) {
            None => drop(first.insert(name, path.to_string())),
            Some(first) => {
                let expected = "a C name that nothing else has";
                let found = format!("{}, used by {}", quote(name), Printable(first));
                findings.push(Finding::new(Code::DuplicateCName, path, expected, found));
            }
        },
        _ => {}
    });
}

/// Whether every library has the name, of a function or a struct, or a later one may have it.
fn is_of_library(name: &str) -> bool {
    name.starts_with("futhark_context") || name.starts_with("futhark_get_tuning_param_")
}

/// The C name in a part, if the part has one. An error is the expected and the actual text.
fn c_name(part: Part<'_>) -> Option<Result<&str, (&'static str, &str)>> {
    match part {
        Part::Function(name) if is_c_identifier(name) => Some(Ok(name)),
        Part::Function(name) => Some(Err(("the name of a C function", name))),
        Part::CType(ctype) => {
            let expected = "a pointer to a C struct, written \"struct NAME *\"";
            Some(struct_tag(ctype).ok_or((expected, ctype)))
        }
        Part::Reference(_) | Part::Unknown(_) => None,
    }
}

/// Extracts the tag of `struct TAG *`.
fn struct_tag(ctype: &str) -> Option<&str> {
    ctype
        .strip_prefix("struct ")
        .and_then(|rest| rest.strip_suffix(" *"))
        .filter(|tag| is_c_identifier(tag))
}

/// Accepts names that begin with an underscore, although C reserves some of them.
fn is_c_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let spelled = name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit());
    spelled && !C.is_keyword(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_identifiers_are_recognized() {
        for name in ["a", "_", "futhark_entry_f_1", "X9"] {
            assert!(is_c_identifier(name), "{name}");
        }
        for name in [
            "", "9a", "a b", "a;", "a.b", "é", "a\n", "f'", "while", "bool",
        ] {
            assert!(!is_c_identifier(name), "{name:?}");
        }
    }

    #[test]
    fn c_struct_pointers_are_recognized() {
        assert_eq!(struct_tag("struct a_1 *"), Some("a_1"));
        for ctype in [
            "",
            "struct a",
            "a *",
            "struct  a *",
            "struct a**",
            "struct *",
        ] {
            assert_eq!(struct_tag(ctype), None, "{ctype:?}");
        }
    }
}
