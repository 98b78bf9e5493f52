//! Opaque values known at run time: their parts, elements and bytes. See [`crate::stored`] for the bytes.

use std::fmt;

use futhark_manifest::{ElemType, Structure, TypeRef};

use super::library::{Library, unknown};
use super::value::{Opaque, Scalar, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Bytes, Input};
use crate::stored::{self, Untrusted};

impl Opaque {
    /// The name of the type in the manifest.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.ty().name
    }

    /// The type as described by the manifest.
    #[must_use]
    pub fn ty(&self) -> &futhark_manifest::Type {
        &self.library.program().types()[self.handle.ty() as usize]
    }

    fn structure(&self) -> &Structure {
        let ty = self.ty().as_opaque();
        &ty.expect("an opaque value has an opaque type").structure
    }

    /// Returns a field of a record, of a tuple (`"0"`, `"1"`, …) or of an array of records.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`]: unknown field, or the type has no fields.
    pub fn project(&self, field: &str) -> Result<Value> {
        let fields = match self.structure() {
            Structure::Record(record) => &record.fields,
            Structure::RecordArray(array) => &array.fields,
            _ => return Err(self.no("fields")),
        };
        let field = fields.iter().find(|f| f.name == field).ok_or_else(|| {
            let what = format!("{} has no field", self.type_name());
            let names = fields.iter().map(|f| f.name.as_str());
            unknown("project", &what, field, names)
        })?;
        let mut values = self.run(&field.project, &[field.ty])?;
        Ok(values.remove(0))
    }

    /// Returns the name of the variant of a sum.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`]: the value is not a sum.
    pub fn variant(&self) -> Result<String> {
        let Structure::Sum(sum) = self.structure() else {
            return Err(self.no("variants"));
        };
        let values = self.run(&sum.variant, &[TypeRef::Scalar(ElemType::I32)])?;
        let Some(Value::Scalar(Scalar::I32(number))) = values.first() else {
            let message = "the runtime returned no variant number";
            return Err(Error::new(ErrorKind::Backend, "variant", message));
        };
        let variant = usize::try_from(*number)
            .ok()
            .and_then(|i| sum.variants.get(i));
        variant.map(|v| v.name.clone()).ok_or_else(|| {
            let message = format!(
                "the runtime returned variant {number}, but the type has {}",
                sum.variants.len()
            );
            Error::new(ErrorKind::Backend, "variant", message)
        })
    }

    /// Returns the payload of a sum of this variant.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`]: the value has another variant, or is not a sum.
    pub fn destruct(&self, variant: &str) -> Result<Vec<Value>> {
        let Structure::Sum(sum) = self.structure() else {
            return Err(self.no("variants"));
        };
        match sum.variants.iter().find(|v| v.name == variant) {
            Some(variant) => self.run(&variant.destruct, &variant.payload),
            None => Err(self.no("such variant")),
        }
    }

    /// Returns the shape of an array of records or other opaque values.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`]: the value is not an array.
    pub fn shape(&self) -> Result<Vec<usize>> {
        ffi::shape(&self.handle)
    }

    /// Returns a copy of an element of an array of records or other opaque values.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`]: index out of bounds, wrong number of indices, or the
    /// value is not an array. [`ErrorKind::Unsupported`]: the library has no such function for the type.
    pub fn index(&self, indices: &[i64]) -> Result<Value> {
        let handle = ffi::index_value(&self.handle, indices, ffi::Bounds::Ours)?;
        Ok(self.library.value(handle))
    }

    /// Like [`index`](Self::index), but leaves the bounds check to the C library, so that
    /// `futhark-conformance` can test it.
    #[doc(hidden)]
    pub fn index_checked_by_c(&self, indices: &[i64]) -> Result<Value> {
        let handle = ffi::index_value(&self.handle, indices, ffi::Bounds::OfC)?;
        Ok(self.library.value(handle))
    }

    /// Replaces an element of an array of records or other opaque values by a copy of `element`.
    ///
    /// Works in place unless another value shares the array's memory: then the array is copied
    /// first, and the other value does not change.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`]: index out of bounds, wrong number of indices, an element of
    /// another type or size, or the value is not an array; the array is unchanged.
    /// [`ErrorKind::WrongContext`]. [`ErrorKind::Unsupported`]: compilers provide this function since
    /// 0.25.36. If the device fails, the element is unspecified.
    pub fn set(&mut self, indices: &[i64], element: &Value) -> Result<()> {
        let element = element.handle().ok_or_else(|| {
            let message = format!("the element must not be a scalar, got {element:?}");
            Error::invalid("set element", message)
        })?;
        ffi::set_value(&mut self.handle, indices, element)
    }

    /// Copies the value into new memory, like [`crate::Opaque::try_clone`].
    pub fn try_clone(&self) -> Result<Opaque> {
        ffi::duplicate(&self.handle).map(|copy| self.library.opaque(copy))
    }

    /// Returns the value as bytes that can be restored later, on any backend of the program.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`]: values of this type cannot be stored.
    pub fn store(&self) -> Result<Stored> {
        Ok(Stored(ffi::store(&self.handle)?))
    }

    /// Runs an operation whose only argument is this value.
    fn run(&self, cfun: &str, gives: &[TypeRef]) -> Result<Vec<Value>> {
        let inputs = vec![Input::Observed(&self.handle)];
        let results = gives.iter().copied();
        self.library.run(self.handle.core(), cfun, inputs, results)
    }

    fn no(&self, what: &str) -> Error {
        let message = format!("a value of type {} has no {what}", self.type_name());
        Error::invalid("opaque value", message)
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.debug(f, self.type_name())
    }
}

