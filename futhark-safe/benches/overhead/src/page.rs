//! Writes the tables of BENCHMARKS.md.

/// What the second variant of an operation may cost.
#[derive(Clone, Copy)]
pub enum Budget {
    /// Nanoseconds more than plain C.
    Above(f64),
    /// Times plain C.
    Ratio(f64),
}

/// Nanoseconds of one operation.
#[derive(Clone, Copy)]
pub struct Times {
    /// The minimum.
    pub least: f64,
    /// The median.
    pub median: f64,
}

impl Times {
    /// Of unsorted samples.
    pub fn of(mut samples: Vec<f64>) -> Times {
        samples.sort_by(f64::total_cmp);
        Times {
            least: samples[0],
            median: samples[samples.len() / 2],
        }
    }
}

/// A measured operation.
pub struct Row {
    /// What was done.
    pub name: String,
    /// For the second variant.
    pub budget: Budget,
    /// Its ways, of which the first is plain C.
    pub variants: Vec<(&'static str, Times)>,
}

impl Row {
    fn least(&self, variant: usize) -> f64 {
        self.variants[variant].1.least
    }

    /// The minimum of a variant, times that of plain C.
    fn ratio(&self, variant: usize) -> f64 {
        self.least(variant) / self.least(0)
    }

    /// What the budget limits.
    fn cost(&self, variant: usize) -> String {
        match self.budget {
            Budget::Above(_) => format!("+{}", time(self.least(variant) - self.least(0))),
            Budget::Ratio(_) => format!("{:.3}", self.ratio(variant)),
        }
    }

    fn is_met(&self) -> bool {
        match self.budget {
            Budget::Above(limit) => self.least(1) - self.least(0) <= limit,
            Budget::Ratio(limit) => self.ratio(1) <= limit,
        }
    }

