//! The parts of a value, read with the operations on its type. The check `store` compares them with
//! the stored form.

use crate::compare::{identical, position};
use crate::harness::steps::{StepResult, Stop};
use crate::harness::transfer::download;
use crate::values::HostValue;
use futhark_manifest::{Field, Program, Structure, TypeKind, TypeRef};
use futhark_safe::dynamic::{Opaque, Value};

/// The number of elements of an array of opaque values to read.
const MAX_ELEMENTS: usize = 16;

/// The parts of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// A scalar or an array.
    Host(HostValue),
    /// The fields of a record, the elements of an array, or the payload of a variant: the kind of
    /// the value, and each part with its name.
    Whole(String, Vec<(String, Inside)>),
    /// An opaque value without accessible parts.
    Hidden,
}

impl Inside {
    /// Reads the parts of a value, as far as they are accessible.
    ///
    /// # Errors
    /// If an operation fails.
    pub fn of(program: &Program, ty: TypeRef, value: &Value) -> StepResult<Inside> {
        let Value::Opaque(opaque) = value else {
            return download(value).map(Inside::Host);
        };
        let described = ty.as_type().map(|id| &program.get(id).kind);
        let Some(TypeKind::Opaque(described)) = described else {
            let name = program.name_of(ty);
            return Err(Stop::mismatch(format!(
                "expected a value of type {name}, got {}",
                opaque.type_name()
            )));
        };
        match &described.structure {
            Structure::Record(record) => {
                fields(program, &record.fields, opaque).map(|parts| whole("record", parts))
            }
            Structure::Sum(sum) => {
                let name = opaque.variant()?;
                let parts = opaque.destruct(&name)?;
                let variant = sum.variants.iter().find(|variant| variant.name == name);
                let types = variant.map_or(&[][..], |variant| &variant.payload);
                let parts = types.iter().zip(&parts).enumerate();
                let parts = parts.map(|(number, (ty, part))| {
                    Ok((format!("part {number}"), Inside::of(program, *ty, part)?))
                });
                let parts = parts.collect::<StepResult<_>>()?;
                Ok(whole(&format!("variant {name}"), parts))
            }
            Structure::RecordArray(array) => {
                let mut parts = fields(program, &array.fields, opaque)?;
                parts.extend(elements(program, array.elem, opaque)?);
                Ok(whole(
                    &format!("array of shape {:?}", opaque.shape()?),
                    parts,
                ))
            }
            Structure::OpaqueArray(array) => {
                let parts = elements(program, array.elem, opaque)?;
                Ok(whole(
                    &format!("array of shape {:?}", opaque.shape()?),
                    parts,
                ))
            }
            Structure::Plain => Ok(Inside::Hidden),
        }
    }

    /// Compares with the parts at a later time, bit by bit.
    ///
    /// # Errors
    /// The first difference, and where it is.
    pub fn same(&self, now: &Inside) -> StepResult {
        match (self, now) {
            (Inside::Host(before), Inside::Host(now)) => {
                identical(now, before).map_err(|difference| Stop::mismatch(difference.to_string()))
            }
            (Inside::Whole(kind, before), Inside::Whole(kind_now, now)) => {
                if kind != kind_now || before.len() != now.len() {
                    return Err(Stop::mismatch(format!("expected {kind}, got {kind_now}")));
                }
                let mut parts = before.iter().zip(now);
                parts.try_for_each(|((name, before), (_, now))| {
                    before.same(now).map_err(|stop| stop.at(name))
                })
            }
            (Inside::Hidden, Inside::Hidden) => Ok(()),
            _ => Err(Stop::mismatch(format!("expected {self:?}, got {now:?}"))),
        }
    }
}

fn whole(kind: &str, parts: Vec<(String, Inside)>) -> Inside {
    Inside::Whole(kind.to_owned(), parts)
}

fn fields(
    program: &Program,
    fields: &[Field],
    opaque: &Opaque,
) -> StepResult<Vec<(String, Inside)>> {
    let field = |field: &Field| {
        let value = opaque.project(&field.name)?;
        let inside = Inside::of(program, field.ty, &value)?;
        Ok((format!("field {}", field.name), inside))
    };
    fields.iter().map(field).collect()
}

fn elements(
    program: &Program,
    elem: TypeRef,
    opaque: &Opaque,
) -> StepResult<Vec<(String, Inside)>> {
    let shape = opaque.shape()?;
    let count = shape.iter().product::<usize>().min(MAX_ELEMENTS);
    let element = |flat| {
        let index = position(&shape, flat);
        let inside = Inside::of(program, elem, &opaque.index(&index)?)?;
        Ok((format!("element {index:?}"), inside))
    };
    (0..count).map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use futhark_manifest::ElemType;

    fn number(value: u8) -> Inside {
        Inside::Host(HostValue::new(ElemType::U8, Vec::new(), vec![value]))
    }

    #[test]
    fn differences_are_reported_with_their_place() {
        let pair = |second| {
            let inner = whole("variant a", vec![("part 0".to_owned(), number(second))]);
            whole(
                "record",
                vec![
                    ("field x".to_owned(), number(1)),
                    ("field y".to_owned(), inner),
                ],
            )
        };
        assert_eq!(pair(2).same(&pair(2)), Ok(()));
        let Err(Stop::Fail { message, .. }) = pair(2).same(&pair(3)) else {
            panic!("they differ")
        };
        assert!(message.starts_with("field y: part 0: "), "{message}");
        assert!(pair(2).same(&number(2)).is_err());
        let other = whole("variant b", Vec::new());
        assert!(whole("variant a", Vec::new()).same(&other).is_err());
    }
}
