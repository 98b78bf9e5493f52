//! The kinds of mutations, and what must become of each.

use crate::Random;
use crate::file::File;
use crate::layout::{
    a_function_per_line, a_token_per_line, add_comments, break_and_join, drop_comments, indent,
    reorder,
};
use crate::names::{Names, rename};
use crate::spelling::{spell_casts, spell_compound, spell_negation, swap_operands};
use crate::unknown::{changed_form, runtime_blank, runtime_token, statement};

/// What must become of a mutated text.
#[derive(Clone, Copy, PartialEq)]
pub enum Expected {
    /// All statements are the same.
    Same,
    /// All statements are the same, or it is refused.
    SameOrRefused,
    /// Each function has the same checks, or it is refused.
    ChecksOrRefused,
    /// The checked counterpart of the size that it concerns is computed again, or it is refused.
    FollowedOrRefused,
    Refused,
}

use Expected::{ChecksOrRefused, FollowedOrRefused, Refused, Same, SameOrRefused};

/// A changed text.
#[derive(Default)]
pub struct Mutated {
    pub text: String,
    /// New names of variables in it.
    pub names: Names,
    pub what: String,
    /// The size that the change concerns.
    pub size: String,
}

/// `None` if the text has no place for the mutation.
pub type Mutation = fn(&File<'_>, &mut Random) -> Option<Mutated>;

#[rustfmt::skip] // a kind per line
pub const KINDS: [(&str, Mutation, Expected); 28] = [
    ("rename: other numbers", |f, r| rename(f, r, "{stem}_{other_number}"), Same),
    ("rename: no underscore", |f, r| rename(f, r, "v{number}"), Same),
    ("rename: no number", |f, r| rename(f, r, "var{letters}"), Same),
    ("rename: other prefixes", |f, r| rename(f, r, "stem{place}_{number}"), Same),
    ("rename: exchanged prefixes", |f, r| rename(f, r, "{other_stem}_{number}"), Same),
    ("space: other indentation", indent, Same),
    ("space: a token per line", a_token_per_line, Same),
    ("space: a function per line", a_function_per_line, Same),
    ("space: broken and joined lines", break_and_join, Same),
    ("comments dropped", drop_comments, Same),
    ("comments added", add_comments, Same),
    ("declarations reordered", reorder, Same),
    ("operands swapped", swap_operands, ChecksOrRefused),
    ("casts in parentheses", spell_casts, ChecksOrRefused),
    ("x = x + a", spell_compound, ChecksOrRefused),
    ("a != b", spell_negation, ChecksOrRefused),
    ("runtime: one token", runtime_token, Refused),
    ("runtime: comment or space", runtime_blank, SameOrRefused),
    ("statement: known assignment", |f, r| statement(f, r, "assignment"), FollowedOrRefused),
    ("statement: other form", changed_form, Refused),
    ("statement: operator", |f, r| statement(f, r, "operator"), Refused),
    ("statement: address", |f, r| statement(f, r, "address"), Refused),
    ("statement: call", |f, r| statement(f, r, "call"), Refused),
    ("statement: assembly", |f, r| statement(f, r, "assembly"), Refused),
    ("statement: control", |f, r| statement(f, r, "control"), Refused),
    ("statement: expression", |f, r| statement(f, r, "expression"), Refused),
    ("statement: declaration", |f, r| statement(f, r, "declaration"), Refused),
    ("statement: directive", |f, r| statement(f, r, "directive"), Refused),
];
