//! The contents of a value, down to its scalars and arrays, and their comparison.

use super::calls::download;
use super::cases::{CheckResult, Stop, mismatch, skip};
use super::make::Constructor;
use crate::compare::{Difference, Within, compare, position};
use crate::values::HostValue;
use crate::values::data::{self, Component};
use futhark_manifest::{ElemType, OpaqueType, Program, Structure, TypeId, TypeRef};
use futhark_safe::dynamic::Value;

/// The contents of a value, copied to the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A scalar or an array of scalars.
    Host(HostValue),
    /// The fields of a record, the elements of an array, the payload of a variant, or the components of a
    /// stored form: the kind of the value, and each part with its name.
    Compound(String, Vec<(String, Content)>),
}

/// How the contents of opaque values are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By fields and variants; values without them in their stored form.
    Parts,
    /// By fields, variants and the first elements of arrays, without the stored form: nothing of a value
    /// that has none of them.
    Elements,
    /// In their stored form.
    Stored,
}

/// The number of elements of an array of opaque values to read.
const MAX_ELEMENTS: usize = 16;

/// The kind of a [`Content::Compound`] whose parts are the components of a stored form.
const STORED: &str = "stored form";

impl Content {
    /// Reads the contents of a value of this type; a skip if they are not accessible.
    pub fn read_from(
        program: &Program,
        ty: TypeRef,
        value: &Value,
        reading: Reading,
    ) -> CheckResult<Content> {
        let Value::Opaque(opaque) = value else {
            return download(value).map(Content::Host);
        };
        let Some((id, described)) = described(program, ty) else {
            mismatch!(
                "expected a value of type {}, got {}",
                program.name_of(ty),
                opaque.type_name()
            );
        };
        let constructor = match reading {
            Reading::Stored => None,
            Reading::Parts | Reading::Elements => Constructor::of_value(program, id, opaque)?,
        };
        let name = opaque.type_name();
        // From 0.26 on, a unit is a record; before, it has only a stored form, which says nothing.
        if name == "()" && reading == Reading::Parts {
            return Ok(Content::Compound("record".to_owned(), Vec::new()));
        }
        if constructor.is_none() && reading != Reading::Elements {
            if described.ops.store.is_none() {
                skip!("the contents of values of type {name} are not accessible");
            }
            return Content::of_stored(name, opaque.store()?.body());
        }
        let mut kind = "opaque value".to_owned();
        let mut parts = Vec::new();
        if let Some(constructor) = constructor {
            kind = constructor.kind();
            let values = constructor.take_apart(opaque)?;
            for (index, (ty, value)) in constructor.parts().into_iter().zip(&values).enumerate() {
                let part = Content::read_from(program, ty, value, reading)?;
                parts.push((constructor.part_name(index), part));
            }
        }
        let elem = match &described.structure {
            Structure::RecordArray(array) => Some(array.elem),
            Structure::OpaqueArray(array) => Some(array.elem),
            _ => None,
        };
        if let Some(elem) = elem.filter(|_| reading == Reading::Elements) {
            let shape = opaque.shape()?;
            kind = format!("array of shape {shape:?}");
            for flat in 0..shape.iter().product::<usize>().min(MAX_ELEMENTS) {
                let index = position(&shape, flat);
                let element = Content::read_from(program, elem, &opaque.index(&index)?, reading)?;
                parts.push((format!("element {index:?}"), element));
            }
        }
        Ok(Content::Compound(kind, parts))
    }

    /// The contents of a body that was stored for a value of a type with this name.
    pub fn of_stored(name: &str, body: &[u8]) -> CheckResult<Content> {
        let parts = data::read(body).ok_or_else(|| {
            Stop::mismatch(format!(
                "the stored form of {name} does not have the documented format: {} bytes, {:02x?}",
                body.len(),
                &body[..body.len().min(24)]
            ))
        })?;
        Ok(Content::stored(parts))
    }

    /// The contents of a stored form with these components.
    pub fn stored(parts: impl IntoIterator<Item = HostValue>) -> Content {
        let parts = parts.into_iter().enumerate();
        let named =
            parts.map(|(index, part)| (format!("stored component {index}"), Content::Host(part)));
        Content::Compound(STORED.to_owned(), named.collect())
    }

    /// Everything about a value that can be read: its stored form, which has all of it, or its parts.
    pub fn snapshot(program: &Program, ty: TypeRef, value: &Value) -> CheckResult<Content> {
        match Content::read_from(program, ty, value, Reading::Stored) {
            Err(Stop::Skip { .. }) => Content::read_from(program, ty, value, Reading::Parts),
            content => content,
        }
    }

