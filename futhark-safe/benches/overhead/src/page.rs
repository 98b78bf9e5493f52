//! Writes the tables of BENCHMARKS.md.

use futhark_safe::Backend;

/// What an operation may cost.
#[derive(Clone, Copy)]
pub enum Budget {
    /// Nanoseconds more than plain C.
    Above(f64),
    /// Times plain C.
    Ratio(f64),
    /// Shown only.
    None,
}

/// Nanoseconds of one operation.
#[derive(Clone, Copy)]
pub struct Times {
    /// The minimum.
    pub least: f64,
    /// The median.
    pub median: f64,
}

/// A measured operation.
pub struct Row {
    /// Where it ran.
    pub backend: Backend,
    /// What was done.
    pub name: String,
    /// 0 for operations without an array.
    pub elements: usize,
    /// Its ways, of which the first is plain C.
    pub variants: Vec<(&'static str, Budget, Times)>,
}

impl Row {
    fn times(&self, variant: usize) -> Times {
        self.variants[variant].2
    }

    /// The minimum of a variant, times that of plain C.
    fn ratio(&self, variant: usize) -> f64 {
        self.times(variant).least / self.times(0).least
    }
}

/// Rows with the same variants.
pub struct Section {
    /// What was measured.
    pub title: &'static str,
    /// How.
    pub text: &'static str,
    /// At least one.
    pub rows: Vec<Row>,
}

/// The page without its title: a summary, and a table of each section and of calls and transfers.
pub fn write(sections: &[Section], calls: &[Row]) -> String {
    let mut page = Page::default();
    for section in sections {
        page.section(section);
    }
    if !calls.is_empty() {
        page.calls(calls);
    }
    let missed = match page.missed.is_empty() {
        true => String::new(),
        false => format!(": {}", page.missed.join("; ")),
    };
    let (met, number) = (page.met, page.missed.len());
    page.summary += &format!("- **Budgets**: {met} met, {number} missed{missed}.\n");
    page.summary + &page.tables
}

#[derive(Default)]
struct Page {
    summary: String,
    tables: String,
    met: usize,
    missed: Vec<String>,
}

impl Page {
    /// Ratios of each variant, their means and maxima.
    fn section(&mut self, section: &Section) {
        let Section { title, text, rows } = section;
        let names: Vec<&str> = rows[0].variants.iter().map(|variant| variant.0).collect();
        self.tables += &format!("\n## {title}\n\n{text}\n\n");
        self.head(&[&["workload"], &names[..], &["noise", "met"]].concat());
        let cells = |ratio: &dyn Fn(usize) -> f64| -> String {
            let ratios = (1..names.len()).map(|variant| format!(" {:.3} |", ratio(variant)));
            ratios.collect()
        };
        for row in rows {
            let met = self.met(&format!("{title}, {}", row.name), row, 1);
            let plain = time(row.times(0).least);
            let (name, noise, ratios) = (&row.name, noise(row), cells(&|v| row.ratio(v)));
            self.tables += &format!("| {name} | {plain} |{ratios} {noise} | {met} |\n");
        }
        let mean = |variant| {
            let sum: f64 = rows.iter().map(|row| row.ratio(variant).ln()).sum();
            (sum / rows.len() as f64).exp()
        };
        let largest = |variant| {
            rows.iter()
                .map(|row| row.ratio(variant))
                .fold(0.0, f64::max)
        };
        self.tables += &format!("| geometric mean | |{} | |\n", cells(&mean));
        self.tables += &format!("| worst | |{} | |\n", cells(&largest));
        self.summary += &format!("- **{title}**: ");
        for (variant, name) in names.iter().enumerate().skip(1) {
            let (mean, largest) = (mean(variant), largest(variant));
            let separator = if variant == 1 { "" } else { "; " };
            self.summary +=
                &format!("{separator}{name} {mean:.2} × plain C, at most {largest:.2} ×");
        }
        self.summary += ".\n";
    }

