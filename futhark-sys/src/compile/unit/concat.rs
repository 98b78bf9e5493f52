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

use std::collections::BTreeSet;

use super::edits::Edits;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Function, Kind, Statement};

/// The concatenations of all functions.
#[derive(Default)]
pub(super) struct Concatenations<'a> {
    offsets: BTreeSet<&'a str>,
}

impl<'a> Concatenations<'a> {
    pub(super) fn is_offset(&self, name: &str) -> bool {
        self.offsets.contains(name)
    }

    /// Finds the concatenations of a function, and checks their parts.
    pub(super) fn add(&mut self, function: &Function<'a>, edits: &mut Edits<'a>) {
        self.block(&function.body, function, edits);
    }

    fn block(&mut self, block: &[Statement<'a>], function: &Function<'a>, edits: &mut Edits<'a>) {
        for (at, statement) in block.iter().enumerate() {
            match &statement.kind {
                Kind::Block(inner) => self.block(inner, function, edits),
                _ => (statement.inner().iter())
                    .for_each(|inner| self.block(inner.as_block(), function, edits)),
            }
            let Kind::Declare {
                ty: "int64_t",
                name: offset,
                value: Some(value),
            } = &statement.kind
            else {
                continue;
            };
            let rest = &block[at + 1..];
            let parts: Vec<&Expr<'a>> =
                rest.iter().filter_map(|next| added(next, offset)).collect();
            let is_place =
                |next: &&Statement<'a>| added(next, offset).is_none() && mentions(next, offset);
            if value.constant() != Some(0)
                || parts.is_empty()
                || !rest.iter().any(|next| is_place(&next))
            {
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
            self.offsets.insert(offset);
        }
    }
}

fn mentions(statement: &Statement<'_>, name: &str) -> bool {
    let mut is_it = |expr: &Expr<'_>| (expr.name() == Some(name)).then_some(());
    statement.find(&mut is_it).is_some()
}

/// The length that the statement adds to an offset.
fn added<'s, 'a>(statement: &'s Statement<'a>, offset: &str) -> Option<&'s Expr<'a>> {
    match statement.set()? {
        (name, "+=", length) if name == offset => Some(length),
        (name, "=", sum) if name == offset => match sum.operands("+")? {
            [own, length] if own.name() == Some(offset) => Some(length),
            [length, own] if own.name() == Some(offset) => Some(length),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the memory of the first part, which is not copied to the offset 0, belongs to a parameter.
fn is_in_argument(block: &[Statement<'_>], offset: &str, function: &Function<'_>) -> bool {
    let guarded = block.iter().find_map(|statement| match &statement.kind {
        Kind::If(condition, inner) => {
            let equal = match condition.operands("!") {
                Some([inner]) => inner.operands("=="),
                _ => condition.operands("!="),
            };
            let is_guard = equal?.iter().any(|side| side.mentions(offset));
            is_guard.then_some(&inner[0])
        }
        _ => None,
    });
    let memory = guarded.and_then(|copy| {
        copy.find(&mut |expr| match &expr.kind {
            expr::Kind::Member(memory, ".", "mem") => memory.name(),
            _ => None,
        })
    });
    let mut words = function.parameters.windows(3);
    words.any(|words| {
        matches!(*words, ["struct", "memblock" | "memblock_device", name] if Some(name) == memory)
    })
}

/// The first statement of a block, which ends with the definition of the offset, before which all `parts` are defined.
fn place<'s, 'a>(block: &'s [Statement<'a>], parts: &[&Expr<'a>]) -> &'s Statement<'a> {
    let sets_part = |statement: &Statement<'a>| {
        let mut found = false;
        statement.visit(&mut |inner| {
            let name = match inner.kind {
                Kind::Declare { name, .. } => Some(name),
                _ => inner.set().map(|(name, ..)| name),
            };
            found |= name.is_some_and(|name| parts.iter().any(|part| part.mentions(name)));
        });
        found
    };
    // `cleanup:` frees what the function has declared.
    let is_of_cleanup = |statement: &Statement<'a>| match &statement.kind {
        Kind::Declare {
            ty: "int",
            name: "err",
            ..
        } => true,
        Kind::Assign { value, .. }
        | Kind::Declare {
            value: Some(value), ..
        } => value.text == "NULL",
        _ => false,
    };
    let (end, rest) = block.split_last().expect("the definition of the offset");
    let last = rest
        .iter()
        .rposition(|one| sets_part(one) || is_of_cleanup(one));
    let mut after = rest[last.map_or(0, |last| last + 1)..].iter();
    after
        .find(|statement| !can_precede(statement))
        .unwrap_or(end)
}

/// Whether a statement is a definition or a check of the compiler, which write no
/// element. The messages of the compiler are more specific than ours.
fn can_precede(statement: &Statement<'_>) -> bool {
    match &statement.kind {
        Kind::Declare { ty, .. } => matches!(*ty, "int64_t" | "bool"),
        Kind::If(..) => super::bounds::check(statement).is_some(),
        _ => false,
    }
}
