//! The contents of a value, down to its scalars and arrays, and their comparison.

use super::steps::{StepResult, Stop};
use super::transfer::download;
use crate::compare::{compare, identical, position};
use crate::inputs::binary::{self, Component};
use crate::values::HostValue;
use futhark_manifest::{ElemType, Field, Program, Structure, TypeRef};
use futhark_safe::dynamic::{Opaque, Value};

/// The contents of a value, copied to the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A scalar or an array of scalars.
    Host(HostValue),
    /// The fields of a record, the elements of an array, or the payload of a variant: the kind of the
    /// value, and each part with its name.
    Whole(String, Vec<(String, Content)>),
    /// The components of the stored form.
    Stored(Vec<HostValue>),
    /// An opaque value whose parts are not accessible, and whose stored form was not read.
    Hidden,
}

/// How the contents of opaque values are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By fields and variants; values without them in their stored form.
    Parts,
    /// By fields, variants and the first elements of arrays, without the stored form.
    Elements,
    /// In their stored form.
    Stored,
}

/// The number of elements of an array of opaque values to read.
const MAX_ELEMENTS: usize = 16;

/// The first place where two contents differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The kind of the difference.
    pub kind: DifferenceKind,
    /// The place, the expected and the actual contents.
    pub message: String,
}

/// A kind of difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The structure: variant, shape, number of parts.
    Form,
    /// The value of a float.
    Float,
    /// The value of an integer.
    Integer,
    /// A boolean.
    Bool,
}

/// How exactly contents must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// In every bit, including NaN payloads.
    Bits,
    /// Floats within the tolerance of `futhark test`, other types exactly.
    Tolerance,
}

impl Content {
    /// Reads the contents of a value of this type.
    ///
    /// # Errors
    /// If an operation fails or the stored form is malformed; a skip if the contents of a value are
    /// not accessible.
    pub fn take(
        program: &Program,
        ty: TypeRef,
        value: &Value,
        reading: Reading,
    ) -> StepResult<Content> {
        let Value::Opaque(opaque) = value else {
            return download(value).map(Content::Host);
        };
        if reading == Reading::Stored {
            return Content::take_stored(opaque);
        }
        let described = ty.as_type().and_then(|id| program.get(id).as_opaque());
        let Some(described) = described else {
            return Err(Stop::mismatch(format!(
                "expected a value of type {}, got {}",
                program.name_of(ty),
                opaque.type_name()
            )));
        };
        let part = |name: String, ty, value: &Value| {
            Ok((name, Content::take(program, ty, value, reading)?))
        };
        let fields = |fields: &[Field]| -> StepResult<Vec<(String, Content)>> {
            let fields = fields.iter();
            let parts = fields.map(|field| {
                part(
                    format!("field {}", field.name),
                    field.ty,
                    &opaque.project(&field.name)?,
                )
            });
            parts.collect()
        };
        let elements = |elem| -> StepResult<Vec<(String, Content)>> {
            let shape = opaque.shape()?;
            let count = shape.iter().product::<usize>().min(MAX_ELEMENTS);
            let elements = (0..count).map(|flat| {
                let index = position(&shape, flat);
                part(format!("element {index:?}"), elem, &opaque.index(&index)?)
            });
            elements.collect()
        };
        let (kind, parts) = match (&described.structure, reading) {
            (Structure::Record(record), _) => ("record".to_owned(), fields(&record.fields)?),
            (Structure::Sum(sum), _) => {
                let name = opaque.variant()?;
                let variant = sum.variants.iter().find(|variant| variant.name == name);
                let payload = variant.map_or(&[][..], |variant| &variant.payload);
                let values = opaque.destruct(&name)?;
                let parts = payload.iter().zip(&values).enumerate();
                let parts =
                    parts.map(|(number, (ty, value))| part(format!("part {number}"), *ty, value));
                (format!("variant {name}"), parts.collect::<StepResult<_>>()?)
            }
            (Structure::RecordArray(array), Reading::Elements) => {
                let mut parts = fields(&array.fields)?;
                parts.extend(elements(array.elem)?);
                (array_of(opaque)?, parts)
            }
            (Structure::RecordArray(array), _) => {
                ("array of records".to_owned(), fields(&array.fields)?)
            }
            (Structure::OpaqueArray(array), Reading::Elements) => {
                (array_of(opaque)?, elements(array.elem)?)
            }
            (Structure::Plain, Reading::Elements) => return Ok(Content::Hidden),
            (Structure::OpaqueArray(_) | Structure::Plain, _) => {
                return Content::take_stored(opaque);
            }
        };
        Ok(Content::Whole(kind, parts))
    }

