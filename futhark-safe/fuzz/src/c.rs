//! Hardened libraries as [`Face`]: only the functions of their headers, which the manifest names.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::Mutex;

use futhark_manifest::c::ParameterRole::{self, Argument, ByteCount, Bytes, Data, Dimension};
use futhark_manifest::c::ParameterRole::{Field as FieldOf, Index, Output, Payload};
use futhark_manifest::{EntryPoint, Field, Function, Manifest, Operation, Program};
use futhark_manifest::{Type, TypeId, TypeKind, TypeRef};
use futhark_safe::Backend;

use crate::face::{Face, Failure, Found, Kind, Result};
use crate::model;
use crate::user::{Mode, Slot};

unsafe extern "C" {
    fn free(memory: *mut c_void);
}

/// A library, used on one of its backends.
pub struct Library {
    object: libloading::Library,
    program: Program,
    name: &'static str,
    backend: Backend,
}

impl Library {
    /// Opens `libNAME.so`, which the build script has made.
    pub fn open(name: &'static str, backend: Backend) -> Library {
        let prefix = format!("{}/hardened", env!("OUT_DIR"));
        let manifest = std::fs::read_to_string(format!("{prefix}/{name}.json"));
        let manifest = Manifest::parse(&manifest.expect("the manifest of a library"));
        let program = manifest.and_then(|manifest| manifest.resolve());
        // SAFETY: a hardened library has no code that runs when it is opened.
        let object = unsafe { libloading::Library::new(format!("{prefix}/lib{name}.so")) };
        Library {
            object: object.expect("a library"),
            program: program.expect("a valid manifest"),
            name,
            backend,
        }
    }

    /// Calls a function, whose parameters are pointers and integers of 64 bits.
    fn call<R>(&self, function: &str, args: &[usize]) -> R {
        macro_rules! word {
            ($arg:ident) => {
                usize
            };
        }
        macro_rules! call {
            ($($($arg:ident)*,)*) => {
                // SAFETY: the header, of which the manifest has a copy, declares the function with so many parameters of this size.
                // The library checks handles, and callers in this file pass buffers of the right size.
                unsafe {
                    let symbol = self.object.get::<*const ()>(function.as_bytes());
                    let symbol = *symbol.expect("a function of the header");
                    match *args {
                        $([$($arg),*] => {
                            transmute::<*const (), unsafe extern "C" fn($(word!($arg)),*) -> R>(symbol)($($arg),*)
                        })*
                        _ => panic!("{function} has too many parameters: {}", args.len()),
                    }
                }
            };
        }
        call!(, a, a b, a b c, a b c d, a b c d e, a b c d e f, a b c d e f g, a b c d e f g h,)
    }
}

/// The address of a context, and its library.
#[derive(Clone, Copy)]
pub struct Calls {
    library: &'static Library,
    ctx: usize,
}

/// What slots of results contain before a call.
const UNWRITTEN: usize = 0x5A5A_5A5A;

impl Calls {
    fn get_error(self) -> Option<String> {
        let text: *mut c_char = self.library.call("futhark_context_get_error", &[self.ctx]);
        // SAFETY: a text that the caller frees.
        (!text.is_null()).then(|| unsafe {
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            free(text.cast());
            copy
        })
    }

    fn failure(self, code: Option<i32>) -> Failure {
        let text = self.get_error().expect("a failure has a text");
        let is_lost = 0
            != self
                .library
                .call::<i32>("futhark_context_sync", &[self.ctx]);
        if is_lost {
            self.get_error().expect("a failure has a text");
        }
        let found = if is_lost {
            Found::Lost
        } else {
            Found::Code(code)
        };
        Failure { found, text }
    }

    fn check(self, code: i32) -> Result<()> {
        match code {
            0 => Ok(()),
            code => Err(self.failure(Some(code))),
        }
    }

    /// Calls a function of the manifest; `word` returns the argument of each role.
    fn raw<R>(self, function: Function<'_>, mut word: impl FnMut(ParameterRole) -> usize) -> R {
        let parameters = self.library.program.prototype(&function).parameters;
        let args = parameters.iter().map(|parameter| match parameter.role {
            ParameterRole::Context => self.ctx,
            role => word(role),
        });
        self.library.call(function.name, &args.collect::<Vec<_>>())
    }

