//! A context of a library, calls by name, and batches of transfers.

use std::borrow::Cow;
use std::ffi::c_void;
use std::fmt;

use futhark_manifest::{ElemType, Structure, TypeKind, TypeRef};

use super::library::{Library, unknown};
use super::opaque::Stored;
use super::value::{Arg, Array, Opaque, Value};
use crate::batch::Download;
use crate::elem::Element;
use crate::error::{Error, Result};
use crate::ffi::sync::Arc;
use crate::ffi::{self, Core, RawMemory};
use crate::observe::Device;
use crate::observe::{Copies, MemoryUse};
use crate::start::{Config, Started};
use crate::tuning::{self, TuningParam};

/// A context of a loaded program. A clone is a handle to the same context.
#[derive(Clone, Debug)]
pub struct Context {
    started: Started,
    library: Library,
}

impl Context {
    /// Creates a context. Blocks like [`crate::Context::new`].
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): `config` names another backend; otherwise the
    /// errors of [`crate::Context::new`].
    pub fn new(library: &Library, config: &Config) -> Result<Context> {
        Ok(Context {
            started: library.start(config, &[], "")?,
            library: library.clone(),
        })
    }

    /// The library that the context belongs to.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Calls an entry point by name.
    ///
    /// A consumed parameter needs [`Arg::Consume`] or [`Arg::ConsumeMut`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): unknown entry point, wrong number of
    /// arguments, wrong type of an argument, a borrowed argument for a consumed parameter, or a spent one.
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext): an argument belongs to another context.
    /// [`ErrorKind::Program`](crate::ErrorKind::Program): the program failed.
    pub fn call(&self, entry: &str, args: Vec<Arg<'_>>) -> Result<Vec<Value>> {
        let program = self.library.program();
        let point = program.entry(entry).ok_or_else(|| {
            let names = program.entries().iter().map(|e| e.name.as_str());
            unknown("call", "the program has no entry point", entry, names)
        })?;
        let inputs = args.into_iter().map(|arg| match arg {
            Arg::Borrow(value) => value.input(),
            Arg::Consume(value) => value.into_input(),
            Arg::ConsumeMut(value) => value.input_by_mut(),
        });
        let outputs = point.outputs.iter().map(|output| output.ty);
        (self.library).run(self.core(), &point.cfun, inputs.collect(), outputs)
    }

    /// Creates an array of rank 1 from a slice, `Vec` or array.
    ///
    /// # Errors
    /// As [`array_from_bytes`](Self::array_from_bytes).
    pub fn array<T: Element>(&self, data: &[T]) -> Result<Array> {
        self.array_nd(&[data.len()], data)
    }

    /// Creates an array from bytes: elements in row-major order, each in native byte order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the shape does not match the number of bytes,
    /// its size overflows, or the program has no such array type.
    pub fn array_from_bytes(&self, elem: ElemType, shape: &[usize], bytes: &[u8]) -> Result<Array> {
        let ty = ffi::array_number(self.core(), elem, shape.len())?;
        let handle = ffi::create_from_bytes(self.core(), ty, elem, shape, bytes)?;
        Ok(Array { handle })
    }

    /// Creates an array from elements in row-major order.
    ///
    /// # Errors
    /// As [`array_from_bytes`](Self::array_from_bytes).
    pub fn array_nd<T: Element>(&self, shape: &[usize], data: &[T]) -> Result<Array> {
        let ty = ffi::array_number(self.core(), T::ELEM, shape.len())?;
        let handle = ffi::create(self.core(), ty, shape, data)?;
        Ok(Array { handle })
    }

    /// Creates an array that borrows memory, as [`crate::Context::array_from_raw`].
    ///
    /// # Errors
    /// As [`crate::Context::array_from_raw`]. Also [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument):
    /// the program has no such array type.
    ///
    /// # Safety
    /// As for [`crate::Context::array_from_raw`], with elements of type `elem`.
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn array_from_raw(
        &self,
        elem: ElemType,
        shape: &[usize],
        memory: RawMemory,
    ) -> Result<Array> {
        let ty = ffi::array_number(self.core(), elem, shape.len())?;
        // SAFETY: the caller promises what `borrow` requires.
        let handle = unsafe { ffi::borrow(self.core(), ty, elem, memory, shape) }?;
        Ok(Array { handle })
    }

    /// Creates a record or tuple from its fields, in the order of the manifest.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the type is unknown or not a record, or the
    /// fields have another number or other types. [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext).
    pub fn record(&self, type_name: &str, fields: &[&Value]) -> Result<Opaque> {
        let Structure::Record(record) = self.structure(type_name)? else {
            return Err(wrong_structure(type_name, "not a record"));
        };
        self.make(type_name, &record.new, fields)
    }

    /// Creates a value of a sum type.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the type is unknown or not a sum, the variant
    /// is unknown, or the payload has another number of values or other types.
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext).
    pub fn sum(&self, type_name: &str, variant: &str, payload: &[&Value]) -> Result<Opaque> {
        let Structure::Sum(sum) = self.structure(type_name)? else {
            return Err(wrong_structure(type_name, "not a sum"));
        };
        let Some(found) = sum.variants.iter().find(|v| v.name == variant) else {
            let names = sum.variants.iter().map(|v| v.name.as_str());
            let operation = format!("type {type_name}");
            return Err(unknown(operation, "no variant", variant, names));
        };
        self.make(type_name, &found.construct, payload)
    }

    /// Creates an array of records from one array per field, all of the same shape.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the type is unknown or not an array of
    /// records, the fields have another number or other types, or their shapes differ.
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext).
    pub fn zip(&self, type_name: &str, fields: &[&Value]) -> Result<Opaque> {
        let Structure::RecordArray(array) = self.structure(type_name)? else {
            return Err(wrong_structure(type_name, "not an array of records"));
        };
        self.make(type_name, &array.zip, fields)
    }

    /// Creates an array of rank 1 of records or other opaque values from copies of its elements.
    ///
    /// # Errors
    /// As [`array_from_values_nd`](Self::array_from_values_nd).
    pub fn array_from_values(&self, type_name: &str, elements: &[&Value]) -> Result<Opaque> {
        self.array_from_values_nd(type_name, &[elements.len()], elements)
    }

    /// Creates an array of records or other opaque values from copies of its elements, in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the type is unknown or not an array of opaque
    /// values, the shape has another rank, the number of elements does not match the shape or is zero (the size of an
    /// element is then unknown), or an element has another type or size.
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext).
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): the manifest has no such function for the type;
    /// compilers provide it since 0.25.36.
    pub fn array_from_values_nd(
        &self,
        type_name: &str,
        shape: &[usize],
        elements: &[&Value],
    ) -> Result<Opaque> {
        let id = self.library.type_named(type_name)?;
        let handles = elements.iter().enumerate().map(|(i, element)| {
            element.handle().ok_or_else(|| {
                let message = format!("element {i} must not be a scalar, got {element:?}");
                Error::invalid("new array of values", message)
            })
        });
        let handles = handles.collect::<Result<Vec<_>>>()?;
        let handle = ffi::create_of_values(self.core(), id.index() as u32, shape, &handles)?;
        Ok(self.library.opaque(handle))
    }

    /// Restores a stored value. Any backend of the same program can have stored it.
    ///
    /// # Errors
    /// [`ErrorKind::Restore`](crate::ErrorKind::Restore): another program stored it, or the runtime rejects the bytes.
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): values of this type cannot be restored.
    pub fn restore(&self, stored: &Stored) -> Result<Opaque> {
        let handle = ffi::restore(self.core(), &stored.0)?;
        Ok(self.library.opaque(handle))
    }

    crate::context::context_methods!();

    /// Frees the context and reports failures that no call has reported, like [`crate::Context::close`].
    ///
    /// # Errors
    /// Returns the context with the error. [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): values or
    /// clones of the context still exist.
    pub fn close(self) -> Result<(), (Context, Error)> {
        let Context { started, library } = self;
        let closed = started.close();
        closed.map_err(|(started, error)| (Context { started, library }, error))
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.started.core
    }

    fn structure(&self, type_name: &str) -> Result<&Structure> {
        let id = self.library.type_named(type_name)?;
        match &self.library.program().get(id).kind {
            TypeKind::Opaque(opaque) => Ok(&opaque.structure),
            TypeKind::Array(_) => Err(wrong_structure(
                type_name,
                "not an opaque type but an array of scalars",
            )),
        }
    }

    fn make(&self, type_name: &str, cfun: &str, parts: &[&Value]) -> Result<Opaque> {
        let id = self.library.type_named(type_name)?;
        let inputs = parts.iter().map(|part| part.input()).collect();
        let result = std::iter::once(TypeRef::Type(id));
        match self.library.run(self.core(), cfun, inputs, result)?.pop() {
            Some(Value::Opaque(opaque)) => Ok(opaque),
            _ => {
                let message = "the operation returned a value of another type";
                Err(wrong_structure(type_name, message))
            }
        }
    }
}

