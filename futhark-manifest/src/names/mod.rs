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
//! # Guarantees
//!
//! - **Total.** Every text gets an identifier that is valid in the language.
//! - **Injective.** No two names of a set get the same identifier, nor one that is
//!   reserved. Upper and lower case are different.
//! - **Deterministic.** The order of the names does not matter: the same names get the
//!   same identifiers in every run and, as far as possible, in every later version of
//!   this crate.
//! - **Stable.** A name's identifier depends only on the scope and on the names that
//!   want the same identifier.
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
//! words get an underscore at the end.
//!
//! The result is the identifier that a name *wants*.
//!
//! # Collisions
//!
//! Each name has a series of forms, which depend only on the name and the scope:
//!
//! | form | looks like | assigned to |
//! |---|---|---|
//! | 0 | `f_prime` | the only name that wants it; of several, the one that is spelled like it |
//! | 1 | `f_prime_hbddaec9d` | of the remaining names, the only one that wants this form |
//! | 2 | `f_prime_h` and 16 digits | of the remaining names, the only one that wants this form |
//! | 3 | form 2, `x`, and the name's bytes in hexadecimal | all remaining names |
//!
//! The digits are the FNV-1a hash (64 bits) of the name in UTF-8. Form 1 has the exclusive or of the
//! two halves of such a hash, of the name without the spaces that are not between two words: compilers
//! differ in them. In camel case the mark is `H` (`FHbddaec9d`),
//! after an underscore `0h`. A reserved form is treated as wanted by another name;
//! form 3 repeats the part from its `x` until it is not reserved.
//!
//! *Why this is injective.* Read from the end, the digits, the mark and the text
//! before it are unambiguous, so forms 1, 2 and 3 never look alike; and a name whose
//! form 0 looks like one of them does not get form 0. So only names of the same form
//! can collide. By the rule, at most one name gets a form 0, 1 or 2, and form 3
//! contains the whole name.
//!
//! *Why this is stable.* Names that collide in form 1 or 2 have the same spelling
//! before the mark, so they want the same form 0; names that want another form 0 have
//! no influence. Only the number of names that want a form matters, not their order.
//!
//! # Several kinds of names in one scope
//!
//! If a language has one scope for values and types, assign the types first and
//! reserve their identifiers in the scope of the values; [`PYTHON`] has an example.
//!
//! # Other languages
//!
//! A constant of type [`Language`] describes a language. Identifiers consist of ASCII letters,
//! digits and underscores, which every language accepts.

mod language;
#[cfg(feature = "languages")]
mod languages;
#[cfg(all(test, feature = "languages"))]
mod properties;
mod scope;
mod spelling;
mod tables;

pub use language::{Case, Language, Style};
#[cfg(feature = "languages")]
pub use languages::{CPP_KEYWORDS, PYTHON, PYTHON_BUILTINS, PYTHON_SOFT_KEYWORDS};
pub use scope::{Names, Scope};
pub use tables::{C, RUST};
