//! A context of a library, and calls by name.

use std::sync::Arc;

use futhark_manifest::{ElemType, Structure, TypeKind, TypeRef};

use super::library::{Library, list};
use super::opaque::Opaque;
use super::stored::Stored;
use super::value::{Arg, Array, Scalar, Value};
use crate::config::Config;
use crate::elem::{Element, Scalar8};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Core, Handle, Input, Output};
use crate::start::start;

/// A context of a program that was loaded. Cloning gives another handle to the same one.
#[derive(Clone, Debug)]
pub struct Context {
    core: Arc<Core>,
    library: Library,
}

impl Context {
    /// Makes a context. Blocks as [`crate::Context::new`] does.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`]: `config` names another backend; otherwise as [`crate::Context::new`].
    pub fn new(library: &Library, config: &Config) -> Result<Context> {
        if let Some(wanted) = config.requested_backend()
            && wanted != library.backend()
        {
            let message = format!(
                "the library is for backend {}, asked for was {wanted}",
                library.backend()
            );
            return Err(Error::new(ErrorKind::Unsupported, "context", message));
        }
        let core = start(library.table(), config)?;
        Ok(Context {
            core,
            library: library.clone(),
        })
    }

    /// The program.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Calls an entry point by name.
    ///
    /// A parameter that is consumed wants [`Arg::Consume`]; whatever was given away is
    /// gone afterwards, also on errors.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: no such entry point, a wrong number of arguments, an
    /// argument of another type, or a borrowed one where the parameter consumes.
    /// [`ErrorKind::WrongContext`]; and whatever the program reports.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn call(&self, entry: &str, args: Vec<Arg<'_>>) -> Result<Vec<Value>> {
        let program = self.library.program();
        let point = program.entry(entry).ok_or_else(|| {
            let names: Vec<&str> = program.entries().iter().map(|e| e.name.as_str()).collect();
            let message = format!(
                "the program has no entry point `{entry}`; it has {}",
                list(&names)
            );
            Error::new(ErrorKind::InvalidArgument, "call", message)
        })?;
        if args.len() != point.inputs.len() {
            let message = format!(
                "takes {} arguments, given were {}",
                point.inputs.len(),
                args.len()
            );
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("entry point {entry}"),
                message,
            ));
        }
        let mut inputs: Vec<Input<'_>> = args
            .into_iter()
            .map(|arg| match arg {
                Arg::Borrow(value) => value.input(),
                Arg::Consume(value) => value.into_input(),
            })
            .collect();
        let outputs: Vec<TypeRef> = point.outputs.iter().map(|o| o.ty).collect();
        self.library
            .run(&self.core, &point.cfun, &mut inputs, &outputs)
    }

    /// Makes an array from bytes in native order, elements in row-major order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: shape and bytes disagree, no memory could hold it, or
    /// the program has no such array type. [`ErrorKind::OutOfMemory`].
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn array(&self, elem: ElemType, shape: &[usize], bytes: &[u8]) -> Result<Array> {
        let ty = self.library.array_type(elem, shape.len())?;
        let handle = ffi::create_from_bytes(&self.core, ty.index() as u32, elem, shape, bytes)?;
        Ok(Array::of(handle, elem, shape.len()))
    }

    /// Makes an array from elements in row-major order.
    ///
    /// # Errors
    ///
    /// As [`array`](Self::array).
    pub fn array_of<T: Element>(&self, shape: &[usize], data: &[T]) -> Result<Array> {
        let ty = self.library.array_type(T::ELEM, shape.len())?;
        let handle = ffi::create(&self.core, ty.index() as u32, shape, data)?;
        Ok(Array::of(handle, T::ELEM, shape.len()))
    }

    /// Makes a record or tuple from its fields, in the manifest's order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: no record, or fields of other types.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn record(&self, type_name: &str, fields: &[&Value]) -> Result<Opaque> {
        let Structure::Record(record) = self.structure(type_name)? else {
            return Err(wrong_structure(type_name, "no record"));
        };
        self.make(type_name, &record.new, fields)
    }

    /// Makes a value of a sum type.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: no sum, no such variant, or another payload.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn sum(&self, type_name: &str, variant: &str, payload: &[&Value]) -> Result<Opaque> {
        let Structure::Sum(sum) = self.structure(type_name)? else {
            return Err(wrong_structure(type_name, "no sum"));
        };
        let found = sum
            .variants
            .iter()
            .find(|v| v.name == variant)
            .ok_or_else(|| {
                let names: Vec<&str> = sum.variants.iter().map(|v| v.name.as_str()).collect();
                wrong_structure(
                    type_name,
                    &format!("has no variant `{variant}`, but {}", list(&names)),
                )
            })?;
        self.make(type_name, &found.construct, payload)
    }

    /// Makes an array of records from one array per field, all of the same shape.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: no array of records, fields of other types, or shapes that differ.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn zip(&self, type_name: &str, fields: &[&Value]) -> Result<Opaque> {
        let Structure::RecordArray(array) = self.structure(type_name)? else {
            return Err(wrong_structure(type_name, "no array of records"));
        };
        self.make(type_name, &array.zip, fields)
    }

    /// Makes an array of records or other opaque values from its elements in row-major order:
    /// copies of them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: no array of opaque values, not as many elements as the shape
    /// says, none at all (nothing says then how large one would be), elements of another
    /// type, or elements that differ in size. [`ErrorKind::WrongContext`]. [`ErrorKind::Unsupported`]:
    /// compilers have this function from 0.25.36 on; whether the type has it, its manifest says.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn array_of_values(
        &self,
        type_name: &str,
        shape: &[usize],
        elements: &[&Value],
    ) -> Result<Opaque> {
        let id = self.library.type_named(type_name)?;
        let handles = elements.iter().enumerate().map(|(i, element)| {
            element.handle().ok_or_else(|| {
                let message = format!("element {i} must not be a scalar, given was {element:?}");
                Error::new(ErrorKind::InvalidArgument, "new array of values", message)
            })
        });
        let handles = handles.collect::<Result<Vec<_>>>()?;
        let handle = ffi::create_of_values(&self.core, id.index() as u32, shape, &handles)?;
        Ok(Opaque {
            handle,
            library: self.library.clone(),
        })
    }

    /// Makes the value that was stored, from whichever backend of the same program.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Restore`]: it was stored by another program; [`ErrorKind::OutOfMemory`].
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn restore(&self, stored: &Stored) -> Result<Opaque> {
        let handle = ffi::restore(&self.core, &stored.0)?;
        Ok(Opaque {
            handle,
            library: self.library.clone(),
        })
    }

    /// Waits until everything that was started is done, as [`crate::Context::sync`].
    ///
    /// # Errors
    ///
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn sync(&self) -> Result<()> {
        self.core.simple("sync", |raw| raw.sync)
    }

    /// Ends the context and tells what dropping it would not, as [`crate::Context::close`].
    ///
    /// # Errors
    ///
    /// The context comes back with the error: values or clones of it are in use, or
    /// something failed since the last call.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn close(self) -> Result<(), (Context, Error)> {
        let library = self.library;
        self.core
            .close()
            .map_err(|(core, error)| (Context { core, library }, error))
    }

    /// Gives back memory that the context keeps for later calls.
    ///
    /// # Errors
    ///
    /// The device failed.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn clear_caches(&self) -> Result<()> {
        self.core.simple("clear_caches", |raw| raw.clear_caches)
    }

    /// Stops collecting times, if profiling was configured.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ContextLost`].
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn pause_profiling(&self) -> Result<()> {
        self.core
            .simple("pause_profiling", |raw| raw.pause_profiling)
    }

    /// Goes on collecting times.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ContextLost`].
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn unpause_profiling(&self) -> Result<()> {
        self.core
            .simple("unpause_profiling", |raw| raw.unpause_profiling)
    }

    /// What the runtime has measured so far, as JSON. Waits as [`sync`](Self::sync) does.
    ///
    /// # Errors
    ///
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn report(&self) -> Result<String> {
        self.core.report()
    }

    /// The program's tuning parameters on this backend: names and classes.
    #[must_use]
    pub fn tuning_params(&self) -> Vec<(String, String)> {
        Core::tuning_params(self.library.table())
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    fn structure(&self, type_name: &str) -> Result<&Structure> {
        let id = self.library.type_named(type_name)?;
        match &self.library.program().get(id).kind {
            TypeKind::Opaque(opaque) => Ok(&opaque.structure),
            TypeKind::Array(_) => Err(wrong_structure(type_name, "an array of scalars")),
        }
    }

    fn make(&self, type_name: &str, cfun: &str, parts: &[&Value]) -> Result<Opaque> {
        let id = self.library.type_named(type_name)?;
        let mut inputs: Vec<Input<'_>> = parts.iter().map(|part| part.input()).collect();
        let mut values = self
            .library
            .run(&self.core, cfun, &mut inputs, &[TypeRef::Type(id)])?;
        match values.pop() {
            Some(Value::Opaque(opaque)) => Ok(opaque),
            _ => Err(wrong_structure(type_name, "not what the operation makes")),
        }
    }
}

