//! The programs that the installed compilers compile for these tests.
//!
//! A manifest depends on the types of a program's entry points, not on what they compute, so the
//! tests compile programs that together show every declaration of the corpus: each element type,
//! and each pair of neighbouring tokens in the heads of entry points and in type definitions.
//! [`FULL`] selects all programs instead; futhark-conformance compiles all of them, too, and
//! compares each manifest with its header.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use crate::common::{files_below, read};
use futhark_manifest::ElemType;

/// The variable that selects the whole corpus.
const FULL: &str = "FUTHARK_TESTS_FULL";

/// A program with a prime in a variant's name: no known compiler writes valid C for it.
const PRIMES: &str = "names/variants_with_primes.fut";

/// The maximum number of neighbouring tokens in a feature.
const LENGTH: usize = 2;

/// The selected programs, without [`primes`].
pub fn sources() -> Vec<PathBuf> {
    let mut sources = files_below(&programs(), "fut");
    sources.retain(|source| !source.ends_with(PRIMES));
    if env::var_os(FULL).is_some() {
        return sources;
    }
    let all = sources.len();
    let cover = cover(sources);
    println!("{} of {all} programs; {FULL}=1 selects all", cover.len());
    cover
}

/// The program whose manifest has C names that are not valid in C.
pub fn primes() -> PathBuf {
    programs().join(PRIMES)
}

/// The folder of the corpus.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs")
}

/// Selects programs that together have all features, greedily by the number of new features.
fn cover(sources: Vec<PathBuf>) -> Vec<PathBuf> {
    let featured = sources.into_iter().map(|source| {
        let features = features(&read(&source));
        (source, features)
    });
    let mut candidates: Vec<(PathBuf, BTreeSet<String>)> = featured.collect();
    let mut cover = Vec::new();
    while let Some(best) = (0..candidates.len()).max_by_key(|&n| candidates[n].1.len()) {
        let (source, added) = candidates.swap_remove(best);
        if added.is_empty() {
            break;
        }
        for (_, features) in &mut candidates {
            features.retain(|feature| !added.contains(feature));
        }
        cover.push(source);
    }
    cover
}

/// The features of a program's declarations.
fn features(text: &str) -> BTreeSet<String> {
    let mut features = BTreeSet::new();
    for declaration in declarations(text) {
        let tokens = tokens(&declaration);
        let scalars = tokens.iter().filter(|token| is_scalar(token));
        features.extend(scalars.cloned());
        let classes: Vec<&str> = tokens.iter().map(|token| class(token)).collect();
        for length in 1..=LENGTH {
            let neighbours = classes.windows(length);
            features.extend(neighbours.map(|tokens| tokens.join(" ")));
        }
    }
    features
}

/// Heads of entry points, and type definitions, without comments. A declaration reaches to the
/// next line that is not indented.
fn declarations(text: &str) -> Vec<String> {
    let mut declarations: Vec<String> = Vec::new();
    for line in text.lines() {
        let code = line.split("--").next().unwrap_or_default();
        match declarations.last_mut() {
            Some(declaration) if code.starts_with([' ', '|', '}', ')']) => {
                declaration.push_str(code);
            }
            _ => declarations.push(code.to_owned()),
        }
    }
    let relevant = declarations.iter().filter_map(|declaration| {
        // An attribute may come first.
        let start = declaration.find("entry ").or(declaration.find("type"))?;
        let declaration = &declaration[start..];
        let head = declaration.split('=').next();
        let is_entry = declaration.starts_with("entry");
        Some(if is_entry { head? } else { declaration }.to_owned())
    });
    relevant.collect()
}

/// Words and symbols. Each dimension is one token.
fn tokens(declaration: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || "_'.".contains(c);
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = declaration.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        tokens.push(token.to_owned());
        rest = behind.trim_start();
    }
    tokens
}

fn is_scalar(token: &str) -> bool {
    ElemType::from_name(token).is_some()
}

/// The kind of a token; each symbol and keyword is its own kind.
fn class(token: &str) -> &str {
    match token {
        "entry" | "type" => token,
        _ if is_scalar(token) => "scalar",
        _ if token.starts_with('[') => "[]",
        _ if token.starts_with(|c: char| c.is_ascii_digit()) => "number",
        // Characters that C names cannot have, or that are escaped.
        _ if token.contains('\'') => "name'",
        _ if token.contains('.') => "module.name",
        _ if !token.is_ascii() => "nåme",
        _ if token.starts_with(char::is_alphabetic) || token.starts_with('_') => "name",
        _ => token,
    }
}

#[test]
fn the_cover_has_every_feature_of_the_corpus() {
    let all = files_below(&programs(), "fut");
    let features = |sources: &[PathBuf]| -> BTreeSet<String> {
        sources
            .iter()
            .flat_map(|source| features(&read(source)))
            .collect()
    };
    let cover = cover(all.clone());
    assert_eq!(features(&cover), features(&all));
    for feature in ["[] scalar", "# name", "* []", "{ name", "f16", "type ~"] {
        assert!(features(&cover).contains(feature), "{feature}");
    }
    assert!(
        cover.len() < all.len() / 3,
        "{} of {}",
        cover.len(),
        all.len()
    );
}
