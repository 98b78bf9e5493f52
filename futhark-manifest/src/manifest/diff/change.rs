//! A change, and all changes of a comparison.

use std::fmt;

use super::code::{ChangeCode, Impact};
use super::place::Place;
use super::text;

/// Everything that differs between two programs, ordered by place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    changes: Vec<Change>,
}

impl Diff {
    pub(super) fn new(mut changes: Vec<Change>) -> Diff {
        // A stable sort: changes with the same code and place stay in the order of discovery,
        // which depends only on the two programs.
        changes.sort_by(|a, b| (&a.place, a.code).cmp(&(&b.place, b.code)));
        Diff { changes }
    }

    /// The changes: those of the program as a whole, then of the entry points,
    /// then of the types, each by name.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The changes with this impact, in the same order.
    pub fn of(&self, impact: Impact) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(move |change| change.impact() == impact)
    }

    /// The worst impact; `None` if nothing differs.
    #[must_use]
    pub fn verdict(&self) -> Option<Impact> {
        self.changes.iter().map(Change::impact).max()
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl<'a> IntoIterator for &'a Diff {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.changes.iter()
    }
}

/// Writes one line per change.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in self {
            change.fmt(f)?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

/// A difference between two programs.
///
/// `{}` writes one line; `{:#}` adds lines with the users and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The class of the change, which determines its impact.
    pub code: ChangeCode,
    /// The place: in the new program for additions, otherwise in the old one.
    pub place: Place,
    /// The old value in Futhark syntax; `None` for an addition.
    pub was: Option<String>,
    /// The new value in Futhark syntax; `None` for a removal.
    pub is: Option<String>,
    /// The entry points that use the changed type.
    pub used_by: UsedBy,
}

impl Change {
    pub(super) fn new(code: ChangeCode, place: Place) -> Change {
        Change {
            code,
            place,
            was: None,
            is: None,
            used_by: UsedBy::default(),
        }
    }

    pub(super) fn was(mut self, text: impl Into<String>) -> Change {
        self.was = Some(text.into());
        self
    }

    pub(super) fn is(mut self, text: impl Into<String>) -> Change {
        self.is = Some(text.into());
        self
    }

    /// The impact of the change.
    #[must_use]
    pub fn impact(&self) -> Impact {
        self.code.impact()
    }

    /// The reason for the impact, as a sentence.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.code.reason()
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (impact, place) = (self.impact(), &self.place);
        write!(f, "{impact}: {place}: {}", self.code.what())?;
        match (&self.was, &self.is) {
            (None, None) => {}
            (Some(was), None) => write!(f, ": was {}", text::quote(was))?,
            (None, Some(is)) => write!(f, ": is {}", text::quote(is))?,
            (Some(was), Some(is)) => {
                write!(f, ": was {}, is {}", text::quote(was), text::quote(is))?;
            }
        }
        write!(f, " [{}]", self.code)?;
        if f.alternate() {
            if !self.used_by.entries.is_empty() {
                write!(f, "\n  used by {}", self.used_by)?;
            }
            write!(f, "\n  {}", self.reason())?;
        }
        Ok(())
    }
}

/// Entry points that use a type, in a parameter or a result or in their parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedBy {
    /// The first names in order, at most [`UsedBy::MOST`]. Empty if the change belongs to
    /// an entry point, or if nothing uses the type.
    pub entries: Vec<String>,
    /// Whether there are more.
    pub more: bool,
}

impl UsedBy {
    /// The maximum number of names.
    pub const MOST: usize = 8;
}

impl fmt::Display for UsedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.entries.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}", text::quote(entry))?;
        }
        f.write_str(if self.more { " and others" } else { "" })
    }
}
