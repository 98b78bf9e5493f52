//! Values whose types are known only at run time.

use futhark_manifest::{ElemType, TypeKind, TypeRef};
use half::f16;

use super::library::Library;
use crate::elem::Scalar8;
use crate::elem::sealed::Scalar as _;
use crate::error::Result;
use crate::ffi::sync::Arc;
use crate::ffi::{self, Core, Handle, Input, Output};

/// Any value.
#[derive(Debug)]
pub enum Value {
    /// A number or bool; it belongs to no context.
    Scalar(Scalar),
    /// An array of scalars.
    Array(Array),
    /// A value of an opaque type.
    Opaque(Opaque),
}

/// An array of scalars, in the memory of a context.
pub struct Array {
    pub(super) handle: Handle,
}

/// A value of an opaque type, in the memory of a context.
pub struct Opaque {
    pub(super) handle: Handle,
    pub(super) library: Library,
}

/// An argument of [`Context::call`](super::Context::call).
#[derive(Debug)]
pub enum Arg<'a> {
    /// The call only reads the value.
    Borrow(&'a Value),
    /// The call takes the value, and frees it even if it fails or is refused. Consumed parameters need
    /// this or [`ConsumeMut`](Self::ConsumeMut); others accept it.
    Consume(Value),
    /// The call consumes the value, but a call that is refused before it starts leaves it as it is:
    /// see [`Consumed`](crate::Consumed). After a call that started, a consumed value is spent, and every use of it is
    /// an error. A parameter that is not consumed only reads it.
    ConsumeMut(&'a mut Value),
}

macro_rules! scalar {
    ($($variant:ident($rust:ty),)*) => {
        /// A scalar with its type.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[expect(missing_docs, reason = "each variant is named as its type")]
        pub enum Scalar {
            $($variant($rust),)*
        }

        impl Scalar {
            /// The element type.
            #[must_use]
            pub fn elem(&self) -> ElemType {
                match self {
                    $(Scalar::$variant(_) => ElemType::$variant,)*
                }
            }

            pub(super) fn to_c(self) -> Scalar8 {
                match self {
                    $(Scalar::$variant(value) => value.to_c(),)*
                }
            }

            pub(super) fn from_c(elem: ElemType, bytes: Scalar8) -> Scalar {
                match elem {
                    $(ElemType::$variant => Scalar::$variant(<$rust>::from_c(bytes)),)*
                }
            }
        }

        $(
            impl From<$rust> for Scalar {
                fn from(value: $rust) -> Scalar {
                    Scalar::$variant(value)
                }
            }

            impl From<$rust> for Value {
                fn from(value: $rust) -> Value {
                    Value::Scalar(Scalar::$variant(value))
                }
            }
        )*
    };
}

scalar! {
    I8(i8), I16(i16), I32(i32), I64(i64),
    U8(u8), U16(u16), U32(u32), U64(u64),
    F16(f16), F32(f32), F64(f64), Bool(bool),
}

impl Scalar {
    /// Returns its bytes in native order; a bool is one byte, 0 or 1.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        self.to_c().0[..self.elem().size()].to_vec()
    }

    /// Creates a scalar from its bytes in native order; `None` if their number is wrong.
    #[must_use]
    pub fn from_bytes(elem: ElemType, bytes: &[u8]) -> Option<Scalar> {
        if bytes.len() != elem.size() {
            return None;
        }
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        Some(Scalar::from_c(elem, Scalar8(all)))
    }
}

impl Value {
    /// The name of the type in the manifest.
    #[must_use]
    pub fn type_name(&self) -> String {
        match self {
            Value::Scalar(scalar) => scalar.elem().to_string(),
            Value::Array(Array { handle }) => {
                let (elem, rank) = ffi::elem_and_rank(handle);
                format!("{}{elem}", "[]".repeat(rank))
            }
            Value::Opaque(opaque) => opaque.type_name().to_owned(),
        }
    }

    /// The handle of a value in a context; `None` for a scalar.
    pub(super) fn handle(&self) -> Option<&Handle> {
        match self {
            Value::Scalar(_) => None,
            Value::Array(Array { handle }) | Value::Opaque(Opaque { handle, .. }) => Some(handle),
        }
    }

    pub(super) fn input(&self) -> Input<'_> {
        match self {
            Value::Scalar(scalar) => Input::scalar(scalar.elem(), scalar.to_c()),
            Value::Array(array) => Input::Observed(&array.handle),
            Value::Opaque(opaque) => Input::Observed(&opaque.handle),
        }
    }

    pub(super) fn input_by_mut(&mut self) -> Input<'_> {
        match self {
            Value::Scalar(scalar) => Input::scalar(scalar.elem(), scalar.to_c()),
            Value::Array(array) => Input::ConsumedByMut(&mut array.handle),
            Value::Opaque(opaque) => Input::ConsumedByMut(&mut opaque.handle),
        }
    }

    pub(super) fn into_input<'a>(self) -> Input<'a> {
        match self {
            Value::Scalar(scalar) => Input::scalar(scalar.elem(), scalar.to_c()),
            Value::Array(array) => Input::Consumed(array.handle),
            Value::Opaque(opaque) => Input::Consumed(opaque.handle),
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Value {
        Value::Scalar(scalar)
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Value {
        Value::Array(array)
    }
}

impl From<Opaque> for Value {
    fn from(opaque: Opaque) -> Value {
        Value::Opaque(opaque)
    }
}

impl Library {
    /// Calls a function of the table and returns its results as values.
    pub(super) fn run(
        &self,
        core: &Arc<Core>,
        cfun: &str,
        inputs: Vec<Input<'_>>,
        results: impl Iterator<Item = TypeRef> + Clone,
    ) -> Result<Vec<Value>> {
        let outputs = results.clone().map(|ty| match ty {
            TypeRef::Scalar(elem) => Output::scalar(elem),
            TypeRef::Type(id) => Output::value(id.index() as u32),
        });
        let mut outputs: Vec<Output> = outputs.collect();
        let mut places: Vec<&mut Output> = outputs.iter_mut().collect();
        Core::call_dynamic(core, self.function(cfun)?, inputs, &mut places)?;
        let values = outputs.into_iter().zip(results);
        let values = values.map(|(mut output, ty)| match ty {
            TypeRef::Scalar(elem) => Value::Scalar(Scalar::from_c(elem, output.to_scalar())),
            TypeRef::Type(_) => self.value(output.take_handle()),
        });
        Ok(values.collect())
    }

    pub(super) fn opaque(&self, handle: Handle) -> Opaque {
        let library = self.clone();
        Opaque { handle, library }
    }

    pub(super) fn value(&self, handle: Handle) -> Value {
        let ty = &self.program().types()[handle.ty() as usize];
        match &ty.kind {
            TypeKind::Array(_) => Value::Array(Array { handle }),
            TypeKind::Opaque(_) => Value::Opaque(self.opaque(handle)),
        }
    }
}