#[cfg(feature = "ndarray")]
impl Context {
    /// Creates an array from an [`ndarray`] array or view of any layout, like [`crate::Context::array_from_ndarray`].
    ///
    /// Needs the feature `ndarray`.
    ///
    /// # Errors
    /// The errors of [`array_nd`](Self::array_nd).
    pub fn array_from_ndarray<S, T, D>(&self, array: &ndarray::ArrayBase<S, D>) -> Result<Array>
    where
        S: ndarray::RawData<Elem = T> + ndarray::Data,
        T: Element,
        D: ndarray::Dimension,
    {
        crate::array::nd::with_slice(array, |elements| self.array_nd(array.shape(), elements))
    }
}

/// Starts transfers that are complete when [`Context::batch`] returns, like [`crate::Batch`].
pub struct Batch<'batch, 'env> {
    batch: &'batch ffi::Batch<'env>,
    library: &'batch Library,
}

impl Context {
    /// Makes many transfers with one wait, like [`crate::Context::batch`].
    ///
    /// ```no_run
    /// use futhark_safe::dynamic::{Arg, Context};
    ///
    /// fn normalised(ctx: &Context, data: &[f32]) -> futhark_safe::Result<Vec<f32>> {
    ///     let mut normalised = vec![0.0f32; data.len()];
    ///     ctx.batch(|batch| {
    ///         let xs = batch.array(data)?.into();
    ///         let results = ctx.call("normalise", vec![Arg::Consume(xs)])?;
    ///         if let futhark_safe::dynamic::Value::Array(ys) = &results[0] {
    ///             batch.read_into(ys, &mut normalised)?;
    ///         }
    ///         Ok(())
    ///     })?;
    ///     Ok(normalised)
    /// }
    /// ```
    pub fn batch<'env, R>(&self, body: impl FnOnce(&Batch<'_, 'env>) -> Result<R>) -> Result<R> {
        let library = self.library();
        ffi::batch(self.core(), |batch| body(&Batch { batch, library }))
    }
}

