//! The guarantees of the module as properties of arbitrary names: with the real hash, and with hashes
//! that collide, which produce every form.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::text::fnv1a;

const SWIFT: Language = Language::new("Swift")
    .keywords(&["func", "self", "move"])
    .escape("`", "`")
    .case(Style::Value, Case::Uncapitalized);

/// Its escaped form consists of letters and underscores, so other names can have it, too.
const ODD: Language = Language::new("odd")
    .keywords(&["f", "x", "self", "self_"])
    .escape("x_", "");

/// The real hash, a constant, and a hash with the same short form for all names.
const HASHES: [fn(&[u8]) -> u64; 3] = [fnv1a, one_for_all, short_for_all];

fn one_for_all(_: &[u8]) -> u64 {
    0x0123_4567_89ab_cdef
}

fn short_for_all(bytes: &[u8]) -> u64 {
    (fnv1a(bytes) >> 32) * 0x1_0000_0001
}

fn any_scope() -> impl Strategy<Value = Scope> {
    let language = prop::sample::select(vec![RUST, C, PYTHON, SWIFT, ODD]);
    let style = prop::sample::select(vec![Style::Value, Style::Type, Style::Constant]);
    let hash = prop::sample::select(HASHES.to_vec());
    (language, style, hash, vec(any_name(), 0..4)).prop_map(|(language, style, hash, words)| {
        let scope = Scope::new(&language, style).with_hash(hash);
        // Reserve identifiers that names would get.
        let alone: Vec<String> = words.iter().map(|word| wanted(&scope, word)).collect();
        scope.reserve(alone).reserve(["new", "r#match"])
    })
}

/// Pieces that often collide, and sometimes arbitrary text.
fn any_name() -> impl Strategy<Value = String> {
    let pieces = vec![
        "f",
        "F",
        "x",
        "X_",
        "_",
        "__",
        "'",
        "prime",
        "_prime",
        "0",
        "+",
        "plus",
        ".",
        "#",
        " ",
        "()",
        "(",
        "[]",
        "self",
        "Self",
        "move",
        "r#",
        "new",
        "E",
        "SIG",
        "é",
        "\u{0}",
        "\n",
        "_h01234567",
        "_hcb8f1a10",
        "H0123456789abcdef",
        "_h0123456789abcdef",
        "x66",
        "_2",
        "2",
    ];
    let piece = prop::sample::select(pieces);
    prop_oneof![
        8 => vec(piece, 0..4).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
        1 => "[a'+]{55,140}",
    ]
}

fn any_set() -> impl Strategy<Value = BTreeSet<String>> {
    btree_set(any_name(), 0..24)
}

/// The identifier that a name gets on its own.
fn wanted(scope: &Scope, name: &str) -> String {
    scope.assign([name])[name].to_owned()
}

fn has_no_repetitions<'a>(identifiers: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = BTreeSet::new();
    identifiers
        .into_iter()
        .all(|identifier| seen.insert(identifier.to_owned()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_name_has_a_valid_identifier_of_its_own(scope in any_scope(), names in any_set()) {
        let given = scope.assign(&names);
        prop_assert!(given.iter().map(|(name, _)| name).eq(names.iter().map(String::as_str)));
        for (name, identifier) in given.iter() {
            prop_assert!(scope.language().is_identifier(identifier), "{name:?}: {identifier:?}");
            prop_assert!(!scope.is_reserved(identifier), "{name:?}: {identifier:?}");
            prop_assert_eq!(given.get(name), Some(identifier));
        }
        prop_assert!(has_no_repetitions(given.identifiers()), "{given:?}");
    }

    #[test]
    fn order_and_repetition_do_not_matter(
        scope in any_scope(),
        names in vec(any_name(), 0..24).prop_flat_map(|names| (Just(names.clone()), Just(names).prop_shuffle())),
    ) {
        let (first, second) = (scope.assign(&names.0), scope.assign(&names.1));
        let again = scope.assign(names.0.iter().chain(&names.1));
        let sorted = |names: &Names| -> BTreeMap<String, String> {
            names.iter().map(|(name, id)| (name.to_owned(), id.to_owned())).collect()
        };
        prop_assert_eq!(sorted(&first), sorted(&second));
        prop_assert_eq!(first, again);
    }

    #[test]
    fn names_that_want_other_identifiers_change_nothing(
        scope in any_scope(),
        names in any_set(),
        more in any_set(),
    ) {
        let before = scope.assign(&names);
        let after = scope.assign(names.union(&more));
        let added: BTreeSet<String> =
            more.difference(&names).map(|name| wanted(&scope, name)).collect();
        for (name, identifier) in before.iter() {
            if !added.contains(&wanted(&scope, name)) {
                prop_assert_eq!(&after[name], identifier, "{:?}", name);
            }
        }
    }

    #[test]
    fn a_name_that_is_its_own_identifier_keeps_it(scope in any_scope(), names in any_set()) {
        let given = scope.assign(&names);
        for (name, identifier) in given.iter() {
            if wanted(&scope, name) == name {
                prop_assert_eq!(name, identifier);
            }
        }
    }

    #[test]
    fn list_items_have_distinct_identifiers(scope in any_scope(), names in vec(any_name(), 0..12)) {
        let list = [names.clone(), names[..names.len() / 2].to_vec()].concat();
        let given = scope.assign_list(&list);
        prop_assert_eq!(given.len(), list.len());
        prop_assert!(has_no_repetitions(given.iter().map(String::as_str)), "{given:?}");
        for identifier in &given {
            prop_assert!(scope.language().is_identifier(identifier), "{identifier:?}");
            prop_assert!(!scope.is_reserved(identifier), "{identifier:?}");
        }
    }

    #[test]
    fn a_list_without_repetitions_is_a_set(scope in any_scope(), names in any_set()) {
        let (set, list) = (scope.assign(&names), scope.assign_list(&names));
        prop_assert!(set.identifiers().eq(list.iter().map(String::as_str)));
    }
}

/// Tests form 3, which real hashes do not produce in practice.
#[test]
fn equal_hashes_fall_back_to_the_whole_name() {
    let scope = Scope::new(&RUST, Style::Value).with_hash(one_for_all);
    let names = scope.assign(["a.b", "a b", "a_b", "c.d"]);
    assert_eq!(&names["a_b"], "a_b");
    assert_eq!(&names["a.b"], "a_b_h0123456789abcdefx612e62");
    assert_eq!(&names["a b"], "a_b_h0123456789abcdefx612062");
    assert_eq!(&names["c.d"], "c_d", "no other name wants it");
    let scope = scope.reserve(["a_b_h0123456789abcdefx612e62"]);
    let names = scope.assign(["a.b", "a b"]);
    assert_eq!(&names["a.b"], "a_b_h0123456789abcdefx612e62x612e62");
}