/// The bytes of an opaque value, with its program and type.
///
/// Created by [`Opaque::store`](super::Opaque::store), or from untrusted bytes by the `unsafe`
/// [`Library::trust`], so that restoring it is safe. It can be restored into a context of any
/// backend of the same program, compiled by the same version of the compiler.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored(pub(super) Bytes);

impl Stored {
    pub(crate) fn of(bytes: Bytes) -> Stored {
        Stored(bytes)
    }

    /// Returns frame and body, for a file or another process: see [`Untrusted`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        stored::to_bytes(&self.0)
    }

    /// Returns frame, body and a MAC of them, as [`crate::Stored::seal`].
    ///
    /// Needs the feature `mac`.
    #[cfg(feature = "mac")]
    pub fn seal(&self, key: &stored::Key) -> Result<Vec<u8>> {
        stored::seal(&self.0, key)
    }

    /// The bytes in the format of the runtime, without the frame.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.0.body()
    }

    /// The name of the type in the manifest.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.0.type_name()
    }
}

impl Library {
    /// Runs all checks of [`accept`](Self::accept) and [`trust`](Self::trust).
    ///
    /// # Errors
    /// The errors of [`Untrusted::check`].
    pub fn check_stored(&self, stored: &Untrusted) -> Result<()> {
        stored.find_in(self.table()).map(drop)
    }

    /// A stored value with these bytes, if the checks are complete for its type, as
    /// [`Untrusted::accept`].
    pub fn accept(&self, stored: Untrusted) -> Result<Stored> {
        let found = stored.find_in(self.table())?;
        stored::accept(found, stored.into_body()).map(Stored)
    }

    /// Returns the value that [`Stored::seal`] sealed under the same key, as
    /// [`crate::Stored::unseal`].
    ///
    /// Needs the feature `mac`.
    #[cfg(feature = "mac")]
    pub fn unseal(&self, key: &stored::Key, bytes: &[u8]) -> Result<Stored> {
        stored::unseal(key, bytes, |untrusted| untrusted.find_in(self.table())).map(Stored)
    }

    /// A stored value with these bytes, as [`Untrusted::trust`].
    ///
    /// # Safety
    /// As for [`Untrusted::trust`].
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn trust(&self, stored: Untrusted) -> Result<Stored> {
        let found = stored.find_in(self.table())?;
        // SAFETY: the caller promises that this program stored a value of this type as these bytes.
        let bytes = unsafe { found.bytes(stored.into_body()) };
        Ok(Stored::of(bytes))
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stored::debug(f, "Stored", self.type_name(), self.body())
    }
}

#[cfg(feature = "serde")]
impl serde_core::Serialize for Stored {
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.to_bytes().map_err(serde_core::ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}
