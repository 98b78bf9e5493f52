//! The time limits of entries about programs that hang.

use super::Expectation;
use crate::record::Place;
use std::path::PathBuf;
use std::time::Duration;

/// The entries of a list that name a time limit.
#[derive(Clone, Debug, Default)]
pub struct TimeLimits {
    folder: PathBuf,
    list: Vec<Expectation>,
}

impl TimeLimits {
    /// The limits of these entries, whose program patterns may be relative to `folder`.
    pub(super) fn new(folder: PathBuf, list: Vec<Expectation>) -> TimeLimits {
        TimeLimits { folder, list }
    }

    /// The time after which a case has failed as expected: the least of all entries that match.
    #[must_use]
    pub fn of(&self, place: &Place, check: &str, case: &str) -> Option<Duration> {
        let matching = self.list.iter().filter(|entry| {
            entry.check.matches(check, case) && entry.is_about(place, &self.folder)
        });
        matching.filter_map(|entry| entry.timeout).min()
    }

    /// Whether an entry expects the check to fail as a whole, so that one case which hangs is enough.
    #[must_use]
    pub fn has_whole(&self, place: &Place, check: &str) -> bool {
        self.list.iter().any(|entry| {
            let is_whole = entry.check.is_whole() && entry.check.concerns(check);
            is_whole && entry.is_about(place, &self.folder)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Expectations;
    use super::*;
    use crate::devices::Device;
    use futhark_manifest::Backend;
    use std::path::Path;

    #[test]
    fn the_least_limit_of_the_matching_entries_applies() {
        let text = "[[expect]]\nprogram = \"a.fut\"\ncheck = \"blocks\"\nreason = \"r\"\ntimeout = 9\n\
                    [[expect]]\nprogram = \"a.fut\"\ncheck = \"blocks:f *\"\nbackend = \"c\"\nreason = \"r\"\ntimeout = 2\n\
                    [[expect]]\nprogram = \"*\"\nreason = \"r\"\n";
        let list = Expectations::parse(text, Path::new("programs")).unwrap();
        let limits = list.time_limits();
        let of = |program: &str, backend, check, case| {
            let device = Device::host(backend);
            let place = Place::new(&device, program.to_owned(), "0.25.32".to_owned());
            let limit = limits.of(&place, check, case);
            limit.map(|limit| limit.as_secs())
        };
        let a = "programs/a.fut";
        assert_eq!(of(a, Backend::C, "blocks", "f #0"), Some(2));
        assert_eq!(of(a, Backend::C, "blocks", "g #0"), Some(9));
        assert_eq!(of(a, Backend::Multicore, "blocks", "f #0"), Some(9));
        assert_eq!(of(a, Backend::C, "arrays", "[]i32"), None);
        let device = Device::host(Backend::C);
        let place = Place::new(&device, a.to_owned(), "0.25.32".to_owned());
        assert!(limits.has_whole(&place, "blocks") && !limits.has_whole(&place, "arrays"));
        assert_eq!(of("programs/b.fut", Backend::C, "blocks", "f #0"), None);
    }
}
