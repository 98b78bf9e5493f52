//! A context of a library, and calls by name.

use std::ffi::c_void;
use std::sync::Arc;

use futhark_manifest::{ElemType, Structure, TypeKind, TypeRef};

use super::array::Array;
use super::library::{Library, list};
use super::opaque::Opaque;
use super::stored::Stored;
use super::value::{Arg, Scalar, Value};
use crate::elem::{Element, Scalar8};
use crate::error::{Error, Result};
use crate::ffi::{self, Core, Handle, Input, Output};
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
    ///
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
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): unknown entry point, wrong number of
    /// arguments, wrong
    /// type of an argument, a borrowed argument for a consumed parameter, or a spent one.
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext): an argument belongs to another context.
    /// [`ErrorKind::Program`](crate::ErrorKind::Program): the program failed.
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn call(&self, entry: &str, args: Vec<Arg<'_>>) -> Result<Vec<Value>> {
        let program = self.library.program();
        let point = program.entry(entry).ok_or_else(|| {
            let names: Vec<&str> = program.entries().iter().map(|e| e.name.as_str()).collect();
            let message = format!(
                "the program has no entry point `{entry}`; it has {}",
                list(&names)
            );
            Error::invalid("call", message)
        })?;
        let mut inputs: Vec<Input<'_>> = args
            .into_iter()
            .map(|arg| match arg {
                Arg::Borrow(value) => value.input(),
                Arg::Consume(value) => value.into_input(),
                Arg::ConsumeMut(value) => value.input_in_place(),
            })
            .collect();
        let outputs: Vec<TypeRef> = point.outputs.iter().map(|o| o.ty).collect();
        self.library
            .run(self.core(), &point.cfun, &mut inputs, &outputs)
    }

    /// Creates an array of rank 1 from a slice, `Vec` or array.
    ///
    /// # Errors
    ///
    /// As [`array_from_bytes`](Self::array_from_bytes).
    pub fn array<T: Element>(&self, data: &[T]) -> Result<Array> {
        self.array_nd(&[data.len()], data)
    }

    /// Creates an array from bytes: elements in row-major order, each in native byte order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the shape does not match the number of
    /// bytes, its size
    /// overflows, or the program has no such array type. [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn array_from_bytes(&self, elem: ElemType, shape: &[usize], bytes: &[u8]) -> Result<Array> {
        let ty = ffi::array_number(self.core(), elem, shape.len())?;
        let handle = ffi::create_from_bytes(self.core(), ty, elem, shape, bytes)?;
        Ok(Array { handle })
    }

    /// Creates an array from elements in row-major order.
    ///
    /// # Errors
    ///
    /// As [`array_from_bytes`](Self::array_from_bytes).
    pub fn array_nd<T: Element>(&self, shape: &[usize], data: &[T]) -> Result<Array> {
        let ty = ffi::array_number(self.core(), T::ELEM, shape.len())?;
        let handle = ffi::create(self.core(), ty, shape, data)?;
        Ok(Array { handle })
    }

    /// Creates a record or tuple from its fields, in the order of the manifest.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the type is unknown or not a record, or the
    /// fields have another
    /// number or other types. [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext).
    pub fn record(&self, type_name: &str, fields: &[&Value]) -> Result<Opaque> {
        let Structure::Record(record) = self.structure(type_name)? else {
            return Err(wrong_structure(type_name, "not a record"));
        };
        self.make(type_name, &record.new, fields)
    }

    /// Creates a value of a sum type.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the type is unknown or not a sum, the
    /// variant is unknown, or the
    /// payload has another number of values or other types.
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext).
    pub fn sum(&self, type_name: &str, variant: &str, payload: &[&Value]) -> Result<Opaque> {
        let Structure::Sum(sum) = self.structure(type_name)? else {
            return Err(wrong_structure(type_name, "not a sum"));
        };
        let found = sum
            .variants
            .iter()
            .find(|v| v.name == variant)
            .ok_or_else(|| {
                let names: Vec<&str> = sum.variants.iter().map(|v| v.name.as_str()).collect();
                wrong_structure(
                    type_name,
                    &format!("no variant `{variant}`; it has {}", list(&names)),
                )
            })?;
        self.make(type_name, &found.construct, payload)
    }

    /// Creates an array of records from one array per field, all of the same shape.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the type is unknown or not an array of
    /// records, the fields have
    /// another number or other types, or their shapes differ.
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
    ///
    /// As [`array_from_values_nd`](Self::array_from_values_nd).
    pub fn array_from_values(&self, type_name: &str, elements: &[&Value]) -> Result<Opaque> {
        self.array_from_values_nd(type_name, &[elements.len()], elements)
    }

    /// Creates an array of records or other opaque values from copies of its elements, in
    /// row-major order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the type is unknown or not an array of
    /// opaque values, the shape
    /// has another rank, the number of elements does not match the shape or is zero (the size of an
    /// element is then unknown), or an element has another type or size.
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext).
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): the manifest has no such function for the type;
    /// compilers provide it
    /// since 0.25.36.
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
    ///
    /// [`ErrorKind::Restore`](crate::ErrorKind::Restore): another program stored it, or the runtime rejects the bytes.
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): values of this type cannot be restored.
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn restore(&self, stored: &Stored) -> Result<Opaque> {
        let handle = ffi::restore(self.core(), &stored.0)?;
        Ok(self.library.opaque(handle))
    }

    crate::context::context_methods!();

    /// Frees the context and reports failures that no call has reported, like
    /// [`crate::Context::close`].
    ///
    /// # Errors
    ///
    /// Returns the context with the error. [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): values
    /// or clones of the
    /// context still exist. [`ErrorKind::ContextLost`](crate::ErrorKind::ContextLost).
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
        let mut inputs: Vec<Input<'_>> = parts.iter().map(|part| part.input()).collect();
        let mut values = self
            .library
            .run(self.core(), cfun, &mut inputs, &[TypeRef::Type(id)])?;
        match values.pop() {
            Some(Value::Opaque(opaque)) => Ok(opaque),
            _ => Err(wrong_structure(
                type_name,
                "the operation returned a value of another type",
            )),
        }
    }
}

