//! The contents of a value, down to its scalars and arrays, and their comparison.

use crate::compare::{compare, identical};
use crate::harness::steps::{StepResult, Stop};
use crate::harness::transfer::download;
use crate::inputs::binary;
use crate::values::HostValue;
use futhark_manifest::{ElemType, Field, Program, Structure, TypeRef};
use futhark_safe::dynamic::Value;

/// The contents of a value, copied to the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A scalar or an array of scalars.
    Host(HostValue),
    /// The parts of a record or of an array of records, with their names.
    Parts(Vec<(String, Content)>),
    /// A sum: the variant and its payload.
    Variant(String, Vec<Content>),
    /// An opaque value without accessible parts: its stored form.
    Stored(Vec<HostValue>),
}

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
    /// Downloads the contents of a value of this type.
    ///
    /// # Errors
    /// If an operation fails or the stored form is malformed; a skip if the contents of a value are
    /// not accessible.
    pub fn take(program: &Program, ty: TypeRef, value: &Value) -> StepResult<Content> {
        let Value::Opaque(opaque) = value else {
            return download(value).map(Content::Host);
        };
        let described = ty.as_type().and_then(|id| program.get(id).as_opaque());
        let Some(described) = described else {
            return Err(Stop::mismatch(format!(
                "expected a value of type {}, got {}",
                program.name_of(ty),
                opaque.type_name()
            )));
        };
        let fields = match &described.structure {
            Structure::Record(record) => &record.fields,
            Structure::RecordArray(array) => &array.fields,
            Structure::Sum(sum) => {
                let name = opaque.variant()?;
                let variant = sum.variants.iter().find(|variant| variant.name == name);
                let payload = variant.map_or(&[][..], |variant| &variant.payload);
                let values = opaque.destruct(&name)?;
                let pairs = payload.iter().zip(&values);
                let contents = pairs.map(|(ty, value)| Content::take(program, *ty, value));
                return Ok(Content::Variant(name, contents.collect::<StepResult<_>>()?));
            }
            Structure::OpaqueArray(_) | Structure::Plain => {
                return Content::take_stored(value);
            }
        };
        let parts = fields.iter().map(|field| {
            let content = Content::take(program, field.ty, &opaque.project(&field.name)?)?;
            Ok((field.name.clone(), content))
        });
        Ok(Content::Parts(parts.collect::<StepResult<_>>()?))
    }

    /// The stored form of an opaque value; the elements of a scalar or an array.
    ///
    /// # Errors
    /// As [`Content::take`].
    pub fn take_stored(value: &Value) -> StepResult<Content> {
        let Value::Opaque(opaque) = value else {
            return download(value).map(Content::Host);
        };
        let name = opaque.type_name();
        let stored = match opaque.ty().as_opaque() {
            Some(described) if described.ops.store.is_some() => opaque.store()?,
            _ => {
                return Err(Stop::skip(format!(
                    "the contents of values of type {name} are not accessible"
                )));
            }
        };
        let parts = binary::read(stored.body()).ok_or_else(|| {
            Stop::mismatch(format!(
                "a stored value of type {name} does not have the documented format: {} bytes, {:02x?}",
                stored.body().len(),
                &stored.body()[..stored.body().len().min(24)]
            ))
        })?;
        Ok(Content::Stored(parts))
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
        let form = || Difference {
            kind: DifferenceKind::Form,
            message: format!("expected {expected:?}, got {self:?}"),
        };
        match (self, expected) {
            (Content::Host(actual), Content::Host(expected)) => {
                agrees_host(actual, expected, within)
            }
            (Content::Parts(actual), Content::Parts(expected))
                if actual.len() == expected.len() =>
            {
                let mut pairs = actual.iter().zip(expected);
                pairs.try_for_each(|((name, actual), (_, expected))| {
                    let at = |difference: Difference| difference.at(&format!("field {name}"));
                    actual.agrees(expected, within).map_err(at)
                })
            }
            (Content::Variant(actual, parts), Content::Variant(expected, others))
                if actual == expected && parts.len() == others.len() =>
            {
                let mut pairs = parts.iter().zip(others).enumerate();
                pairs.try_for_each(|(place, (actual, expected))| {
                    let at = |difference: Difference| difference.at(&format!("part {place}"));
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
            _ => Err(form()),
        }
    }

    /// The number of bytes of all scalars and arrays.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Content::Host(value) => value.bytes().len(),
            Content::Parts(parts) => parts.iter().map(|(_, part)| part.bytes()).sum(),
            Content::Variant(_, parts) => parts.iter().map(Content::bytes).sum(),
            Content::Stored(parts) => parts.iter().map(|part| part.bytes().len()).sum(),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::parse;

    fn host(text: &str) -> Content {
        Content::Host(parse(text).unwrap()[0].by_itself().unwrap())
    }

    #[test]
    fn the_first_difference_is_reported() {
        let pair = |x: &str| Content::Parts(vec![("a".into(), host("1")), ("b".into(), host(x))]);
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
        let sum = |name: &str| Content::Variant(name.into(), vec![]);
        assert!(sum("x").agrees(&sum("y"), within).is_err());
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
