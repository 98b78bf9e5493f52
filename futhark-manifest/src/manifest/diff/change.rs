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
        // Stable: changes of one kind at one place stay in the order of discovery,
        // which depends on nothing but the two programs.
        changes.sort_by(|a, b| (&a.place, a.code).cmp(&(&b.place, b.code)));
        Diff { changes }
    }

    /// The changes: those of the program as a whole, then of the entry points,
    /// then of the types, each by name.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The changes of that impact, in the same order.
    pub fn of(&self, impact: Impact) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(move |change| change.impact() == impact)
    }

    /// The worst impact; none if nothing differs.
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

/// One change, each as a [`Change`] is written; nothing if there is none.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in self {
            change.fmt(f)?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

/// Something that differs between two programs.
///
/// `{}` writes it in one line, `{:#}` with its users and the reason below.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The class of the change, which determines its impact.
    pub code: ChangeCode,
    /// The place: in the new program for additions, otherwise in the old one.
    pub place: Place,
    /// The old value in Futhark syntax; none if there was nothing.
    pub was: Option<String>,
    /// The new value in Futhark syntax; none if there is nothing.
    pub is: Option<String>,
    /// The entry points that a change of a type reaches.
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

    /// How much it matters.
    #[must_use]
    pub fn impact(&self) -> Impact {
        self.code.impact()
    }

    /// Why it matters that much: a sentence.
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

/// Entry points that use a type: in a parameter or a result, or in what these
/// are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedBy {
    /// Their names: the first ones by name, at most [`UsedBy::MOST`]. None if
    /// the change is that of an entry point, or nothing uses the type.
    pub entries: Vec<String>,
    /// Whether there are others.
    pub more: bool,
}

impl UsedBy {
    /// The most entry points that are named.
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
