//! The code blocks of the README, built and run as the package of a user.

use std::path::Path;

use super::package::{Package, compiler};

/// The language and the text of a code block.
type Block = (String, String);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns every fenced block of a text.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (None, None) => {}
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "unterminated block: {open:?}");
    blocks
}

/// The name of the file, from the first line: `// src/main.rs`, `-- stats.fut`.
fn named(block: &Block) -> Option<(&str, &str)> {
    let (first, _) = block.1.split_once('\n')?;
    let mark = match block.0.as_str() {
        "rust" => "// ",
        "futhark" => "-- ",
        "toml" => "# ",
        _ => return None,
    };
    Some((first.strip_prefix(mark)?, &block.1))
}

#[test]
fn the_program_of_the_readme_runs() {
    if compiler().is_none() {
        return;
    }
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let package = Package::empty("readme");
    let mut expected = None;
    let mut files = Vec::new();
    for block in &blocks(&readme) {
        let Some((name, text)) = named(block) else {
            assert_eq!(block.0, "sh", "no test runs this block: {}", block.1);
            continue;
        };
        files.push(name.to_owned());
        if name == "src/main.rs" {
            // A comment after `println!` has the expected output.
            let line = text.lines().find(|line| line.contains("println!")).unwrap();
            let (_, comment) = line.rsplit_once("// ").expect("a comment with the output");
            expected = Some(comment.to_owned());
        }
        if name == "Cargo.toml" {
            let dependency = "\"../futhark-rust/futhark-safe\"";
            assert_eq!(text.matches(dependency).count(), 2, "{text}");
            let text = text.replace(dependency, &format!("{:?}", env!("CARGO_MANIFEST_DIR")));
            package.write(name, &format!("{text}\n[workspace]\n"));
        } else {
            package.write(name, text);
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
    let output = package.cargo("run", &[], &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(Some(printed.trim()), expected.as_deref());
}
