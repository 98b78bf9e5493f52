//! A library with vendored code: packaged, unpacked, and used by another package, without Futhark.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::package::{PROGRAM, Package, assert_says, compiler, manifest, no_futhark};

const BUILD: &str = r#"
fn main() -> Result<(), futhark_safe::Error> {
    futhark_safe::build::Program::new("outside_library.fut").vendored("futhark-generated").compile()
}
"#;

/// The program has the name of the package.
const LIBRARY: &str = r#"
//! A library of a user.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

futhark_safe::include_program!(outside_library);

use crate::outside_library::{Config, Context};

/// The arithmetic mean.
pub fn mean(xs: &[f32]) -> futhark_safe::Result<f32> {
    let ctx = Context::new(&Config::new())?;
    ctx.entry().mean(&ctx.array(xs)?)
}

#[test]
fn the_mean_is_right() {
    assert_eq!(mean(&[1.0, 2.0]).unwrap(), 1.5);
}
"#;

const MAIN: &str =
    "fn main() { println!(\"{}\", outside_library::mean(&[1.0, 2.0, 6.0]).unwrap()); }\n";

#[test]
fn a_packaged_library_builds_without_futhark() {
    if compiler().is_none() {
        return;
    }
    let safe = env!("CARGO_MANIFEST_DIR");
    let version = env!("CARGO_PKG_VERSION");
    let ours = format!("futhark-safe = {{ version = {version:?}, path = {safe:?} }}\n");
    let built = ours.replace(" }", ", default-features = false, features = [\"build\"] }");
    let dependencies = format!("[dependencies]\n{ours}\n[build-dependencies]\n{built}");
    // Folders may have any name.
    let library = Package::empty("a user's \u{e4} \"library\"");
    library.write(
        "Cargo.toml",
        &manifest("outside-library", 2021, &dependencies),
    );
    library.write("build.rs", BUILD);
    library.write("src/lib.rs", LIBRARY);
    library.write("outside_library.fut", PROGRAM);
    // futhark-safe is not in a registry.
    let patch = format!("patch.crates-io.futhark-safe.path={safe:?}");
    let succeeds =
        |package: &Package, action: &str, arguments: &[&str], environment: &[(&str, &str)]| {
            let arguments = [&["--config", &patch], arguments].concat();
            package.succeeds(action, &arguments, environment)
        };
    succeeds(&library, "build", &[], &[("FUTHARK_VENDOR", "update")]);
    succeeds(&library, "package", &["--no-verify", "--allow-dirty"], &[]);
    let unpacked = unpack(&library.folder.with_file_name("unpacked"));
    drop(library);

    let without = no_futhark();
    let user = Package::empty("outside-user");
    let dependency = format!("[dependencies]\noutside-library = {{ path = {unpacked:?} }}\n");
    user.write("Cargo.toml", &manifest("outside-user", 2024, &dependency));
    user.write("src/main.rs", MAIN);
    assert_says(&succeeds(&user, "run", &[], &without), &["3\n"]);
    // The library's own tests and documentation, from the archive.
    succeeds(&user, "test", &["-p", "outside-library"], &without);
    let documentation = [&without[..], &[("DOCS_RS", "1"), ("CC", "/nonexistent/cc")]].concat();
    succeeds(
        &user,
        "doc",
        &["-p", "outside-library", "--no-deps"],
        &documentation,
    );
}

/// Unpacks the archive of the library; returns the folder of its package.
fn unpack(folder: &Path) -> PathBuf {
    let archive = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("outside-target/package/outside-library-0.1.0.crate");
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(folder);
    assert!(tar.status().unwrap().success());
    folder.join("outside-library-0.1.0")
}