    /// Calls a function with results.
    fn results(
        self,
        function: Function<'_>,
        mut word: impl FnMut(ParameterRole) -> usize,
    ) -> Result<Vec<Value>> {
        let (mut slots, mut types) = ([UNWRITTEN; 8], vec![]);
        let code = self.raw(function, |role| match role {
            Output { index, ty } => {
                types.push(ty);
                &raw mut slots[index] as usize
            }
            role => word(role),
        });
        let is_unwritten = slots.iter().all(|&slot| slot == UNWRITTEN);
        assert!(
            code == 0 || is_unwritten,
            "a call that fails writes to no slot"
        );
        self.check(code)?;
        let results = slots.into_iter().zip(types);
        Ok(results.map(|(slot, ty)| self.value(ty, slot)).collect())
    }

    fn value(self, ty: TypeRef, word: usize) -> Value {
        match ty {
            TypeRef::Scalar(_) => Value::Int(word as i64),
            TypeRef::Type(ty) => Value::Handle(Handle {
                calls: self,
                ty,
                word,
            }),
        }
    }

    /// The value that a function returned.
    fn made(self, ty: TypeId, word: usize) -> Result<Value> {
        match word {
            0 => Err(self.failure(None)),
            word => Ok(self.value(TypeRef::Type(ty), word)),
        }
    }

    fn function(self, ty: TypeId, operation: Operation, part: Option<usize>) -> Function<'static> {
        let function = self.library.program.function(ty, operation, part);
        function.expect("the type has this function")
    }

    /// The shape and the elements of an array, which can be one of another context and program.
    fn elements(self, array: &Handle) -> Result<(Vec<usize>, Vec<i64>)> {
        let shape = self.shape(array, Operation::ArrayShape)?;
        let values = self.function(self.type_of(array), Operation::ArrayValues, None);
        let mut elements = vec![0i64; shape.iter().product()];
        self.check(self.raw(values, |role| match role {
            Data(_) => elements.as_mut_ptr() as usize,
            _ => array.word,
        }))?;
        Ok((shape, elements))
    }

    /// The type of this name, or of vectors if the program has none.
    fn type_of(self, array: &Handle) -> TypeId {
        let mut names = [&*array.ty().name, "[]i64"].into_iter();
        let ty = names.find_map(|name| self.library.program.type_named(name));
        ty.expect("all programs have vectors")
    }

    fn shape(self, array: &Handle, operation: Operation) -> Result<Vec<usize>> {
        let function = self.function(self.type_of(array), operation, None);
        let shape: *const i64 = self.raw(function, |_| array.word);
        if shape.is_null() {
            return Err(self.failure(None));
        }
        // SAFETY: valid until the handle is freed.
        let shape = unsafe { std::slice::from_raw_parts(shape, array.ty().rank()) };
        Ok(shape.iter().map(|&n| n as usize).collect())
    }
}

pub struct Context(Calls);

impl Drop for Context {
    fn drop(&mut self) {
        self.0
            .library
            .call::<()>("futhark_context_free", &[self.0.ctx]);
    }
}

/// A value that its owner frees, also after its context.
pub struct Handle {
    calls: Calls,
    ty: TypeId,
    word: usize,
}

impl Drop for Handle {
    fn drop(&mut self) {
        let name = self.ty().free();
        let code: i32 = self.calls.library.call(name, &[self.calls.ctx, self.word]);
        assert!(code == 0 || std::thread::panicking(), "{name}: {code}");
    }
}

impl Handle {
    fn ty(&self) -> &'static Type {
        self.calls.library.program.get(self.ty)
    }

    /// A function of the type with the value as its only argument.
    fn results(&self, operation: Operation, part: Option<usize>) -> Result<Vec<Value>> {
        let function = self.calls.function(self.ty, operation, part);
        self.calls.results(function, |_| self.word)
    }
}

pub enum Value {
    Int(i64),
    Handle(Handle),
}

impl From<i64> for Value {
    fn from(x: i64) -> Value {
        Value::Int(x)
    }
}

impl Value {
    fn handle(&self) -> &Handle {
        match self {
            Value::Handle(handle) => handle,
            Value::Int(x) => panic!("expected a handle: {x}"),
        }
    }

