//! Hardened libraries as [`Face`]: only the functions of their headers, which the manifest names.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;

use futhark_manifest::c::ParameterRole::{self, Argument, ByteCount, Bytes, Data, Dimension};
use futhark_manifest::c::ParameterRole::{Field, Index, Output, Payload};
use futhark_manifest::{ArrayType, EntryPoint, Manifest, OpaqueType, Program, Structure};
use futhark_manifest::{Type, TypeId, TypeKind, TypeRef, Variant};
use futhark_safe::Backend;

use crate::face::{Face, Failure, Found, Kind, Part, Result};
use crate::model;
use crate::user::{Mode, Slot};

unsafe extern "C" {
    fn free(memory: *mut c_void);
}

/// A library, used on one of its backends.
pub struct Library {
    object: libloading::Library,
    program: Program,
    backend: Backend,
}

impl Library {
    /// Opens `libNAME.so`, which the build script has made.
    pub fn open(name: &str, backend: Backend) -> Library {
        let prefix = format!("{}/hardened", env!("OUT_DIR"));
        let manifest = std::fs::read_to_string(format!("{prefix}/{name}.json"));
        let manifest = Manifest::parse(&manifest.expect("the manifest of a library"));
        let program = manifest.and_then(|manifest| manifest.resolve());
        let program = program.expect("a valid manifest");
        // SAFETY: a hardened library has no code that runs when it is opened.
        let object = unsafe { libloading::Library::new(format!("{prefix}/lib{name}.so")) };
        let object = object.expect("a library");
        Library {
            object,
            program,
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
    fn call<R>(self, name: &str, mut word: impl FnMut(ParameterRole) -> usize) -> R {
        let mut functions = self.library.program.functions();
        let function = functions.find(|function| function.name == name);
        let prototype = self.library.program.prototype(&function.expect(name));
        let args = prototype.parameters.iter().map(|p| match p.role {
            ParameterRole::Context => self.ctx,
            role => word(role),
        });
        self.library.call(name, &args.collect::<Vec<_>>())
    }

    /// Calls a function with results.
    fn results(
        self,
        name: &str,
        mut word: impl FnMut(ParameterRole) -> usize,
    ) -> Result<Vec<Value>> {
        let (mut slots, mut types) = ([UNWRITTEN; 8], vec![]);
        let code = self.call(name, |role| match role {
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
        let results = types.into_iter().zip(slots);
        let results = results.map(|(ty, slot)| match ty {
            TypeRef::Scalar(_) => Value::Int(slot as i64),
            TypeRef::Type(ty) => self.value(ty, slot),
        });
        Ok(results.collect())
    }

    fn value(self, ty: TypeId, word: usize) -> Value {
        Value::Handle(Handle {
            calls: self,
            ty,
            word,
        })
    }

    /// The value that a function returned.
    fn made(self, ty: TypeId, word: usize) -> Result<Value> {
        match word {
            0 => Err(self.failure(None)),
            word => Ok(self.value(ty, word)),
        }
    }

    /// The arrays of a rank, or vectors, which all programs have.
    fn array_type(self, rank: usize) -> (TypeId, &'static ArrayType) {
        let program = &self.library.program;
        let ty = program.type_named(&("[]".repeat(rank) + "i64"));
        let ty = ty.or(program.type_named("[]i64")).expect("a type");
        (ty, program.get(ty).as_array().expect("an array"))
    }

    fn new_array(self, shape: &[usize], data: &[i64]) -> Result<Value> {
        let (ty, array) = self.array_type(shape.len());
        let made = self.call(&array.ops.new, |role| match role {
            Dimension(i) => shape[i],
            _ => data.as_ptr() as usize,
        });
        self.made(ty, made)
    }

    /// The shape and the elements of an array, which can be one of another context and program.
    fn elements(self, array: &Handle) -> Result<(Vec<usize>, Vec<i64>)> {
        let ops = &self.array_type(array.ty().rank()).1.ops;
        let shape = self.shape(&ops.shape, array)?;
        let mut elements = vec![0i64; shape.iter().product()];
        self.check(self.call(&ops.values, |role| match role {
            Data(_) => elements.as_mut_ptr() as usize,
            _ => array.word,
        }))?;
        Ok((shape, elements))
    }

    fn shape(self, name: &str, array: &Handle) -> Result<Vec<usize>> {
        let shape: *const i64 = self.call(name, |_| array.word);
        if shape.is_null() {
            return Err(self.failure(None));
        }
        // SAFETY: valid until the handle is freed.
        let shape = unsafe { std::slice::from_raw_parts(shape, array.ty().rank()) };
        Ok(shape.iter().map(|&n| n as usize).collect())
    }

    fn restore(self, (ty, bytes): &(TypeId, Vec<u8>)) -> Result<Value> {
        let ty_of = self.library.program.get(*ty);
        let ops = &ty_of.as_opaque().expect("an opaque type").ops;
        let restore = ops.restore.as_deref().expect("a function");
        self.made(*ty, self.call(restore, |_| bytes.as_ptr() as usize))
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

    fn opaque(&self) -> &'static OpaqueType {
        self.ty().as_opaque().expect("an opaque value")
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

/// Hardened libraries.
pub struct C;

impl Face for C {
    type Library = Library;
    type Context = Context;
    type Value = Value;
    type Stored = (TypeId, Vec<u8>);

    const HAS_TYPES: bool = false;

    fn program(library: &Library) -> &Program {
        &library.program
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
        ctx.0.new_array(shape, data)
    }

    fn compose(
        ctx: &Context,
        ty: &Type,
        variant: Option<&Variant>,
        parts: &[&Value],
    ) -> Result<Value> {
        let name = match &ty.as_opaque().expect("an opaque type").structure {
            Structure::Record(record) => &record.new,
            Structure::RecordArray(array) => &array.zip,
            _ => &variant.expect("a variant").construct,
        };
        let mut results = ctx.0.results(name, |role| match role {
            Field { index, .. } | Payload { index, .. } => parts[index].word(),
            role => panic!("{role:?}"),
        })?;
        Ok(results.remove(0))
    }

    fn call(ctx: &Context, entry: &EntryPoint, args: &mut [(Slot<C>, Mode)]) -> Result<Vec<Value>> {
        let results = ctx.0.results(&entry.cfun, |role| match role {
            Argument { index, .. } => args[index].0.value.word(),
            role => panic!("{role:?}"),
        });
        for (slot, _) in args.iter_mut().filter(|(_, mode)| *mode == Mode::Consume) {
            slot.value = Value::Int(0);
        }
        results
    }

    fn restore(ctx: &Context, stored: &(TypeId, Vec<u8>)) -> Result<Value> {
        ctx.0.restore(stored)
    }

    fn batch(ctx: &Context, array: &Value, data: &[i64]) -> Result<Value> {
        let (_, elements) = ctx.0.elements(array.handle())?;
        assert_eq!(elements, data);
        ctx.0.new_array(&[data.len()], &elements)
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
        let calls = value.handle().calls;
        match C::kind(value) {
            Kind::Opaque(_) => calls.restore(&C::store(value)?),
            _ => {
                let (shape, elements) = calls.elements(value.handle())?;
                calls.new_array(&shape, &elements)
            }
        }
    }

    fn store(value: &Value) -> Result<(TypeId, Vec<u8>)> {
        let handle = value.handle();
        let store = handle.opaque().ops.store.as_deref().expect("a function");
        let (mut bytes, mut count) = (std::ptr::null_mut::<u8>(), 0usize);
        handle
            .calls
            .check(handle.calls.call(store, |role| match role {
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

    fn variant(value: &Value) -> Result<String> {
        let handle = value.handle();
        let sum = handle.ty().as_sum().expect("a sum");
        let number: i32 = handle.calls.call(&sum.variant, |_| handle.word);
        match usize::try_from(number) {
            Ok(number) => Ok(sum.variants[number].name.clone()),
            Err(_) => Err(handle.calls.failure(None)),
        }
    }

    fn count(value: &Value) -> Result<i64> {
        let handle = value.handle();
        let array = handle.ty().as_opaque_array().expect("an array");
        Ok(handle.calls.shape(&array.shape, handle)?[0] as i64)
    }

    fn part(value: &Value, part: Part<'_>) -> Result<Vec<Value>> {
        let handle = value.handle();
        let (name, i) = match (part, &handle.opaque().structure) {
            (Part::Field(field), _) => (&field.project, 0),
            (Part::Payload(variant), _) => (&variant.destruct, 0),
            (Part::Element(i), Structure::OpaqueArray(array)) => (&array.index, i),
            _ => panic!("not an array"),
        };
        handle.calls.results(name, |role| match role {
            Index(_) => i as usize,
            _ => handle.word,
        })
    }
}
