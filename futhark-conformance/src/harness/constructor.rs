//! The operations that make an opaque value of parts and return its parts.

use super::make::refs;
use super::steps::{StepResult, Stop};
use crate::inputs::Input;
use futhark_manifest::{Field, Program, Structure, TypeId, TypeRef, Variant};
use futhark_safe::Error;
use futhark_safe::dynamic::{Context, Opaque, Value};

/// A way to make values of an opaque type.
#[derive(Clone, Copy)]
pub struct Constructor<'a> {
    /// The type.
    pub id: TypeId,
    /// The name of the type.
    pub name: &'a str,
    /// What the values are.
    pub form: Form<'a>,
}

/// What a constructor makes.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    /// A record of its fields.
    Record(&'a [Field]),
    /// An array of records, of one array per field.
    Zip(&'a [Field]),
    /// A variant of a sum, of its payload.
    Variant(&'a Variant),
}

impl<'a> Constructor<'a> {
    /// The constructors of a type: one of a record and of an array of records, one per variant of a
    /// sum, none of other types.
    #[must_use]
    pub fn all_of(program: &'a Program, id: TypeId) -> Vec<Constructor<'a>> {
        let described = program.get(id);
        let forms = match described.as_opaque().map(|opaque| &opaque.structure) {
            Some(Structure::Record(record)) => vec![Form::Record(&record.fields)],
            Some(Structure::RecordArray(array)) => vec![Form::Zip(&array.fields)],
            Some(Structure::Sum(sum)) => sum.variants.iter().map(Form::Variant).collect(),
            _ => Vec::new(),
        };
        let name = described.name.as_str();
        let forms = forms.into_iter();
        forms.map(|form| Constructor { id, name, form }).collect()
    }

    /// The constructor of a value; `None` for a type without one.
    ///
    /// # Errors
    /// Those of the library.
    pub fn of_value(
        program: &'a Program,
        id: TypeId,
        value: &Opaque,
    ) -> Result<Option<Constructor<'a>>, Error> {
        let mut all = Constructor::all_of(program, id);
        if let Some(Form::Variant(_)) = all.first().map(|first| first.form) {
            let name = value.variant()?;
            all.retain(|one| matches!(one.form, Form::Variant(variant) if variant.name == name));
        }
        Ok(all.into_iter().next())
    }

    /// What the values are, in messages.
    #[must_use]
    pub fn kind(&self) -> String {
        match self.form {
            Form::Record(_) => "record".to_owned(),
            Form::Zip(_) => "array of records".to_owned(),
            Form::Variant(variant) => format!("variant {}", variant.name),
        }
    }

    /// What the values are as inputs, without parts.
    #[must_use]
    pub fn empty(&self) -> Input {
        match self.form {
            Form::Record(_) => Input::Record(Vec::new()),
            Form::Zip(_) => Input::Zip(Vec::new()),
            Form::Variant(variant) => Input::Sum {
                variant: variant.name.clone(),
                payload: Vec::new(),
            },
        }
    }

    /// The types of the parts.
    #[must_use]
    pub fn parts(&self) -> Vec<TypeRef> {
        match self.form {
            Form::Record(fields) | Form::Zip(fields) => {
                fields.iter().map(|field| field.ty).collect()
            }
            Form::Variant(variant) => variant.payload.clone(),
        }
    }

    /// The name of a part in messages.
    #[must_use]
    pub fn part_name(&self, place: usize) -> String {
        match self.form {
            Form::Record(fields) | Form::Zip(fields) => format!("field {}", fields[place].name),
            Form::Variant(_) => format!("part {place}"),
        }
    }

    /// Makes a value.
    ///
    /// # Errors
    /// Those of the library; for an array of records, also if the sizes of the parts differ.
    pub fn make(&self, context: &Context, parts: &[Value]) -> Result<Opaque, Error> {
        let parts = refs(parts);
        match self.form {
            Form::Record(_) => context.record(self.name, &parts),
            Form::Zip(_) => context.zip(self.name, &parts),
            Form::Variant(variant) => context.sum(self.name, &variant.name, &parts),
        }
    }

    /// The parts of a value that this constructor has made.
    ///
    /// # Errors
    /// Those of the library.
    pub fn take_apart(&self, whole: &Opaque) -> Result<Vec<Value>, Error> {
        match self.form {
            Form::Record(fields) | Form::Zip(fields) => fields
                .iter()
                .map(|field| whole.project(&field.name))
                .collect(),
            Form::Variant(variant) => whole.destruct(&variant.name),
        }
    }
}

/// A value of an opaque type.
///
/// # Errors
/// If it is a scalar or an array.
pub fn as_opaque(value: &Value) -> StepResult<&Opaque> {
    match value {
        Value::Opaque(opaque) => Ok(opaque),
        Value::Scalar(_) | Value::Array(_) => {
            Err(Stop::mismatch("a value of an opaque type is not opaque"))
        }
    }
}
