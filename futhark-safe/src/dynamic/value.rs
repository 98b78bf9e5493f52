//! Values known at run time.

use std::fmt;

use futhark_manifest::{ElemType, Structure, TypeRef};
use half::f16;

use super::library::Library;
use super::stored::Stored;
use crate::elem::sealed::Scalar as _;
use crate::elem::{Element, Scalar8};
use crate::error::{Error, Kind, Result};
use crate::raw::{self, Handle, Input};

/// Any value.
#[derive(Debug)]
pub enum Value {
    /// A number or truth value; it belongs to no context.
    Scalar(Scalar),
    /// An array of scalars.
    Array(Array),
    /// Anything else.
    Opaque(Opaque),
}

/// An argument of [`Context::call`](super::Context::call).
#[derive(Debug)]
pub enum Arg<'a> {
    /// Lent: the call only reads it.
    Borrow(&'a Value),
    /// Given away. What a parameter consumes must be; anything else may be.
    Consume(Value),
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
            /// Its element type.
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
    /// Its bytes in native order; a bool is one byte, 0 or 1.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        self.to_c().0[..self.elem().size()].to_vec()
    }

    /// A scalar from its bytes in native order; `None` if there are not exactly enough.
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

/// An array of scalars, in the memory of a context.
pub struct Array {
    pub(super) handle: Handle,
    pub(super) elem: ElemType,
    pub(super) rank: usize,
}

impl Array {
    /// The element type.
    #[must_use]
    pub fn elem(&self) -> ElemType {
        self.elem
    }

    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of elements in each dimension.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        // Fails only for values that have no shape.
        raw::shape(&self.handle).unwrap_or_default()
    }

    /// All elements in row-major order, as bytes in native order. Waits for them.
    ///
    /// # Errors
    ///
    /// What made them failed; [`Kind::OutOfMemory`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        raw::read_bytes(&self.handle)
    }

    /// All elements in row-major order. Waits for them.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: `T` is not the element type; and as [`to_bytes`](Self::to_bytes).
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        raw::read_vec(&self.handle)
    }

    /// All elements in row-major order into `to`, which must have exactly as many.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: another length or element type; nothing was written.
    pub fn read_into<T: Element>(&self, to: &mut [T]) -> Result<()> {
        raw::read_into(&self.handle, to)
    }

    /// One element.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: outside of the array, or not as many indices as dimensions.
    pub fn index(&self, indices: &[i64]) -> Result<Scalar> {
        let (elem, scalar) = raw::index(&self.handle, indices)?;
        Ok(Scalar::from_c(elem, scalar))
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array<{}>{:?}", self.elem, self.shape())
    }
}

/// A value of an opaque type, in the memory of a context.
pub struct Opaque {
    pub(super) handle: Handle,
    pub(super) library: Library,
}

