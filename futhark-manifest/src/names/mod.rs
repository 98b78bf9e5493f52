//! Identifiers of a target language for the names of a Futhark program.
//!
//! The names of entry points, parameters, fields, variants and types need not be
//! identifiers anywhere else: `f'`, `+++`, `m.f`, `0`, `move`,
//! `{bar: f32, foo: []i32}`. A [`Scope`] assigns an identifier to each name of a set:
//!
//! ```
//! use futhark_manifest::names::{RUST, Scope, Style};
//!
//! let methods = Scope::new(&RUST, Style::Value).reserve(["new", "free"]);
//! let names = methods.assign(["mean", "f'", "+++", "move", "self", "new"]);
//! assert_eq!(&names["mean"], "mean");
//! assert_eq!(&names["f'"], "f_prime");
//! assert_eq!(&names["+++"], "op_plus_plus_plus");
//! assert_eq!(&names["move"], "r#move");
//! assert_eq!(&names["self"], "self_");
//! assert_eq!(&names["new"], "new_");
//!
//! // If two names want one identifier, the name that is spelled like it gets it.
//! let names = methods.assign(["f'", "f_prime"]);
//! assert_eq!(&names["f_prime"], "f_prime");
//! assert_eq!(&names["f'"], "f_prime_hbddaec9d");
//!
//! let types = Scope::new(&RUST, Style::Type).assign(["(f32, (i32, bool))", "[]pt"]);
//! assert_eq!(&types["(f32, (i32, bool))"], "TupleF32TupleI32Bool");
//! assert_eq!(&types["[]pt"], "ArrayPt");
//! ```
//!
//! # The rule
//!
//! A name keeps its spelling if it is an identifier. Otherwise its other characters are replaced, as the table shows, and
//! reserved words are escaped. If several names want one identifier, the name that is spelled like it gets it, and each
//! other one gets a mark and a short hash of the name: `f_prime_hbddaec9d`; then, if that is taken, a longer one.
//!
//! - Every text gets an identifier that is valid in the language.
//! - No two names of a set get the same identifier, nor one that is reserved. Upper and lower case are different.
//! - The order of the names does not matter, and the same names get the same identifiers in every run and, as far as
//!   possible, in every later version of this crate.
//! - A name whose spelling no other name wants keeps it when names are added.
//!
//! # How a name is spelled
//!
//! | in the name | [`Style::Value`], [`Style::Constant`] | [`Style::Type`] |
//! |---|---|---|
//! | ASCII letters, digits, `_` | stay | stay |
//! | `'` | `_prime` | a word `prime` |
//! | operators: `+`, `<`, … | `_plus`, `_less`, …; `op` before a name of nothing else | end a word |
//! | `[]` | `_` for each character | a word `array` |
//! | `(` of a tuple | `_` | a word `tuple`; `()` alone is `unit` |
//! | `)`, `}` | `_` | a word `end`, if another word follows |
//! | anything else: `.`, `#`, `{`, blanks, control characters, other letters | `_` | ends a word |
//! | nothing is left | `arg` | `opaque` |
//! | more than 60 characters, not an identifier already | cut, with a hash of the whole | cut, with a hash of the whole |
//!
//! This only makes readable words; a type's name is not interpreted. Then the
//! language's [`Case`] for the style is applied:
//!
//! | | [`Style::Value`] | [`Style::Type`] | [`Style::Constant`] |
//! |---|---|---|---|
//! | [`RUST`], [`PYTHON`] | as is | `CamelCase` | `UPPER_CASE` |
//! | [`C`] | as is | as is, words joined by `_` | `UPPER_CASE` |
//!
//! For variants of a sum, use the style of types if they are classes or Rust's
//! `enum` variants, and that of constants in C. Text that cannot begin an identifier
//! gets a prefix (`0` is `_0` in Rust and Python, `x0` in C, `T0` in camel
//! case). Finally, keywords get the language's escaped form (`r#move`) and other reserved
//! words get an underscore at the end. The result is the identifier that a name *wants*.
//!
//! The hash is FNV-1a (64 bits, its halves combined by exclusive or) of the name in UTF-8, without the spaces in which
//! compilers differ. In camel case the mark is `H` (`FHbddaec9d`), after an underscore `0h`.
//!
//! [`PYTHON`] shows how a language with one scope for types and values is used, [`Language`] how another one is described.

mod language;
mod scope;

pub use language::{C, Case, Language, RUST, Style};
#[cfg(feature = "languages")]
pub use language::{CPP_KEYWORDS, PYTHON, PYTHON_BUILTINS};
pub use scope::{Names, Scope};
