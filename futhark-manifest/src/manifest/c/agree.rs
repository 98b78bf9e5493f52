//! Compares a header with the declarations that follow from a manifest.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::ctype::CType;
use super::header::{Declaration, Header, StructDeclaration};
use super::library::{Group, STRUCTS, library};
use super::prototype::Prototype;
use crate::manifest::program::Program;

/// Compares a header with the declarations that follow from a manifest: each prototype with
/// its exact types, and each struct.
///
/// Ignores the names of parameters, but compares each `const`.
/// Time and memory are linear in the sizes of both.
///
/// # Example
///
/// ```
/// use futhark_manifest::{Manifest, c};
///
/// // The manifest of a program with `entry inc (x: i32): i32`.
/// let manifest = r#"{
///   "backend": "c",
///   "version": "0.25.32.\n",
///   "entry_points": {
///     "inc": {
///       "cfun": "futhark_entry_inc",
///       "inputs": [{"name": "x", "type": "i32", "unique": false}],
///       "outputs": [{"type": "i32", "unique": true}],
///       "tuning_params": []
///     }
///   },
///   "types": {}
/// }"#;
/// let program = Manifest::parse(manifest)?.resolve()?;
///
/// let inc = program.prototypes().next().expect("one function");
/// let declaration =
///     "int futhark_entry_inc(struct futhark_context *ctx, int32_t *out0, const int32_t in0);";
/// assert_eq!(inc.to_string(), declaration);
///
/// // A header of another program.
/// let header = c::Header::parse(
///     "int futhark_entry_inc(struct futhark_context *ctx, int64_t *out0, const int64_t in0);\n\
///      int futhark_context_sync(struct futhark_context *ctx);\n",
/// );
/// let agreement = c::agree(&program, &header);
/// let disagreement = &agreement.disagreements[0];
/// assert_eq!(disagreement.code.as_str(), "different-prototype");
/// assert_eq!(disagreement.line, Some(1));
/// assert_eq!(agreement.beyond[0].group, c::Group::Context);
/// # Ok::<(), futhark_manifest::Error>(())
/// ```
#[must_use]
pub fn agree(program: &Program, header: &Header) -> Agreement {
    let mut disagreements = backend(program, header);

    let structs = Named::new(&header.structs, |found| &found.tag);
    for ty in program.types() {
        disagreements.extend(structure(ty.c_ident(), &structs));
    }

    let declarations = Named::new(&header.declarations, |found| &found.name);
    for prototype in program.prototypes() {
        disagreements.extend(function(&prototype, &declarations));
    }

    Agreement {
        disagreements,
        beyond: beyond(program, header),
    }
}

/// The result of comparing a header with a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreement {
    /// The differences: first the backend, then structs in the order of
    /// [types](Program::types), then functions in the order of
    /// [`functions`](Program::functions).
    pub disagreements: Vec<Disagreement>,
    /// The declarations that the manifest does not list, ordered by group and then as
    /// in the header. Every header has some.
    pub beyond: Vec<Beyond>,
}

impl Agreement {
    /// Whether the header and the manifest agree.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.disagreements.is_empty()
    }
}

/// A difference between a header and a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// The kind of disagreement.
    pub code: DisagreementCode,
    /// The function, the struct's tag or the macro.
    pub name: String,
    /// The expected declaration, as C text.
    pub expected: String,
    /// The declaration in the header, as C text.
    pub found: Option<String>,
    /// The line of `found`, counted from 1.
    pub line: Option<usize>,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected `{}`", self.code, self.expected)?;
        match &self.found {
            Some(found) => write!(f, ", found `{found}`")?,
            None => f.write_str(", found nothing")?,
        }
        match self.line {
            Some(line) => write!(f, " in line {line}"),
            None => Ok(()),
        }
    }
}

/// The kind of a [`Disagreement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DisagreementCode {
    /// The header names another backend, or several. The type of raw memory and the
    /// rules for calls depend on the backend.
    BackendMacroDisagrees,
    /// A type of the manifest has no struct in the header.
    UndeclaredStruct,
    /// A function of the manifest is not in the header.
    UndeclaredFunction,
    /// A function has other types in the header. A call with the types of the manifest
    /// would be undefined behaviour.
    DifferentPrototype,
    /// A function of the manifest is in the header more than once. Only the
    /// first declaration was compared.
    DeclaredTwice,
}

impl DisagreementCode {
    /// Every code, in the order of declaration.
    pub const ALL: &'static [DisagreementCode] = &[
        DisagreementCode::BackendMacroDisagrees,
        DisagreementCode::UndeclaredStruct,
        DisagreementCode::UndeclaredFunction,
        DisagreementCode::DifferentPrototype,
        DisagreementCode::DeclaredTwice,
    ];

    /// A stable name, such as `undeclared-function`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DisagreementCode::BackendMacroDisagrees => "backend-macro-disagrees",
            DisagreementCode::UndeclaredStruct => "undeclared-struct",
            DisagreementCode::UndeclaredFunction => "undeclared-function",
            DisagreementCode::DifferentPrototype => "different-prototype",
            DisagreementCode::DeclaredTwice => "declared-twice",
        }
    }
}

impl fmt::Display for DisagreementCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A declaration in a header that the manifest does not list, with its purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Beyond {
    /// The purpose.
    pub group: Group,
    /// The declaration.
    pub item: BeyondItem,
}

/// A declaration that the manifest does not list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BeyondItem {
    /// A function.
    Function(Declaration),
    /// A struct.
    Struct(StructDeclaration),
}

