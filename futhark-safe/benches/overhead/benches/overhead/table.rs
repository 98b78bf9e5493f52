//! The table of results, from the files of Criterion.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::SystemTime;

/// The times of one group and size, by variant.
type Row = BTreeMap<String, Times>;

/// Nanoseconds per iteration.
#[derive(Clone, Copy)]
struct Times {
    /// The median of all samples.
    median: f64,
    /// The minimum of all samples, the least disturbed one.
    least: f64,
}

/// Returns a table of all measurements since `start`, empty without any.
///
/// Times are minima. Ratios compare the typed interface with plain C, outside and in a scope: of minima,
/// and of medians, which agree on an idle machine.
pub fn write(folder: &Path, start: SystemTime) -> String {
    let mut rows: BTreeMap<(String, u64), Row> = BTreeMap::new();
    for ((group, variant, size), times) in estimates(folder, start) {
        rows.entry((group, size))
            .or_default()
            .insert(variant, times);
    }
    let mut text = String::new();
    for ((group, size), row) in rows {
        let (Some(plain), Some(typed)) = (row.get("plain"), row.get("typed")) else {
            continue;
        };
        let least = |variant: &str| row.get(variant).map(|times| times.least);
        if text.is_empty() {
            let title = [
                "measurement",
                "elements",
                "plain C",
                "typed",
                "more",
                "ratio",
                "of medians",
                "scope",
                "ratio",
                "untrapped",
            ];
            line(&mut text, title.map(str::to_owned));
        }
        line(
            &mut text,
            [
                group,
                if size == 0 {
                    String::new()
                } else {
                    size.to_string()
                },
                time(plain.least),
                time(typed.least),
                time(typed.least - plain.least),
                format!("{:.3}", typed.least / plain.least),
                format!("{:.3}", typed.median / plain.median),
                least("scope").map(time).unwrap_or_default(),
                least("scope")
                    .map(|scope| format!("{:.3}", scope / plain.least))
                    .unwrap_or_default(),
                least("untrapped").map(time).unwrap_or_default(),
            ],
        );
    }
    text
}

fn line(text: &mut String, [a, b, c, d, e, f, g, h, i, j]: [String; 10]) {
    let line =
        format!("{a:<46} {b:>9} {c:>10} {d:>10} {e:>10} {f:>7} {g:>10} {h:>10} {i:>7} {j:>10}");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", line.trim_end());
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        t if t < 1e3 => format!("{nanoseconds:.1} ns"),
        t if t < 1e6 => format!("{:.2} us", nanoseconds / 1e3),
        _ => format!("{:.2} ms", nanoseconds / 1e6),
    }
}

/// Group, variant and size (0 if there is none) of a measurement.
type Key = (String, String, u64);

/// All measurements below `folder`.
fn estimates(folder: &Path, start: SystemTime) -> Vec<(Key, Times)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
        if folder.file_name().is_some_and(|name| name == "new") {
            found.extend(estimate(&folder, start));
        }
    }
    found
}

fn estimate(folder: &Path, start: SystemTime) -> Option<(Key, Times)> {
    let file = folder.join("estimates.json");
    // The folder also has results of earlier runs.
    if file.metadata().ok()?.modified().ok()? < start {
        return None;
    }
    let read = |path: &Path| -> Option<serde_json::Value> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    };
    let id = read(&folder.join("benchmark.json"))?;
    let text = |key: &str| id[key].as_str().map(str::to_owned);
    let size = text("value_str")
        .and_then(|size| size.parse().ok())
        .unwrap_or(0);
    let median = read(&file)?["median"]["point_estimate"].as_f64()?;
    let samples = read(&folder.join("sample.json"))?;
    let least = samples["times"]
        .as_array()?
        .iter()
        .zip(samples["iters"].as_array()?)
        .filter_map(|(time, iterations)| Some(time.as_f64()? / iterations.as_f64()?))
        .fold(f64::INFINITY, f64::min);
    Some((
        (text("group_id")?, text("function_id")?, size),
        Times { median, least },
    ))
}
