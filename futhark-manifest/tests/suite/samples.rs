//! Extra manifests, from compilers that cannot be installed: each must be read without a
//! warning. They are not part of the repository; a variable names their folder.

use std::env;
use std::path::PathBuf;

use crate::common::files_below;

/// The variable that names a folder of manifests, which may be in subfolders.
const VARIABLE: &str = "FUTHARK_EXTRA_MANIFESTS";

/// The folder of extra manifests, if the variable names one.
pub fn folder() -> Option<PathBuf> {
    let folder = env::var_os(VARIABLE).map(PathBuf::from);
    if folder.is_none() {
        println!("no extra manifests: {VARIABLE} is not set");
    }
    folder
}

/// The extra manifests. Empty unless the variable is set.
pub fn files() -> Vec<PathBuf> {
    let Some(folder) = folder() else {
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
