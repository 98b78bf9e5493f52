//! The file format of a list: its entries may have lists of patterns.

use super::Expectation;
use crate::pattern::{CheckPattern, Pattern, VersionPattern};
use serde::{Deserialize, Deserializer, de};
use std::time::Duration;

/// The greatest time limit, in seconds.
const DAY: i64 = 24 * 60 * 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    expect: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    program: Patterns<Pattern>,
    #[serde(default)]
    check: Patterns<CheckPattern>,
    #[serde(default)]
    backend: Patterns<Pattern>,
    #[serde(default)]
    compiler: Patterns<VersionPattern>,
    #[serde(default)]
    device: Patterns<Pattern>,
    reason: String,
    #[serde(default)]
    sometimes: bool,
    #[serde(default, deserialize_with = "time_limit")]
    timeout: Option<Duration>,
}

/// Reads a time limit.
fn time_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let seconds = value
        .as_integer()
        .filter(|seconds| (1..=DAY).contains(seconds));
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    let seconds = seconds.ok_or_else(|| {
        de::Error::custom(format!(
            "expected a whole number of seconds from 1 to {DAY}, such as `timeout = 10`"
        ))
    })?;
    Ok(Some(Duration::from_secs(seconds)))
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a pattern or a list of patterns")]
enum Patterns<P> {
    One(P),
    Several(Vec<P>),
}

impl<P: Default> Default for Patterns<P> {
    fn default() -> Patterns<P> {
        Patterns::One(P::default())
    }
}

/// Parses a list; the entries are in its order.
pub(super) fn read(text: &str) -> Result<Vec<Expectation>, String> {
    let file: File = toml::from_str(text).map_err(|error| {
        // The error repeats a line of the file, which may be a link to another one.
        let text = error.to_string();
        let lines = text.split('\n');
        let lines = lines.map(|line| {
            let most = if line.contains(" | ") { 60 } else { 200 };
            line.chars().take(most).collect::<String>()
        });
        lines.collect::<Vec<_>>().join("\n")
    })?;
    let mut all = Vec::new();
    for entry in &file.expect {
        let expectations = entry.expectations();
        let reason = &entry.reason;
        let Some(first) = expectations.first() else {
            return Err(format!(
                "an expectation with an empty list expects nothing: {reason}"
            ));
        };
        if reason.trim().is_empty() {
            return Err(format!("an expectation needs a reason: {first}"));
        }
        all.extend(expectations);
    }
    Ok(all)
}

impl Entry {
    /// The expectations for each combination of patterns.
    fn expectations(&self) -> Vec<Expectation> {
        let all = vec![Expectation {
            reason: self.reason.clone(),
            sometimes: self.sometimes,
            timeout: self.timeout,
            ..Expectation::default()
        }];
        let all = self.program.spread(all, |one| &mut one.program);
        let all = self.check.spread(all, |one| &mut one.check);
        let all = self.backend.spread(all, |one| &mut one.backend);
        let all = self.compiler.spread(all, |one| &mut one.compiler);
        self.device.spread(all, |one| &mut one.device)
    }
}

impl<P: Clone> Patterns<P> {
    /// Repeats each expectation for each pattern, with the pattern in the field that `field`
    /// selects.
    fn spread(
        &self,
        all: Vec<Expectation>,
        field: impl Fn(&mut Expectation) -> &mut P,
    ) -> Vec<Expectation> {
        let patterns = match self {
            Patterns::One(pattern) => std::slice::from_ref(pattern),
            Patterns::Several(patterns) => patterns,
        };
        let with = |expectation: &Expectation, pattern: &P| {
            let mut expectation = expectation.clone();
            *field(&mut expectation) = pattern.clone();
            expectation
        };
        all.iter()
            .flat_map(|one| patterns.iter().map(|pattern| with(one, pattern)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_is_a_number_of_seconds() {
        let read = |timeout: &str| {
            let text =
                format!("[[expect]]\nprogram = \"a.fut\"\nreason = \"r\"\ntimeout = {timeout}\n");
            read(&text)
        };
        for (text, seconds) in [("1", 1), ("10", 10), ("86_400", 86_400)] {
            let list = read(text).unwrap();
            assert_eq!(list[0].timeout, Some(Duration::from_secs(seconds)));
        }
        let wrong = ["0", "-1", "86401", "0.5", "\"10\"", "true", "[1]"];
        for text in wrong {
            let error = read(text).unwrap_err();
            assert!(error.contains("such as `timeout = 10`"), "{error}");
            // The line is part of the error.
            assert!(error.contains(&format!("timeout = {text}\n")), "{error}");
        }
    }

    #[test]
    fn an_error_repeats_only_the_beginning_of_a_line() {
        let secret = "x".repeat(1000);
        let error = read(&format!("a = {secret}")).err().unwrap();
        assert!(
            error.contains("line 1") && !error.contains(&secret[..61]),
            "{error}"
        );
    }
}
