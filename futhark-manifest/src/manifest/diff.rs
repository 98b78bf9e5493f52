//! Compares two programs as APIs: will callers break, and where.
//!
//! The API is the one that users of a *bridge* see: entry points, and the types of their parameters and results, with
//! everything in them. Each entry point and type is compared by its line of the
//! [interface text](Program::interface_text), with two differences. Spaces in names do not count, since compilers
//! differ in them; and results are compared by their [components](crate::ResultForm::components), since compilers
//! before 0.26.1 split a tuple into several results. What was removed or changed is breaking, what was added is
//! compatible. A type with another name is another type.
//!
//! ```
//! use futhark_manifest::Manifest;
//! use futhark_manifest::diff::{self, Impact};
//!
//! let program = |unique: bool| {
//!     let text = format!(
//!         r#"{{
//!           "backend": "c", "version": "0.25.32.\n",
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
//! assert_eq!(diff.verdict(), Some(Impact::Breaking));
//! assert_eq!(
//!     diff.to_string(),
//!     "breaking: entry point step changed\n  was (w: world): world\n  is  (w: *world): world\n"
//! );
//! # Ok::<(), futhark_manifest::Error>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;

use crate::manifest::finding::escape;
use crate::manifest::interface::Names;
use crate::manifest::model::TypeKind;
use crate::manifest::model::{TypeId, TypeRef};
use crate::manifest::program::{EntryPoint, Program};
use crate::text::{Printable, squeezed};

/// Compares the program that users have with the new one. Time and memory are linear in the size of both.
#[must_use]
pub fn compare(old: &Program, new: &Program) -> Diff {
    let (old, new) = (Api::of(old), Api::of(new));
    let mut changes = Vec::new();
    for (item, old, new) in [
        (Item::EntryPoint, &old.entries, &new.entries),
        (Item::Type, &old.types, &new.types),
    ] {
        for (key, was) in old {
            let is = new.get(key);
            if is.is_none_or(|is| is.line != was.line) && (is.is_some() || was.is_named) {
                changes.push(Change::new(item, Some(was), is));
            }
        }
        let added = new
            .iter()
            .filter(|(key, is)| !old.contains_key(*key) && is.is_named);
        changes.extend(added.map(|(_, is)| Change::new(item, None, Some(is))));
    }
    changes.sort_by(|a, b| (a.item, &a.name).cmp(&(b.item, &b.name)));
    let affected = old.affected(&new);
    Diff { changes, affected }
}

/// The entry points and types that callers see, by name without the spaces in which compilers differ.
struct Api<'p> {
    program: &'p Program,
    entries: BTreeMap<String, Described<'p>>,
    types: BTreeMap<String, Described<'p>>,
}

struct Described<'p> {
    name: &'p str,
    line: String,
    text: String,
    /// Whether callers use the name. An array of scalars is only a part of signatures.
    is_named: bool,
}

impl<'p> Api<'p> {
    fn of(program: &'p Program) -> Api<'p> {
        let names = Names {
            program,
            spell: squeezed,
        };
        let entries = program.entries().iter().map(|entry| {
            let components: Vec<TypeRef> = entry.result_form(program).components().collect();
            let mut line = String::new();
            names.entry(entry, &components, &mut line);
            let (name, text) = (entry.name.as_str(), program.signature(entry));
            let is_named = true;
            let described = Described {
                name,
                line,
                text,
                is_named,
            };
            (name.to_owned(), described)
        });
        let types = visible(program).into_iter().map(|id| {
            let ty = program.get(id);
            let mut line = String::new();
            names.ty(ty, &mut line);
            let described = Described {
                name: &ty.name,
                line,
                text: program.definition(ty),
                is_named: matches!(ty.kind, TypeKind::Opaque(_)),
            };
            (squeezed(&ty.name), described)
        });
        Api {
            program,
            entries: entries.collect(),
            types: types.collect(),
        }
    }

    /// The entry points that the new program lacks, or whose callers use something that changed.
    fn affected(&self, new: &Api<'_>) -> Vec<String> {
        let same = |old: Option<&Described<'_>>, new: Option<&Described<'_>>| {
            old.map(|old| &old.line) == new.map(|new| &new.line)
        };
        let program = self.program;
        let mut changed = vec![false; program.types().len()];
        for (id, ty) in program.types_in_order() {
            let key = squeezed(&ty.name);
            let parts = ty.parts().filter_map(TypeRef::as_type);
            changed[id.index()] = !same(self.types.get(&key), new.types.get(&key))
                || parts.into_iter().any(|part| changed[part.index()]);
        }
        let entries = program.entries().iter().filter(|entry| {
            let (old, new) = (self.entries.get(&entry.name), new.entries.get(&entry.name));
            !same(old, new) || used(program, entry).any(|id| changed[id.index()])
        });
        entries.map(|entry| entry.name.clone()).collect()
    }
}

/// The types of the parameters and of the components of the result.
fn used<'p>(program: &'p Program, entry: &'p EntryPoint) -> impl Iterator<Item = TypeId> + 'p {
    let inputs = entry.inputs.iter().map(|input| input.ty);
    let components = entry.result_form(program).components();
    inputs.chain(components).filter_map(TypeRef::as_type)
}

/// The types that are used, and all their parts.
fn visible(program: &Program) -> Vec<TypeId> {
    let mut seen = vec![false; program.types().len()];
    let entries = program.entries().iter();
    let mut open: Vec<TypeId> = entries.flat_map(|entry| used(program, entry)).collect();
    let mut visible = Vec::new();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            visible.push(id);
            open.extend(program.get(id).parts().filter_map(TypeRef::as_type));
        }
    }
    visible
}

