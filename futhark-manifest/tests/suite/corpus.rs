//! The programs that the installed compilers compile for these tests.
//!
//! A manifest depends on the types of a program's entry points, not on what they compute, so the
//! tests compile programs that together have every construct of names, entry points and types that
//! `programs/constructs.jsonl` lists. [`FULL`] selects all programs instead; futhark-conformance
//! compiles all of them, too, and compares each manifest with its header.

use std::collections::HashSet;
use std::env;
use std::path::{Path, PathBuf};

use crate::common::{files_below, read};
use serde_json::Value;

/// The variable that selects the whole corpus.
const FULL: &str = "FUTHARK_TESTS_FULL";

/// A program with a prime in a variant's name: no known compiler writes valid C for it.
const PRIMES: &str = "names/variants_with_primes.fut";

/// The topics of constructs on which manifests depend.
const TOPICS: [&str; 4] = ["Name", "Entry", "Array", "Opaque"];

/// The selected programs, without [`primes`].
pub fn sources() -> Vec<PathBuf> {
    if env::var_os(FULL).is_some() {
        let mut sources = files_below(&programs(), "fut");
        sources.retain(|source| !source.ends_with(PRIMES));
        return sources;
    }
    let sources = cover();
    println!("{} programs; {FULL}=1 selects all", sources.len());
    sources
}

/// The program whose manifest has C names that are not valid in C.
pub fn primes() -> PathBuf {
    programs().join(PRIMES)
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs")
}

/// Selects programs that together have all constructs, greedily by the number of new ones.
fn cover() -> Vec<PathBuf> {
    let text = read(&programs().join("constructs.jsonl"));
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let constructs = lines.next().expect("the list of constructs");
    let is_relevant = |number: &Value| {
        let construct = &constructs[number.as_u64().expect("a number") as usize];
        TOPICS.iter().any(|topic| construct["topic"] == *topic)
    };
    let mut candidates: Vec<(String, HashSet<Value>)> = lines
        .map(|line| {
            let all = line["constructs"].as_array().expect("numbers").iter();
            let name = line["program"].as_str().expect("a path").to_owned();
            (
                name,
                all.filter(|number| is_relevant(number)).cloned().collect(),
            )
        })
        .filter(|(name, _)| name != PRIMES)
        .collect();
    let mut cover = Vec::new();
    while let Some(best) = (0..candidates.len()).max_by_key(|&n| candidates[n].1.len()) {
        let (name, added) = candidates.swap_remove(best);
        if added.is_empty() {
            break;
        }
        for (_, constructs) in &mut candidates {
            constructs.retain(|construct| !added.contains(construct));
        }
        cover.push(programs().join(name));
    }
    assert!(cover.len() > 5, "{cover:?}");
    cover
}
