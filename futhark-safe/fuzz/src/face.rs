//! The interfaces that a user drives: the Rust interface, and a hardened library through the functions of its header.

use std::borrow::Cow;
use std::fmt;

use futhark_manifest::{EntryPoint, Field, OpaqueType, Program, Structure, Type, Variant};
use futhark_safe::dynamic::{self, Arg, Opaque, Scalar, Stored, Value};
use futhark_safe::{Backend, Config, ErrorKind};

use crate::model::{Class, Data};
use crate::user::{Mode, Slot};

pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// How an operation failed.
pub struct Failure {
    pub found: Found,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    Kind(ErrorKind),
    /// The code of a C function; `None` if its result only tells that it failed.
    Code(Option<i32>),
    /// A C function failed, and now all fail.
    Lost,
}

impl Failure {
    pub fn is(&self, class: Class) -> bool {
        match self.found {
            Found::Kind(kind) => kind == class.kind(),
            Found::Code(code) => class != Class::Lost && code.is_none_or(|n| n == class.code()),
            Found::Lost => class == Class::Lost,
        }
    }
}

impl From<futhark_safe::Error> for Failure {
    fn from(error: futhark_safe::Error) -> Failure {
        let found = Found::Kind(error.kind());
        let text = format!("{error:#}");
        Failure { found, text }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.found, self.text)
    }
}

/// What a value is.
pub enum Kind<'a> {
    Int(i64),
    Array,
    Opaque(&'a OpaqueType),
}

/// A part of an opaque value.
pub enum Part<'a> {
    Field(&'a Field),
    Payload(&'a Variant),
    Element(i64),
}

/// An interface. Operations of values run in the context of the value.
pub trait Face: Sized + 'static {
    type Library: Send + Sync;
    type Context: Send + Sync;
    type Value: From<i64> + Send + Sync;
    type Stored: Clone;

    /// Whether arguments have types. C has none, so that its face leaves out, or does in another form:
    /// - an argument that is borrowed for a parameter that consumes it: passing it consumes it;
    /// - too few arguments, and another value in place of an integer: C would read whatever is there;
    /// - bytes that another program stored: they are trusted;
    /// - a view, which pins its array, is a copy, as are the transfers of a batch;
    /// - a copy of a value is made of its elements or of its stored bytes.
    const HAS_TYPES: bool;

    fn program(library: &Self::Library) -> &Program;
    fn backend(library: &Self::Library) -> Backend;

    /// Starts a context, on multicore with two threads.
    fn start(library: &'static Self::Library) -> Self::Context;
    fn sync(ctx: &Self::Context) -> Result<()>;
    fn clear_caches(ctx: &Self::Context) -> Result<()>;
    fn array(ctx: &Self::Context, shape: &[usize], data: &[i64]) -> Result<Self::Value>;
    /// Makes a record, an array of records, or a value of this variant.
    fn compose(
        ctx: &Self::Context,
        ty: &Type,
        variant: Option<&Variant>,
        parts: &[&Self::Value],
    ) -> Result<Self::Value>;
    fn call(
        ctx: &Self::Context,
        entry: &EntryPoint,
        args: &mut [(Slot<Self>, Mode)],
    ) -> Result<Vec<Self::Value>>;
    fn restore(ctx: &Self::Context, stored: &Self::Stored) -> Result<Self::Value>;
    /// Reads an array, which must contain this, and makes another one of it.
    fn batch(ctx: &Self::Context, array: &Self::Value, data: &[i64]) -> Result<Self::Value>;

    fn kind(value: &Self::Value) -> Kind<'_>;
    fn type_name(value: &Self::Value) -> String;
    /// The shape and the elements of an array of integers.
    fn elements(array: &Self::Value) -> Result<Data>;
    fn view(array: &Self::Value) -> Result<Option<Cow<'_, [i64]>>>;
    fn copy(value: &Self::Value) -> Result<Self::Value>;
    fn store(opaque: &Self::Value) -> Result<Self::Stored>;
    fn variant(sum: &Self::Value) -> Result<String>;
    /// The number of elements of an array of values.
    fn count(array: &Self::Value) -> Result<i64>;
    /// A field, the payload if the value is of this variant, or an element.
    fn part(opaque: &Self::Value, part: Part<'_>) -> Result<Vec<Self::Value>>;
}

/// The dynamic interface of futhark-safe.
pub struct Rust;

fn opaque(value: &Value) -> &Opaque {
    match value {
        Value::Opaque(opaque) => opaque,
        other => panic!("expected an opaque value: {other:?}"),
    }
}

fn array(value: &Value) -> &dynamic::Array {
    match value {
        Value::Array(array) => array,
        other => panic!("expected an array: {other:?}"),
    }
}

impl Face for Rust {
    type Library = dynamic::Library;
    type Context = dynamic::Context;
    type Value = Value;
    type Stored = Stored;

    const HAS_TYPES: bool = true;

    fn program(library: &dynamic::Library) -> &Program {
        library.program()
    }

    fn backend(library: &dynamic::Library) -> Backend {
        library.backend()
    }

    fn start(library: &dynamic::Library) -> dynamic::Context {
        let config = match library.backend() {
            Backend::Multicore => Config::new().num_threads(2),
            _ => Config::new(),
        };
        dynamic::Context::new(library, &config).expect("a context starts")
    }

    fn sync(ctx: &dynamic::Context) -> Result<()> {
        Ok(ctx.sync()?)
    }

    fn clear_caches(ctx: &dynamic::Context) -> Result<()> {
        Ok(ctx.clear_caches()?)
    }

    fn array(ctx: &dynamic::Context, shape: &[usize], data: &[i64]) -> Result<Value> {
        Ok(ctx.array_nd(shape, data)?.into())
    }

    fn compose(
        ctx: &dynamic::Context,
        ty: &Type,
        variant: Option<&Variant>,
        parts: &[&Value],
    ) -> Result<Value> {
        let made = match variant {
            Some(variant) => ctx.sum(&ty.name, &variant.name, parts),
            None if ty.as_record_array().is_some() => ctx.zip(&ty.name, parts),
            None => ctx.record(&ty.name, parts),
        };
        Ok(made?.into())
    }

    fn call(
        ctx: &dynamic::Context,
        entry: &EntryPoint,
        args: &mut [(Slot<Rust>, Mode)],
    ) -> Result<Vec<Value>> {
        let args = args.iter_mut().map(|(slot, mode)| match mode {
            Mode::Borrow => Arg::Borrow(&slot.value),
            Mode::Consume => Arg::Consume(std::mem::replace(&mut slot.value, 0i64.into())),
            Mode::ConsumeMut => Arg::ConsumeMut(&mut slot.value),
        });
        Ok(ctx.call(&entry.name, args.collect())?)
    }

    fn restore(ctx: &dynamic::Context, stored: &Stored) -> Result<Value> {
        Ok(ctx.restore(stored)?.into())
    }

    fn batch(ctx: &dynamic::Context, value: &Value, data: &[i64]) -> Result<Value> {
        let mut read = vec![0; data.len()];
        let made = ctx.batch(|batch| {
            batch.read_into(array(value), &mut read)?;
            batch.array(data)
        })?;
        assert_eq!(read, data);
        Ok(made.into())
    }

    fn kind(value: &Value) -> Kind<'_> {
        match value {
            Value::Scalar(Scalar::I64(x)) => Kind::Int(*x),
            Value::Scalar(other) => panic!("no program returns {other:?}"),
            Value::Array(_) => Kind::Array,
            Value::Opaque(opaque) => Kind::Opaque(opaque.ty().as_opaque().expect("it is opaque")),
        }
    }

    fn type_name(value: &Value) -> String {
        value.type_name()
    }

    fn elements(value: &Value) -> Result<Data> {
        let array = array(value);
        Ok(Data::Array(array.shape(), array.to_vec()?))
    }

    fn view(value: &Value) -> Result<Option<Cow<'_, [i64]>>> {
        Ok(array(value).view()?.map(Cow::Borrowed))
    }

    fn copy(value: &Value) -> Result<Value> {
        Ok(match value {
            Value::Opaque(opaque) => opaque.try_clone()?.into(),
            other => array(other).try_clone()?.into(),
        })
    }

    fn store(value: &Value) -> Result<Stored> {
        Ok(opaque(value).store()?)
    }

    fn variant(value: &Value) -> Result<String> {
        Ok(opaque(value).variant()?)
    }

    fn count(value: &Value) -> Result<i64> {
        Ok(opaque(value).shape()?[0] as i64)
    }

    fn part(value: &Value, part: Part<'_>) -> Result<Vec<Value>> {
        let opaque = opaque(value);
        Ok(match part {
            Part::Field(field) => vec![opaque.project(&field.name)?],
            Part::Payload(variant) => opaque.destruct(&variant.name)?,
            Part::Element(i) => vec![opaque.index(&[i])?],
        })
    }
}