    fn calls(&mut self, rows: &[Row]) {
        self.tables += "\n## Calls and transfers\n\nThe typed interface beside the same calls in plain C, which checks return \
             codes and syncs. Until a process starts its first thread, locks of glibc cost less: the call on c is \
             measured before that, everything else after it.\n\n";
        self.head(&[
            "backend",
            "operation",
            "elements",
            "variant",
            "plain C",
            "time",
            "above",
            "ratio",
            "noise",
            "budget",
            "met",
        ]);
        for row in rows {
            for (variant, (name, budget, times)) in row.variants.iter().enumerate().skip(1) {
                let budget = match budget {
                    Budget::Above(limit) => format!("+{limit:.0} ns"),
                    Budget::Ratio(limit) => format!("{limit} ×"),
                    Budget::None => String::new(),
                };
                let (backend, operation, ratio) = (row.backend, &row.name, row.ratio(variant));
                let (elements, noise) = (elements(row.elements), noise(row));
                let title = format!("{operation} {elements}");
                let title = format!("{} on {backend}, {name}", title.trim_end());
                let met = self.met(&title, row, variant);
                let plain = row.times(0).least;
                let [above, time, plain] = [times.least - plain, times.least, plain].map(time);
                self.tables += &format!(
                    "| {backend} | {operation} | {elements} | {name} | {plain} | {time} | {above} | {ratio:.3} | \
                     {noise} | {budget} | {met} |\n"
                );
            }
        }
        self.summary += "- **Calls and transfers**: a call takes longer than in plain C by ";
        for row in rows.iter().filter(|row| row.name == "call") {
            let above = time(row.times(1).least - row.times(0).least);
            self.summary += &format!("{above} on {}, ", row.backend);
        }
        let transfers = rows.iter().filter(|row| {
            ["upload", "download"].contains(&row.name.as_str()) && row.elements >= 1 << 16
        });
        let largest = transfers.map(|row| row.ratio(1)).fold(0.0, f64::max);
        self.summary += &format!("a transfer of 64 Ki elements or more at most {largest:.2} ×.\n");
    }

    /// Counts whether a variant keeps its budget.
    fn met(&mut self, title: &str, row: &Row, variant: usize) -> &'static str {
        let (plain, (_, budget, times)) = (row.times(0).least, row.variants[variant]);
        let is_met = match budget {
            Budget::Above(limit) => times.least - plain <= limit,
            Budget::Ratio(limit) => times.least / plain <= limit,
            Budget::None => return "",
        };
        if is_met {
            self.met += 1;
            return "yes";
        }
        self.missed.push(title.to_owned());
        "**no**"
    }

    fn head(&mut self, titles: &[&str]) {
        let line = vec!["---"; titles.len()].join("|");
        self.tables += &format!("| {} |\n|{line}|\n", titles.join(" | "));
    }
}

/// How far the median of plain C is above its minimum.
fn noise(row: &Row) -> String {
    let times = row.times(0);
    match times.median / times.least - 1.0 {
        0.0 => String::new(),
        more => format!("{:.0} %", more * 100.0),
    }
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        t if t < 1e3 => format!("{nanoseconds:.1} ns"),
        t if t < 1e6 => format!("{:.2} µs", nanoseconds / 1e3),
        t if t < 1e9 => format!("{:.2} ms", nanoseconds / 1e6),
        _ => format!("{:.2} s", nanoseconds / 1e9),
    }
}

fn elements(number: usize) -> String {
    match number {
        0 => String::new(),
        n if n < 1 << 20 => format!("{} Ki", n >> 10),
        n => format!("{} Mi", n >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, budget: Budget, ours: f64) -> Row {
        let times = |least| Times {
            least,
            median: 1.5 * least,
        };
        Row {
            backend: Backend::C,
            name: name.to_owned(),
            elements: 0,
            variants: vec![
                ("plain", Budget::None, times(10.0)),
                ("ours", budget, times(ours)),
                ("other", Budget::None, times(9.0)),
            ],
        }
    }

    #[test]
    fn budgets_that_are_missed_are_named() {
        let kernels = Section {
            title: "Kernels",
            text: "",
            rows: vec![
                row("scan", Budget::Ratio(1.05), 10.4),
                row("sort", Budget::Ratio(1.05), 10.6),
            ],
        };
        let text = write(&[kernels], &[row("call", Budget::Above(20.0), 30.5)]);
        for line in [
            "- **Kernels**: ours 1.05 × plain C, at most 1.06 ×; other 0.90 × plain C, at most 0.90 ×.",
            "- **Budgets**: 1 met, 2 missed: Kernels, sort; call on c, ours.",
            "| scan | 10.0 ns | 1.040 | 0.900 | 50 % | yes |",
            "| sort | 10.0 ns | 1.060 | 0.900 | 50 % | **no** |",
            "| geometric mean | | 1.050 | 0.900 | | |",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
