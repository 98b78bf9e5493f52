//! Draws the plot as SVG: a summary, and three charts over time.

use std::fmt::Write as _;

use crate::report::{Report, milliseconds};

const WIDTH: f64 = 960.0;
/// Of the area between the axes.
const LEFT: f64 = 80.0;
const RIGHT: f64 = WIDTH - 90.0;
/// Of one chart, with its title and axis.
const CHART: f64 = 230.0;
const TITLE: f64 = 34.0;
const AXIS: f64 = 36.0;
const LINE: f64 = 20.0;

/// A line of a chart, in the order of time.
struct Series {
    name: &'static str,
    colour: &'static str,
    points: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// From zero.
    Linear,
    Logarithmic,
}

/// Draws a report.
pub fn svg(report: &Report<'_>) -> String {
    let seconds = &report.outcome.seconds;
    let series = |name, colour, value: &dyn Fn(&crate::drive::Second) -> Option<f64>| Series {
        name,
        colour,
        points: seconds
            .iter()
            .filter_map(|second| Some((second.at.as_secs_f64(), value(second)?)))
            .collect(),
    };
    let charts = [
        (
            "Requests per second",
            Scale::Linear,
            vec![series("requests", "#0b62a4", &|second| Some(second.rate))],
        ),
        (
            "Latency in milliseconds, of the requests of each second",
            Scale::Logarithmic,
            vec![
                series("max", "#b3371d", &|second| Some(milliseconds(second.max))),
                series("p99", "#c98300", &|second| Some(milliseconds(second.p99))),
                series("p50", "#0b62a4", &|second| Some(milliseconds(second.p50))),
            ],
        ),
        (
            "Resident memory of the server in MB",
            Scale::Linear,
            vec![series("resident", "#2b7a3d", &|second| {
                Some(second.resident? as f64 / 1e6)
            })],
        ),
    ];
    let lines = report.summary_lines();
    let top = 44.0 + LINE * lines.len() as f64;
    let height = top + CHART * charts.len() as f64 + 10.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"28\" font-size=\"18\">Load on a Futhark service</text>\n"
    );
    for (i, line) in lines.iter().enumerate() {
        text(
            &mut svg,
            20.0,
            52.0 + LINE * i as f64,
            "start",
            "#333333",
            line,
        );
    }
    let end = report.outcome.elapsed.as_secs_f64();
    for (i, (title, scale, series)) in charts.iter().enumerate() {
        chart(&mut svg, top + CHART * i as f64, end, title, *scale, series);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Replaces the characters that have a meaning in SVG and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn chart(svg: &mut String, top: f64, end: f64, title: &str, scale: Scale, series: &[Series]) {
    let (high_y, low_y) = (top + TITLE, top + CHART - AXIS);
    text(svg, LEFT, top + 22.0, "start", "#000000", title);
    let values = || {
        series
            .iter()
            .flat_map(|one| &one.points)
            .map(|point| point.1)
    };
    let ticks = match scale {
        Scale::Linear => linear_ticks(values().fold(0.0, f64::max)),
        Scale::Logarithmic => logarithmic_ticks(
            values().filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min),
            values().fold(0.0, f64::max),
        ),
    };
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    let position = |y: f64| {
        let share = match scale {
            Scale::Linear => y / last,
            Scale::Logarithmic => (y.max(first) / first).log10() / (last / first).log10(),
        };
        low_y + share * (high_y - low_y)
    };
    for &tick in &ticks {
        let y = position(tick);
        line(svg, (LEFT, y), (RIGHT, y), "#dddddd");
        text(svg, LEFT - 8.0, y + 4.0, "end", "#333333", &number(tick));
    }
    let across = |x: f64| LEFT + x / end * (RIGHT - LEFT);
    // Only ticks within the run: the last one of `linear_ticks` may be after its end.
    for tick in linear_ticks(end).into_iter().filter(|tick| *tick <= end) {
        let x = across(tick);
        line(svg, (x, low_y), (x, low_y + 5.0), "#333333");
        text(
            svg,
            x,
            low_y + 19.0,
            "middle",
            "#333333",
            &format!("{} s", number(tick)),
        );
    }
    line(svg, (LEFT, low_y), (RIGHT, low_y), "#333333");
    let mut label_below = f64::NEG_INFINITY;
    for one in series {
        let points = one.points.iter().map(|&(x, y)| {
            let (x, y) = (across(x), position(y));
            format!("{x:.1},{y:.1}")
        });
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>",
            points.collect::<Vec<_>>().join(" "),
            one.colour
        );
        // The name beside the end of the line, below that of the one above.
        if let Some(&(_, y)) = one.points.last() {
            let y = (position(y) + 4.0).max(label_below + 14.0);
            label_below = y;
            text(svg, RIGHT + 8.0, y, "start", one.colour, one.name);
        }
    }
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, colour: &str, content: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{}</text>",
        escape(content)
    );
}

/// Multiples of 1, 2 or 5 times a power of ten, from 0 to at least `most`: three to six of them.
fn linear_ticks(most: f64) -> Vec<f64> {
    let most = if most > 0.0 { most } else { 1.0 };
    let power = 10f64.powf((most / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let fits = |step: &&f64| most / **step <= 5.0 + 1e-9;
    let step = *steps.iter().find(fits).unwrap_or(&steps[3]);
    let count = (most / step - 1e-9).ceil() as usize;
    (0..=count).map(|i| i as f64 * step).collect()
}

/// The powers of ten around `least` and `most`: at least two.
fn logarithmic_ticks(least: f64, most: f64) -> Vec<f64> {
    if least.is_infinite() || most <= 0.0 {
        return vec![1.0, 10.0];
    }
    let low = least.log10().floor() as i32;
    let high = (most.log10().ceil() as i32).max(low + 1);
    (low..=high).map(|power| 10f64.powi(power)).collect()
}

/// `12000`, `0.5`, `0.01`.
fn number(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_cover_the_range() {
        assert_eq!(linear_ticks(9.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear_ticks(600.0), [0.0, 200.0, 400.0, 600.0]);
        assert_eq!(linear_ticks(0.0).first(), Some(&0.0));
        for i in 1..2000 {
            let most = f64::from(i) * 0.37;
            let ticks = linear_ticks(most);
            assert!((2..=6).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!(
                ticks[ticks.len() - 1] >= most * 0.999_999,
                "{most}: {ticks:?}"
            );
        }
    }

    #[test]
    fn logarithmic_ticks_cover_the_range() {
        assert_eq!(logarithmic_ticks(0.5, 20.0), [0.1, 1.0, 10.0, 100.0]);
        assert_eq!(logarithmic_ticks(1.0, 1.0), [1.0, 10.0]);
        assert_eq!(logarithmic_ticks(f64::INFINITY, 0.0).len(), 2);
    }

    #[test]
    fn numbers_have_no_trailing_zeros() {
        let texts = [12000.0, 0.5, 0.01, 0.0].map(number);
        assert_eq!(texts, ["12000", "0.5", "0.01", "0"]);
    }
}