impl<'env> Batch<'_, 'env> {
    /// As [`Context::array`], without a wait: see [`crate::Batch::array`].
    pub fn array<T: Element>(&self, data: impl Into<Cow<'env, [T]>>) -> Result<Array> {
        let data = data.into();
        self.array_nd(&[data.len()], data)
    }

    /// As [`Context::array_nd`], without a wait: see [`crate::Batch::array`].
    pub fn array_nd<T: Element>(
        &self,
        shape: &[usize],
        data: impl Into<Cow<'env, [T]>>,
    ) -> Result<Array> {
        let ty = ffi::array_number(self.batch.core(), T::ELEM, shape.len())?;
        let handle = self.batch.create(ty, shape, data.into())?;
        Ok(Array { handle })
    }

    /// As [`Array::read_into`], without a wait: see [`crate::Batch::read_into`].
    ///
    /// # Errors
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext): the array belongs to another context.
    pub fn read_into<T: Element>(&self, array: &Array, to: &'env mut [T]) -> Result<()> {
        self.batch.read_into(&array.handle, to)
    }

    /// As [`Array::to_vec`], without a wait: see [`crate::Batch::to_vec`].
    ///
    /// # Errors
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext): the array belongs to another context.
    pub fn to_vec<T: Element>(&self, array: &Array) -> Result<Download<T>> {
        Download::of(self.batch, &array.handle)
    }
}

impl fmt::Debug for Batch<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("library", self.library)
            .finish()
    }
}

fn wrong_structure(type_name: &str, what: &str) -> Error {
    Error::invalid(format!("type {type_name}"), what.to_owned())
}
