//! The subcommands `list` and `explain`.

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
    for program in Corpus::find(&args.paths).map_err(usage)?.files() {
        if say::is_closed() {
            break;
        }
        let blocks = match &program.skip {
            Some(reason) => Err(format!("skipped: {reason}")),
            None => blocks(&program.path),
        };
        let about = match &blocks {
            Ok(blocks) if blocks.compile_error.is_some() => "must not compile".to_owned(),
            Ok(blocks) => counted(blocks.cases.len(), "test case"),
            Err(error) => error.clone(),
        };
        outln!("{}: {}", shown(&program.name()), shown(&about));
        let blocks = blocks.ok().filter(|_| args.cases);
        for case in blocks.into_iter().flat_map(|blocks| blocks.cases) {
            // It matches only this case.
            let pattern = format!("blocks:{}", case.title());
            outln!("  --check {}", quoted(&pattern));
        }
    }
    Ok(Exit::Held)
}

fn blocks(program: &Path) -> Result<TestBlocks, String> {
    let source = std::fs::read_to_string(program).map_err(|error| error.to_string());
    let blocks =
        source.and_then(|text| TestBlocks::parse(&text).map_err(|error| error.to_string()));
    blocks.map_err(|error| format!("failed to parse its test blocks: {error}"))
}
