//! The tables of docs/ name tests; each of them is there.

use std::fs;
use std::path::Path;

/// Where the short names of the tables lead.
const FOLDERS: [(&str, &str); 3] = [
    ("typed/", "tests/typed/tests/"),
    ("fake/", "src/fake_tests/"),
    ("refused/", "tests/generated/tests/refused/"),
];

fn file(name: &str) -> String {
    for (short, long) in FOLDERS {
        if let Some(rest) = name.strip_prefix(short) {
            return format!("{long}{rest}");
        }
    }
    name.to_owned()
}

/// The last cell of each row, between backquotes.
fn named_tests(table: &str) -> Vec<&str> {
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.contains("---"));
    let last = |row: &'_ str| -> usize { row.trim_end_matches(" |").rfind("| ").unwrap_or(0) };
    let cells = rows.map(|row| row[last(row)..].trim_matches(['|', ' ']));
    cells.filter(|cell| *cell != "test").collect()
}

#[test]
fn tests_that_are_named_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    for table in ["docs/c-api.md", "docs/misuse.md"] {
        let text = fs::read_to_string(root.join(table)).expect(table);
        for cell in named_tests(&text) {
            checked += 1;
            let Some(named) = cell.strip_prefix('`').and_then(|c| c.strip_suffix('`')) else {
                // A check of the conformance program, which runs it on every backend.
                let check = cell
                    .strip_prefix("conformance check `")
                    .and_then(|c| c.strip_suffix('`'));
                let check = check.unwrap_or_else(|| panic!("{table}: {cell}"));
                let checks = root.join("../futhark-conformance/src/checks").join(check);
                assert!(
                    checks.exists() || checks.with_extension("rs").exists(),
                    "{check}"
                );
                continue;
            };
            let (path, test) = named
                .split_once(": ")
                .map_or((named, None), |(p, t)| (p, Some(t)));
            let path = root.join(file(path));
            let text =
                fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            if let Some(test) = test {
                let is_there =
                    text.contains(&format!("fn {test}(")) || text.contains(&format!("**{test}"));
                assert!(is_there, "{table}: {named} is not there");
            }
        }
    }
    assert!(checked > 60, "{checked}");
}
