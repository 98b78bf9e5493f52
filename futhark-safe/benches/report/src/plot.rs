//! The plots, as SVG on a white background, with logarithmic axes.

use std::ops::Range;
use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::costs::TRANSFERS;
use crate::model;
use crate::page::{COLUMNS, WAYS, backends};
use crate::results::Results;

/// Points of a series by x.
struct Series {
    /// In the legend; empty for a line of the colour before it.
    name: String,
    points: Vec<(f64, f64)>,
}

/// Colours that people with colour blindness can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Writes all plots of which there is data into `folder`.
///
/// # Errors
/// If a file cannot be written.
pub fn write(results: &Results, folder: &Path) -> Result<()> {
    for backend in backends(results) {
        let file = folder.join(format!("ratio-{backend}.svg"));
        let title = format!("Times plain C, backend {backend} (1 is as fast)");
        draw(
            &file,
            &title,
            "time / time of plain C",
            &ratios(results, backend),
        )?;
    }
    let transfers = transfers(results);
    let title = "Transfers";
    draw(
        &folder.join("transfers.svg"),
        title,
        "time in µs",
        &transfers,
    )?;
    let title = "An array in and out, backend c";
    draw(
        &folder.join("ways.svg"),
        title,
        "time in µs",
        &ways(results),
    )
}

fn ratios(results: &Results, backend: &str) -> Vec<Series> {
    let mut series = Vec::new();
    for name in TRANSFERS {
        for variant in ["typed", "scope"] {
            let cases = results
                .iter()
                .filter(|(case, _)| case.backend == backend && case.name == name);
            let ratio = cases.filter_map(|(case, variants)| {
                Some((
                    case.size as f64,
                    variants.against(variant, "plain", |x, plain| x / plain)?,
                ))
            });
            series.push(marked(format!("{name}, {variant}"), ratio));
        }
    }
    // As fast as plain C, below the others.
    let points = series.iter().flat_map(|series| &series.points);
    if let Some(xs) = range(points.map(|point| point.0)) {
        let ends = [(1.25 * xs.start, 1.0), (xs.end / 1.25, 1.0)];
        series.insert(0, line(ends.into_iter()));
    }
    series
}

fn transfers(results: &Results) -> Vec<Series> {
    let mut series = Vec::new();
    for backend in backends(results) {
        for name in ["upload", "download"] {
            let points = model::points(results, backend, name, "typed");
            let elements = |bytes: f64| bytes / size_of::<f32>() as f64;
            let measured = points.iter().map(|(bytes, t)| (elements(*bytes), t / 1e3));
            series.push(marked(format!("{backend}: {name}"), measured));
        }
    }
    series
}

fn ways(results: &Results) -> Vec<Series> {
    let column = |(variant, name, _): (&str, &str, &str)| {
        let cases = results
            .iter()
            .filter(|(case, _)| case.backend == WAYS && case.size > 0);
        let points = cases
            .filter_map(|(case, variants)| Some((case.size as f64, variants.time(variant)? / 1e3)));
        marked(name.to_owned(), points)
    };
    COLUMNS.map(column).into()
}

fn marked(name: String, points: impl Iterator<Item = (f64, f64)>) -> Series {
    Series {
        name,
        points: points.collect(),
    }
}

fn line(points: impl Iterator<Item = (f64, f64)>) -> Series {
    marked(String::new(), points)
}

/// Draws series over numbers of elements, unless all are empty.
fn draw(file: &Path, title: &str, y: &str, series: &[Series]) -> Result<()> {
    // Ratios fall with the size, times grow.
    let first = series.iter().find(|series| !series.name.is_empty());
    let falls = first.is_some_and(|series| match series.points.as_slice() {
        [(_, first), .., (_, last)] => last < first,
        _ => false,
    });
    let (legend, base) = match falls {
        true => (SeriesLabelPosition::LowerLeft, 2.0),
        false => (SeriesLabelPosition::UpperLeft, 10.0),
    };
    let points = || series.iter().flat_map(|series| &series.points);
    let (Some(xs), Some(ys)) = (range(points().map(|p| p.0)), range(points().map(|p| p.1))) else {
        return Ok(());
    };
    let failed =
        |error: &dyn std::fmt::Display| anyhow!("cannot write {}: {error}", file.display());
    let area = SVGBackend::new(file, (800, 480)).into_drawing_area();
    area.fill(&WHITE).map_err(|e| failed(&e))?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(45)
        .y_label_area_size(75)
        .build_cartesian_2d(xs.log_scale().base(2.0), ys.log_scale().base(base))
        .map_err(|e| failed(&e))?;
    chart
        .configure_mesh()
        .x_desc("elements (f32)")
        .y_desc(y)
        .x_label_formatter(&|x| crate::text::elements(x.round() as u64))
        .y_label_formatter(&|y| format!("{y}"))
        .label_style(("sans-serif", 14))
        .light_line_style(RGBColor(235, 235, 235))
        .draw()
        .map_err(|e| failed(&e))?;
    let mut colour = RGBColor(90, 90, 90);
    let mut colours = COLOURS.iter().cycle();
    for series in series.iter().filter(|series| !series.points.is_empty()) {
        if !series.name.is_empty() {
            colour = *colours.next().unwrap_or(&BLACK);
            let mark = |point: &(f64, f64)| Circle::new(*point, 4, colour.filled());
            let marks = chart.draw_series(series.points.iter().map(mark));
            let legend = move |(x, y)| Circle::new((x + 10, y), 4, colour.filled());
            let marks = marks.map_err(|e| failed(&e))?;
            marks.label(&series.name).legend(legend);
        }
        let line = LineSeries::new(series.points.iter().copied(), colour.stroke_width(2));
        chart.draw_series(line).map_err(|e| failed(&e))?;
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font(("sans-serif", 14))
        .position(legend)
        .draw()
        .map_err(|e| failed(&e))?;
    area.present().map_err(|e| failed(&e))
}

/// From less than the least to more than the largest value; `None` without positive values.
fn range(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let values = values.filter(|value| *value > 0.0);
    let (least, most) = values.fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), x| {
        (a.min(x), b.max(x))
    });
    (most > 0.0).then(|| least / 1.25..most * 1.25)
}
