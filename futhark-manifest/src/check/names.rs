//! Names that go into C code as they are.

use std::collections::{HashMap, HashSet};

use crate::c::{LibraryFunction, STRUCTS, library};
use crate::code::Code;
use crate::error::{Finding, quote};
use crate::names::C;
use crate::printable::Printable;
use crate::raw::Manifest;
use crate::walk::{Part, walk};

/// Each C name is one, and no two things share it. Functions and structs have
/// different name spaces in C, but no two of them agree in a Futhark library.
pub(super) fn check(manifest: &Manifest, findings: &mut Vec<Finding>) {
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
    // What every library has is taken, too.
    let library = library().iter().map(LibraryFunction::name);
    let taken: HashSet<&str> = library.chain(STRUCTS.iter().copied()).collect();
    let shared = |name: &str, uses: usize| uses > 1 || taken.contains(name);
    if !uses.iter().any(|(name, &uses)| shared(name, uses)) {
        return;
    }
    // Paths cost more than names: they are made only where a name is shared.
    let mut first: HashMap<&str, String> = HashMap::new();
    walk(manifest, &mut |path, part| match c_name(part) {
        Some(Ok(name)) if taken.contains(name) => {
            let expected = "a C name that nothing else has";
            let found = format!("{}, which every library has", quote(name));
            findings.push(Finding::new(Code::DuplicateCName, path, expected, found));
        }
        Some(Ok(name)) if uses[name] > 1 => match first.get(name) {
            None => drop(first.insert(name, path.to_string())),
            Some(first) => {
                let expected = "a C name that nothing else has";
                let found = format!("{}, which {} has", quote(name), Printable(first));
                findings.push(Finding::new(Code::DuplicateCName, path, expected, found));
            }
        },
        _ => {}
    });
}

/// The C name in a part, if it is to have one; or what should stand there, and
/// what does.
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

/// Takes the tag out of `struct TAG *`.
fn struct_tag(ctype: &str) -> Option<&str> {
    ctype
        .strip_prefix("struct ")
        .and_then(|rest| rest.strip_suffix(" *"))
        .filter(|tag| is_c_identifier(tag))
}

/// Names that only begin with an underscore, which C reserves, are Futhark's affair.
fn is_c_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let spelled = name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit());
    spelled && !C.is_keyword(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_identifiers() {
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
    fn c_struct_pointers() {
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