/// Declarations of a header by name.
struct Named<'h, T> {
    /// For each name the first declaration, and the second one if there are several.
    by_name: HashMap<&'h str, (&'h T, Option<&'h T>)>,
}

impl<'h, T> Named<'h, T> {
    fn new(all: &'h [T], name: impl Fn(&'h T) -> &'h str) -> Named<'h, T> {
        let mut by_name: HashMap<_, (&T, Option<&T>)> = HashMap::new();
        for one in all {
            by_name
                .entry(name(one))
                .and_modify(|(_, second)| *second = second.or(Some(one)))
                .or_insert((one, None));
        }
        Named { by_name }
    }

    fn first(&self, name: &str) -> Option<&'h T> {
        self.by_name.get(name).map(|(first, _)| *first)
    }

    fn second(&self, name: &str) -> Option<&'h T> {
        self.by_name.get(name).and_then(|(_, second)| *second)
    }
}

/// Compares the backend, if the header names one.
fn backend(program: &Program, header: &Header) -> Vec<Disagreement> {
    let expected = program.backend.as_str();
    let names = header.backend_names();
    let others = names.filter(|(name, _)| *name != expected);
    let disagreements = others.map(|(name, line)| Disagreement {
        code: DisagreementCode::BackendMacroDisagrees,
        name: format!("FUTHARK_BACKEND_{name}"),
        expected: format!("#define FUTHARK_BACKEND_{expected}"),
        found: Some(format!("#define FUTHARK_BACKEND_{name}")),
        line: Some(line),
    });
    disagreements.collect()
}

fn structure(tag: &str, structs: &Named<'_, StructDeclaration>) -> Option<Disagreement> {
    structs.first(tag).is_none().then(|| Disagreement {
        code: DisagreementCode::UndeclaredStruct,
        name: tag.to_owned(),
        expected: format!("struct {tag};"),
        found: None,
        line: None,
    })
}

fn function(prototype: &Prototype, declarations: &Named<'_, Declaration>) -> Vec<Disagreement> {
    let disagreement = |code, found: Option<&Declaration>| Disagreement {
        code,
        name: prototype.name.clone(),
        expected: prototype.to_string(),
        found: found.map(ToString::to_string),
        line: found.map(|found| found.line),
    };
    let Some(first) = declarations.first(&prototype.name) else {
        return vec![disagreement(DisagreementCode::UndeclaredFunction, None)];
    };
    let mut disagreements = Vec::new();
    if !prototype.has_types_of(first) {
        disagreements.push(disagreement(
            DisagreementCode::DifferentPrototype,
            Some(first),
        ));
    }
    if let Some(second) = declarations.second(&prototype.name) {
        disagreements.push(disagreement(DisagreementCode::DeclaredTwice, Some(second)));
    }
    disagreements
}

fn beyond(program: &Program, header: &Header) -> Vec<Beyond> {
    let functions: HashSet<&str> = program.functions().map(|function| function.name).collect();
    let structs: HashSet<&str> = program.types().iter().map(|ty| ty.c_ident()).collect();
    let library = library().iter();
    let library: HashMap<&str, Group> = library.map(|one| (one.name(), one.group)).collect();
    let hidden = hidden_arrays(&structs, header);

    let further = header.declarations.iter();
    let further = further.filter(|declaration| !functions.contains(&*declaration.name));
    let further = further.map(|declaration| Beyond {
        group: library.get(&*declaration.name).copied().unwrap_or_else(|| {
            let mut tags = tags(declaration);
            if tags.any(|tag| hidden.contains(tag)) {
                Group::HiddenArray
            } else {
                Group::Other
            }
        }),
        item: BeyondItem::Function(declaration.clone()),
    });
    let further_structs = header.structs.iter();
    let further_structs = further_structs.filter(|found| !structs.contains(&*found.tag));
    let further_structs = further_structs.map(|found| Beyond {
        group: match &*found.tag {
            "futhark_context_config" => Group::Configuration,
            "futhark_context" => Group::Context,
            tag if hidden.contains(tag) => Group::HiddenArray,
            _ => Group::Other,
        },
        item: BeyondItem::Struct(found.clone()),
    });

    let mut beyond: Vec<Beyond> = further_structs.chain(further).collect();
    // Within a group, keep the order of the header.
    beyond.sort_by_key(|one| (one.group, one.item.line()));
    beyond
}

impl BeyondItem {
    /// The line of the header, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        match self {
            BeyondItem::Function(declaration) => declaration.line,
            BeyondItem::Struct(declaration) => declaration.line,
        }
    }
}

/// The unlisted structs for which a function returns a shape. Their names are not
/// considered.
fn hidden_arrays<'h>(listed: &HashSet<&str>, header: &'h Header) -> HashSet<&'h str> {
    let shape = CType::INT64.constant().pointer();
    let shapes = header.declarations.iter();
    let shapes = shapes.filter(|declaration| declaration.result == shape);
    let hidden = shapes.flat_map(tags);
    hidden
        .filter(|tag| !listed.contains(tag) && !STRUCTS.contains(tag))
        .collect()
}

/// The structs in the result and the parameters of a function.
fn tags(declaration: &Declaration) -> impl Iterator<Item = &str> {
    let parameters = declaration.parameters.iter();
    let parameters = parameters.filter_map(|parameter| parameter.ty.struct_tag());
    declaration
        .result
        .struct_tag()
        .into_iter()
        .chain(parameters)
}
