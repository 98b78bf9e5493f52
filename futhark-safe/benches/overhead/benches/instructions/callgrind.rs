//! Reads profiles of callgrind.

use std::collections::BTreeMap;

/// Numbers of instructions.
#[derive(Default)]
pub struct Counts {
    /// In all.
    pub all: f64,
    /// By the function that they are in.
    pub parts: BTreeMap<String, f64>,
}

impl Counts {
    /// The difference, per call.
    pub fn minus(&self, other: &Counts, calls: u64) -> Counts {
        let per_call = |more: f64, less: f64| (more - less) / calls as f64;
        let part = |(name, more): (&String, &f64)| {
            let less = other.parts.get(name).copied().unwrap_or_default();
            (name.clone(), per_call(*more, less))
        };
        Counts {
            all: per_call(self.all, other.all),
            parts: self.parts.iter().map(part).collect(),
        }
    }
}

/// Reads a profile without compressed names. Lines after `calls=` have the cost of the called function, which is
/// counted there.
pub fn read(profile: &str) -> Counts {
    let mut counts = Counts::default();
    let (mut function, mut called) = ("", false);
    for line in profile.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            function = name;
        } else if line.starts_with("calls=") {
            called = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse().ok());
            if let (Some(cost), false) = (cost, called) {
                let cost: f64 = cost;
                counts.all += cost;
                *counts.parts.entry(plain(function)).or_default() += cost;
            }
            called = false;
        }
    }
    counts
}

/// The name without hashes of generic functions and recursion levels, which vary between builds.
fn plain(name: &str) -> String {
    let name = name.split('\'').next().unwrap_or(name);
    match name.rsplit_once("::h") {
        Some((before, hash)) if hash.len() == 16 => before.to_owned(),
        _ => name.to_owned(),
    }
}
