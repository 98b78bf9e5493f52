//! How errors print their sources.

use std::error::Error;
use std::fmt;

/// Writes the sources of an error, each after a colon, for `{:#}`.
pub(crate) fn write(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut next = error.source();
    while let Some(source) = next {
        write!(f, ": {source}")?;
        next = source.source();
    }
    Ok(())
}
