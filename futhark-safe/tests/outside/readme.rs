//! The code blocks of the README, and of the first program of the guide, built and run as the package of a user.

use std::path::Path;

use super::package::{Package, compiler};

#[test]
fn the_program_of_the_readme_runs() {
    runs("readme", "../README.md");
}

#[test]
fn the_first_program_of_the_guide_runs() {
    runs("guide", "guide/src/first-program.md");
}

fn runs(name: &str, page: &str) {
    if compiler().is_none() {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let page = std::fs::read_to_string(page).unwrap();
    let package = Package::empty(name);
    let mut expected = None;
    let mut files = Vec::new();
    let parts: Vec<&str> = page.split("\n```").collect();
    assert_eq!(parts.len() % 2, 1, "unterminated block");
    for block in parts.into_iter().skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        // The first line has the name of the file: `// src/main.rs`, `-- stats.fut`.
        let mark = match language {
            "rust" | "rust,no_run" => "// ",
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
            // Without lines that rustdoc and mdBook hide.
            let shown = text.lines().filter(|line| !line.starts_with("# "));
            let lines: Vec<&str> = shown.collect();
            package.write(name, &format!("{}\n", lines.join("\n")));
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
