//! Writes the tables of BENCHMARKS.md.

use std::fmt::Write as _;

use futhark_safe::Backend;
use futhark_safe_benches::builds::{self, Variant};
use futhark_safe_benches::workloads::WORKLOADS;

use crate::BACKENDS;
use crate::alternate::{Budget, Row};

/// The most processor time that the C compiler may take for a default build, times that for the plain file.
const COMPILE: f64 = 1.5;

/// The page without its title: a summary, kernels, the C compiler, calls and transfers.
pub fn write(kernels: &[Row], calls: &[Row]) -> String {
    let mut page = Page::default();
    for backend in BACKENDS {
        let rows: Vec<&Row> = kernels
            .iter()
            .filter(|row| row.backend == backend)
            .collect();
        if !rows.is_empty() {
            page.kernels(backend, &rows);
        }
    }
    if kernels.len() == BACKENDS.len() * WORKLOADS.len() {
        page.compile_times();
    }
    if !calls.is_empty() {
        page.calls(calls);
    }
    let missed = match page.missed.is_empty() {
        true => String::new(),
        false => format!(": {}", page.missed.join(", ")),
    };
    page.summary.push(format!(
        "**Budgets**: {} met, {} missed{missed}.",
        page.met,
        page.missed.len()
    ));
    let summary = page.summary.iter().map(|line| format!("- {line}\n"));
    format!("{}{}", summary.collect::<String>(), page.tables)
}

#[derive(Default)]
struct Page {
    summary: Vec<String>,
    tables: String,
    met: usize,
    missed: Vec<String>,
}

impl Page {
    fn kernels(&mut self, backend: Backend, rows: &[&Row]) {
        let variants = &rows[0].variants[1..];
        let names: Vec<&str> = variants.iter().map(|variant| variant.0).collect();
        let _ = write!(
            self.tables,
            "\n## Kernels, backend {backend}\n\nTimes of plain C: the unmodified generated C, compiled as `futhark {backend}` \
             does. Other columns: times plain C, budget of the default build 1.05.\n\n"
        );
        self.head(&["workload", "plain C", "noise"], &names, &["met"]);
        for row in rows {
            let mut line = format!(
                "| {} | {} | {} |",
                row.name,
                time(row.times(0).least),
                noise(row)
            );
            for variant in 1..row.variants.len() {
                let _ = write!(line, " {:.3} |", row.ratio(variant));
            }
            let met = self.budget(&format!("{} on {backend}", row.name), row, 1);
            let _ = writeln!(self.tables, "{line} {met} |");
        }
        let means: Vec<f64> = (1..=variants.len())
            .map(|variant| geometric_mean(rows.iter().map(|row| row.ratio(variant))))
            .collect();
        let worst = rows.iter().max_by(|a, b| a.ratio(1).total_cmp(&b.ratio(1)));
        let worst = worst.expect("at least one row");
        let cells: String = means.iter().map(|mean| format!(" {mean:.3} |")).collect();
        let _ = writeln!(self.tables, "| geometric mean | | |{cells} |");
        let worst_of = (1..=variants.len()).map(|variant| {
            let ratios = rows.iter().map(|row| row.ratio(variant));
            format!(" {:.3} |", ratios.fold(0.0, f64::max))
        });
        let _ = writeln!(
            self.tables,
            "| worst | | |{} |",
            worst_of.collect::<String>()
        );
        let mut line = format!(
            "**Kernels** on {backend}: {:.2} × plain C (geometric mean of {}), worst {:.2} × ({}); \
             with `hardened(false)` {:.2} ×",
            means[0],
            rows.len(),
            worst.ratio(1),
            worst.name,
            means[1],
        );
        if let Some(native) = means.get(2) {
            let _ = write!(line, ", with `-march=native` {native:.2} ×");
        }
        self.summary.push(line + ".");
    }

