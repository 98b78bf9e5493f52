//! How much is generated, and where it is kept.

use super::strategy::Limits;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the checks that generate inputs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How many inputs an entry point gets, if the user has said so.
    pub cases: Option<u32>,
    /// Where inputs are kept that showed a failure.
    pub regressions: PathBuf,
    /// The one input that is asked for.
    pub input: Option<PathBuf>,
    /// Whether the device is slow: then everything is less.
    pub slow: bool,
}

/// How much may be spent on making an input simpler.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// So many inputs are tried.
    pub tries: usize,
    /// For so long.
    pub time: Duration,
}

impl Settings {
    /// How many inputs an entry point gets.
    #[must_use]
    pub fn cases(&self) -> u32 {
        self.cases.unwrap_or(if self.slow { 4 } else { 24 })
    }

    /// After so long no further input is begun.
    #[must_use]
    pub fn time(&self) -> Duration {
        match self.cases {
            // Who asks for a number gets it.
            Some(_) => Duration::from_secs(60),
            None => Duration::from_millis(700),
        }
    }

    /// How large inputs are.
    #[must_use]
    pub fn limits(&self) -> Limits {
        if self.slow {
            Limits::SLOW
        } else {
            Limits::REAL
        }
    }

    /// How much may be spent on making an input simpler.
    #[must_use]
    pub fn patience(&self) -> Patience {
        Patience {
            tries: if self.slow { 60 } else { 1000 },
            time: Duration::from_secs(5),
        }
    }
}