fn wrong_structure(type_name: &str, what: &str) -> Error {
    Error::invalid(format!("type {type_name}"), what.to_owned())
}

impl Library {
    /// Calls a function of the table and returns its results as values.
    pub(super) fn run(
        &self,
        core: &Arc<Core>,
        cfun: &str,
        inputs: &mut [Input<'_>],
        results: &[TypeRef],
    ) -> Result<Vec<Value>> {
        enum Slot {
            Scalar(ElemType, Scalar8),
            Value(u32, Option<Handle>),
        }
        let function = self.function(cfun)?;
        let mut slots: Vec<Slot> = results
            .iter()
            .map(|ty| match ty {
                TypeRef::Scalar(elem) => Slot::Scalar(*elem, Scalar8::default()),
                TypeRef::Type(id) => Slot::Value(id.index() as u32, None),
            })
            .collect();
        let mut outputs: Vec<Output<'_>> = slots
            .iter_mut()
            .map(|slot| match slot {
                Slot::Scalar(elem, bytes) => Output::scalar(*elem, bytes),
                Slot::Value(ty, handle) => Output::value(*ty, handle),
            })
            .collect();
        core.call(function, inputs, &mut outputs)?;
        drop(outputs);
        Ok(slots
            .into_iter()
            .filter_map(|slot| match slot {
                Slot::Scalar(elem, bytes) => Some(Value::Scalar(Scalar::from_c(elem, bytes))),
                Slot::Value(_, handle) => handle.map(|handle| self.value(handle)),
            })
            .collect())
    }

    pub(super) fn opaque(&self, handle: Handle) -> Opaque {
        let library = self.clone();
        Opaque { handle, library }
    }

    /// Wraps a handle in the [`Value`] variant of its type.
    pub(super) fn value(&self, handle: Handle) -> Value {
        let ty = &self.program().types()[handle.ty() as usize];
        match &ty.kind {
            TypeKind::Array(_) => Value::Array(Array { handle }),
            TypeKind::Opaque(_) => Value::Opaque(self.opaque(handle)),
        }
    }
}
