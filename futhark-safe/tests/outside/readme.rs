//! The code blocks of the README, built and run as the package of a user.

use std::path::Path;

use super::package::{Package, compiler};

#[test]
fn the_program_of_the_readme_runs() {
    if compiler().is_none() {
        return;
    }
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let package = Package::empty("readme");
    let mut expected = None;
    let mut files = Vec::new();
    let parts: Vec<&str> = readme.split("\n```").collect();
    assert_eq!(parts.len() % 2, 1, "unterminated block");
    for block in parts.into_iter().skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        // The first line has the name of the file: `// src/main.rs`, `-- stats.fut`.
        let mark = match language {
            "rust" => "// ",
            "futhark" => "-- ",
            "toml" => "# ",
            _ => "no file",
        };
        let first = text.lines().next();
        let Some(name) = first.and_then(|line| line.strip_prefix(mark)) else {
            assert_eq!(language, "sh", "no test runs this block: {text}");
            continue;
        };
        files.push(name);
        if name == "src/main.rs" {
            // A comment after `println!` has the expected output.
            let line = text.lines().find(|line| line.contains("println!")).unwrap();
            let (_, comment) = line.rsplit_once("// ").expect("a comment with the output");
            expected = Some(comment);
        }
        if name == "Cargo.toml" {
            let dependency = "\"../futhark-rust/futhark-safe\"";
            assert_eq!(text.matches(dependency).count(), 2, "{text}");
            let text = text.replace(dependency, &format!("{:?}", env!("CARGO_MANIFEST_DIR")));
            package.write(name, &format!("{text}\n[workspace]\n"));
        } else {
            package.write(name, &format!("{text}\n"));
        }
    }
    files.sort();
    assert_eq!(
        files,
        ["Cargo.toml", "build.rs", "src/main.rs", "stats.fut"]
    );
    if !package.builds() {
        return;
    }
    let printed = package.succeeds("run", &[], &[]);
    assert_eq!(Some(printed.trim()), expected);
}
