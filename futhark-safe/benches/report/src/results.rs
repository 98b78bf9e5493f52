//! Reads the results of criterion: a folder with `benchmark.json` and `estimates.json` per measurement and run.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Nanoseconds per iteration in one run: the median, with the limits of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// A backend, what is measured on it, and the number of elements (0 if there is none), from a group
/// such as "c: upload".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub backend: String,
    pub name: String,
    pub size: u64,
}

/// The runs of each variant ("plain", "typed").
#[derive(Clone, Debug, Default)]
pub struct Variants {
    pub runs: BTreeMap<String, BTreeMap<String, Estimate>>,
    /// Bytes per iteration.
    pub bytes: Option<u64>,
}

/// Everything that was measured.
pub type Results = BTreeMap<Case, Variants>;

impl Variants {
    /// The median of the runs.
    pub fn time(&self, variant: &str) -> Option<f64> {
        median(self.runs.get(variant)?.values().map(|run| run.median))
    }

    /// The median over the runs of `compare(variant, base)`: both are of the same run.
    pub fn against(
        &self,
        variant: &str,
        base: &str,
        compare: impl Fn(f64, f64) -> f64,
    ) -> Option<f64> {
        let bases = self.runs.get(base)?;
        let both = self.runs.get(variant)?.iter();
        median(both.filter_map(|(run, x)| Some(compare(x.median, bases.get(run)?.median))))
    }

    /// Half of the confidence interval's width as a part of the median: of the run where it is widest.
    pub fn interval(&self, variant: &str) -> Option<f64> {
        let runs = self.runs.get(variant)?.values();
        runs.map(|run| (run.high - run.low) / 2.0 / run.median)
            .max_by(f64::total_cmp)
    }

    /// The difference between the slowest and the fastest run as a part of the median; `None` for
    /// one run.
    pub fn spread(&self, variant: &str) -> Option<f64> {
        let times = || self.runs[variant].values().map(|run| run.median);
        let median = self.time(variant).filter(|_| times().len() > 1)?;
        let least = times().min_by(f64::total_cmp)?;
        Some((times().max_by(f64::total_cmp)? - least) / median)
    }
}

/// The median; the mean of the middle two of an even number.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}

/// Reads the runs that were saved as baselines `run1`, `run2` and so on.
///
/// # Errors
/// If a folder or file cannot be read, or no run is found.
pub fn read(folder: &Path) -> Result<Results> {
    let mut results = Results::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot read the folder {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
        let run = folder.file_name().unwrap_or_default().to_string_lossy();
        if run.starts_with("run") && folder.join("benchmark.json").exists() {
            add(&mut results, &folder, &run)
                .with_context(|| format!("cannot read the results in {}", folder.display()))?;
        }
    }
    anyhow::ensure!(
        !results.is_empty(),
        "no results in {}: run the benches with --save-baseline run1, as ci/bench does",
        folder.display()
    );
    Ok(results)
}

fn add(results: &mut Results, folder: &Path, run: &str) -> Result<()> {
    let read = |name: &str| -> Result<Value> {
        Ok(serde_json::from_slice(&std::fs::read(folder.join(name))?)?)
    };
    let id = read("benchmark.json")?;
    let median = &read("estimates.json")?["median"];
    let number = |value: &Value| value.as_f64().context("estimates.json has no median");
    let text = |key: &str| id[key].as_str();
    let group = text("group_id").context("benchmark.json has no group")?;
    let (backend, name) = group.split_once(": ").unwrap_or(("", group));
    let case = Case {
        backend: backend.to_owned(),
        name: name.to_owned(),
        size: text("value_str")
            .and_then(|size| size.parse().ok())
            .unwrap_or(0),
    };
    let estimate = Estimate {
        median: number(&median["point_estimate"])?,
        low: number(&median["confidence_interval"]["lower_bound"])?,
        high: number(&median["confidence_interval"]["upper_bound"])?,
    };
    let variants = results.entry(case).or_default();
    variants.bytes = variants.bytes.or(id["throughput"]["Bytes"].as_u64());
    let variant = text("function_id").unwrap_or(group).to_owned();
    let runs = variants.runs.entry(variant).or_default();
    runs.insert(run.to_owned(), estimate);
    Ok(())
}
