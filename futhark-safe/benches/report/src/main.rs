//! Writes `BENCHMARKS.md` and its plots from the results of criterion, in any group that the benches have.
//!
//! `ci/bench` runs it: `futhark-safe-bench-report CRITERION-FOLDER FACTS PAGE PLOTS`, where the path of the plots is
//! relative to the page.

mod budgets;
mod costs;
mod facts;
mod model;
mod page;
mod plot;
mod results;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use facts::Facts;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [criterion, facts, page, plots] = arguments.as_slice() else {
        bail!(
            "expected 4 arguments (results of criterion, facts, page, plots), got {}: run ci/bench",
            arguments.len()
        );
    };
    let (criterion, page) = (Path::new(criterion), Path::new(page));
    let results = results::read(criterion)?;
    // The benches know the devices, the script everything else.
    let facts = Facts::read(Path::new(facts), &criterion.join("devices.tsv"))?;
    let folder = page.parent().unwrap_or(Path::new("")).join(plots);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    plot::write(&results, &folder)?;
    std::fs::write(page, page::write(&results, &facts, plots))
        .with_context(|| format!("cannot write {}", page.display()))
}