    fn take_stored(opaque: &Opaque) -> StepResult<Content> {
        let name = opaque.type_name();
        match opaque.ty().as_opaque() {
            Some(described) if described.ops.store.is_some() => {
                Content::of_stored(name, opaque.store()?.body())
            }
            _ => Err(Stop::skip(format!(
                "the contents of values of type {name} are not accessible"
            ))),
        }
    }

    /// The contents of a body that was stored for a value of a type with this name.
    ///
    /// # Errors
    /// If it does not have the documented format.
    pub fn of_stored(name: &str, body: &[u8]) -> StepResult<Content> {
        let parts = binary::read(body).ok_or_else(|| {
            Stop::mismatch(format!(
                "a stored value of type {name} does not have the documented format: {} bytes, {:02x?}",
                body.len(),
                &body[..body.len().min(24)]
            ))
        })?;
        Ok(Content::Stored(parts))
    }

    /// Everything about a value that can be read: its stored form, which has all of it, or its parts.
    ///
    /// # Errors
    /// As [`Content::take`].
    pub fn snapshot(program: &Program, ty: TypeRef, value: &Value) -> StepResult<Content> {
        match Content::take(program, ty, value, Reading::Stored) {
            Err(Stop::Skip { .. }) => Content::take(program, ty, value, Reading::Parts),
            content => content,
        }
    }

    /// Clears the elements of arrays of units, if these are the contents of the stored form of a value
    /// of this type. They are stored as arrays of `bool`, but no program writes them. The manifest does
    /// not say which components they are, so all arrays of `bool` are cleared.
    #[must_use]
    pub fn without_units(self, program: &Program, ty: TypeRef) -> Content {
        match self {
            Content::Stored(parts) if may_hold_units(program, ty) => {
                let cleared = parts.into_iter().map(|part| match part.elem() {
                    ElemType::Bool if !part.shape().is_empty() => {
                        let unwritten = vec![0; part.bytes().len()];
                        HostValue::new(ElemType::Bool, part.shape().to_vec(), unwritten)
                    }
                    _ => part,
                });
                Content::Stored(cleared.collect())
            }
            content => content,
        }
    }

    /// Compares these contents with the expected ones.
    ///
    /// # Errors
    /// The first difference.
    pub fn agrees(&self, expected: &Content, within: Within) -> Result<(), Difference> {
        let form = |message| Difference {
            kind: DifferenceKind::Form,
            message,
        };
        match (self, expected) {
            (Content::Host(actual), Content::Host(expected)) => {
                agrees_host(actual, expected, within)
            }
            (Content::Whole(kind, parts), Content::Whole(expected, others)) => {
                if kind != expected || parts.len() != others.len() {
                    return Err(form(format!("expected {expected}, got {kind}")));
                }
                let mut pairs = parts.iter().zip(others);
                pairs.try_for_each(|((name, actual), (_, expected))| {
                    let at = |difference: Difference| difference.at(name);
                    actual.agrees(expected, within).map_err(at)
                })
            }
            (Content::Stored(actual), Content::Stored(expected))
                if actual.len() == expected.len() =>
            {
                let mut pairs = actual.iter().zip(expected).enumerate();
                pairs.try_for_each(|(place, (actual, expected))| {
                    let at = |d: Difference| d.at(&format!("stored component {place}"));
                    agrees_host(actual, expected, within).map_err(at)
                })
            }
            (Content::Hidden, Content::Hidden) => Ok(()),
            _ => Err(form(format!("expected {expected:?}, got {self:?}"))),
        }
    }

    /// Compares with contents that must be the same in every bit.
    ///
    /// # Errors
    /// The first difference.
    pub fn same(&self, now: &Content) -> StepResult {
        let difference = now.agrees(self, Within::Bits);
        difference.map_err(|difference| Stop::mismatch(difference.message))
    }

    /// The number of bytes of all scalars and arrays.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Content::Host(value) => value.bytes().len(),
            Content::Whole(_, parts) => parts.iter().map(|(_, part)| part.bytes()).sum(),
            Content::Stored(parts) => parts.iter().map(|part| part.bytes().len()).sum(),
            Content::Hidden => 0,
        }
    }
}

/// The components of a stored body.
///
/// # Errors
/// If it does not have the documented format.
pub fn stored_components(body: &[u8]) -> StepResult<Vec<Component>> {
    binary::components(body)
        .ok_or_else(|| Stop::mismatch("the stored bytes are not a sequence of components"))
}

