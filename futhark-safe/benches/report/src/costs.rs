//! The sections on predicting costs: the model, and a user's build.

use std::collections::BTreeSet;

use crate::budgets;
use crate::facts::Facts;
use crate::model;
use crate::page::backends;
use crate::results::Results;
use crate::text::{elements, percent, table, time};

const CALL: &str = "call add";
const CALL_WITH_ARRAY: &str = "call with an array";
const CONTEXT: &str = "context";
/// The operations that depend on the number of bytes.
pub const TRANSFERS: [&str; 3] = ["upload", "download", "download, fresh memory"];

/// The cost model and its check.
pub fn model(results: &Results, facts: &Facts, plots: &str) -> String {
    let mut text = "## Cost model\n\n\
        To predict the time of a program beside its computation, add the calls and the transfers. For a transfer whose \
        size is between two columns, take the straight line between them; a smaller one takes as long as the first, and a \
        larger one as long per byte as the last.\n\n"
        .to_owned();
    let number = |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), time);
    let (mut rows, mut transfers, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    let mut sizes = BTreeSet::new();
    for backend in backends(results) {
        rows.push(vec![
            backend.to_owned(),
            number(model::fixed(results, backend, CALL)),
            number(model::fixed(results, backend, CALL_WITH_ARRAY)),
            number(model::fixed(results, backend, CONTEXT)),
        ]);
        for name in TRANSFERS {
            let points = model::points(results, backend, name, "typed");
            if !points.is_empty() {
                sizes.extend(points.iter().map(|(bytes, _)| *bytes as u64));
                transfers.push((format!("{backend}: {name}"), points));
            }
        }
        if let Some(p) = model::predict(results, backend) {
            let predicted = p.upload + p.call + p.download;
            checks.push(vec![
                backend.to_owned(),
                elements(p.size),
                format!(
                    "{} + {} + {}",
                    time(p.upload),
                    time(p.call),
                    time(p.download)
                ),
                time(predicted),
                time(p.measured),
                percent(predicted / p.measured - 1.0),
            ]);
        }
    }
    let titles = [
        "backend",
        "call with scalars",
        "call with an array, a scalar back",
        "context, created and freed",
    ];
    text += &table(&titles, &rows);
    for (backend, reason) in facts
        .of("missing")
        .filter(|(name, _)| !["server", "python"].contains(name))
    {
        text += &format!("Not measured: backend {backend}, because {reason}.\n\n");
    }
    if !transfers.is_empty() {
        let titles = sizes.iter().map(|bytes| format!("{}B", elements(*bytes)));
        let titles: Vec<String> = std::iter::once("transfer".to_owned())
            .chain(titles)
            .collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let row = |(name, points): (String, Vec<(f64, f64)>)| {
            let column = |bytes: &u64| {
                let point = points.iter().find(|(x, _)| *x == *bytes as f64);
                point.map_or_else(String::new, |(_, t)| time(*t))
            };
            std::iter::once(name)
                .chain(sizes.iter().map(column))
                .collect()
        };
        let rows: Vec<Vec<String>> = transfers.into_iter().map(row).collect();
        text += &table(&titles, &rows);
        text += &format!("![Transfers by size]({plots}/transfers.svg)\n\n");
    }
    if !checks.is_empty() {
        text += "As a check, an upload, a call with the array and a download into memory in use, of a size that is not \
                 in the table:\n\n";
        let titles = [
            "backend",
            "elements (f32)",
            "upload + call + download",
            "predicted",
            "measured",
            "error",
        ];
        text += &table(&titles, &checks);
    }
    text
}

/// A user's build, beside its floor.
pub fn build(facts: &Facts) -> String {
    let seconds = |name: &str| facts.number("build", name);
    let floors = ["futhark", "cc", "empty crate"];
    let (Some(crates), Some(cold), Some(floor)) = (
        seconds("crates"),
        seconds("cold"),
        floors.iter().map(|name| seconds(name)).sum::<Option<f64>>(),
    ) else {
        return "## A user's build\n\nNot measured.\n\n".to_owned();
    };
    let met = |met: bool| if met { "yes" } else { "**no**" }.to_owned();
    let (most_crates, most_above) = budgets::BUILD;
    let mut rows = vec![vec![
        "crates in the tree of a user, without the user's".to_owned(),
        format!("{crates}"),
        format!("{most_crates}"),
        met(crates <= most_crates),
    ]];
    for (name, title) in [
        ("cold", "build, empty target folder"),
        (
            "source changed",
            "build after a change of the Futhark program",
        ),
        ("main changed", "build after a change of Rust code"),
        ("warm", "build without changes"),
        ("futhark", "floor: the Futhark compiler"),
        ("cc", "floor: the C compiler, on unmodified C"),
        ("empty crate", "floor: an empty crate"),
    ] {
        if let Some(value) = seconds(name) {
            let (mut budget, mut is_met) = (String::new(), String::new());
            if name == "cold" {
                budget = format!("floor + {most_above} s = {:.1} s", floor + most_above);
                is_met = met(cold <= floor + most_above);
            }
            rows.push(vec![
                title.to_owned(),
                format!("{value:.1} s"),
                budget,
                is_met,
            ]);
        }
    }
    format!(
        "## A user's build\n\nA crate outside of the workspace with one program on backend c, debug profile; downloads are \
         not included.\n\n{}",
        table(&["", "measured", "budget", "met"], &rows)
    )
}
