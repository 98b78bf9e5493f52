//! What raw modules add to a package of a user.

use super::package::{Package, assert_says};

/// bindgen is a dependency of the build scripts that ask for raw modules, and of nothing else.
#[test]
fn only_raw_modules_need_bindgen() {
    let tree = |package: &Package, edges: &str| {
        let output = package.cargo("tree", &["--prefix", "none", "--edges", edges], &[]);
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let without = tree(&Package::new("outside-broken"), "normal,build");
    assert_says(&without, &["futhark-safe"]);
    assert!(!without.contains("bindgen"), "{without}");
    let with = Package::new("outside-raw");
    let manifest = std::fs::read_to_string(with.folder.join("Cargo.toml")).unwrap();
    with.write("Cargo.toml", &manifest.replace("[\"build\"]", "[\"raw\"]"));
    assert_says(&tree(&with, "normal,build"), &["bindgen"]);
    let linked = tree(&with, "normal");
    assert!(!linked.contains("bindgen"), "{linked}");
}
