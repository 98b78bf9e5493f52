//! The command line.

use std::path::PathBuf;

use futhark_safe::Backend;

/// The output of `--help`.
pub const HELP: &str = "\
Computes a picture with a Futhark program and writes it as a PNG file.

Usage: futhark-example-picture [OPTIONS]

  --backend NAME   c, multicore, opencl, ... [the first one that works]
  --size WxH       width and height in pixels [960x640]
  --samples N      average N x N points for each pixel, 1 to 16 [2]
  --out FILE       output file [picture.png]
  --help           print this text
";

/// The parsed command line.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// `None` selects the first one that works.
    pub backend: Option<Backend>,
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// In each direction, per pixel.
    pub samples: usize,
    /// The PNG file.
    pub out: PathBuf,
}

impl Options {
    /// Parses the arguments after the name of the program. Returns `None` for `--help`.
    ///
    /// # Errors
    ///
    /// An unknown option, or a missing or invalid value.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<Options>, String> {
        let mut options = Options {
            backend: None,
            width: 960,
            height: 640,
            samples: 2,
            out: "picture.png".into(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, attached) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            let mut value = || {
                attached
                    .clone()
                    .or_else(|| arguments.next())
                    .ok_or_else(|| format!("{name} needs a value; see --help"))
            };
            match name {
                "--help" | "-h" => return Ok(None),
                "--backend" => options.backend = Some(backend(&value()?)?),
                "--size" => (options.width, options.height) = size(&value()?)?,
                "--samples" => options.samples = number(&value()?, 16, "--samples")?,
                "--out" => options.out = value()?.into(),
                _ => return Err(format!("unknown option {argument}; see --help")),
            }
        }
        Ok(Some(options))
    }
}

fn backend(text: &str) -> Result<Backend, String> {
    text.parse().map_err(|_| {
        let names: Vec<&str> = Backend::ALL.iter().map(|b| b.as_str()).collect();
        format!(
            "unknown backend `{text}`; expected one of {}",
            names.join(", ")
        )
    })
}

fn size(text: &str) -> Result<(usize, usize), String> {
    let (width, height) = text
        .split_once('x')
        .ok_or_else(|| format!("--size: expected two numbers like 960x640, got `{text}`"))?;
    Ok((
        number(width, 32768, "--size")?,
        number(height, 32768, "--size")?,
    ))
}

fn number(text: &str, most: usize, option: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=most).contains(&n) => Ok(n),
        _ => Err(format!(
            "{option}: expected a number from 1 to {most}, got `{text}`"
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
        let line = "--backend c --size=20x10 --samples 2 --out a.png";
        let wanted = Options {
            backend: Some(Backend::C),
            width: 20,
            height: 10,
            samples: 2,
            out: "a.png".into(),
        };
        assert_eq!(parse(line).unwrap(), Some(wanted));
        assert_eq!(parse("--size 20x10 --help").unwrap(), None);
    }

    #[test]
    fn invalid_options_are_errors() {
        for (line, part) in [
            ("--backend vulkan", "multicore"),
            ("--size 20", "960x640"),
            ("--size 0x5", "from 1"),
            ("--size", "needs a value"),
            ("--sice 3x3", "--sice"),
            ("--samples 17", "to 16"),
        ] {
            let message = parse(line).unwrap_err();
            assert!(message.contains(part), "{line}: {message}");
        }
    }
}
