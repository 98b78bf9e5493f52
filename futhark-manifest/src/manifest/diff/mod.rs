//! Compares two programs as APIs: breaking, compatible and cosmetic changes.
//!
//! The API is the one that users of a *bridge* see: entry points and types, in a
//! typed language, with consumed arguments passed by value. Users of plain C
//! depend on more, such as the names of C functions; a cosmetic change
//! can break them.
//!
//! Each [`Change`] says where it is, what was there and what is there now, and
//! by its [`ChangeCode`] how much it matters ([`Impact`]) and why. A cause is
//! reported once: a record with a new field is a change of the record, not of
//! the entry points that use it, which [`Change::used_by`] names.
//!
//! # Which types are compared
//!
//! Entry points are matched by name. For types a name is not enough: compilers
//! spell the names of anonymous types differently, and a name that the program
//! gave can change. A type of the old program is matched with the new one
//! 1. that has the same name;
//! 2. else, that differs in nothing but spaces in its name, or is the array of
//!    the same elements and rank;
//! 3. else, that is in the place of the old one (parameter, result, field,
//!    payload, element) and has the same structure;
//! 4. else, that is in the place of the old one.
//!
//! No type is matched twice, and none that kept its name is matched by 2 to 4.
//! The remaining types were removed or added. A matched type whose name changed is
//! respelled if only spaces differ ([`ChangeCode::TypeRespelled`], cosmetic);
//! renamed if its structure is the same ([`ChangeCode::TypeRenamed`], breaking:
//! bridges name their types after it); else replaced
//! ([`ChangeCode::TypeReplaced`], breaking). A new name that is the old one with
//! the new name of a part put in, `[]point` for `[]pt`, is no change of its own.
//! Names are compared as texts and never parsed.
//!
//! # Results
//!
//! They are compared as [`ResultForm::components`](crate::ResultForm::components)
//! gives them, since compilers before 0.26.1 split a tuple into several results.
//! A bridge that gives a tuple as a type of its own has to look at
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

/// Compares two programs: the one that users have, and the one that they get.
///
/// Linear in the size of both.
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
        // Builds of one number differ in the rest of the text.
        let (was, is) = if old.version.number == new.version.number {
            (old.version.text.clone(), new.version.text.clone())
        } else {
            (old.version.to_string(), new.version.to_string())
        };
        changes.push(change.was(was).is(is));
    }
}