impl Opaque {
    /// The type's name in the manifest.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.ty().name
    }

    /// What the manifest says about the type.
    #[must_use]
    pub fn ty(&self) -> &futhark_manifest::Type {
        &self.library.program().types()[self.handle.ty() as usize]
    }

    fn structure(&self) -> &Structure {
        &self
            .ty()
            .as_opaque()
            .expect("an opaque value has an opaque type")
            .structure
    }

    /// A field of a record or tuple (`"0"`, `"1"`, …), or of an array of records.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: there is no such field.
    pub fn project(&self, field: &str) -> Result<Value> {
        let fields = match self.structure() {
            Structure::Record(record) => &record.fields,
            Structure::RecordArray(array) => &array.fields,
            _ => return Err(self.no("fields")),
        };
        let field = fields.iter().find(|f| f.name == field).ok_or_else(|| {
            let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
            let message = format!(
                "{} has no field `{field}`; it has {}",
                self.type_name(),
                super::library::list(&names)
            );
            Error::new(Kind::InvalidArgument, "project", message)
        })?;
        let mut values = self.run(&field.project, &[field.ty])?;
        Ok(values.remove(0))
    }

    /// The name of a sum's variant.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: the value is no sum.
    pub fn variant(&self) -> Result<String> {
        let Structure::Sum(sum) = self.structure() else {
            return Err(self.no("variants"));
        };
        let values = self.run(&sum.variant, &[TypeRef::Scalar(ElemType::I32)])?;
        let Some(Value::Scalar(Scalar::I32(number))) = values.first() else {
            return Err(Error::new(
                Kind::Backend,
                "variant",
                "the runtime gives no number",
            ));
        };
        let variant = usize::try_from(*number)
            .ok()
            .and_then(|i| sum.variants.get(i));
        variant.map(|v| v.name.clone()).ok_or_else(|| {
            let message = format!(
                "the runtime says variant {number} of {}",
                sum.variants.len()
            );
            Error::new(Kind::Backend, "variant", message)
        })
    }

    /// The payload of a sum, which must be of this variant.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: it is of another variant (the runtime would abort), or no sum.
    pub fn destruct(&self, variant: &str) -> Result<Vec<Value>> {
        let Structure::Sum(sum) = self.structure() else {
            return Err(self.no("variants"));
        };
        let is = self.variant()?;
        if is != variant {
            let message = format!("the value is of variant `{is}`, not `{variant}`");
            return Err(Error::new(Kind::InvalidArgument, "destruct", message));
        }
        match sum.variants.iter().find(|v| v.name == variant) {
            Some(variant) => self.run(&variant.destruct, &variant.payload),
            None => Err(self.no("such variant")),
        }
    }

    /// The shape of an array of records or other opaque values.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: the value is no array.
    pub fn shape(&self) -> Result<Vec<usize>> {
        raw::shape(&self.handle)
    }

    /// One element of an array of records or other opaque values: a copy.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: outside of the array, not as many indices as
    /// dimensions, or no array.
    pub fn index(&self, indices: &[i64]) -> Result<Value> {
        let handle = raw::index_value(&self.handle, indices)?;
        Ok(self.library.value(handle))
    }

    /// The value as bytes that can be restored later, on any backend of the program.
    ///
    /// # Errors
    ///
    /// What made the value failed; [`Kind::OutOfMemory`].
    pub fn store(&self) -> Result<Stored> {
        Ok(Stored(raw::store(&self.handle)?))
    }

    /// Runs an operation that takes this value alone.
    fn run(&self, cfun: &str, gives: &[TypeRef]) -> Result<Vec<Value>> {
        self.library.run(
            self.handle.core(),
            cfun,
            &mut [Input::observed(&self.handle)],
            gives,
        )
    }

    fn no(&self, what: &str) -> Error {
        let message = format!("a value of type {} has no {what}", self.type_name());
        Error::new(Kind::InvalidArgument, "opaque value", message)
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opaque<{}>", self.type_name())
    }
}

impl Value {
    /// The type's name, as the manifest has it.
    #[must_use]
    pub fn type_name(&self) -> String {
        match self {
            Value::Scalar(scalar) => scalar.elem().to_string(),
            Value::Array(array) => format!("{}{}", "[]".repeat(array.rank), array.elem),
            Value::Opaque(opaque) => opaque.type_name().to_owned(),
        }
    }

    pub(super) fn input(&self) -> Input<'_> {
        match self {
            Value::Scalar(scalar) => Input::scalar_bytes(scalar.elem(), scalar.to_c()),
            Value::Array(array) => Input::observed(&array.handle),
            Value::Opaque(opaque) => Input::observed(&opaque.handle),
        }
    }

    pub(super) fn into_input<'a>(self) -> Input<'a> {
        match self {
            Value::Scalar(scalar) => Input::scalar_bytes(scalar.elem(), scalar.to_c()),
            Value::Array(array) => Input::consumed(array.handle),
            Value::Opaque(opaque) => Input::consumed(opaque.handle),
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
