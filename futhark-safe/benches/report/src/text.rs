//! Tables and numbers in Markdown.

/// A table; columns after the first are right-aligned.
pub fn table(titles: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let titles: Vec<String> = titles.iter().map(|&title| title.to_owned()).collect();
    let mut text = line(&titles);
    text += &format!("|---|{}\n", "--:|".repeat(titles.len() - 1));
    rows.iter().for_each(|row| text += &line(row));
    text + "\n"
}

/// A time with its unit.
pub fn time(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        t if t < 1e3 => format!("{nanoseconds:.1} ns"),
        t if t < 1e6 => format!("{:.2} µs", nanoseconds / 1e3),
        t if t < 1e9 => format!("{:.2} ms", nanoseconds / 1e6),
        _ => format!("{:.2} s", nanoseconds / 1e9),
    }
}

/// A part of one as a percentage.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// A number of elements, empty for none: "64 Ki".
pub fn elements(size: u64) -> String {
    match size {
        0 => String::new(),
        n if n.is_multiple_of(1 << 20) => format!("{} Mi", n >> 20),
        n if n.is_multiple_of(1 << 10) => format!("{} Ki", n >> 10),
        n => n.to_string(),
    }
}