/// Everything that differs between two programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    changes: Vec<Change>,
    affected: Vec<String>,
}

impl Diff {
    /// The changes: those of entry points, then of types, each by name.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The entry points of the old program whose callers are affected by a breaking change, by name: those
    /// that were removed or changed, and those that use a type that was.
    #[must_use]
    pub fn affected(&self) -> &[String] {
        &self.affected
    }

    /// The worst impact; `None` if nothing differs.
    #[must_use]
    pub fn verdict(&self) -> Option<Impact> {
        self.changes.iter().map(Change::impact).max()
    }
}

/// Writes the changes, each on one to three lines.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes
            .iter()
            .try_for_each(|change| writeln!(f, "{change}"))
    }
}

/// A difference between two programs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What differs.
    pub item: Item,
    /// The name: the old one if there is one.
    pub name: String,
    /// The old signature or definition; `None` for an addition.
    pub was: Option<String>,
    /// The new signature or definition; `None` for a removal.
    pub is: Option<String>,
}

impl Change {
    fn new(item: Item, was: Option<&Described<'_>>, is: Option<&Described<'_>>) -> Change {
        let text = |side: &Described<'_>| side.text.clone();
        Change {
            item,
            name: was
                .or(is)
                .map_or(String::new(), |side| side.name.to_owned()),
            was: was.map(text),
            is: is.map(text),
        }
    }

    /// Additions are compatible; removals and other changes are breaking.
    #[must_use]
    pub fn impact(&self) -> Impact {
        match self.was {
            None => Impact::Compatible,
            Some(_) => Impact::Breaking,
        }
    }

    /// `added`, `removed` or `changed`.
    #[must_use]
    pub fn what(&self) -> &'static str {
        match (&self.was, &self.is) {
            (None, _) => "added",
            (Some(_), None) => "removed",
            (Some(_), Some(_)) => "changed",
        }
    }

    /// The place as a JSON pointer: in the new manifest for additions, otherwise in the old one.
    #[must_use]
    pub fn pointer(&self) -> String {
        let section = match self.item {
            Item::EntryPoint => "entry_points",
            Item::Type => "types",
        };
        format!("/{section}/{}", escape(&self.name))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = match self.item {
            Item::EntryPoint => "entry point",
            Item::Type => "type",
        };
        let (impact, what) = (self.impact().as_str(), self.what());
        write!(f, "{impact}: {item} {} {what}", Printable(&self.name))?;
        for (word, text) in [("was", &self.was), ("is ", &self.is)] {
            if let Some(text) = text {
                write!(f, "\n  {word} {}", Printable(text))?;
            }
        }
        Ok(())
    }
}

/// What can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// An entry point: its parameters with their consumption, or its result.
    EntryPoint,
    /// A type: its structure.
    Type,
}

/// The impact of a change on the users of a bridge. A worse impact is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impact {
    /// Existing code works as before.
    Compatible,
    /// Existing code may no longer work.
    Breaking,
}

impl Impact {
    /// The name, in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Impact::Compatible => "compatible",
            Impact::Breaking => "breaking",
        }
    }
}