    /// As [`snapshot`](Self::snapshot), but `None` if the contents are not accessible.
    pub fn accessible(
        program: &Program,
        ty: TypeRef,
        value: &Value,
    ) -> CheckResult<Option<Content>> {
        match Content::snapshot(program, ty, value) {
            Err(Stop::Skip { .. }) => Ok(None),
            content => content.map(Some),
        }
    }

    /// Clears the elements of arrays of units, if these are the contents of the stored form of a value
    /// of this type. They are stored as arrays of `bool`, but no program writes them. The manifest does
    /// not say which components they are, so all arrays of `bool` are cleared.
    #[must_use]
    pub fn without_units(self, program: &Program, ty: TypeRef) -> Content {
        match self {
            Content::Compound(kind, parts) if kind == STORED && may_hold_units(program, ty) => {
                let cleared = parts.into_iter().map(|(name, part)| match part {
                    Content::Host(value)
                        if value.elem() == ElemType::Bool && !value.shape().is_empty() =>
                    {
                        let unwritten = vec![0; value.bytes().len()];
                        let shape = value.shape().to_vec();
                        let value = HostValue::new(ElemType::Bool, shape, unwritten);
                        (name, Content::Host(value))
                    }
                    part => (name, part),
                });
                Content::Compound(kind, cleared.collect())
            }
            content => content,
        }
    }

    /// Compares these contents with the expected ones.
    pub fn agrees(&self, expected: &Content, within: Within) -> Result<(), Difference> {
        match (self, expected) {
            (Content::Host(actual), Content::Host(expected)) => compare(actual, expected, within),
            (Content::Compound(kind, parts), Content::Compound(expected, others))
                if kind == expected && parts.len() == others.len() =>
            {
                let mut pairs = parts.iter().zip(others);
                pairs.try_for_each(|((name, actual), (_, expected))| {
                    let at = |difference: Difference| difference.at(name);
                    actual.agrees(expected, within).map_err(at)
                })
            }
            _ => Err(Difference::form(format!(
                "expected {expected:?}, got {self:?}"
            ))),
        }
    }

    /// Compares with contents that must be the same in every bit.
    pub fn same(&self, now: &Content) -> CheckResult {
        Ok(now.agrees(self, Within::Bits)?)
    }

    /// Compares with what a value contains now, as [`Content::same`].
    pub fn is_still(
        &self,
        program: &Program,
        ty: TypeRef,
        value: &Value,
        location: &str,
    ) -> CheckResult {
        let now = Content::snapshot(program, ty, value);
        now.and_then(|now| self.same(&now))
            .map_err(|stop| stop.at(location))
    }

    /// The number of bytes of all scalars and arrays.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Content::Host(value) => value.bytes().len(),
            Content::Compound(_, parts) => parts.iter().map(|(_, part)| part.bytes()).sum(),
        }
    }
}

pub fn stored_components(body: &[u8]) -> CheckResult<Vec<Component>> {
    data::components(body)
        .ok_or_else(|| Stop::mismatch("the stored bytes are not a sequence of components"))
}

fn described(program: &Program, ty: TypeRef) -> Option<(TypeId, &OpaqueType)> {
    let id = ty.as_type()?;
    Some((id, program.get(id).as_opaque()?))
}

/// Whether a value of this type may contain an array of units. A type without a known structure may.
fn may_hold_units(program: &Program, ty: TypeRef) -> bool {
    let Some((id, described)) = described(program, ty) else {
        return false;
    };
    match &described.structure {
        Structure::OpaqueArray(array) => may_hold_units(program, array.elem),
        // The unit, too, which is an element of an array of units: a record without fields, since 0.25.35.
        Structure::Plain => true,
        Structure::Record(record) if record.fields.is_empty() => true,
        _ => {
            let mut constructors = Constructor::all_of(program, id).into_iter();
            constructors.any(|constructor| {
                let mut parts = constructor.parts().into_iter();
                parts.any(|ty| may_hold_units(program, ty))
            })
        }
    }
}

/// Values that must not change, each with a snapshot of its contents.
pub struct Held<'a> {
    program: &'a Program,
    values: Vec<(String, TypeRef, Value, Content)>,
}

