//! Between values on the host and values of a context.

use crate::child::steps::{StepResult, Stop};
use crate::compare;
use crate::values::HostValue;
use futhark_manifest::{Program, Structure, TypeKind, TypeRef};
use futhark_safe::dynamic::{Context, Scalar, Value};

impl From<futhark_safe::Error> for Stop {
    fn from(error: futhark_safe::Error) -> Stop {
        Stop::error(error.to_string())
    }
}

/// A value of a context with the contents of one on the host.
pub fn upload(context: &Context, value: &HostValue) -> StepResult<Value> {
    if value.shape().is_empty() {
        let scalar = Scalar::from_bytes(value.elem(), value.bytes());
        let scalar = scalar.ok_or_else(|| Stop::error(format!("{value} is no scalar")))?;
        return Ok(Value::Scalar(scalar));
    }
    let array = context.array(value.elem(), value.shape(), value.bytes())?;
    Ok(Value::Array(array))
}

/// The contents of a scalar or an array.
pub fn download(value: &Value) -> StepResult<HostValue> {
    let (elem, shape, bytes) = match value {
        Value::Scalar(scalar) => (scalar.elem(), Vec::new(), scalar.to_bytes()),
        Value::Array(array) => (array.elem(), array.shape(), array.to_bytes()?),
        Value::Opaque(opaque) => {
            return Err(Stop::error(format!(
                "a value of type {} has no elements",
                opaque.type_name()
            )));
        }
    };
    let expected = shape.iter().product::<usize>() * elem.size();
    if bytes.len() != expected {
        let message = format!(
            "an array of shape {shape:?} gave {} bytes instead of {expected}",
            bytes.len()
        );
        return Err(Stop::mismatch(message));
    }
    Ok(HostValue::new(elem, shape, bytes))
}

/// The whole contents of a value, for asking later whether they have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// A scalar or an array.
    Host(HostValue),
    /// An opaque value, as it is stored.
    Stored(Vec<u8>),
    /// An opaque value that cannot be stored: its fields.
    Fields(Vec<(String, Snapshot)>),
}

impl Snapshot {
    /// Takes the contents of a value of this type.
    pub fn take(program: &Program, ty: TypeRef, value: &Value) -> StepResult<Snapshot> {
        let Value::Opaque(opaque) = value else {
            return download(value).map(Snapshot::Host);
        };
        let kind = ty.as_type().map(|id| &program.get(id).kind);
        let Some(TypeKind::Opaque(described)) = kind else {
            let name = program.name_of(ty);
            return Err(Stop::mismatch(format!(
                "expected a value of type {name}, got {}",
                opaque.type_name()
            )));
        };
        if described.ops.store.is_some() {
            return Ok(Snapshot::Stored(opaque.store()?.body().to_vec()));
        }
        let fields = match &described.structure {
            Structure::Record(record) => &record.fields,
            Structure::RecordArray(array) => &array.fields,
            _ => {
                return Err(Stop::skip(format!(
                    "values of type {} cannot be looked into",
                    opaque.type_name()
                )));
            }
        };
        let take = |field: &futhark_manifest::Field| {
            let value = opaque.project(&field.name)?;
            Ok((
                field.name.clone(),
                Snapshot::take(program, field.ty, &value)?,
            ))
        };
        fields
            .iter()
            .map(take)
            .collect::<StepResult<_>>()
            .map(Snapshot::Fields)
    }

    /// Whether a value still has, or also has, these contents, bit by bit.
    pub fn check(&self, program: &Program, ty: TypeRef, value: &Value) -> StepResult {
        let now = Snapshot::take(program, ty, value)?;
        self.same(&now)
    }

    /// Whether two contents are the same, bit by bit; `now` is the later one.
    pub fn same(&self, now: &Snapshot) -> StepResult {
        match (self, now) {
            (Snapshot::Host(before), Snapshot::Host(now)) => compare::identical(now, before)
                .map_err(|difference| Stop::mismatch(difference.to_string())),
            (Snapshot::Stored(before), Snapshot::Stored(now)) => {
                match first_difference(before, now) {
                    None => Ok(()),
                    Some(at) => Err(Stop::mismatch(format!(
                        "its stored form differs from byte {at} on: expected {}, got {}",
                        hex(before, at),
                        hex(now, at)
                    ))),
                }
            }
            (Snapshot::Fields(before), Snapshot::Fields(now)) if before.len() == now.len() => {
                let mut pairs = before.iter().zip(now);
                pairs.try_for_each(|((name, before), (_, now))| {
                    before
                        .same(now)
                        .map_err(|stop| stop.at(&format!("field {name}")))
                })
            }
            _ => Err(Stop::mismatch(format!("expected {self:?}, got {now:?}"))),
        }
    }
}

fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    if a == b {
        return None;
    }
    let common = a.iter().zip(b).position(|(a, b)| a != b);
    Some(common.unwrap_or(a.len().min(b.len())))
}

/// A few bytes from a place on.
fn hex(bytes: &[u8], at: usize) -> String {
    let shown: Vec<String> = bytes[at..]
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if shown.is_empty() {
        "the end".to_owned()
    } else {
        shown.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_forms_are_compared_byte_by_byte() {
        let a = Snapshot::Stored(vec![1, 2, 3]);
        assert_eq!(a.same(&a.clone()), Ok(()));
        let Err(Stop::Fail { message, .. }) = a.same(&Snapshot::Stored(vec![1, 2])) else {
            panic!()
        };
        assert_eq!(
            message,
            "its stored form differs from byte 2 on: expected 03, got the end"
        );
        assert!(a.same(&Snapshot::Fields(vec![])).is_err());
    }
}
