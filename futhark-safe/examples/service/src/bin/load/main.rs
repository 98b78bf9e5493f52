//! Sends requests to the server, checks every response, and writes a report with a plot.
//!
//! `jobs` makes the requests and knows the right responses, `drive` sends them, `report` and `plot`
//! write the results. `floor` measures the same calls without HTTP.
#![deny(unsafe_code)]

mod child;
mod drive;
mod expected;
#[cfg(feature = "floor")]
mod floor;
mod jobs;
mod options;
mod plot;
mod report;
mod tally;

use std::io::Write as _;
use std::process::ExitCode;

use jobs::Jobs;
use options::Options;
use report::{Floor, Report};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(report) if report.passed() => ExitCode::SUCCESS,
        Ok(_) => {
            eprintln!("error: some responses were wrong or missing");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<Report<'_>, String> {
    let jobs = Jobs::new(options.seed, options.numbers);
    // Before the server starts, so that nothing else uses the processor.
    let floor = match options.floor {
        true => Some(measure_floor(options, &jobs)?),
        false => None,
    };
    let outcome = match options.address {
        Some(address) => drive::run(address, &jobs, options)?,
        None => {
            let server = child::Server::start(options)?;
            let outcome = drive::run(server.address(), &jobs, options)?;
            server.stop()?;
            outcome
        }
    };
    let report = Report {
        options,
        outcome,
        floor,
    };
    let mut text = report.text();
    if let Some(folder) = &options.out {
        let written = report.write(folder);
        written.map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
        text += &format!("report: {}\n", folder.join("index.html").display());
    }
    // The run counts although nothing reads the standard output.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(report)
}

#[cfg(feature = "floor")]
fn measure_floor(options: &Options, jobs: &Jobs) -> Result<Floor, String> {
    floor::measure(options.backend, jobs.good())
}

#[cfg(not(feature = "floor"))]
fn measure_floor(_: &Options, _: &Jobs) -> Result<Floor, String> {
    Err("--floor: build with `--features floor`".to_owned())
}
