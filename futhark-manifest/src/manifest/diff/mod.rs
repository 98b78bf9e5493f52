//! Compares two programs as APIs: breaking, compatible and cosmetic changes.
//!
//! The API is the one that users of a *bridge* see: entry points and types, in a
//! typed language, with consumed arguments passed by value. Users of plain C
//! depend on more, such as the names of C functions; a cosmetic change
//! can break them.
//!
//! Each [`Change`] has a place, an old and a new value, and a [`ChangeCode`], which
//! determines the [`Impact`] and its reason. A cause is reported once: a record with a
//! new field is a change of the record, not of the entry points that use it, which
//! [`Change::used_by`] lists.
//!
//! # Which types are compared
//!
//! Entry points are matched by name. For types a name is not enough: compilers
//! spell the names of anonymous types differently, and the program can rename its
//! types. The rules that match a type of the old program, in this order:
//! 1. the new type with the same name;
//! 2. the new type whose name differs only in spaces, or the array with the same
//!    elements and rank;
//! 3. the new type in the same place (parameter, result, field, payload, element),
//!    if it has the same structure;
//! 4. the new type in the same place.
//!
//! No type is matched twice, and a type that kept its name is matched only by rule 1.
//! The remaining types were removed or added. A matched type whose name changed is
//! respelled if only spaces differ ([`ChangeCode::TypeRespelled`], cosmetic);
//! renamed if its structure is the same ([`ChangeCode::TypeRenamed`], breaking:
//! bridges name their types after it); else replaced
//! ([`ChangeCode::TypeReplaced`], breaking). A name that changed only because a part was
//! renamed, as `[]pt` to `[]point`, is not a change of its own.
//! Names are compared as texts and never parsed.
//!
//! # Results
//!
//! Results are compared by their
//! [`components`](crate::ResultForm::components), since compilers before 0.26.1 split
//! a tuple into several results. A bridge that returns a tuple as a type of its own
//! must consider
//! [`ChangeCode::ResultFormChanged`], [`ChangeCode::ResultTypeAdded`] and
//! [`ChangeCode::ResultTypeRemoved`].
//!
//! # Example
//!
//! ```
//! use futhark_manifest::Manifest;
//! use futhark_manifest::diff::{self, ChangeCode, Impact};
//!
//! let program = |unique: bool| {
//!     let text = format!(
//!         r#"{{
//!           "backend": "c",
//!           "version": "0.25.32.\n",
//!           "types": {{
//!             "world": {{
//!               "kind": "opaque", "ctype": "struct world *",
//!               "ops": {{"free": "free_world", "store": "store_world", "restore": "restore_world"}}
//!             }}
//!           }},
//!           "entry_points": {{
//!             "step": {{
//!               "cfun": "futhark_entry_step",
//!               "inputs": [{{"name": "w", "type": "world", "unique": {unique}}}],
//!               "outputs": [{{"type": "world", "unique": {unique}}}]
//!             }}
//!           }}
//!         }}"#
//!     );
//!     Manifest::parse(&text)?.resolve()
//! };
//! let diff = diff::compare(&program(false)?, &program(true)?);
//!
//! assert_eq!(diff.verdict(), Some(Impact::Breaking));
//! let breaking: Vec<_> = diff.of(Impact::Breaking).collect();
//! assert_eq!(breaking.len(), 1);
//! assert_eq!(breaking[0].code, ChangeCode::ParameterConsumed);
//! assert_eq!(breaking[0].place.pointer(), "/entry_points/step/inputs/0");
//! assert_eq!(
//!     breaking[0].to_string(),
//!     "breaking: entry point `step`, parameter 0: it is now consumed: \
//!      was `w: world`, is `w: *world` [parameter-consumed]"
//! );
//! // With the reason:
//! println!("{:#}", breaking[0]);
//! # Ok::<(), futhark_manifest::Error>(())
//! ```

mod align;
mod change;
mod code;
mod entries;
mod operations;
mod pairing;
mod place;
mod spelling;
mod structure;
mod text;
mod types;
mod unknown;
mod users;

pub use change::{Change, Diff, UsedBy};
pub use code::{ChangeCode, Impact};
pub use place::{EntryPart, Place, TypePart};

use crate::manifest::program::Program;
use pairing::Pairing;

/// Compares the program that users have with the new one.
///
/// Time and memory are linear in the size of both.
#[must_use]
pub fn compare(old: &Program, new: &Program) -> Diff {
    let pairing = Pairing::find(old, new);
    let mut changes = Vec::new();
    program(old, new, &mut changes);
    entries::compare(old, new, &pairing, &mut changes);
    types::compare(old, new, &pairing, &mut changes);
    unknown::compare(old, new, &pairing, &mut changes);
    Diff::new(changes)
}

/// Compares the backend and the compiler.
fn program(old: &Program, new: &Program, changes: &mut Vec<Change>) {
    if old.backend != new.backend {
        let change = Change::new(ChangeCode::BackendChanged, Place::Backend);
        let (was, is) = (old.backend.to_string(), new.backend.to_string());
        changes.push(change.was(was).is(is));
    }
    if old.version != new.version {
        let change = Change::new(ChangeCode::CompilerChanged, Place::Version);
        // Builds with the same number differ in the rest of the text.
        let (was, is) = if old.version.number == new.version.number {
            (old.version.text.clone(), new.version.text.clone())
        } else {
            (old.version.to_string(), new.version.to_string())
        };
        changes.push(change.was(was).is(is));
    }
}
