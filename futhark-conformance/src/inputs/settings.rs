//! The amount of generated inputs, and the folder of failing ones.

use super::strategy::Limits;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the checks that generate inputs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The number of inputs per entry point, if the user has set it.
    pub cases: Option<u32>,
    /// The folder of failing inputs.
    pub regressions: PathBuf,
    /// The only input to try, if the user has named one.
    pub input: Option<PathBuf>,
    /// Whether the device is slow, which reduces everything.
    pub slow: bool,
    /// Whether the input that ended the last process is only slow, not a failing one.
    pub last_was_slow: bool,
}

/// The limits of shrinking.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The maximum number of inputs.
    pub tries: usize,
    /// The maximum time.
    pub time: Duration,
}

impl Settings {
    /// The number of inputs per entry point.
    #[must_use]
    pub fn cases(&self) -> u32 {
        self.cases.unwrap_or(if self.slow { 4 } else { 24 })
    }

    /// The time after which no further input is tried.
    #[must_use]
    pub fn time(&self) -> Duration {
        match self.cases {
            // A requested number is exact.
            Some(_) => Duration::from_secs(60),
            None => Duration::from_millis(700),
        }
    }

    /// The time after which a step that calls entry points with generated inputs is given up.
    #[must_use]
    pub fn limit(&self) -> Duration {
        match (self.cases, self.slow) {
            (Some(_), _) => Duration::from_secs(90),
            (None, false) => Duration::from_secs(5),
            (None, true) => Duration::from_secs(30),
        }
    }

    /// The maximum size of inputs.
    #[must_use]
    pub fn limits(&self) -> Limits {
        if self.slow {
            Limits::SLOW
        } else {
            Limits::REAL
        }
    }

    /// The limits of shrinking.
    #[must_use]
    pub fn patience(&self) -> Patience {
        Patience {
            tries: if self.slow { 60 } else { 1000 },
            time: Duration::from_secs(5),
        }
    }
}
