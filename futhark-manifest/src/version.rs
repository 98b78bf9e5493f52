//! The compiler version in a manifest.

use std::cmp::Ordering;
use std::fmt;

use crate::text::Printable;

/// The versions of the Futhark compiler that the crates of this repository know. Everything else that
/// names such versions derives from these constants.
///
/// The tests of the repository compile with the [`TESTED`](known::TESTED) versions, and were run by hand with the
/// versions [`RUN`](known::RUN). With other versions from [`OLDEST`](known::OLDEST) to [`NEWEST`](known::NEWEST)
/// nothing was run: their changes are known, from their own documentation or by observation. futhark-sys refuses older
/// versions, warns of newer ones, and refuses those whose runtime has changed unless that is allowed.
pub mod known {
    /// The oldest version that writes manifests.
    pub const OLDEST_MANIFEST: (u32, u32, u32) = (0, 20, 3);
    /// The oldest version whose generated C futhark-sys accepts. In older ones, texts differ that
    /// it looks for.
    pub const OLDEST: (u32, u32, u32) = TESTED[0];
    /// The versions that the tests compile with, oldest first. `ci/lib/parts.sh` reads this line.
    pub const TESTED: [(u32, u32, u32); 2] = [(0, 25, 27), (0, 25, 32)];
    /// The versions that the corpus was run with by hand, because `ci/setup` cannot install them, and the day.
    /// UPGRADING.md has the commands and the results.
    pub const RUN: [((u32, u32, u32), &str); 1] = [((0, 27, 1), "2026-11-28")];
    /// The newest version whose changes are known.
    pub const NEWEST: (u32, u32, u32) = (0, 27, 1);
}

/// The version of the compiler that wrote a manifest.
///
/// Compilers write it as a text of several lines, such as
/// `"0.25.32.\nCompiled with GHC 9.10.3.\n"`. [`number`](Version::number) is
/// the number at the beginning of the first line. Versions are ordered by number (unknown
/// versions first), then by text.
///
/// A version is [unknown](Version::is_known) if its text is empty, does not begin with three
/// numbers (`latest`, `0.25`), or begins with a number before 0.20.3, the first
/// compiler that writes manifests. Manifests of unknown versions can be used,
/// since reading depends on their members only. Results that depend on the version are
/// then uncertain: [`is_at_least`](Version::is_at_least) is false, missing operations are
/// not reported, and of the library's functions only those of all versions are certain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Version {
    /// The whole text; empty if the manifest has no version.
    pub text: String,
    /// Major, minor and patch number, if the text begins with them.
    pub number: Option<(u32, u32, u32)>,
}

impl Version {
    /// Reads the text in a manifest. Never fails: without a number the version is unknown.
    #[must_use]
    pub fn new(text: &str) -> Version {
        Version {
            text: text.to_owned(),
            number: leading_number(text),
        }
    }

    /// Whether this is the version of a compiler that writes manifests.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.is_at_least(known::OLDEST_MANIFEST)
    }

    /// Whether the tests of the repository compile with this version ([`known::TESTED`]).
    #[must_use]
    pub fn is_tested(&self) -> bool {
        self.number.is_some_and(|own| known::TESTED.contains(&own))
    }

    /// Whether the version is known to be at least this one.
    #[must_use]
    pub fn is_at_least(&self, number: (u32, u32, u32)) -> bool {
        self.number.is_some_and(|own| own >= number)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some((major, minor, patch)) => f.pad(&format!("{major}.{minor}.{patch}")),
            None => match self.text.lines().next().map(str::trim) {
                None | Some("") => f.pad("unknown"),
                Some(line) => f.pad(&Printable(line).to_string()),
            },
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_number = self.number.cmp(&other.number);
        by_number.then_with(|| self.text.cmp(&other.text))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Three numbers with dots between them at the start of the text. The text after them, without a
/// full stop, must not start with a letter, a digit or an underscore.
fn leading_number(text: &str) -> Option<(u32, u32, u32)> {
    let (major, rest) = leading_digits(text.trim_start())?;
    let (minor, rest) = leading_digits(rest.strip_prefix('.')?)?;
    let (patch, rest) = leading_digits(rest.strip_prefix('.')?)?;
    let after = rest.strip_prefix('.').unwrap_or(rest);
    let continues = after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (!continues).then_some((major, minor, patch))
}

fn leading_digits(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_texts_of_compilers_are_parsed() {
        for (text, number, display) in [
            (
                "0.25.32.\nCompiled with GHC 9.10.3.\n",
                Some((0, 25, 32)),
                "0.25.32",
            ),
            (
                "0.27.1.\ngit: 0123456\nCompiled with GHC 9.10.3.\n",
                Some((0, 27, 1)),
                "0.27.1",
            ),
            ("0.26.0-dev\n", Some((0, 26, 0)), "0.26.0"),
            ("1.2.3", Some((1, 2, 3)), "1.2.3"),
            ("nightly build\nof today", None, "nightly build"),
            ("0.25", None, "0.25"),
            ("0.25.99999999999", None, "0.25.99999999999"),
            ("", None, "unknown"),
            ("\n", None, "unknown"),
            ("latest", None, "latest"),
            ("0.19.0", Some((0, 19, 0)), "0.19.0"),
            ("0.20.2.\n", Some((0, 20, 2)), "0.20.2"),
            ("0.20.3", Some((0, 20, 3)), "0.20.3"),
            ("0.25.32x", None, "0.25.32x"),
            ("0.25.32.1", None, "0.25.32.1"),
        ] {
            let version = Version::new(text);
            assert_eq!(version.number, number, "{text:?}");
            assert_eq!(version.to_string(), display, "{text:?}");
            assert_eq!(version.text, text);
            let known = number.is_some_and(|number| number >= (0, 20, 3));
            assert_eq!(version.is_known(), known, "{text:?}");
        }
    }

    #[test]
    fn versions_are_ordered_by_number() {
        let sorted = ["", "0.9.9", "0.25.4", "0.25.32", "0.26.1", "1.0.0"];
        let versions: Vec<_> = sorted.iter().map(|text| Version::new(text)).collect();
        assert!(versions.is_sorted());
        assert!(versions[3].is_at_least((0, 25, 32)));
        assert!(!versions[3].is_at_least((0, 25, 33)));
        assert!(!versions[0].is_at_least((0, 0, 0)));
    }
}
