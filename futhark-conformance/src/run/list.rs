//! The subcommands `list` and `explain`.

use super::setup::paths_or_default;
use super::{Ended, Exit, usage};
use crate::blocks::TestBlocks;
use crate::checks::{self, Check};
use crate::cli::ListArgs;
use crate::corpus::Corpus;
use crate::report::{counted, quoted, shown};
use crate::say::{self, outln};
use anyhow::anyhow;
use std::path::Path;

/// Prints the page of a check.
pub fn explain(name: &str) -> Result<Exit, Ended> {
    let check = Check::named(name).ok_or_else(|| {
        let names: Vec<&str> = checks::ALL.iter().map(|check| check.name).collect();
        usage(anyhow!(
            "no check is called {name:?}; the checks are: {}",
            names.join(", ")
        ))
    })?;
    say::out(format_args!("{}", check.page));
    Ok(Exit::Held)
}

/// Prints the checks, or the programs and their test cases.
pub fn run(args: &ListArgs) -> Result<Exit, Ended> {
    if args.checks {
        let width = checks::ALL
            .iter()
            .map(|check| check.name.len())
            .max()
            .unwrap_or(0);
        for check in checks::ALL {
            outln!("{:width$}  {}", check.name, check.about());
            let sections: Vec<&str> = check.sections().collect();
            outln!("{:width$}  proves: {}", "", sections.join(", "));
        }
        return Ok(Exit::Held);
    }
    for program in Corpus::find(paths_or_default(&args.paths))
        .map_err(usage)?
        .files()
    {
        if say::is_closed() {
            break;
        }
        let about = match &program.skip {
            Some(reason) => format!("skipped: {reason}"),
            None => describe(&program.path),
        };
        outln!("{}: {}", shown(&program.name()), shown(&about));
        if args.cases && program.skip.is_none() {
            list_cases(&program.path);
        }
    }
    Ok(Exit::Held)
}

/// Prints a `--check` option for each test case, which matches only this case.
fn list_cases(program: &Path) {
    let source = std::fs::read_to_string(program).unwrap_or_default();
    for case in TestBlocks::parse(&source).unwrap_or_default().cases {
        let pattern = format!("blocks:{}", case.title());
        outln!("  --check {}", quoted(&pattern));
    }
}

fn describe(path: &Path) -> String {
    let blocks = std::fs::read_to_string(path)
        .map_err(|error| error.to_string())
        .and_then(|source| TestBlocks::parse(&source).map_err(|error| error.to_string()));
    match blocks {
        Ok(blocks) if blocks.compile_error.is_some() => "must not compile".to_owned(),
        Ok(blocks) => counted(blocks.cases.len(), "test case"),
        Err(error) => format!("failed to parse its test blocks: {error}"),
    }
}
