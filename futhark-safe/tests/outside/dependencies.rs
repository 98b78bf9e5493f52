//! What Cargo compiles for a package of a user.

use std::collections::BTreeSet;

use super::package::Package;

/// The dependencies of a package on its machine, each with its features: `futhark-sys v0.1.0 (…)|load`.
fn dependencies() -> Vec<String> {
    let package = Package::new("outside-dependencies");
    let tree = [
        "--edges=normal,build",
        "--prefix=none",
        "--no-dedupe",
        "--format={p}|{f}",
    ];
    let output = package.cargo("tree", &tree, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let lines = String::from_utf8(output.stdout).unwrap();
    // The first line is the package.
    lines.lines().skip(1).map(str::to_owned).collect()
}

fn name(dependency: &str) -> &str {
    dependency.split(' ').next().unwrap()
}

/// Cargo compiles the crate twice, for the program and for the build script, which has no use for contexts.
#[test]
fn a_build_script_compiles_no_contexts() {
    let all = dependencies();
    let ours = all.iter().filter(|line| name(line) == "futhark-safe");
    let features: Vec<_> = ours.map(|line| line.rsplit_once('|').unwrap().1).collect();
    assert_eq!(features, ["default,load,run", "build,compile"]);
}

#[test]
fn a_package_has_at_most_15_dependencies() {
    let all = dependencies();
    let names: BTreeSet<_> = all.iter().map(|line| name(line)).collect();
    assert!(names.contains("futhark-safe") && names.contains("serde_json"));
    assert!(names.len() <= 15, "{} crates: {names:?}", names.len());
}
