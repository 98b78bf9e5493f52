//! The results: as text, JSON, CSV and a page.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use futhark_example_service::latency::Latency;
use serde_json::{Value, json};

use crate::drive::Outcome;
use crate::jobs::Kind;
use crate::options::Options;
use crate::plot;

/// A run and its settings.
pub struct Report<'a> {
    pub options: &'a Options,
    pub outcome: Outcome,
    pub floor: Option<Floor>,
}

/// Calls per second without HTTP, in one thread.
#[derive(Clone, Copy)]
pub struct Floor {
    /// Of the generated C.
    pub plain: f64,
    /// Of the typed interface.
    pub typed: f64,
}

/// The quantiles that are reported.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

impl Report<'_> {
    /// Whether every request got a right response, or one that asks to try again.
    pub fn passed(&self) -> bool {
        let total = &self.outcome.total;
        total.broken == 0 && total.sum(|counts| counts.wrong) == 0 && total.responses() > 0
    }

    /// Responses per second.
    pub fn rate(&self) -> f64 {
        self.outcome.total.responses() as f64 / self.outcome.elapsed.as_secs_f64()
    }

    /// The server's resident memory at the start and at the end, in MB.
    pub fn resident(&self) -> [Option<f64>; 2] {
        [&self.outcome.before, &self.outcome.after]
            .map(|metrics| Some(metrics["resident_bytes"].as_f64()? / 1e6))
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let total = &self.outcome.total;
        let mut lines = self.summary_lines();
        for (kind, counts) in Kind::ALL.iter().zip(total.by_kind) {
            lines.push(format!(
                "{:<14} {} right, {} refused, {} wrong",
                kind.name(),
                counts.right,
                counts.refused,
                counts.wrong
            ));
        }
        if total.broken > 0 {
            lines.push(format!("{} requests without a response", total.broken));
        }
        for example in &total.examples {
            lines.push(format!("for example {example}"));
        }
        lines.join("\n") + "\n"
    }

    /// For the terminal and the plot.
    pub fn summary_lines(&self) -> Vec<String> {
        let Outcome {
            total,
            before,
            after,
            elapsed,
            ..
        } = &self.outcome;
        let backend = before["backend"].as_str().unwrap_or("unknown");
        let mut lines = vec![format!(
            "{backend}: {} requests in {:.1} s by {} connections, {:.0} per second, {} % provoke a failure",
            total.responses(),
            elapsed.as_secs_f64(),
            self.options.threads,
            self.rate(),
            self.options.failures
        )];
        if let Some(Floor { plain, typed }) = self.floor {
            lines.push(format!(
                "the good calls in one thread without HTTP: {plain:.0} per second in plain C, {typed:.0} in futhark-safe"
            ));
        }
        lines.push(format!("latency: {}", latency_text(&total.latency)));
        lines.push(format!(
            "right results only: {}",
            latency_text(&total.good_latency)
        ));
        let statuses = total
            .by_status
            .iter()
            .map(|(status, count)| format!("{status}: {count}"));
        lines.push(format!(
            "responses by status: {}",
            statuses.collect::<Vec<_>>().join(", ")
        ));
        let [start, end] = self.resident().map(|megabytes| {
            megabytes.map_or("unknown".to_owned(), |megabytes| {
                format!("{megabytes:.1} MB")
            })
        });
        lines.push(format!(
            "server: resident memory {start} at the start, {end} at the end; {} contexts made",
            after["contexts_made"]
        ));
        lines
    }

    /// Writes all files to a folder, which is created.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let plot = plot::svg(self);
        std::fs::write(folder.join("index.html"), self.html(&plot))?;
        std::fs::write(folder.join("plot.svg"), plot)?;
        std::fs::write(folder.join("seconds.csv"), self.csv())?;
        let summary = serde_json::to_string_pretty(&self.json())?;
        std::fs::write(folder.join("summary.json"), summary)
    }

    fn json(&self) -> Value {
        let Outcome {
            total,
            before,
            after,
            elapsed,
            ..
        } = &self.outcome;
        let by_kind = Kind::ALL.iter().zip(total.by_kind).map(|(kind, counts)| {
            let counts = json!({
                "right": counts.right, "refused": counts.refused, "wrong": counts.wrong,
            });
            (kind.name().to_owned(), counts)
        });
        json!({
            "seconds": elapsed.as_secs_f64(),
            "threads": self.options.threads,
            "failures_percent": self.options.failures,
            "numbers": self.options.numbers,
            "seed": self.options.seed,
            "passed": self.passed(),
            "requests": total.responses(),
            "requests_per_second": self.rate(),
            "by_status": total.by_status,
            "by_kind": by_kind.collect::<serde_json::Map<_, _>>(),
            "without_response": total.broken,
            "examples_of_wrong": total.examples,
            "latency_ms": latency_json(&total.latency),
            "good_latency_ms": latency_json(&total.good_latency),
            "floor": self.floor.map(|Floor { plain, typed }| {
                json!({ "plain_c_calls_per_second": plain, "typed_calls_per_second": typed })
            }),
            "server": { "before": before, "after": after },
        })
    }

    fn csv(&self) -> String {
        let mut text =
            "at_s,requests_per_s,refused,wrong,p50_ms,p99_ms,max_ms,resident_bytes\n".to_owned();
        for second in &self.outcome.seconds {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{:.3},{:.1},{},{},{:.4},{:.4},{:.4},{}",
                second.at.as_secs_f64(),
                second.rate,
                second.refused,
                second.wrong,
                milliseconds(second.p50),
                milliseconds(second.p99),
                milliseconds(second.max),
                second
                    .resident
                    .map(|bytes| bytes.to_string())
                    .unwrap_or_default()
            );
        }
        text
    }

    fn html(&self, plot: &str) -> String {
        let total = &self.outcome.total;
        let rows = Kind::ALL.iter().zip(total.by_kind).map(|(kind, counts)| {
            format!(
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                kind.name(),
                counts.right,
                counts.refused,
                counts.wrong
            )
        });
        let rows: String = rows.collect();
        let examples: String = total
            .examples
            .iter()
            .map(|example| format!("<p>For example {}</p>\n", plot::escape(example)))
            .collect();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <title>Load on a Futhark service</title>\n\
             <style>body {{ font: 15px sans-serif; max-width: 980px; margin: 2em auto; }} \
             td, th {{ padding: 2px 12px; text-align: right; }} \
             td:first-child {{ text-align: left; }}</style>\n\
             {plot}\n<h2>Responses by purpose of the request</h2>\n\
             <table>\n<tr><th></th><th>right</th><th>refused (503, try again)</th><th>wrong</th></tr>\n\
             {rows}</table>\n<p>{} requests without a response.</p>\n{examples}\
             <p>Data: <a href=\"summary.json\">summary.json</a>, \
             <a href=\"seconds.csv\">seconds.csv</a></p>\n</html>\n",
            total.broken
        )
    }
}

fn latency_text(latency: &Latency) -> String {
    let parts = QUANTILES
        .map(|(name, fraction)| format!("{name} {:.2}", milliseconds(latency.quantile(fraction))));
    let max = milliseconds(latency.max());
    format!("{}, max {max:.2} ms", parts.join(", "))
}

fn latency_json(latency: &Latency) -> Value {
    let mut value = json!({ "max": milliseconds(latency.max()) });
    for (name, fraction) in QUANTILES {
        value[name] = milliseconds(latency.quantile(fraction)).into();
    }
    value
}

pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
