//! Command lines of options, each `--name`, `--name value` or `--name=value`.

use std::ops::RangeInclusive;
use std::str::FromStr;

use futhark_safe::Backend;

/// Passes the name of each option to `set`, which reads the option's value, if it has one.
///
/// # Errors
///
/// That of `set`, or a value that no one read.
pub fn parse(
    arguments: impl IntoIterator<Item = String>,
    mut set: impl FnMut(&str, &mut Value<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let (name, attached) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let mut value = Value {
            name,
            attached,
            rest: &mut arguments,
        };
        set(name, &mut value)?;
        if value.attached.is_some() {
            return Err(format!("{name} takes no value; see --help"));
        }
    }
    Ok(())
}

/// The error for an option that does not exist.
#[must_use]
pub fn unknown(name: &str) -> String {
    format!("unknown option {name}; see --help")
}

/// The value of an option.
pub struct Value<'a> {
    name: &'a str,
    attached: Option<String>,
    rest: &'a mut dyn Iterator<Item = String>,
}

impl Value<'_> {
    /// The value as text.
    ///
    /// # Errors
    ///
    /// The value is missing.
    pub fn text(&mut self) -> Result<String, String> {
        let value = self.attached.take().or_else(|| self.rest.next());
        value.ok_or_else(|| format!("{} needs a value; see --help", self.name))
    }

    /// The value as a number of `range`.
    ///
    /// # Errors
    ///
    /// The value is missing, or not a number of the range.
    pub fn number<T>(&mut self, range: RangeInclusive<T>) -> Result<T, String>
    where
        T: FromStr + PartialOrd + std::fmt::Display,
    {
        let text = self.text()?;
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(format!(
                "{}: expected a number from {} to {}, got `{text}`",
                self.name,
                range.start(),
                range.end()
            )),
        }
    }

    /// The value as a backend.
    ///
    /// # Errors
    ///
    /// The value is missing, or not the name of a backend.
    pub fn backend(&mut self) -> Result<Backend, String> {
        let text = self.text()?;
        text.parse().map_err(|_| {
            let names: Vec<&str> = Backend::ALL.iter().map(|b| b.as_str()).collect();
            let names = names.join(", ");
            format!("unknown backend `{text}`; expected one of {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(line: &str) -> Result<Vec<u32>, String> {
        let mut found = Vec::new();
        parse(line.split_whitespace().map(str::to_owned), |name, value| {
            match name {
                "--n" => found.push(value.number(1..=9)?),
                "--flag" => found.push(0),
                _ => return Err(unknown(name)),
            }
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn values_follow_or_are_attached() {
        assert_eq!(numbers("--n 3 --flag --n=4"), Ok(vec![3, 0, 4]));
    }

    #[test]
    fn invalid_options_are_errors() {
        for (line, part) in [
            ("--n", "needs a value"),
            ("--n 10", "from 1 to 9"),
            ("--n=x", "got `x`"),
            ("--flag=1", "takes no value"),
            ("--m", "unknown option --m"),
        ] {
            let message = numbers(line).unwrap_err();
            assert!(message.contains(part), "{line}: {message}");
        }
    }
}
