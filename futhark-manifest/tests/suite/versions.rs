//! Every version's manifests at every depth, in one table: what is our own,
//! what is at hand as a sample, and what installed compilers make of the corpus.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futhark_manifest::c::{self, Header};
use futhark_manifest::{Manifest, schema};
use serde_json::Value;

use crate::common::{files_below, fixtures, read};
use crate::samples;
use crate::toolchain::manifests_made;

/// How many manifests passed each depth, of how many.
#[derive(Default)]
struct Row {
    all: usize,
    same: usize,
    schema: usize,
    semantics: usize,
    header: usize,
}

impl Row {
    fn add(&mut self, manifest: &Path) {
        let text = read(manifest);
        let what = manifest.display();
        let json: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{what}: {e}"));
        let manifest_form = Manifest::parse(&text).unwrap_or_else(|e| panic!("{what}: {e}"));
        self.all += 1;
        self.same += usize::from(manifest_form.to_json() == json);
        self.schema += usize::from(schema::validate(&json).is_ok());
        let Ok(program) = manifest_form.resolve() else {
            return;
        };
        self.semantics += usize::from(manifest_form.check().is_empty());
        if let Ok(header) = std::fs::read_to_string(manifest.with_extension("h")) {
            let agreement = c::agree(&program, &Header::parse(&header));
            self.header += usize::from(agreement.is_full());
        }
    }
}

fn version(manifest: &Path) -> String {
    let json: Value = serde_json::from_str(&read(manifest)).expect("JSON");
    let text = json["version"].as_str().unwrap_or("none");
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.')
        .to_owned()
}

#[test]
fn all_versions_pass_all_depths() {
    let sources: [(&str, Vec<PathBuf>); 3] = [
        ("our own", files_below(&fixtures(), "json")),
        ("sample", samples::files()),
        (
            "compiled",
            manifests_made().map(Path::to_path_buf).collect(),
        ),
    ];
    let mut table: BTreeMap<(&str, Vec<u32>), Row> = BTreeMap::new();
    for (source, manifests) in &sources {
        for manifest in manifests {
            let version = version(manifest);
            let numbers = version.split('.').map_while(|part| part.parse().ok());
            table
                .entry((source, numbers.collect()))
                .or_default()
                .add(manifest);
        }
    }
    println!(
        "{:10} {:10} manifests same schema semantics header",
        "", "version"
    );
    for ((source, version), row) in &table {
        let version: Vec<String> = version.iter().map(u32::to_string).collect();
        let Row {
            all,
            same,
            schema,
            semantics,
            header,
        } = row;
        let version = version.join(".");
        println!("{source:10} {version:10} {all:9} {same:4} {schema:6} {semantics:9} {header:6}");
        assert_eq!([same, schema, semantics], [all; 3], "{source} {version}");
        // Only compilers write headers.
        assert_eq!(
            *header,
            if *source == "compiled" { *all } else { 0 },
            "{version}"
        );
    }
    assert!(
        table
            .keys()
            .filter(|(source, _)| *source == "our own")
            .count()
            >= 10
    );
}
