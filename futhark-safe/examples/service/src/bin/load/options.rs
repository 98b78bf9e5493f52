//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use futhark_example_service::arguments;
use futhark_safe::Backend;

/// The output of `--help`.
pub const HELP: &str = "\
Sends requests to futhark-example-service on this machine and checks every response. Fails if one is
wrong or missing. Starts and stops the server, unless --address is given.

Usage: futhark-example-load [OPTIONS]

  --backend NAME    of the server that is started [multicore]
  --address A:P     use the server at this address, of a loopback interface, started with --provoke
  --seconds N       1 to 3600 [10]
  --threads N       connections, each with one request at a time, 1 to 64 [4]
  --failures N      percentage of requests that provoke a failure, 0 to 100 [10]
  --numbers N       numbers in a request, 1 to 20000 [1000]
  --seed N          of the numbers and the order of requests [1]
  --out FOLDER      write index.html, plot.svg, summary.json and seconds.csv to this folder
  --floor           first make the same calls in a loop in this process, by plain C and by
                    futhark-safe (c and multicore; needs the feature `floor`)
  --help            print this text
";

/// The parsed command line.
#[derive(Debug, PartialEq)]
pub struct Options {
    pub backend: Backend,
    /// `None` starts a server.
    pub address: Option<SocketAddr>,
    pub seconds: u32,
    pub threads: usize,
    /// In percent.
    pub failures: u32,
    pub numbers: usize,
    pub seed: u64,
    pub out: Option<PathBuf>,
    pub floor: bool,
}

impl Options {
    /// Parses the arguments after the name of the program. Returns `None` for `--help`.
    ///
    /// # Errors
    ///
    /// An unknown option, or a missing or invalid value.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<Options>, String> {
        let mut help = false;
        let mut options = Options {
            backend: Backend::Multicore,
            address: None,
            seconds: 10,
            threads: 4,
            failures: 10,
            numbers: 1000,
            seed: 1,
            out: None,
            floor: false,
        };
        arguments::parse(arguments, |name, value| {
            match name {
                "--help" | "-h" => help = true,
                "--backend" => options.backend = value.backend()?,
                "--address" => options.address = Some(loopback(&value.text()?)?),
                "--seconds" => options.seconds = value.number(1..=3600)?,
                "--threads" => options.threads = value.number(1..=64)?,
                "--failures" => options.failures = value.number(0..=100)?,
                // The body limit of the server is 1 MiB.
                "--numbers" => options.numbers = value.number(1..=20_000)?,
                "--seed" => options.seed = value.number(0..=u64::MAX)?,
                "--out" => options.out = Some(value.text()?.into()),
                "--floor" => options.floor = true,
                _ => return Err(arguments::unknown(name)),
            }
            Ok(())
        })?;
        Ok((!help).then_some(options))
    }
}

/// An address of this machine: load is not sent to others by mistake.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        _ => Err(format!(
            "--address: expected a loopback address like 127.0.0.1:8080, got `{text}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn all_options_are_parsed() {
        let line = "--backend c --address 127.0.0.1:80 --seconds 1 --threads 2 --failures 0 \
                    --numbers 3 --seed 4 --out here --floor";
        let wanted = Options {
            backend: Backend::C,
            address: Some(([127, 0, 0, 1], 80).into()),
            seconds: 1,
            threads: 2,
            failures: 0,
            numbers: 3,
            seed: 4,
            out: Some("here".into()),
            floor: true,
        };
        assert_eq!(parse(line).unwrap(), Some(wanted));
        assert_eq!(parse("--help").unwrap(), None);
    }

    #[test]
    fn addresses_of_other_machines_are_rejected() {
        for address in ["192.0.2.1:80", "0.0.0.0:80", "localhost:80"] {
            let message = parse(&format!("--address {address}")).unwrap_err();
            assert!(message.contains("loopback"), "{message}");
        }
        assert!(parse("--address [::1]:80").unwrap().is_some());
    }
}