/// Reads what [`Data::Opaque`] contains: the variant, and the parts.
pub fn read_parts<F: Face>(value: &F::Value) -> Result<(Option<String>, Vec<F::Value>)> {
    let Kind::Opaque(ty) = F::kind(value) else {
        panic!("expected an opaque value")
    };
    let refused = |part, class| match F::part(value, part) {
        Err(error) => assert!(error.is(class) || error.is(Class::Lost), "{error:?}"),
        Ok(_) => panic!("success, not {class:?}"),
    };
    let mut name = None;
    let parts: Vec<Part<'_>> = match &ty.structure {
        Structure::Record(record) => record.fields.iter().map(Part::Field).collect(),
        Structure::RecordArray(array) => array.fields.iter().map(Part::Field).collect(),
        Structure::Sum(sum) => {
            let own = name.insert(F::variant(value)?);
            let (own, others): (Vec<_>, Vec<_>) = sum.variants.iter().partition(|v| v.name == *own);
            for other in others {
                refused(Part::Payload(other), Class::Argument);
            }
            own.into_iter().map(Part::Payload).collect()
        }
        _ => {
            let count = F::count(value)?;
            refused(Part::Element(count), Class::Shapes);
            (0..count).map(Part::Element).collect()
        }
    };
    let parts = parts.into_iter().map(|part| F::part(value, part));
    let parts: Vec<_> = parts.collect::<Result<_>>()?;
    Ok((name, parts.into_iter().flatten().collect()))
}

/// Reads a value.
pub fn read<F: Face>(value: &F::Value) -> Result<Data> {
    match F::kind(value) {
        Kind::Int(x) => Ok(Data::Int(x)),
        Kind::Array => F::elements(value),
        Kind::Opaque(_) => {
            let (variant, parts) = read_parts::<F>(value)?;
            let parts = parts.iter().map(read::<F>).collect::<Result<_>>()?;
            Ok(Data::Opaque(variant, parts))
        }
    }
}