fn array_of(opaque: &Opaque) -> StepResult<String> {
    Ok(format!("array of shape {:?}", opaque.shape()?))
}

impl Difference {
    /// The same difference, with a place before its message.
    #[must_use]
    pub fn at(self, place: &str) -> Difference {
        let message = format!("{place}: {}", self.message);
        Difference { message, ..self }
    }
}

/// Whether a value of this type may contain an array of units. Of a type without a known structure that
/// is not known.
fn may_hold_units(program: &Program, ty: TypeRef) -> bool {
    let described = ty.as_type().and_then(|id| program.get(id).as_opaque());
    let Some(described) = described else {
        return false;
    };
    let any_field = |fields: &[Field]| fields.iter().any(|field| may_hold_units(program, field.ty));
    match &described.structure {
        Structure::Record(record) => any_field(&record.fields),
        Structure::RecordArray(array) => any_field(&array.fields),
        Structure::Sum(sum) => {
            let mut payloads = sum.variants.iter().flat_map(|variant| &variant.payload);
            payloads.any(|ty| may_hold_units(program, *ty))
        }
        Structure::OpaqueArray(array) => may_hold_units(program, array.elem),
        // A unit, too: it is an element of an array of units.
        Structure::Plain => true,
    }
}

fn agrees_host(actual: &HostValue, expected: &HostValue, within: Within) -> Result<(), Difference> {
    let result = match within {
        Within::Bits => identical(actual, expected),
        Within::Tolerance => compare(actual, expected),
    };
    result.map_err(|mismatch| Difference {
        kind: match expected.elem() {
            _ if actual.shape() != expected.shape() || actual.elem() != expected.elem() => {
                DifferenceKind::Form
            }
            ElemType::F16 | ElemType::F32 | ElemType::F64 => DifferenceKind::Float,
            ElemType::Bool => DifferenceKind::Bool,
            _ => DifferenceKind::Integer,
        },
        message: mismatch.to_string(),
    })
}

/// Values that must not change, each with a snapshot of its contents.
pub struct Held<'a> {
    program: &'a Program,
    values: Vec<(String, TypeRef, Value, Content)>,
}

impl<'a> Held<'a> {
    /// An empty collection.
    #[must_use]
    pub fn new(program: &'a Program) -> Held<'a> {
        Held {
            program,
            values: Vec::new(),
        }
    }

    /// Adds a value with its current contents. A value whose contents are not accessible is
    /// dropped.
    pub fn hold(&mut self, what: impl Into<String>, ty: TypeRef, value: Value) -> StepResult {
        match Content::snapshot(self.program, ty, &value) {
            Ok(contents) => self.values.push((what.into(), ty, value, contents)),
            Err(Stop::Skip { .. }) => {}
            Err(stop) => return Err(stop),
        }
        Ok(())
    }

    /// Compares every value with its snapshot.
    pub fn check(&self) -> StepResult {
        self.values
            .iter()
            .try_for_each(|(what, ty, value, contents)| {
                let now = Content::snapshot(self.program, *ty, value);
                now.and_then(|now| contents.same(&now))
                    .map_err(|stop| stop.at(&format!("{what}, after the call")))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::parse;

    fn host(text: &str) -> Content {
        Content::Host(parse(text).unwrap()[0].by_itself().unwrap())
    }

    fn whole(kind: &str, parts: Vec<(&str, Content)>) -> Content {
        let parts = parts
            .into_iter()
            .map(|(name, part)| (name.to_owned(), part));
        Content::Whole(kind.to_owned(), parts.collect())
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
        assert_eq!(difference.kind, DifferenceKind::Float);
        assert!(
            difference.message.starts_with("field b: "),
            "{difference:?}"
        );
        let difference = host("[1]").agrees(&host("[1, 2]"), within).unwrap_err();
        assert_eq!(difference.kind, DifferenceKind::Form);
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
        let program = Manifest::parse(manifest).unwrap().resolve().unwrap();
        let cleared = |ty: &str| {
            let ty = TypeRef::Type(program.type_named(ty).unwrap());
            let parts = parse("[true, true] true [7]").unwrap();
            let parts = parts.iter().map(|part| part.by_itself().unwrap());
            let content = Content::Stored(parts.collect()).without_units(&program, ty);
            format!("{content:?}")
        };
        for ty in ["[]()", "mixed"] {
            assert_eq!(
                cleared(ty),
                "Stored([[false, false], true, [7i32]])",
                "{ty}"
            );
        }
        assert_eq!(cleared("flags"), "Stored([[true, true], true, [7i32]])");
    }
}
