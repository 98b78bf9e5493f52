//! Manifests of every compiler version match the schema and resolve: the fixtures, the extra samples,
//! and those that the installed compilers write for the corpus.

use std::collections::BTreeMap;
use std::path::PathBuf;

use futhark_manifest::schema;
use serde_json::Value;

use crate::common::{faultless, files_below, fixtures, read};
use crate::samples;
use crate::toolchain::manifests_of_the_corpus;

#[test]
fn manifests_of_all_versions_match_and_resolve() {
    let sources: [(&str, Vec<PathBuf>); 3] = [
        ("fixture", files_below(&fixtures(), "json")),
        ("sample", samples::files()),
        ("compiled", manifests_of_the_corpus().to_vec()),
    ];
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (source, manifests) in &sources {
        for manifest in manifests {
            let text = read(manifest);
            let json: Value = serde_json::from_str(&text).expect("JSON");
            let violations = schema::validate(&json).err().unwrap_or_default();
            assert_eq!(violations, [], "{}", manifest.display());
            let program = faultless(&text, manifest.display());
            let version = program.version.to_string();
            *counts.entry((source, version)).or_default() += 1;
        }
    }
    for ((source, version), count) in &counts {
        println!("{source:10} {version:10} {count} manifests");
    }
    let fixtures = counts.keys().filter(|(source, _)| *source == "fixture");
    assert!(fixtures.count() >= 10);
}
