//! A value as a tree on the host.

use crate::harness::calls::{message_of, upload};
use crate::harness::constructor::Constructor;
use crate::values::HostValue;
use futhark_manifest::{ElemType, EntryPoint, Program, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Arg, Context, Value};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The parts of a value, without types: names of types depend on the compiler, and their numbers on
/// the backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// A record or tuple: its fields in the manifest's order.
    Record(Vec<Input>),
    /// An array of records: an array per field.
    Zip(Vec<Input>),
    /// A scalar or an array of scalars.
    #[serde(untagged)]
    Host(HostValue),
    /// A sum: one of its variants.
    #[serde(untagged)]
    Sum {
        /// The variant's name.
        variant: String,
        /// The parts.
        payload: Vec<Input>,
    },
    /// A result of an entry point, for types without visible parts.
    #[serde(untagged)]
    Made {
        /// The entry point's name.
        #[serde(rename = "made_by")]
        entry: String,
        /// The index of the result.
        output: usize,
        /// The arguments.
        arguments: Vec<Input>,
    },
}

/// Why a call has no results.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// It failed, or its arguments could not be created.
    Error {
        /// The kind of the error.
        kind: ErrorKind,
        /// The message.
        message: String,
    },
    /// The input does not fit the entry point, because it was made for another program.
    Unfit,
}

impl From<futhark_safe::Error> for Refusal {
    fn from(error: futhark_safe::Error) -> Refusal {
        Refusal::Error {
            kind: error.kind(),
            message: message_of(&error),
        }
    }
}

impl Input {
    /// Creates the value in a context, with this type.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn upload(&self, context: &Context, ty: TypeRef) -> Result<Value, Refusal> {
        let program = context.library().program();
        if let Input::Host(value) = self {
            return match elem_of(program, ty) {
                Some((elem, rank)) if (elem, rank) == (value.elem(), value.shape().len()) => {
                    Ok(upload(context, value)?)
                }
                _ => Err(Refusal::Unfit),
            };
        }
        if let Input::Made {
            entry,
            output,
            arguments,
        } = self
        {
            let entry = program.entry(entry).ok_or(Refusal::Unfit)?;
            if entry.outputs.get(*output).map(|output| output.ty) != Some(ty) {
                return Err(Refusal::Unfit);
            }
            let arguments = Input::upload_all(arguments, context, entry)?;
            // The call may consume its arguments: they have no other owner.
            let given = arguments.into_iter().map(Arg::Consume).collect();
            let mut outputs = context.call(&entry.name, given)?;
            context.sync()?;
            if *output >= outputs.len() {
                return Err(Refusal::Unfit);
            }
            return Ok(outputs.swap_remove(*output));
        }
        let all = ty.as_type().map(|id| Constructor::all_of(program, id));
        let mut all = all.into_iter().flatten();
        let whole = all.find(|whole| whole.empty() == self.with(Vec::new()));
        let whole = whole.ok_or(Refusal::Unfit)?;
        let (parts, types) = (self.parts(), whole.parts());
        if parts.len() != types.len() {
            return Err(Refusal::Unfit);
        }
        let parts = parts.iter().zip(types);
        let parts = parts.map(|(input, ty)| input.upload(context, ty));
        let whole = whole.make(context, &parts.collect::<Result<Vec<_>, _>>()?)?;
        Ok(Value::Opaque(whole))
    }

    /// A value of the same kind with these parts; a scalar or an array has none.
    #[must_use]
    pub fn with(&self, parts: Vec<Input>) -> Input {
        match self {
            Input::Host(value) => Input::Host(value.clone()),
            Input::Record(_) => Input::Record(parts),
            Input::Zip(_) => Input::Zip(parts),
            Input::Sum { variant, .. } => Input::Sum {
                variant: variant.clone(),
                payload: parts,
            },
            Input::Made { entry, output, .. } => Input::Made {
                entry: entry.clone(),
                output: *output,
                arguments: parts,
            },
        }
    }

    fn parts(&self) -> &[Input] {
        match self {
            Input::Host(_) => &[],
            Input::Record(parts)
            | Input::Zip(parts)
            | Input::Sum { payload: parts, .. }
            | Input::Made {
                arguments: parts, ..
            } => parts,
        }
    }

    /// Creates the arguments of an entry point in a context.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn upload_all(
        inputs: &[Input],
        context: &Context,
        entry: &EntryPoint,
    ) -> Result<Vec<Value>, Refusal> {
        if inputs.len() != entry.inputs.len() {
            return Err(Refusal::Unfit);
        }
        let pairs = inputs.iter().zip(&entry.inputs);
        pairs
            .map(|(input, parameter)| input.upload(context, parameter.ty))
            .collect()
    }

    /// All scalars and arrays in the tree, including those of nested calls.
    pub fn leaves(&self) -> Box<dyn Iterator<Item = &HostValue> + '_> {
        match self {
            Input::Host(value) => Box::new(std::iter::once(value)),
            whole => Box::new(whole.parts().iter().flat_map(Input::leaves)),
        }
    }
}

/// The element type and rank of a scalar or an array.
pub fn elem_of(program: &Program, ty: TypeRef) -> Option<(ElemType, usize)> {
    match ty {
        TypeRef::Scalar(elem) => Some((elem, 0)),
        TypeRef::Type(id) => program
            .get(id)
            .as_array()
            .map(|array| (array.elem, array.rank)),
    }
}

/// Formats the value in Futhark's notation, as far as there is one.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Host(value) => value.fmt(f),
            Input::Record(fields) => write_list(f, "(", fields, ", ", ")"),
            Input::Zip(fields) => write_list(f, "zip (", fields, ") (", ")"),
            Input::Sum { variant, payload } if payload.is_empty() => write!(f, "#{variant}"),
            Input::Sum { variant, payload } => {
                write!(f, "#{variant} ")?;
                write_list(f, "(", payload, ") (", ")")
            }
            Input::Made {
                entry,
                output,
                arguments,
            } => {
                if *output > 0 {
                    write!(f, "result {output} of ")?;
                }
                write!(f, "{entry} ")?;
                write_list(f, "(", arguments, ") (", ")")
            }
        }
    }
}

fn write_list(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    items: &[Input],
    between: &str,
    close: &str,
) -> fmt::Result {
    f.write_str(open)?;
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            f.write_str(between)?;
        }
        write!(f, "{item}")?;
    }
    f.write_str(close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_displayed_in_futhark_notation() {
        let one = HostValue::new(ElemType::I32, vec![], 1i32.to_ne_bytes().to_vec());
        let one = Input::Host(one);
        let sum = Input::Sum {
            variant: "some".into(),
            payload: vec![one.clone()],
        };
        let made = Input::Made {
            entry: "make".into(),
            output: 1,
            arguments: vec![Input::Record(vec![one.clone(), sum]), one],
        };
        assert_eq!(
            made.to_string(),
            "result 1 of make ((1i32, #some (1i32))) (1i32)"
        );
        assert_eq!(made.leaves().count(), 3);
    }
}
