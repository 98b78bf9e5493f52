//! Tells whether a copy of an object or a library was interrupted.

use std::fs::File;
use std::io::{Read as _, Result};
use std::path::Path;

use crate::checksum::little_endian;

/// Whether a file is empty, or an ELF file without its end, where linkers put the table of sections. The loader of the
/// system would map what is missing, and the process would end when it reads it.
pub(crate) fn is_cut_short(path: &Path) -> Result<bool> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut head = [0; 64];
    // The kind of all 64-bit processors that we support. Offset, entry size and number of entries of the table.
    let is_elf = file.read_exact(&mut head).is_ok() && head.starts_with(b"\x7fELF\x02\x01");
    let [offset, entry, entries] =
        [40..48, 58..60, 60..62].map(|place| little_endian(&head[place]));
    Ok(size == 0 || is_elf && offset.saturating_add(entry * entries) > size)
}
