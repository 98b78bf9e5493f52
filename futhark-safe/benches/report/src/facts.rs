//! What `ci/bench` knows of the machine, the versions and a user's build: lines of section, name and
//! value, separated by tabs.

use std::path::Path;

use anyhow::{Context as _, Result};

/// The lines, in the order of the file.
pub struct Facts(Vec<(String, String, String)>);

impl Facts {
    /// Parses the lines.
    pub fn parse(text: &str) -> Facts {
        let line = |line: &str| {
            let mut words = line.splitn(3, '\t').map(str::to_owned);
            Some((words.next()?, words.next()?, words.next()?))
        };
        Facts(text.lines().filter_map(line).collect())
    }

    /// Reads files, of which the later ones may be missing.
    ///
    /// # Errors
    /// If the first file cannot be read.
    pub fn read(first: &Path, more: &Path) -> Result<Facts> {
        let mut text = std::fs::read_to_string(first)
            .with_context(|| format!("cannot read {}: run ci/bench", first.display()))?;
        text += &std::fs::read_to_string(more).unwrap_or_default();
        Ok(Facts::parse(&text))
    }

    /// Names and values of a section.
    pub fn of<'a>(&'a self, section: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let lines = self.0.iter().filter(move |line| line.0 == section);
        lines.map(|line| (line.1.as_str(), line.2.as_str()))
    }

    /// A value.
    pub fn get<'a>(&'a self, section: &'a str, name: &str) -> Option<&'a str> {
        self.of(section)
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value)
    }

    /// A value that is a number.
    pub fn number(&self, section: &str, name: &str) -> Option<f64> {
        self.get(section, name)?.parse().ok()
    }
}
