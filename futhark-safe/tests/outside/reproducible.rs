//! What a build script makes does not depend on where the package and its target folder are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::package::{BUILD, PROGRAM, Package, compiler, manifest};

/// Only with `FUTHARK_TESTS_FULL`. Builds in two target folders are compared in `futhark-sys/tests/build.rs`; here no result
/// contains the path of one.
#[test]
fn equal_packages_in_two_folders_have_equal_results() {
    if std::env::var_os("FUTHARK_TESTS_FULL").is_none() || compiler().is_none() {
        println!("skipped: FUTHARK_TESTS_FULL is not set, or there is no compiler");
        return;
    }
    let safe = env!("CARGO_MANIFEST_DIR");
    let dependencies = format!(
        "[dependencies]\nfuthark-safe = {{ path = {safe:?} }}\n\n[build-dependencies]\n\
         futhark-safe = {{ path = {safe:?}, default-features = false, features = [\"build\"] }}\n"
    );
    let [one, two] = ["same", "elsewhere/deep/same"].map(|place| {
        let package = Package::empty(place);
        package.write("Cargo.toml", &manifest("same", 2024, &dependencies));
        package.write("build.rs", BUILD);
        package.write("stats.fut", PROGRAM);
        package.write("src/lib.rs", "futhark_safe::include_program!(stats);\n");
        // Cargo runs the build script again without its results.
        let builds = Package::target().join("debug/build");
        let mut found = BTreeMap::new();
        for run in [false, true] {
            if run {
                package.succeeds("check", &[], &[]);
            }
            let folders = fs::read_dir(&builds).into_iter().flatten();
            let folders = folders.map(|entry| entry.unwrap().path());
            for folder in folders.filter(|path| name_of(path).starts_with("same-")) {
                if run && folder.join("out").is_dir() {
                    results(&folder.join("out"), &mut found);
                }
                fs::remove_dir_all(folder).unwrap();
            }
        }
        for (path, bytes) in &found {
            let text = String::from_utf8_lossy(bytes);
            for folder in [&package.folder, &builds] {
                assert!(!text.contains(folder.to_str().unwrap()), "{path:?}");
            }
        }
        found
    });
    assert!(one.keys().any(|path| path.ends_with("stats.rs")));
    assert!(
        one.keys().eq(two.keys()),
        "{:?} {:?}",
        one.keys(),
        two.keys()
    );
    let differing = one.iter().filter(|(path, bytes)| two[*path] != **bytes);
    let differing: Vec<_> = differing.map(|(path, _)| path).collect();
    assert!(differing.is_empty(), "{differing:?}");
}

fn name_of(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// The files below a folder, without what the compilers said about themselves.
fn results(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if name_of(&path) == "facts" => {}
            true => results(&path, found),
            false => {
                let name = Path::new(name_of(folder)).join(name_of(&path));
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
}
