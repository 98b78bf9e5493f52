//! Reads records from a CSV file, passes them to a Futhark program together with a sum, and prints its results,
//! which are records and sums, as a table.
//!
//! ```text
//! cargo run -p futhark-example-records -- [all | before HOUR | between HOUR HOUR] <futhark-safe/examples/records/readings.csv
//! ```
#![forbid(unsafe_code)]

use std::error::Error;

use records::{ArrayReading, Filter, FilterVariant, ReadingFields, TrendVariant};

futhark_safe::include_program!(records);

/// The content of the file. A record has the number of its station.
#[derive(Default)]
struct Table<'a> {
    names: Vec<&'a str>,
    readings: Vec<ReadingFields>,
}

/// Parses lines such as `Oslo,12,-3.5` after a line of titles.
fn parse(text: &str) -> Result<Table<'_>, Box<dyn Error>> {
    let mut table = Table::default();
    for (number, line) in text.lines().enumerate().skip(1) {
        let [name, hour, temperature] = line.split(',').collect::<Vec<_>>()[..] else {
            return Err(format!("line {}: expected 3 columns", number + 1).into());
        };
        let known = table.names.iter().position(|known| *known == name);
        let station = known.unwrap_or_else(|| {
            table.names.push(name);
            table.names.len() - 1
        });
        table.readings.push(ReadingFields {
            station: station.try_into()?,
            hour: hour.parse()?,
            temperature: temperature.parse()?,
        });
    }
    Ok(table)
}

/// The sum `filter`, from the command line.
fn filter(arguments: &[String]) -> Result<FilterVariant, Box<dyn Error>> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Ok(match words[..] {
        [] | ["all"] => FilterVariant::All,
        ["before", end] => FilterVariant::Before(end.parse()?),
        ["between", start, end] => FilterVariant::Between(start.parse()?, end.parse()?),
        _ => return Err("expected: all | before HOUR | between HOUR HOUR".into()),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let variant = filter(&arguments)?;
    let text = std::io::read_to_string(std::io::stdin())?;
    let Table {
        names,
        readings: rows,
    } = parse(&text)?;

    let ctx = records::Context::new(&records::Config::new())?;
    // One array per field in the memory of the context, filled from the structs.
    let readings = ArrayReading::from_slice(&ctx, &rows)?;
    let filter = Filter::new(&ctx, &variant)?;
    let selected = ctx.entry().select(&filter, &readings)?;
    println!("{} of {} readings", selected.shape()[0], rows.len());

    let stations = names.len().try_into()?;
    let summaries = ctx.entry().summaries(stations, &selected)?.to_vec()?;
    let trends = ctx.entry().trends(stations, &selected)?;
    println!(
        "{:8} {:>5} {:>6} {:>6} {:>6}  trend",
        "station", "count", "min", "mean", "max"
    );
    for (i, (name, s)) in names.iter().zip(summaries).enumerate() {
        let trend = match trends.index(i)?.destruct()? {
            TrendVariant::Unknown => "unknown".to_owned(),
            TrendVariant::Steady => "steady".to_owned(),
            TrendVariant::Rising(by) => format!("rising by {by:.1}"),
            TrendVariant::Falling(by) => format!("falling by {by:.1}"),
        };
        println!(
            "{name:8} {:5} {:6.1} {:6.1} {:6.1}  {trend}",
            s.count, s.min, s.mean, s.max
        );
    }
    Ok(())
}
