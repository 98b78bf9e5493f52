//! The contents of a value at one time, and values whose contents must not change.

use super::steps::{StepResult, Stop};
use super::transfer::download;
use crate::compare;
use crate::values::HostValue;
use futhark_manifest::{Program, Structure, TypeKind, TypeRef};
use futhark_safe::dynamic::Value;

/// The contents of a value, for a later comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// A scalar or an array.
    Host(HostValue),
    /// The stored form of an opaque value.
    Stored(Vec<u8>),
    /// The fields of an opaque value that has no stored form.
    Fields(Vec<(String, Snapshot)>),
}

impl Snapshot {
    /// Takes a snapshot of a value of this type.
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
                    "the contents of values of type {} are not accessible",
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

    /// Compares the contents of a value with this snapshot, bit by bit.
    pub fn check(&self, program: &Program, ty: TypeRef, value: &Value) -> StepResult {
        let now = Snapshot::take(program, ty, value)?;
        self.same(&now)
    }

    /// Compares with a later snapshot, bit by bit.
    pub fn same(&self, now: &Snapshot) -> StepResult {
        match (self, now) {
            (Snapshot::Host(before), Snapshot::Host(now)) => compare::identical(now, before)
                .map_err(|difference| Stop::mismatch(difference.to_string())),
            (Snapshot::Stored(before), Snapshot::Stored(now)) => {
                match first_difference(before, now) {
                    None => Ok(()),
                    Some(at) => Err(Stop::mismatch(format!(
                        "the stored form differs at byte {at}: expected {}, got {}",
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

/// A few bytes in hexadecimal, from an index.
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

/// Values that must not change, each with a snapshot of its contents.
pub struct Held<'a> {
    program: &'a Program,
    values: Vec<(String, TypeRef, Value, Snapshot)>,
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
        match Snapshot::take(self.program, ty, &value) {
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
                contents
                    .check(self.program, *ty, value)
                    .map_err(|stop| stop.at(&format!("{what}, after the call")))
            })
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
            "the stored form differs at byte 2: expected 03, got the end"
        );
        assert!(a.same(&Snapshot::Fields(vec![])).is_err());
    }
}