fn wrong_structure(type_name: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("type {type_name}"),
        what.to_owned(),
    )
}

impl Library {
    /// Calls a function of the table and puts its results into values.
    pub(super) fn run(
        &self,
        core: &Arc<Core>,
        cfun: &str,
        inputs: &mut [Input<'_>],
        gives: &[TypeRef],
    ) -> Result<Vec<Value>> {
        enum Room {
            Scalar(ElemType, Scalar8),
            Value(u32, Option<Handle>),
        }
        let function = self.function(cfun)?;
        let mut rooms: Vec<Room> = gives
            .iter()
            .map(|ty| match ty {
                TypeRef::Scalar(elem) => Room::Scalar(*elem, Scalar8::default()),
                TypeRef::Type(id) => Room::Value(id.index() as u32, None),
            })
            .collect();
        let mut outputs: Vec<Output<'_>> = rooms
            .iter_mut()
            .map(|room| match room {
                Room::Scalar(elem, bytes) => Output::scalar(*elem, bytes),
                Room::Value(ty, handle) => Output::value(*ty, handle),
            })
            .collect();
        core.call(function, inputs, &mut outputs)?;
        drop(outputs);
        Ok(rooms
            .into_iter()
            .filter_map(|room| match room {
                Room::Scalar(elem, bytes) => Some(Value::Scalar(Scalar::from_c(elem, bytes))),
                Room::Value(_, handle) => handle.map(|handle| self.value(handle)),
            })
            .collect())
    }

    /// A value of the kind that its type has.
    pub(super) fn value(&self, handle: Handle) -> Value {
        let ty = &self.program().types()[handle.ty() as usize];
        match &ty.kind {
            TypeKind::Array(array) => Value::Array(Array::of(handle, array.elem, array.rank)),
            TypeKind::Opaque(_) => Value::Opaque(Opaque {
                handle,
                library: self.clone(),
            }),
        }
    }
}
