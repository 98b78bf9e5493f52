//! The JSON Schema of manifests, and a validator.
//!
//! [`Manifest::parse`](crate::Manifest::parse) stops at the first value that it
//! cannot read. [`validate`] lists every violation of [`SCHEMA`], each with its
//! place in the manifest and the keyword of the schema that it violates. It is
//! for diagnostics; reading a manifest does not need it.
//!
//! The schema describes the form of each part, and is stricter than the reader:
//! C names must be identifiers, and a rank is from 1 to 255. It does not describe the
//! consistency of the parts, which [`Manifest::resolve`](crate::Manifest::resolve) checks.
//!
//! # Example
//!
//! ```
//! use futhark_manifest::schema;
//! use serde_json::json;
//!
//! let mut manifest = json!({
//!     "backend": "c",
//!     "entry_points": {
//!         "answer": {
//!             "cfun": "futhark_entry_answer",
//!             "inputs": [],
//!             "output": {"type": "i32", "unique": false}
//!         }
//!     },
//!     "types": {}
//! });
//! assert!(schema::validate(&manifest).is_ok());
//!
//! manifest["backend"] = json!(3);
//! manifest["entry_points"]["answer"]["cfun"] = json!("f; exit(1)");
//! let violations = schema::validate(&manifest).unwrap_err();
//! let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
//! assert_eq!(
//!     texts,
//!     [
//!         "at /backend: expected a backend, found 3 (schema: /$defs/backend/type)",
//!         "at /entry_points/answer/cfun: expected the name of a C function, \
//!          found \"f; exit(1)\" (schema: /$defs/c_function/pattern)",
//!     ]
//! );
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};

use crate::manifest::finding::{Error, Path, compare_pointers, describe};
use crate::manifest::read;
use crate::text::{Printable, alternatives};

/// The schema, in JSON Schema 2020-12, for the manifests of all compilers from 0.20.3
/// to 0.27.1.
///
/// Any validator for this version of JSON Schema can use it. Unknown members are
/// allowed everywhere, since newer compilers add some. The schema rejects one known
/// output of compilers: the C names of a variant with a prime in its name, which are
/// not valid in C.
pub const SCHEMA: &str = include_str!("../../schema/manifest.schema.json");

/// The schema of the resolved form, which [`Program::to_json`](crate::Program::to_json) returns and
/// `futhark-manifest resolve` prints. The page `docs/resolved.md` has the same content.
pub const RESOLVED_SCHEMA: &str = include_str!("../../schema/resolved.schema.json");

/// Validates a manifest against [`SCHEMA`].
///
/// The first call in a process compiles the schema. Memory grows with the number of
/// violations and the length of their places, so first pass a manifest from an untrusted
/// source to [`Manifest::parse`](crate::Manifest::parse), which stops at the first error.
///
/// # Errors
/// All violations, ordered by place in the manifest (items of an array by
/// index, members by name) and then by place in the schema.
pub fn validate(manifest: &Value) -> Result<(), Vec<Violation>> {
    let compiled = &*COMPILED;
    let errors = compiled.validator.iter_errors(manifest);
    let mut violations: Vec<Violation> = errors.map(|error| compiled.violation(&error)).collect();
    if violations.is_empty() {
        return Ok(());
    }
    violations.sort_by(by_place);
    Err(violations)
}

/// Validates the text of a manifest against [`SCHEMA`], as [`validate`] does, but needs memory
/// for one type or entry point at a time.
///
/// # Errors
/// As [`Manifest::parse`](crate::Manifest::parse), for a text that is not JSON, is not an
/// object or has a duplicate member.
pub fn validate_text(text: &[u8]) -> Result<Vec<Violation>, Error> {
    let mut violations = Vec::new();
    let mut add = |part: &Value| violations.extend(validate(part).err().unwrap_or_default());
    // The schema has no rule about two types or entry points together, so validate each in a
    // manifest of its own.
    let top = read::object(text, &mut |path, value| {
        if let Path::Key(Path::Key(_, section), name) = *path {
            let mut part = json!({"backend": "c", "entry_points": {}, "types": {}});
            part[*section][name] = value;
            add(&part);
        }
    })?;
    add(&top);
    violations.sort_by(by_place);
    Ok(violations)
}

/// A place where a manifest does not have the form that [`SCHEMA`] describes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The place in the manifest, as a JSON pointer (RFC 6901). Empty for the
    /// whole document. For a missing member, the place of the object.
    pub instance_path: String,
    /// The keyword of the schema, as a JSON pointer into [`SCHEMA`], with references
    /// resolved.
    pub schema_path: String,
    /// The expected and the actual value, as a lower-case fragment of bounded length.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instance_path.as_str() {
            "" => write!(f, "at the top")?,
            path => write!(f, "at {}", Printable(path))?,
        }
        write!(f, ": {} (schema: {})", self.message, self.schema_path)
    }
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is valid");
    Compiled { schema, validator }
});

struct Compiled {
    /// The source of the titles in messages.
    schema: Value,
    validator: jsonschema::Validator,
}

impl Compiled {
    fn violation(&self, error: &ValidationError<'_>) -> Violation {
        let schema_path = error.schema_path().as_str();
        Violation {
            instance_path: error.instance_path().as_str().to_owned(),
            schema_path: schema_path.to_owned(),
            message: self.message(error.kind(), schema_path, error.instance()),
        }
    }

    /// The message. The validator's own messages may contain the whole manifest.
    fn message(&self, kind: &ValidationErrorKind, schema_path: &str, found: &Value) -> String {
        let expected = self.title(schema_path);
        let found = describe(found);
        match kind {
            ValidationErrorKind::Required { property } => {
                format!("expected a member {property}, found none")
            }
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map_or(&[][..], Vec::as_slice);
                let options: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
                format!(
                    "expected {expected}: {}, found {found}",
                    alternatives(&options)
                )
            }
            _ => format!("expected {expected}, found {found}"),
        }
    }

    /// The title of the innermost schema with a title around a keyword. Titles are worded to
    /// follow "expected".
    fn title(&self, mut path: &str) -> &str {
        loop {
            let title = self.schema.pointer(path).and_then(|at| at.get("title"));
            if let Some(title) = title.and_then(Value::as_str) {
                return title;
            }
            let parent = path.rfind('/').expect("the whole schema has a title");
            path = &path[..parent];
        }
    }
}

fn by_place(a: &Violation, b: &Violation) -> Ordering {
    let place = compare_pointers(&a.instance_path, &b.instance_path);
    place.then_with(|| a.schema_path.cmp(&b.schema_path))
}
