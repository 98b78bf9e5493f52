//! What Cargo compiles for a package of a user.

use std::collections::BTreeSet;

use super::package::Package;

/// The dependencies of a package by edges of these kinds, each with its features: `futhark-sys v0.1.0 (…)|load`.
fn dependencies(package: &Package, edges: &str) -> Vec<String> {
    let edges = format!("--edges={edges}");
    let tree = [&*edges, "--prefix=none", "--no-dedupe", "--format={p}|{f}"];
    let lines = package.succeeds("tree", &tree, &[]);
    // The first line is the package.
    lines.lines().skip(1).map(str::to_owned).collect()
}

fn ours() -> Vec<String> {
    dependencies(&Package::new("outside-dependencies"), "normal,build")
}

fn name(dependency: &str) -> &str {
    dependency.split(' ').next().unwrap()
}

/// Cargo compiles the crate twice, for the program and for the build script, which has no use for contexts.
#[test]
fn a_build_script_compiles_no_contexts() {
    let all = ours();
    let ours = all.iter().filter(|line| name(line) == "futhark-safe");
    let features: Vec<_> = ours.map(|line| line.rsplit_once('|').unwrap().1).collect();
    assert_eq!(features, ["default,load,run", "build,compile"]);
}

#[test]
fn a_package_has_at_most_15_dependencies() {
    let all = ours();
    let names: BTreeSet<_> = all.iter().map(|line| name(line)).collect();
    assert!(names.contains("futhark-safe") && names.contains("serde_json"));
    assert!(names.len() <= 15, "{} crates: {names:?}", names.len());
}

/// bindgen is a dependency of the build scripts that ask for raw modules, and of nothing else.
#[test]
fn only_raw_modules_need_bindgen() {
    let has = |all: &[String]| all.iter().any(|line| name(line) == "bindgen");
    assert!(!has(&ours()));
    let package = Package::new("outside-raw");
    let manifest = std::fs::read_to_string(package.folder.join("Cargo.toml")).unwrap();
    package.write("Cargo.toml", &manifest.replace("[\"build\"]", "[\"raw\"]"));
    assert!(has(&dependencies(&package, "normal,build")));
    assert!(!has(&dependencies(&package, "normal")));
}
