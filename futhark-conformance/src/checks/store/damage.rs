//! Damaged forms of stored values, all of which must be refused.

use super::frame::{Frame, seal, with_body};
use crate::harness::steps::StepResult;
use crate::harness::stored::{Component, components};
use futhark_manifest::ElemType;

/// Damaged bytes, with a description of the damage.
pub(super) struct Damaged {
    pub(super) what: String,
    pub(super) bytes: Vec<u8>,
}

/// The number of bytes of the elements to change one by one.
const MAX_DATA: usize = 64;

/// All damaged forms of these bytes: first those that the checksum detects, then those with a valid
/// checksum that only a test of each field detects.
pub(super) fn all(good: &[u8]) -> StepResult<Vec<Damaged>> {
    let frame = Frame::of(good)?;
    let body = &good[frame.body.clone()];
    let components = components(body)?;
    let mut all = Vec::new();
    accidents(good, &frame, &mut all);
    false_frames(good, &frame, &mut all);
    let mut of_body = |what: String, bytes: &[u8]| {
        all.push(Damaged {
            what: format!("{what}, with a valid checksum"),
            bytes: with_body(good, &frame, bytes),
        });
    };
    lengths(body, &components, &mut of_body);
    for (number, component) in components.iter().enumerate() {
        fields(body, component, number, &mut of_body);
    }
    Ok(all)
}

/// Changed bytes, missing or additional bytes, zeros.
fn accidents(good: &[u8], frame: &Frame, all: &mut Vec<Damaged>) {
    let mut add = |what: String, bytes: Vec<u8>| all.push(Damaged { what, bytes });
    let shown = (frame.body.start + MAX_DATA).min(good.len());
    for at in (0..shown).chain([good.len() - 1]) {
        let mut bytes = good.to_vec();
        bytes[at] ^= 0x10;
        add(format!("byte {at} changed"), bytes);
    }
    for length in (0..shown).chain([good.len() - 1]) {
        add(
            format!("truncated after {length} bytes"),
            good[..length].to_vec(),
        );
    }
    for at in [8, 24, frame.body.start] {
        let mut bytes = good.to_vec();
        bytes[at..].fill(0);
        if bytes != good {
            add(format!("zeros from byte {at}"), bytes);
        }
    }
    add("an additional byte".to_owned(), [good, &[0]].concat());
    add("twice".to_owned(), [good, good].concat());
}

/// A change of each field of the frame, with a valid checksum.
fn false_frames(good: &[u8], frame: &Frame, all: &mut Vec<Damaged>) {
    let fields = [
        ("the magic", 0..8),
        ("the version", 8..9),
        ("the byte order", 9..10),
        ("the length of the program's key", 10..12),
        ("the length of the type's name", 12..16),
        ("the length of the body", 16..24),
        ("the program's key", frame.program.clone()),
        ("the type's name", frame.type_name.clone()),
    ];
    for (name, range) in fields {
        for at in range {
            // Changing the lowest bit gives another character in a name.
            let mut bytes = good.to_vec();
            bytes[at] ^= 1;
            seal(&mut bytes);
            all.push(Damaged {
                what: format!("{name}, byte {at} changed, with a valid checksum"),
                bytes,
            });
        }
    }
}

/// Missing, truncated or additional components.
fn lengths(body: &[u8], components: &[Component], add: &mut impl FnMut(String, &[u8])) {
    for (number, component) in components.iter().enumerate() {
        let places = [
            component.head.start,
            component.head.end,
            component.dims.end,
            component.data.end.saturating_sub(1).max(component.dims.end),
        ];
        for end in places.into_iter().filter(|&end| end < body.len()) {
            add(
                format!("component {number}, truncated at byte {end}"),
                &body[..end],
            );
        }
    }
    add(
        "an additional byte in the body".to_owned(),
        &[body, &[0]].concat(),
    );
    if let Some(last) = components.last() {
        let again = &body[last.head.start..];
        add(
            "the last component twice".to_owned(),
            &[body, again].concat(),
        );
    }
}

/// A change of each field of a component's header, and invalid element values.
fn fields(body: &[u8], component: &Component, number: usize, add: &mut impl FnMut(String, &[u8])) {
    let mut change = |what: &str, at: usize, to: &[u8]| {
        let mut changed = body.to_vec();
        changed[at..at + to.len()].copy_from_slice(to);
        add(format!("component {number}: {what}"), &changed);
    };
    for at in component.head.clone() {
        // A change that does not give another valid type name.
        change(&format!("byte {at} of its header"), at, &[body[at] ^ 0x80]);
    }
    change("another version", component.head.start + 1, &[1]);
    change(
        "another rank",
        component.head.start + 2,
        &[body[component.head.start + 2] + 1],
    );
    let other = if component.elem == ElemType::I32 {
        b" f32"
    } else {
        b" i32"
    };
    change("another element type", component.head.start + 3, other);
    for at in component.dims.clone().step_by(8) {
        for dim in [-1, i64::MIN, i64::MAX, 1 << 61] {
            change(&format!("a dimension of {dim}"), at, &dim.to_ne_bytes());
        }
        // In an empty array, the other dimensions may have any extent.
        if !component.data.is_empty() {
            let mut dim = [0; 8];
            dim.copy_from_slice(&body[at..at + 8]);
            let dim = i64::from_ne_bytes(dim);
            for wrong in [dim + 1, dim - 1] {
                change("a dimension that is off by one", at, &wrong.to_ne_bytes());
            }
        }
    }
    if component.elem == ElemType::Bool {
        for at in component.data.clone().take(MAX_DATA) {
            change("a boolean of 2", at, &[2]);
        }
    }
}
