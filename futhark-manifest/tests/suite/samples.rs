//! Extra manifests, from compilers that cannot be installed: each must be read without a
//! warning. They are not part of the repository; a variable names their folder.

use std::env;
use std::path::PathBuf;

use crate::common::{faultless, files_below, fixtures, read};
use futhark_manifest::Program;

/// The variable that names a folder of manifests, which may be in subfolders.
const VARIABLE: &str = "FUTHARK_EXTRA_MANIFESTS";

/// The programs of all fixtures and extra manifests, each with its file.
pub fn programs() -> Vec<(PathBuf, Program)> {
    let mut files = files_below(&fixtures(), "json");
    assert!(!files.is_empty());
    files.append(&mut self::files());
    let programs = files.into_iter().map(|file| {
        let program = faultless(&read(&file), file.display());
        (file, program)
    });
    programs.collect()
}

/// The extra manifests. Empty unless the variable is set.
pub fn files() -> Vec<PathBuf> {
    let Some(folder) = env::var_os(VARIABLE).map(PathBuf::from) else {
        println!("no extra manifests: {VARIABLE} is not set");
        return Vec::new();
    };
    let files = files_below(&folder, "json");
    assert!(
        !files.is_empty(),
        "{VARIABLE} names a folder without manifests: {}",
        folder.display()
    );
    files
}
