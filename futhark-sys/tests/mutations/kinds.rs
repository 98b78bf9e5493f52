//! The kinds of mutations, and what must become of each.

use crate::Random;
use crate::corpus::Text;
use crate::layout::{self, Space};
use crate::names::{self, Names, Scheme};
use crate::pieces::File;
use crate::protection::Equal;
use crate::spelling;
use crate::unknown::{self, Unknown};

/// What must become of a mutated text.
#[derive(Clone, Copy)]
pub enum Expected {
    /// It has the same protection.
    Same(Equal),
    /// The same, or it is refused.
    SameOrRefused(Equal),
    /// The checked counterpart of the size that it concerns is computed again, or it is refused.
    FollowedOrRefused,
    Refused,
}

use Expected::{FollowedOrRefused, Refused, Same, SameOrRefused};
use Mutation::{
    AddComments, ChangedForm, DropComments, Reflow, Rename, Reorder, RuntimeBlank, RuntimeToken,
    SpellCasts, SpellCompound, SpellNegation, Statement, SwapOperands,
};

#[derive(Clone, Copy)]
pub enum Mutation {
    Rename(Scheme),
    Reflow(Space),
    DropComments,
    AddComments,
    Reorder,
    SwapOperands,
    SpellCasts,
    SpellCompound,
    SpellNegation,
    RuntimeToken,
    RuntimeBlank,
    ChangedForm,
    Statement(Unknown),
}

const TOKENS: Expected = Same(Equal::Tokens);
const CHECKS: Expected = SameOrRefused(Equal::Checks);

pub const KINDS: [(&str, Mutation, Expected); 28] = [
    ("rename: other numbers", Rename(Scheme::Numbers), TOKENS),
    (
        "rename: no underscore",
        Rename(Scheme::NoUnderscore),
        TOKENS,
    ),
    ("rename: no number", Rename(Scheme::NoNumber), TOKENS),
    ("rename: other prefixes", Rename(Scheme::Prefixes), TOKENS),
    (
        "rename: exchanged prefixes",
        Rename(Scheme::ExchangedPrefixes),
        TOKENS,
    ),
    ("space: other indentation", Reflow(Space::Indent), TOKENS),
    ("space: a token per line", Reflow(Space::Tokens), TOKENS),
    ("space: a function per line", Reflow(Space::OneLine), TOKENS),
    (
        "space: broken and joined lines",
        Reflow(Space::Random),
        TOKENS,
    ),
    ("comments dropped", DropComments, TOKENS),
    ("comments added", AddComments, TOKENS),
    ("declarations reordered", Reorder, Same(Equal::Declarations)),
    ("operands swapped", SwapOperands, CHECKS),
    ("casts in parentheses", SpellCasts, CHECKS),
    ("x = x + a", SpellCompound, CHECKS),
    ("a != b", SpellNegation, CHECKS),
    ("runtime: one token", RuntimeToken, Refused),
    (
        "runtime: comment or space",
        RuntimeBlank,
        SameOrRefused(Equal::Tokens),
    ),
    (
        "statement: known assignment",
        Statement(Unknown::Assignment),
        FollowedOrRefused,
    ),
    ("statement: other form", ChangedForm, Refused),
    ("statement: operator", Statement(Unknown::Operator), Refused),
    ("statement: address", Statement(Unknown::Address), Refused),
    ("statement: call", Statement(Unknown::Call), Refused),
    ("statement: assembly", Statement(Unknown::Assembly), Refused),
    ("statement: control", Statement(Unknown::Control), Refused),
    (
        "statement: expression",
        Statement(Unknown::Expression),
        Refused,
    ),
    (
        "statement: declaration",
        Statement(Unknown::Declaration),
        Refused,
    ),
    (
        "statement: directive",
        Statement(Unknown::Directive),
        Refused,
    ),
];

/// A changed text.
pub struct Mutated {
    pub text: String,
    /// New names of variables in it.
    pub names: Names,
    pub what: String,
    /// The size that the change concerns.
    pub size: String,
}

impl Mutation {
    /// `None` if the text has no place for it.
    pub fn apply(self, text: &Text, file: &File<'_>, random: &mut Random) -> Option<Mutated> {
        let plain = |text: String| (text, String::new());
        let (mut names, mut size) = (Names::new(), String::new());
        let (text, what) = match self {
            Rename(scheme) => {
                names = names::choose(file, scheme, random)?;
                plain(names::rename(file, &names))
            }
            Reflow(how) => plain(layout::reflow(file, how, random)?),
            DropComments => plain(layout::drop_comments(file, random)?),
            AddComments => plain(layout::add_comments(file, random)?),
            Reorder => plain(layout::reorder(file, random)?),
            SwapOperands => plain(spelling::swap_operands(file, random)?),
            SpellCasts => plain(spelling::spell_casts(file, random)?),
            SpellCompound => plain(spelling::spell_compound(file, random)?),
            SpellNegation => plain(spelling::spell_negation(file, random)?),
            RuntimeToken => unknown::runtime_token(file, random)?,
            RuntimeBlank => unknown::runtime_blank(file, random)?,
            ChangedForm => unknown::changed_form(file, &text.sizes, random)?,
            Statement(kind) => {
                let change = unknown::statement(file, &text.sizes, kind, random)?;
                size = change.size;
                (change.text, change.what)
            }
        };
        Some(Mutated {
            text,
            names,
            what,
            size,
        })
    }
}
