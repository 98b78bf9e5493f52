//! Which reports are parts of one run.

use crate::record::CompilerInfo;
use crate::shard::Shard;
use std::path::Path;

/// What decides whether a file is of the same run as the others.
pub(super) struct Part<'f> {
    pub(super) path: &'f Path,
    /// The hash of the text.
    pub(super) text: String,
    pub(super) run: String,
    pub(super) seed: u64,
    pub(super) shard: Option<Shard>,
    pub(super) compilers: Vec<CompilerInfo>,
}

impl Part<'_> {
    /// Fails with the reason if the two are not different parts of one run.
    pub(super) fn must_go_with(&self, other: &Part<'_>) -> Result<(), String> {
        let name = other.path.display();
        if self.text == other.text || !self.run.is_empty() && self.run == other.run {
            return Err(format!(
                "{name} is a report of the same run; give each report once"
            ));
        }
        if let (Some(shard), Some(other)) = (self.shard, other.shard) {
            if shard == other {
                return Err(format!("part {shard} was already given"));
            }
            if shard.count != other.count {
                return Err(format!(
                    "part {shard} and part {other} are not of the same run"
                ));
            }
        }
        if self.seed != other.seed {
            return Err(format!(
                "expected seed {}, got {}: these are not parts of one run",
                other.seed, self.seed
            ));
        }
        self.must_have_compilers_of(other)
    }

    /// Each version that both have must be by the same compilers, whatever their paths; the shards of
    /// a run have the same versions.
    fn must_have_compilers_of(&self, other: &Part<'_>) -> Result<(), String> {
        let mut versions: Vec<&str> = (self.compilers.iter().chain(&other.compilers))
            .map(|c| c.version.as_str())
            .collect();
        versions.sort_unstable();
        versions.dedup();
        for version in versions {
            let of = |all: &[CompilerInfo]| -> Vec<(String, String)> {
                let compilers = all.iter().filter(|c| c.version == version);
                let mut compilers: Vec<_> = compilers
                    .map(|c| (c.label.clone(), c.hash.clone()))
                    .collect();
                compilers.sort();
                compilers
            };
            let (own, others) = (of(&self.compilers), of(&other.compilers));
            let has_both = !own.is_empty() && !others.is_empty();
            let is_same = own.len() == others.len()
                && own
                    .iter()
                    .zip(&others)
                    .all(|((label, hash), (other, known))| {
                        // Reports of older versions have no hash.
                        label == other && (hash == known || hash.is_empty() || known.is_empty())
                    });
            let is_shard = self.shard.is_some() && other.shard.is_some();
            if !is_same && (has_both || is_shard) {
                return Err(format!(
                    "expected the compilers of {}, got {} of Futhark {version} instead of {}: these are not parts of one run",
                    other.path.display(),
                    described(&own),
                    described(&others)
                ));
            }
        }
        Ok(())
    }
}

/// Labels with the first digits of hashes.
fn described(compilers: &[(String, String)]) -> String {
    let one = |(label, hash): &(String, String)| match hash.get(..12) {
        Some(digits) => format!("{label} (SHA-256 {digits}...)"),
        None => label.clone(),
    };
    match compilers {
        [] => "none".to_owned(),
        _ => compilers.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}