    fn compile_times(&mut self) {
        let _ = write!(
            self.tables,
            "\n## The C compiler\n\nProcessor time of gcc for the plain file, and of a default build times that; budget {COMPILE}.\n\n"
        );
        self.head(
            &["workload", "c, plain", "c", "multicore, plain", "multicore"],
            &[],
            &["met"],
        );
        let mut ratios = Vec::new();
        for workload in &WORKLOADS {
            let mut line = format!("| {} |", workload.name);
            let mut largest: f64 = 0.0;
            for backend in BACKENDS {
                let seconds =
                    |variant| builds::compile_seconds(&workload.source(), backend, variant);
                let plain = seconds(Variant::Plain);
                let ratio = seconds(Variant::Default) / plain;
                let _ = write!(line, " {plain:.2} s | {ratio:.2} |");
                largest = largest.max(ratio);
                ratios.push((ratio, workload.name));
            }
            let met = self.met(
                &format!("C compiler, {}", workload.name),
                largest <= COMPILE,
            );
            let _ = writeln!(self.tables, "{line} {met} |");
        }
        let worst = ratios
            .iter()
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("there are workloads");
        self.summary.push(format!(
            "**The C compiler** takes {:.2} × the time for the plain file (geometric mean), at most {:.2} × ({}).",
            geometric_mean(ratios.iter().map(|ratio| ratio.0)),
            worst.0,
            worst.1
        ));
    }

    fn calls(&mut self, rows: &[Row]) {
        self.tables += "\n## Calls and transfers\n\nThe typed interface beside the same calls in plain C, which checks return \
             codes and syncs. Until a process starts its first thread, locks of glibc cost less: the call on c is \
             measured before that, everything else after it.\n\n";
        self.head(
            &["backend", "operation", "elements", "variant"],
            &["plain C", "time", "above", "ratio", "noise", "budget"],
            &["met"],
        );
        for row in rows {
            for (number, (name, budget, times)) in row.variants.iter().enumerate().skip(1) {
                let plain = row.times(0).least;
                let budget = match budget {
                    Budget::Above(limit) => format!("+{limit:.0} ns"),
                    Budget::Ratio(limit) => format!("{limit} ×"),
                    Budget::None => String::new(),
                };
                let elements = elements(row.elements);
                let title = format!("{} {elements} on {}, {name}", row.name, row.backend);
                let met = self.budget(&title, row, number);
                let _ = writeln!(
                    self.tables,
                    "| {} | {} | {elements} | {name} | {} | {} | {} | {:.3} | {} | {budget} | {met} |",
                    row.backend,
                    row.name,
                    time(plain),
                    time(times.least),
                    time(times.least - plain),
                    row.ratio(number),
                    noise(row),
                );
            }
        }
        let calls = rows.iter().filter(|row| row.name == "call").map(|row| {
            let above = |variant| time(row.times(variant).least - row.times(0).least);
            format!(
                "{} on {} ({} in `Context::exclusive`)",
                above(1),
                row.backend,
                above(2)
            )
        });
        let calls: Vec<String> = calls.collect();
        let transfers = rows
            .iter()
            .filter(|row| ["upload", "download"].contains(&row.name) && row.elements >= 1 << 16);
        let transfers = transfers.map(|row| row.ratio(1)).fold(0.0, f64::max);
        self.summary.push(format!(
            "**Calls** take longer than in plain C by {}; **transfers** of 64 Ki elements and more take up to {transfers:.2} ×.",
            calls.join(", ")
        ));
    }

    /// Counts whether a variant keeps its budget.
    fn budget(&mut self, title: &str, row: &Row, variant: usize) -> &'static str {
        let plain = row.times(0).least;
        let (_, budget, times) = row.variants[variant];
        match budget {
            Budget::Above(limit) => self.met(title, times.least - plain <= limit),
            Budget::Ratio(limit) => self.met(title, times.least / plain <= limit),
            Budget::None => "",
        }
    }

    fn met(&mut self, title: &str, met: bool) -> &'static str {
        match met {
            true => self.met += 1,
            false => self.missed.push(title.to_owned()),
        }
        if met { "yes" } else { "**no**" }
    }

    /// The head of a table.
    fn head(&mut self, first: &[&str], numbers: &[&str], last: &[&str]) {
        let titles = [first, numbers, last].concat();
        let _ = writeln!(self.tables, "| {} |", titles.join(" | "));
        let _ = writeln!(self.tables, "|{}|", vec!["---"; titles.len()].join("|"));
    }
}

fn geometric_mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
}

/// How far the median of plain C is above its minimum.
fn noise(row: &Row) -> String {
    let times = row.times(0);
    format!("{:.0} %", (times.median / times.least - 1.0) * 100.0)
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        t if t < 1e3 => format!("{nanoseconds:.1} ns"),
        t if t < 1e6 => format!("{:.2} µs", nanoseconds / 1e3),
        _ => format!("{:.2} ms", nanoseconds / 1e6),
    }
}

fn elements(number: usize) -> String {
    match number {
        0 => String::new(),
        n if n < 1 << 20 => format!("{} Ki", n >> 10),
        n => format!("{} Mi", n >> 20),
    }
}
