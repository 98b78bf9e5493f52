//! The columns of the table: a backend on a device, with a compiler.

use crate::devices::{column_label, parts};
use crate::identity::version_of;
use crate::record::{NOWHERE, Place};
use futhark_manifest::Backend;
use std::cmp::Ordering;

/// Where the records of a column were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The backend's name.
    pub backend: String,
    /// The device's name.
    pub device: String,
    /// The compiler's label.
    pub compiler: String,
}

impl Column {
    /// The column of a place; `None` for a file that is not a program.
    #[must_use]
    pub fn of(place: &Place) -> Option<Column> {
        (place.backend != NOWHERE).then(|| Column {
            backend: place.backend.clone(),
            device: place.device.clone(),
            compiler: place.compiler.clone(),
        })
    }

    /// The note about the device in the column's title: the word for a simulated or emulated
    /// device; or the part of the name that distinguishes it from `others` of the same backend; or
    /// nothing.
    #[must_use]
    pub fn device_note(&self, others: &[Column]) -> &str {
        if let Some(word) = column_label(&self.device) {
            return word;
        }
        let mut rivals = others
            .iter()
            .filter(|other| other.backend == self.backend && other.device != self.device)
            .peekable();
        if rivals.peek().is_none() {
            return "";
        }
        let (platform, device) = parts(&self.device);
        match rivals.any(|other| parts(&other.device).0 == platform) {
            true => device,
            false => platform,
        }
    }

    fn rank(&self) -> (usize, Vec<Option<u32>>) {
        let backend = Backend::ALL
            .iter()
            .position(|backend| backend.as_str() == self.backend);
        // Compared as numbers, so that 0.9 comes before 0.10.
        let numbers = version_of(&self.compiler)
            .split('.')
            .map(|part| part.parse().ok());
        (backend.unwrap_or(usize::MAX), numbers.collect())
    }
}

impl PartialOrd for Column {
    fn partial_cmp(&self, other: &Column) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Column {
    fn cmp(&self, other: &Column) -> Ordering {
        let key = |column: &Column| {
            let (backend, compiler) = column.rank();
            (
                backend,
                column.backend.clone(),
                column.device.clone(),
                compiler,
                column.compiler.clone(),
            )
        };
        key(self).cmp(&key(other))
    }
}