    fn word(&self) -> usize {
        match self {
            Value::Handle(handle) => handle.word,
            Value::Int(x) => *x as usize,
        }
    }
}

/// The bytes of a value of a type.
pub type Stored = (TypeId, Vec<u8>);

/// Hardened libraries.
pub struct C;

impl Face for C {
    type Library = Library;
    type Context = Context;
    type Value = Value;
    type Stored = Stored;

    const HAS_TYPES: bool = false;

    fn exchange() -> &'static Mutex<Option<Slot<C>>> {
        static EXCHANGE: Mutex<Option<Slot<C>>> = Mutex::new(None);
        &EXCHANGE
    }

    fn program(library: &Library) -> &Program {
        &library.program
    }

    fn program_id(library: &Library) -> &'static str {
        library.name
    }

    fn backend(library: &Library) -> Backend {
        library.backend
    }

    fn start(library: &'static Library) -> Context {
        let config: usize = library.call("futhark_context_config_new", &[]);
        let name = format!("{}\0", library.backend);
        let choose = "futhark_context_config_set_backend";
        let code: i32 = library.call(choose, &[config, name.as_ptr() as usize]);
        assert_eq!(code, 0, "{choose}");
        library.call::<()>("futhark_context_config_set_num_threads", &[config, 2]);
        let ctx = library.call("futhark_context_new", &[config]);
        library.call::<()>("futhark_context_config_free", &[config]);
        let ctx = Context(Calls { library, ctx });
        assert_eq!(ctx.0.get_error(), None);
        ctx
    }

    fn library(ctx: &Context) -> &Library {
        ctx.0.library
    }

    fn sync(ctx: &Context) -> Result<()> {
        let Calls { library, ctx: word } = ctx.0;
        ctx.0.check(library.call("futhark_context_sync", &[word]))
    }

    fn clear_caches(ctx: &Context) -> Result<()> {
        let Calls { library, ctx: word } = ctx.0;
        ctx.0
            .check(library.call("futhark_context_clear_caches", &[word]))
    }

    fn array(ctx: &Context, shape: &[usize], data: &[i64]) -> Result<Value> {
        let name = "[]".repeat(shape.len()) + "i64";
        let ty = ctx.0.library.program.type_named(&name).expect("a type");
        let new = ctx.0.function(ty, Operation::ArrayNew, None);
        let made = ctx.0.raw(new, |role| match role {
            Dimension(i) => shape[i],
            _ => data.as_ptr() as usize,
        });
        ctx.0.made(ty, made)
    }

    fn compose(ctx: &Context, ty: &Type, variant: Option<&str>, parts: &[&Value]) -> Result<Value> {
        let part = variant.map(|variant| variant_number(ty, variant));
        let operation = match part {
            Some(_) => Operation::SumConstruct,
            None if ty.as_record_array().is_some() => Operation::RecordArrayZip,
            None => Operation::RecordNew,
        };
        let ty = ctx.0.library.program.type_named(&ty.name).expect("a type");
        let function = ctx.0.function(ty, operation, part);
        let mut results = ctx.0.results(function, |role| match role {
            FieldOf { index, .. } | Payload { index, .. } => parts[index].word(),
            role => panic!("{role:?}"),
        })?;
        Ok(results.remove(0))
    }

    fn call(ctx: &Context, entry: &EntryPoint, args: &mut [(Slot<C>, Mode)]) -> Result<Vec<Value>> {
        let mut entries = ctx.0.library.program.entries().iter();
        let number = entries.position(|other| other.name == entry.name);
        let function = number.expect("an entry point");
        let function = ctx.0.library.program.function_of_entry(function);
        let results = ctx.0.results(function, |role| match role {
            Argument { index, .. } => args[index].0.value.word(),
            role => panic!("{role:?}"),
        });
        for (slot, _) in args.iter_mut().filter(|(_, mode)| *mode == Mode::Consume) {
            slot.value = Value::Int(0);
        }
        results
    }

    fn restore(ctx: &Context, (ty, bytes): &Stored) -> Result<Value> {
        let restore = ctx.0.function(*ty, Operation::OpaqueRestore, None);
        ctx.0
            .made(*ty, ctx.0.raw(restore, |_| bytes.as_ptr() as usize))
    }

    fn batch(ctx: &Context, array: &Value, data: &[i64]) -> Result<Value> {
        let (shape, elements) = ctx.0.elements(array.handle())?;
        assert_eq!(elements, data);
        C::array(ctx, &[shape.iter().product()], &elements)
    }

    fn kind(value: &Value) -> Kind<'_> {
        match value {
            Value::Int(x) => Kind::Int(*x),
            Value::Handle(handle) => match &handle.ty().kind {
                TypeKind::Array(_) => Kind::Array,
                TypeKind::Opaque(opaque) => Kind::Opaque(opaque),
            },
        }
    }

    fn type_name(value: &Value) -> String {
        match value {
            Value::Int(_) => "i64".to_owned(),
            Value::Handle(handle) => handle.ty().name.clone(),
        }
    }

    fn elements(array: &Value) -> Result<model::Data> {
        let array = array.handle();
        let (shape, elements) = array.calls.elements(array)?;
        Ok(model::Data::Array(shape, elements))
    }

    fn view(array: &Value) -> Result<Option<Cow<'_, [i64]>>> {
        let array = array.handle();
        Ok(Some(array.calls.elements(array)?.1.into()))
    }

    fn copy(value: &Value) -> Result<Value> {
        let handle = value.handle();
        // A context that is not freed at the end.
        let ctx = std::mem::ManuallyDrop::new(Context(handle.calls));
        match handle.ty().kind {
            TypeKind::Array(_) => {
                let (shape, elements) = handle.calls.elements(handle)?;
                C::array(&ctx, &shape, &elements)
            }
            TypeKind::Opaque(_) => C::restore(&ctx, &C::store(value)?),
        }
    }

    fn store(opaque: &Value) -> Result<Stored> {
        let handle = opaque.handle();
        let store = handle
            .calls
            .function(handle.ty, Operation::OpaqueStore, None);
        let (mut bytes, mut count) = (std::ptr::null_mut::<u8>(), 0usize);
        handle
            .calls
            .check(handle.calls.raw(store, |role| match role {
                Bytes => &raw mut bytes as usize,
                ByteCount => &raw mut count as usize,
                _ => handle.word,
            }))?;
        // SAFETY: the function allocated them, and the caller frees them.
        unsafe {
            let copy = std::slice::from_raw_parts(bytes, count).to_vec();
            free(bytes.cast());
            Ok((handle.ty, copy))
        }
    }

    fn project(opaque: &Value, field: &Field) -> Result<Value> {
        let handle = opaque.handle();
        let mut functions = handle.calls.library.program.functions_of(handle.ty);
        let function = functions.find(|function| function.name == field.project);
        let function = function.expect("a field");
        Ok(handle.results(function.operation, function.part)?.remove(0))
    }

    fn variant(sum: &Value) -> Result<String> {
        let handle = sum.handle();
        let variant = handle
            .calls
            .function(handle.ty, Operation::SumVariant, None);
        let number: i32 = handle.calls.raw(variant, |_| handle.word);
        let variants = &handle.ty().as_sum().expect("a sum").variants;
        match usize::try_from(number) {
            Ok(number) => Ok(variants[number].name.clone()),
            Err(_) => Err(handle.calls.failure(None)),
        }
    }

    fn destruct(sum: &Value, variant: &str) -> Result<Vec<Value>> {
        let handle = sum.handle();
        let part = variant_number(handle.ty(), variant);
        handle.results(Operation::SumDestruct, Some(part))
    }

    fn count(array: &Value) -> Result<i64> {
        let handle = array.handle();
        Ok(handle.calls.shape(handle, Operation::OpaqueArrayShape)?[0] as i64)
    }

    fn index(array: &Value, i: i64) -> Result<Value> {
        let handle = array.handle();
        let index = handle
            .calls
            .function(handle.ty, Operation::OpaqueArrayIndex, None);
        let mut results = handle.calls.results(index, |role| match role {
            Index(_) => i as usize,
            _ => handle.word,
        })?;
        Ok(results.remove(0))
    }
}

fn variant_number(ty: &Type, variant: &str) -> usize {
    let mut variants = ty.as_sum().expect("a sum").variants.iter();
    let number = variants.position(|other| other.name == variant);
    number.expect("a variant")
}
