//! The columns of the table: a backend on a device, with a compiler.

use crate::record::Place;
use futhark_manifest::Backend;
use std::cmp::Ordering;

/// Where the records of a column were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The backend's name.
    pub backend: String,
    /// The device's.
    pub device: String,
    /// The compiler's version.
    pub compiler: String,
}

impl Column {
    /// The column that the findings of a place belong to; none if they are about a file
    /// that is no program.
    #[must_use]
    pub fn of(place: &Place) -> Option<Column> {
        (place.backend != "-").then(|| Column {
            backend: place.backend.clone(),
            device: place.device.clone(),
            compiler: place.compiler.clone(),
        })
    }

    /// What stands for the device above a column: a word that must never be left out, or
    /// nothing.
    #[must_use]
    pub fn device_note(&self) -> &str {
        if self.device.starts_with("emulated") {
            "emulated"
        } else {
            ""
        }
    }

    fn rank(&self) -> (usize, Vec<Option<u32>>) {
        let backend = Backend::ALL
            .iter()
            .position(|backend| backend.as_str() == self.backend);
        // By number, so that 0.9 comes before 0.10.
        let numbers = self.compiler.split('.').map(|part| part.parse().ok());
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