impl<'a> Held<'a> {
    #[must_use]
    pub fn new(program: &'a Program) -> Held<'a> {
        Held {
            program,
            values: Vec::new(),
        }
    }

    /// Adds a value with its current contents. A value whose contents are not accessible is
    /// dropped.
    pub fn hold(&mut self, what: impl Into<String>, ty: TypeRef, value: Value) -> CheckResult {
        if let Some(contents) = Content::accessible(self.program, ty, &value)? {
            self.values.push((what.into(), ty, value, contents));
        }
        Ok(())
    }

    /// Compares every value with its snapshot.
    pub fn compare(&self) -> CheckResult {
        let mut values = self.values.iter();
        values.try_for_each(|(what, ty, value, contents)| {
            let location = format!("{what}, after the call");
            contents.is_still(self.program, *ty, value, &location)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::parse;

    fn host(text: &str) -> Content {
        Content::Host(parse(text).unwrap().remove(0))
    }

    fn whole(kind: &str, parts: Vec<(&str, Content)>) -> Content {
        let parts = parts
            .into_iter()
            .map(|(name, part)| (name.to_owned(), part));
        Content::Compound(kind.to_owned(), parts.collect())
    }

    #[test]
    fn stored_forms_are_compared_in_every_bit() {
        let stored = |bytes: &[u8]| Content::of_stored("t", bytes).unwrap();
        let number = b"b\x02\x00  u8\x07";
        assert_eq!(stored(number).same(&stored(number)), Ok(()));
        assert!(stored(number).same(&stored(b"b\x02\x00  u8\x08")).is_err());
        assert!(stored(number).same(&stored(b"")).is_err());
        assert!(Content::of_stored("t", &number[1..]).is_err());
    }

    #[test]
    fn the_first_difference_is_reported() {
        let pair = |x: &str| whole("record", vec![("field a", host("1")), ("field b", host(x))]);
        let within = Within::Tolerance;
        assert_eq!(pair("2.0").agrees(&pair("2.001"), within), Ok(()));
        let difference = pair("2.0").agrees(&pair("3.0"), within).unwrap_err();
        assert_eq!(difference.elem, Some(ElemType::F64));
        assert!(
            difference.message.starts_with("field b: "),
            "{difference:?}"
        );
        let difference = host("[1]").agrees(&host("[1, 2]"), within).unwrap_err();
        assert_eq!(difference.elem, None);
        let sum = |name: &str| whole(name, vec![]);
        assert!(sum("variant x").agrees(&sum("variant y"), within).is_err());
        let inner = |x: &str| {
            whole(
                "record",
                vec![("field y", sum("variant x")), ("field z", pair(x))],
            )
        };
        assert_eq!(inner("2.0").same(&inner("2.0")), Ok(()));
        let Err(Stop::Fail { message, .. }) = inner("2.0").same(&inner("3.0")) else {
            panic!("they differ")
        };
        assert!(message.starts_with("field z: field b: "), "{message}");
        assert!(inner("2.0").same(&host("1")).is_err());
        assert!(pair("2.0").agrees(&pair("2.001"), Within::Bits).is_err());
    }

    #[test]
    fn stored_units_are_cleared_and_other_values_are_not() {
        use futhark_manifest::Manifest;
        let manifest = r#"{"backend":"c","version":"0.25.32.\n","entry_points":{},"types":{
            "()":{"kind":"opaque","ctype":"struct u *","ops":{"free":"F1","store":"S2","restore":"R3"}},
            "[]()":{"kind":"opaque","ctype":"struct us *","ops":{"free":"F4","store":"S5","restore":"R6"},
                "opaque_array":{"elemtype":"()","rank":1,"index":"I7","shape":"D8"}},
            "[]bool":{"kind":"array","ctype":"struct b *","elemtype":"bool","rank":1,"ops":{
                "free":"F9","shape":"S10","values":"V11","new":"N12","index":"I13"}},
            "flags":{"kind":"opaque","ctype":"struct f *","ops":{"free":"F14","store":"S15","restore":"R16"},
                "record":{"new":"N17","fields":[{"name":"a","project":"P18","type":"[]bool"}]}},
            "mixed":{"kind":"opaque","ctype":"struct m *","ops":{"free":"F19","store":"S20","restore":"R21"},
                "record":{"new":"N22","fields":[{"name":"a","project":"P23","type":"[]()"}]}}}}"#;
        // A compiler that knows the unit as a record.
        let record = r#""restore":"R3"},"record":{"new":"N24","fields":[]}}"#;
        let newer = manifest
            .replace(r#""restore":"R3"}}"#, record)
            .replace("0.25.32", "0.25.35");
        for manifest in [manifest, &newer] {
            let program = Manifest::parse(manifest).unwrap().resolve().unwrap();
            let cleared = |ty: &str| {
                let ty = TypeRef::Type(program.type_named(ty).unwrap());
                let parts = parse("[true, true] true [7]").unwrap();
                let content = Content::stored(parts).without_units(&program, ty);
                let Content::Compound(_, parts) = content else {
                    panic!("it has parts")
                };
                let parts = parts.into_iter().map(|(_, part)| match part {
                    Content::Host(value) => value,
                    Content::Compound(..) => panic!("a component has no parts"),
                });
                format!("{:?}", parts.collect::<Vec<_>>())
            };
            for ty in ["[]()", "mixed"] {
                assert_eq!(cleared(ty), "[[false, false], true, [7i32]]", "{ty}");
            }
            assert_eq!(cleared("flags"), "[[true, true], true, [7i32]]");
        }
    }
}
