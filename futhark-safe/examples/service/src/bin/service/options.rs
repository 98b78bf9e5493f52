//! The command line.

use futhark_example_service::arguments;
use futhark_safe::Backend;

/// The output of `--help`.
pub const HELP: &str = "\
Serves a Futhark program by HTTP on 127.0.0.1. Ends by SIGTERM or SIGINT, after the requests that are
being answered; by a second one, at once.

Usage: futhark-example-service [OPTIONS]

  --backend NAME   c, multicore, opencl, ... [the first one that works]
  --port N         0 chooses a free one [8080]
  --threads N      connections that are served at the same time, 1 to 256 [16]
  --provoke        also serve POST /fill, /lose and /quit, for the load generator
  --help           print this text
";

/// The parsed command line.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// `None` selects the first one that works.
    pub backend: Option<Backend>,
    /// 0 for a free one.
    pub port: u16,
    /// That serve connections.
    pub threads: usize,
    /// Whether requests can use up memory, lose the context and stop the server.
    pub provoke: bool,
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
            backend: None,
            port: 8080,
            threads: 16,
            provoke: false,
        };
        arguments::parse(arguments, |name, value| {
            match name {
                "--help" | "-h" => help = true,
                "--backend" => options.backend = Some(value.backend()?),
                "--port" => options.port = value.number(0..=u16::MAX)?,
                "--threads" => options.threads = value.number(1..=256)?,
                "--provoke" => options.provoke = true,
                _ => return Err(arguments::unknown(name)),
            }
            Ok(())
        })?;
        Ok((!help).then_some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_options_are_parsed() {
        let parse = |line: &str| Options::parse(line.split_whitespace().map(str::to_owned));
        let wanted = Options {
            backend: Some(Backend::C),
            port: 0,
            threads: 3,
            provoke: true,
        };
        let line = "--backend c --port=0 --threads 3 --provoke";
        assert_eq!(parse(line).unwrap(), Some(wanted));
        assert_eq!(parse("--port 1 --help").unwrap(), None);
        assert!(parse("--threads 0").unwrap_err().contains("1 to 256"));
    }
}
