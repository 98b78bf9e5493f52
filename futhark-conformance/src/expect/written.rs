//! The file format of a list: its entries may have lists of patterns.

use super::Expectation;
use crate::pattern::{CheckPattern, Pattern, VersionPattern};
use serde::Deserialize;

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
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
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
