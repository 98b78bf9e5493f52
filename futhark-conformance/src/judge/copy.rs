//! The copies of the programs that both judges run.

use super::alter;
use crate::blocks::TestBlocks;
use crate::cli::JudgeArgs;
use crate::corpus::Program;
use futhark_manifest::Backend;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A copied program.
pub struct Copied {
    /// The name in the report.
    pub name: String,
    /// The path of the copy.
    pub path: PathBuf,
    /// The test blocks; none if they cannot be parsed.
    pub blocks: Option<TestBlocks>,
}

/// Copies the folders of the programs, and writes the changed programs into them.
pub fn all(
    programs: &[Program],
    args: &JudgeArgs,
    build_dir: &Path,
    to: &Path,
) -> io::Result<Vec<Copied>> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    let mut folders: Vec<(PathBuf, PathBuf)> = Vec::new();
    for path in &args.paths_or_default() {
        // Empty for a file in the current folder, because its path has no parent.
        let folder = if path.is_dir() {
            path.as_path()
        } else {
            path.parent().unwrap_or(path)
        };
        if folders.iter().all(|(from, _)| from != folder) {
            let copy = to.join(folders.len().to_string());
            copy_folder(&Path::new(".").join(folder), build_dir, &copy)?;
            folders.push((folder.to_owned(), copy));
        }
    }
    let mut copies = Vec::new();
    for program in programs {
        let place = folders.iter().find_map(|(from, copy)| {
            let inside = program.path.strip_prefix(from).ok()?;
            Some(copy.join(inside))
        });
        if let Some(path) = place {
            write(program, &path, args, &mut copies)?;
        }
    }
    Ok(copies)
}

/// Copies files, except hidden ones and compiled programs.
fn copy_folder(from: &Path, build_dir: &Path, to: &Path) -> io::Result<()> {
    let build_dir = build_dir.canonicalize().ok();
    let visible = |entry: &walkdir::DirEntry| {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        let compiled =
            || entry.file_type().is_dir() && entry.path().canonicalize().ok() == build_dir;
        entry.depth() == 0 || !hidden && !compiled()
    };
    for entry in WalkDir::new(from).into_iter().filter_entry(visible) {
        let entry = entry?;
        let inside = entry.path().strip_prefix(from).unwrap_or(entry.path());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(to.join(inside))?;
        } else if entry.file_type().is_file() {
            std::fs::copy(entry.path(), to.join(inside))?;
        }
    }
    Ok(())
}

/// Writes a program, if it has verdicts to compare.
fn write(
    program: &Program,
    path: &Path,
    args: &JudgeArgs,
    copies: &mut Vec<Copied>,
) -> io::Result<()> {
    let source = std::fs::read_to_string(&program.path)?;
    let Ok(blocks) = TestBlocks::parse(&source) else {
        copies.push(Copied {
            name: program.name(),
            path: path.to_owned(),
            blocks: None,
        });
        return Ok(());
    };
    let not_for_c = format!("no_{}", Backend::C);
    let excluded = |tag: &String| *tag == not_for_c || args.exclude_tag.contains(tag);
    if blocks.tags.iter().any(excluded) || !has_something(&blocks) {
        return Ok(());
    }
    let source = renamed(&source, &blocks, args.altered);
    std::fs::write(path, &source)?;
    copies.push(Copied {
        name: program.name(),
        path: path.to_owned(),
        blocks: TestBlocks::parse(&source).ok(),
    });
    Ok(())
}

fn has_something(blocks: &TestBlocks) -> bool {
    !blocks.cases.is_empty() || blocks.compile_error.is_some() || !blocks.warnings.is_empty()
}

/// The source with a name for each unnamed case; and, if requested, with an altered copy of each
/// case at its end.
fn renamed(source: &str, blocks: &TestBlocks, altered: bool) -> String {
    let mut out = String::with_capacity(source.len());
    // A case for several entry points occurs once in the source.
    let places: BTreeMap<usize, bool> = blocks
        .cases
        .iter()
        .map(|case| (case.span.start, case.named))
        .collect();
    let mut at = 0;
    for (number, (start, named)) in places.into_iter().enumerate() {
        out.push_str(&source[at..start]);
        if !named {
            out.push_str(&format!("\"case {number}\" "));
        }
        at = start;
    }
    out.push_str(&source[at..]);
    if altered {
        for (number, case) in blocks.cases.iter().enumerate() {
            if let Some(text) = alter::alter(number, source, case) {
                let entry = &case.entry;
                out.push_str(&format!(
                    "\n-- ==\n-- entry: {entry}\n-- \"altered {number}\" {text}\n"
                ));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_gets_a_name_and_an_altered_copy() {
        let source = "-- ==\n-- entry: f g\n-- input { 1 } output { 1 } \"b\" input { 2 }\nx\n";
        let blocks = TestBlocks::parse(source).unwrap();
        let named = renamed(source, &blocks, false);
        assert_eq!(
            named,
            "-- ==\n-- entry: f g\n-- \"case 0\" input { 1 } output { 1 } \"b\" input { 2 }\nx\n"
        );
        let altered = renamed(source, &blocks, true);
        let blocks = TestBlocks::parse(&altered).unwrap();
        let names: Vec<_> = blocks.cases.iter().map(|case| case.data_name()).collect();
        assert_eq!(names[..4], ["case 0", "b", "case 0", "b"], "{altered}");
        assert_eq!(
            names[4..],
            ["altered 0", "altered 1", "altered 2", "altered 3"],
            "{altered}"
        );
    }
}
