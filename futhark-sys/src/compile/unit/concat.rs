//! Checks the parts of a concatenation, which the generated C does not: no length is negative, and nothing is written
//! past the end of an argument.
//!
//! A concatenation computes the offset of each part:
//!
//! ```c
//! int64_t tmp_offs_6428 = (int64_t) 0;
//! ...
//! tmp_offs_6428 += n_6320;
//! ```
//!
//! The parts are often written directly into the result, before these lines, and the size of the
//! result can be valid although a part has a negative length: `replicate (n - 1) x ++ [x]` with
//! n = 0 writes before the beginning of an empty array. Therefore the lengths are compared with zero
//! at the beginning of the block that concatenates.
//!
//! If the first part is a consumed argument, the compiler can take its memory for the result, which has no room for the
//! other parts. It does not copy the first part then, as in each concatenation in place:
//!
//! ```c
//! if (!(tmp_offs_6428 == (int64_t) 0)) {
//!     lmad_copy_4b(ctx, 1, (uint32_t *) mem_6420.mem, tmp_offs_6428, …, (uint32_t *) mem_6420.mem, …
//! ```

use std::iter;

use super::edits::Edits;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, Statement};

/// Checks the parts of the concatenations in a function, and returns their offsets.
pub(super) fn write<'a>(function: &Function<'a>, edits: &mut Edits<'a>) -> Vec<&'a str> {
    let mut offsets = Vec::new();
    let inner = function.statements().into_iter();
    let blocks = inner.filter_map(|statement| match &statement.kind {
        Kind::Block(block) => Some(block),
        _ => None,
    });
    for block in iter::once(&function.body).chain(blocks) {
        for (at, statement) in block.iter().enumerate() {
            let Kind::Declare {
                ty: "int64_t",
                name: offset,
                value: Some(value),
            } = &statement.kind
            else {
                continue;
            };
            let rest = &block[at + 1..];
            let parts: Vec<_> = rest.iter().filter_map(|next| added(next, offset)).collect();
            let mut own = |expr: &Expr<'a>| (expr.name() == Some(offset)).then_some(());
            let mut is_place = |next: &Statement<'a>| {
                added(next, offset).is_none() && next.find(&mut own).is_some()
            };
            if value.constant() != Some(0) || parts.is_empty() || !rest.iter().any(&mut is_place) {
                continue;
            }
            let refuse_if = |parts: &[&Expr<'a>], operator: &str, why: &str| {
                let terms: Vec<_> = parts
                    .iter()
                    .map(|part| format!("{part} {operator} 0"))
                    .collect();
                format!("FUT_REFUSE_IF({}, {why})", terms.join(" || "))
            };
            let place = place(&block[..=at], &parts);
            edits.before(place.text, &refuse_if(&parts, "<", "FUT_NEGATIVE_PART"));
            if parts.len() > 1 && is_in_argument(rest, offset, function) {
                edits.before(place.text, &refuse_if(&parts[1..], "!=", "FUT_NO_ROOM"));
            }
            offsets.push(*offset);
        }
    }
    offsets
}

/// The length that the statement adds to an offset.
fn added<'s, 'a>(statement: &'s Statement<'a>, offset: &str) -> Option<&'s Expr<'a>> {
    let (name, operator, value) = statement.set()?;
    match (operator, value.operands("+")) {
        _ if name != offset => None,
        ("+=", _) => Some(value),
        ("=", Some([own, length] | [length, own])) if own.name() == Some(offset) => Some(length),
        _ => None,
    }
}

/// Whether the memory of the first part, which is not copied to the offset 0, belongs to a parameter.
fn is_in_argument(block: &[Statement<'_>], offset: &str, function: &Function<'_>) -> bool {
    let copy = block.iter().find_map(|statement| match &statement.kind {
        Kind::If(condition, inner) if condition.mentions(offset) => Some(&inner[0]),
        _ => None,
    });
    let memory = copy.and_then(|copy| {
        copy.find(&mut |expr| match &expr.kind {
            expr::Kind::Member(memory, ".", "mem") => memory.name(),
            _ => None,
        })
    });
    let ty = memory.and_then(|memory| function.types().remove(memory));
    // A declaration has `struct` in front of it.
    matches!(ty, Some("memblock" | "memblock_device"))
}

/// The first statement of a block, which ends with the definition of the offset, before which all `parts` are defined.
fn place<'s, 'a>(block: &'s [Statement<'a>], parts: &[&Expr<'a>]) -> &'s Statement<'a> {
    let sets_part = |statement: &Statement<'a>| {
        let mut found = false;
        statement.visit(&mut |inner| {
            let own = match inner.kind {
                Kind::Declare { name, .. } => Some(name),
                _ => inner.set().map(|(name, ..)| name),
            };
            // A function of the program returns its results through addresses.
            let addresses = inner
                .parts()
                .into_iter()
                .filter_map(|part| part.operands("&"));
            let mut names = addresses.filter_map(|of| of[0].name()).chain(own);
            found |= names.any(|name| parts.iter().any(|part| part.mentions(name)));
        });
        found
    };
    // `cleanup:` frees the memory that the function has declared.
    let is_of_cleanup = |statement: &Statement<'a>| match &statement.kind {
        Kind::Declare { name: "err", .. } => true,
        Kind::Declare { value, .. } => value.as_ref().is_some_and(|value| value.text == "NULL"),
        Kind::Assign { target, .. } => target.mentions_field("references"),
        _ => false,
    };
    // The definitions and checks of the compiler write no element, and its messages are more specific than ours.
    let can_precede = |statement: &Statement<'a>| {
        matches!(
            statement.kind,
            Kind::Declare {
                ty: "int64_t" | "bool",
                ..
            }
        ) || super::bounds::check(statement).is_some()
    };
    let (end, rest) = block.split_last().expect("the definition of the offset");
    let last = (rest.iter()).rposition(|one| sets_part(one) || is_of_cleanup(one));
    let mut after = rest[last.map_or(0, |last| last + 1)..].iter();
    after.find(|one| !can_precede(one)).unwrap_or(end)
}