    /// How far the median of plain C is above its minimum.
    fn noise(&self) -> String {
        let times = self.variants[0].1;
        match times.median / times.least - 1.0 {
            0.0 => String::new(),
            more => format!("{:.0} %", more * 100.0),
        }
    }
}

/// Rows with the same variants.
pub struct Section {
    /// What was measured.
    pub title: String,
    /// How.
    pub text: &'static str,
    /// At least one.
    pub rows: Vec<Row>,
}

/// The page without its title: a summary, and a table of each section.
pub fn write(sections: &[Section]) -> String {
    let (mut summary, mut tables) = (String::new(), String::new());
    let (mut met, mut missed) = (0, Vec::new());
    for section in sections {
        summary += &summary_of(section);
        tables += &table(section);
        for row in &section.rows {
            match row.is_met() {
                true => met += 1,
                false => missed.push(format!("{}, {}", section.title, row.name)),
            }
        }
    }
    let (number, missed) = (missed.len(), missed.join("; "));
    let missed = match number {
        0 => missed,
        _ => format!(": {missed}"),
    };
    let plot = "\n![Kernels beside plain C](BENCHMARKS.svg)\n";
    format!("{summary}- **Budgets**: {met} met, {number} missed{missed}.\n{plot}{tables}")
}

/// The mean and the largest ratio of each variant, and the cost of operations with another budget.
fn summary_of(section: &Section) -> String {
    let (ratios, others): (Vec<&Row>, Vec<&Row>) =
        (section.rows.iter()).partition(|row| matches!(row.budget, Budget::Ratio(_)));
    let mut parts = Vec::new();
    // A filter can leave out all of these.
    let names = section.rows[0]
        .variants
        .iter()
        .filter(|_| !ratios.is_empty());
    for (variant, (name, _)) in names.enumerate().skip(1) {
        let ratios = || ratios.iter().map(|row| row.ratio(variant));
        let mean = (ratios().map(f64::ln).sum::<f64>() / ratios().count() as f64).exp();
        let largest = ratios().fold(0.0, f64::max);
        parts.push(format!(
            "{name} {mean:.2} × plain C, at most {largest:.2} ×"
        ));
    }
    parts.extend(
        others
            .iter()
            .map(|row| format!("{} {}", row.name, row.cost(1))),
    );
    format!("- **{}**: {}.\n", section.title, parts.join("; "))
}

fn table(section: &Section) -> String {
    let Section { title, text, rows } = section;
    let names: Vec<&str> = rows[0].variants.iter().map(|variant| variant.0).collect();
    let head = [&["operation"], &names[..], &["noise", "budget", "met"]].concat();
    let line = vec!["---"; head.len()].join("|");
    let mut table = format!(
        "\n## {title}\n\n{text}\n\n| {} |\n|{line}|\n",
        head.join(" | ")
    );
    for row in rows {
        let costs: Vec<String> = (1..names.len()).map(|variant| row.cost(variant)).collect();
        let budget = match row.budget {
            Budget::Above(limit) => format!("+{limit:.0} ns"),
            Budget::Ratio(limit) => format!("{limit} ×"),
        };
        let met = if row.is_met() { "yes" } else { "**no**" };
        let (name, plain, costs) = (&row.name, time(row.least(0)), costs.join(" | "));
        let noise = row.noise();
        table += &format!("| {name} | {plain} | {costs} | {noise} | {budget} | {met} |\n");
    }
    table
}

/// A picture of the default builds of kernels, as SVG: a bar for each, in times plain C.
pub fn plot(sections: &[Section]) -> String {
    /// Pixels: where bars begin, 1.5 times plain C, and a row.
    const LEFT: usize = 130;
    const WIDTH: f64 = 400.0;
    const ROW: usize = 22;

    let sections = sections
        .iter()
        .filter(|section| section.title.starts_with("Kernels"));
    let (mut bars, mut y) = (String::new(), 0);
    for section in sections {
        bars += &format!(
            "<text x=\"0\" y=\"{}\" font-weight=\"bold\">{}</text>\n",
            y + 16,
            section.title
        );
        y += ROW;
        for row in &section.rows {
            let (ratio, middle) = (row.ratio(1), y + 15);
            let (length, name) = (ratio * WIDTH / 1.5, &row.name);
            bars += &format!(
                "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{name}</text>\n\
                 <rect x=\"{LEFT}\" y=\"{}\" width=\"{length:.0}\" height=\"16\" fill=\"#4a7ebb\"/>\n\
                 <text x=\"{:.0}\" y=\"{middle}\">{ratio:.2}</text>\n",
                LEFT - 8,
                y + 3,
                LEFT as f64 + length.max(WIDTH / 1.5) + 6.0,
            );
            y += ROW;
        }
    }
    let (one, end) = (LEFT as f64 + WIDTH / 1.5, LEFT as f64 + WIDTH + 20.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{end:.0}\" height=\"{0}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{bars}\
         <line x1=\"{one:.0}\" y1=\"0\" x2=\"{one:.0}\" y2=\"{y}\" stroke=\"black\" stroke-dasharray=\"4\"/>\n\
         <text x=\"{one:.0}\" y=\"{1}\" text-anchor=\"middle\">1 = plain C; shorter is faster</text>\n</svg>\n",
        y + 24,
        y + 16,
    )
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        t if t < 1e3 => format!("{nanoseconds:.1} ns"),
        t if t < 1e6 => format!("{:.2} µs", nanoseconds / 1e3),
        t if t < 1e9 => format!("{:.2} ms", nanoseconds / 1e6),
        _ => format!("{:.2} s", nanoseconds / 1e9),
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
            name: name.to_owned(),
            budget,
            variants: vec![("plain", times(10.0)), ("ours", times(ours))],
        }
    }

    #[test]
    fn budgets_that_are_missed_are_named() {
        let all = Section {
            title: "Kernels".to_owned(),
            text: "",
            rows: vec![
                row("scan", Budget::Ratio(1.05), 10.4),
                row("sort", Budget::Ratio(1.05), 10.6),
                row("call", Budget::Above(20.0), 30.5),
            ],
        };
        let picture = plot(std::slice::from_ref(&all));
        assert_eq!(picture.matches("height=\"16\"").count(), 3);
        assert!(picture.contains("width=\"277\""), "{picture}");
        let text = write(&[all]);
        for line in [
            "- **Kernels**: ours 1.05 × plain C, at most 1.06 ×; call +20.5 ns.",
            "- **Budgets**: 1 met, 2 missed: Kernels, sort; Kernels, call.",
            "| scan | 10.0 ns | 1.040 | 50 % | 1.05 × | yes |",
            "| sort | 10.0 ns | 1.060 | 50 % | 1.05 × | **no** |",
            "| call | 10.0 ns | +20.5 ns | 50 % | +20 ns | **no** |",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
