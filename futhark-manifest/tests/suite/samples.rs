//! Manifests of compiler versions that cannot be installed, kept outside of the
//! repository: where they are at hand, each is read without a warning.

use std::env;
use std::path::{Path, PathBuf};

use crate::common::{faultless, files_below, read};

/// Names a folder of manifests, at any depth.
const VARIABLE: &str = "FUTHARK_MANIFEST_SAMPLES";

#[test]
fn samples_are_faultless() {
    let files = files();
    for file in &files {
        let program = faultless(&read(file), file.display());
        assert!(program.version.number.is_some(), "{}", file.display());
    }
    println!("{} manifests read", files.len());
}

/// The samples; none where they are not at hand.
pub fn files() -> Vec<PathBuf> {
    let beside = || {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../shared")
            .join("manifests")
    };
    let folder = env::var_os(VARIABLE).map_or_else(beside, PathBuf::from);
    let files = files_below(&folder, "json");
    if files.is_empty() {
        assert!(
            env::var_os(VARIABLE).is_none(),
            "{VARIABLE} names a folder without manifests: {}",
            folder.display()
        );
        println!("skipped: no manifests to read; {VARIABLE} names a folder of them");
    }
    files
}
