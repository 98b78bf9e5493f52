//! A user: a sequence of operations on contexts and values, each compared with the model.

use std::fmt::Arguments;
use std::mem::replace;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use futhark_manifest::{Field, Structure, TypeKind, TypeRef};
use futhark_safe::dynamic::{Arg, Context, Library, Stored, Value};
use futhark_safe::{Backend, Config, ErrorKind, Result};

use crate::model::{self, Data, Outcome};
use ErrorKind::{ContextLost, InvalidArgument, WrongContext};

/// The bytes of an operation. All have the same number, so that a mutation of one keeps the others.
pub const OP: usize = 8;

/// The operations, of which the first byte of one chooses.
const KINDS: [&str; 16] = [
    "start", "make", "call", "call", "call", "call", "call", "call", "view", "parts", "parts",
    "store", "batch", "copy", "exchange", "drop",
];

/// Arguments for scalar parameters, and elements of arrays.
const INTS: [i64; 12] = [0, 1, 2, 3, 4, 7, -1, 1, 5, i64::MIN, i64::MAX, 1 << 46];

/// Whether operations are printed.
pub static VERBOSE: AtomicBool = AtomicBool::new(false);
pub static OPERATIONS: AtomicU64 = AtomicU64::new(0);
pub static LOST: AtomicU64 = AtomicU64::new(0);

/// A value that one user left for another.
static EXCHANGE: Mutex<Option<Slot>> = Mutex::new(None);

fn note(text: Arguments<'_>) {
    if VERBOSE.load(Relaxed) {
        println!("{text}");
    }
}

/// A context. Users on several threads can have values of it.
struct Home {
    ctx: Context,
    /// Whether a call that can lose the context has started, and whether one has lost it.
    losing: AtomicBool,
    lost: AtomicBool,
}

impl Home {
    /// Runs an operation, which must fail with one of these kinds, or succeed if there are none. In a lost context
    /// it must fail.
    fn attempt<T>(&self, kinds: &[ErrorKind], run: impl FnOnce() -> Result<T>) -> Option<T> {
        let was_lost = self.lost.load(SeqCst);
        self.losing.fetch_or(kinds.contains(&ContextLost), SeqCst);
        let error = match run() {
            Ok(value) => {
                assert!(!was_lost && kinds.is_empty(), "success, not {kinds:?}");
                return Some(value);
            }
            Err(error) => error,
        };
        note(format_args!("    {error:#}"));
        // Another thread can lose the context at any time, which leaves arguments of calls in either state.
        let losing = self.losing.load(SeqCst);
        let is_expected = match error.kind() {
            ContextLost => losing,
            InvalidArgument | WrongContext if losing => true,
            kind => kinds.contains(&kind),
        };
        assert!(is_expected, "expected {kinds:?}, got {error:?}");
        if error.kind() == ContextLost && !self.lost.swap(true, SeqCst) {
            LOST.fetch_add(1, Relaxed);
        }
        None
    }
}

struct Slot {
    home: Arc<Home>,
    value: Value,
    data: Data,
    /// Whether a call consumed the value by `&mut`.
    spent: bool,
}

impl Slot {
    fn new(home: &Arc<Home>, value: Value, data: Data) -> Slot {
        note(format_args!("    {data:?}"));
        let (home, spent) = (Arc::clone(home), false);
        Slot {
            home,
            value,
            data,
            spent,
        }
    }

    /// Whether the value can be an argument of this type.
    fn fits(&self, home: &Arc<Home>, ty: TypeRef) -> bool {
        let name = home.ctx.library().program().name_of(ty);
        self.misuse(home).is_empty() && self.value.type_name() == name
    }

    /// The errors of an operation of a context that reads the value.
    fn misuse(&self, home: &Arc<Home>) -> Vec<ErrorKind> {
        let foreign = (!Arc::ptr_eq(&self.home, home)).then_some(WrongContext);
        let spent = self.spent.then_some(InvalidArgument);
        foreign.into_iter().chain(spent).collect()
    }

    /// Compares the content with the model's.
    fn check(&self) {
        // An empty array can be read in a lost context, too.
        let read = || self.home.ctx.sync().and_then(|()| Data::read(&self.value));
        if let Some(found) = self.home.attempt(&self.misuse(&self.home), read) {
            assert_eq!(found, self.data);
        }
    }
}

/// How a call gets an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Borrow,
    Consume,
    ConsumeMut,
}

#[derive(Default)]
pub struct User {
    /// Those of each program.
    libraries: &'static [Vec<Library>],
    contexts: Vec<Arc<Home>>,
    slots: Vec<Slot>,
    /// Each with the program's identity.
    pub stored: Vec<(Stored, &'static str, Data)>,
}

/// Runs the operations of a single user.
pub fn run(operations: &[u8]) {
    *EXCHANGE.lock().expect("no user panics with it") = None;
    User::new(crate::linked()).run(operations);
}

impl User {
    pub fn new(libraries: &'static [Vec<Library>]) -> User {
        User {
            libraries,
            ..User::default()
        }
    }

    pub fn run(&mut self, operations: &[u8]) {
        let mut next = operations;
        while self.step(&mut next) {}
        self.slots.iter().for_each(Slot::check);
    }

    /// Runs the next operation; `false` if there is none.
    fn step(&mut self, next: &mut &[u8]) -> bool {
        let Some((&[kind, a, b, c, d, e, f, g], rest)) = next.split_first_chunk::<OP>() else {
            return false;
        };
        *next = rest;
        OPERATIONS.fetch_add(1, Relaxed);
        if self.contexts.is_empty() || kind % 16 == 0 {
            self.start(a, b);
        }
        let home = Arc::clone(&self.contexts[a as usize % self.contexts.len()]);
        match KINDS[kind as usize % 16] {
            "start" | "make" => self.make(&home, b.into(), [c, d, e, f]),
            "call" => self.call(&home, b, [c, d, e, f], g),
            _ if self.slots.is_empty() => {}
            kind => {
                let slot = self.slots.remove(a as usize % self.slots.len());
                note(format_args!("{kind} {:?}, {b}", slot.data));
                self.use_slot(kind, slot, &home, b, next);
            }
        }
        self.slots.truncate(24);
        self.stored.truncate(24);
        self.contexts.truncate(4);
        true
    }

    /// Runs an operation of a value.
    fn use_slot(&mut self, kind: &str, slot: Slot, home: &Arc<Home>, b: u8, next: &mut &[u8]) {
        let (own, data) = (&slot.home, vec![slot.data.clone()]);
        let kinds = slot.misuse(own);
        match (kind, &slot.value) {
            // The next operation is one of other values.
            ("view", Value::Array(array)) => {
                // A view needs no running context.
                let view = || own.ctx.sync().and_then(|()| array.view::<i64>());
                let view = own.attempt(&kinds, view).flatten();
                self.step(next);
                assert!(view.is_none_or(|view| view == slot.data.ints()));
            }
            ("parts", Value::Opaque(opaque)) => {
                let Data::Opaque(_, data) = &slot.data else {
                    panic!("expected {opaque:?}, got {:?}", slot.data)
                };
                self.expect(own, &kinds, data.clone(), || model::read_parts(opaque));
            }
            // A stored value can be restored by a context of any backend.
            ("store", Value::Opaque(opaque)) => {
                let stored = own.attempt(&kinds, || opaque.store());
                let program = own.ctx.library().program_id();
                let stored = stored.map(|stored| (stored, program, slot.data.clone()));
                self.stored.splice(..0, stored);
                let which = b as usize % self.stored.len().max(1);
                let Some((stored, program, data)) = self.stored.get(which).cloned() else {
                    return;
                };
                let foreign = program != home.ctx.library().program_id();
                let kinds = vec![ErrorKind::Restore; foreign.into()];
                let run = || Ok(vec![home.ctx.restore(&stored)?.into()]);
                self.expect(home, &kinds, vec![data], run);
            }
            ("batch", Value::Array(array)) => {
                let (ints, mut read) = (slot.data.ints(), vec![0; slot.data.ints().len()]);
                self.expect(home, &slot.misuse(home), vec![Data::vector(ints)], || {
                    let new = home.ctx.batch(|batch| {
                        batch.read_into(array, &mut read)?;
                        batch.array(ints)
                    })?;
                    assert_eq!(read, ints);
                    Ok(vec![new.into()])
                });
            }
            ("copy", Value::Array(array)) => {
                self.expect(own, &kinds, data, || Ok(vec![array.try_clone()?.into()]));
            }
            ("copy", Value::Opaque(opaque)) => {
                self.expect(own, &kinds, data, || Ok(vec![opaque.try_clone()?.into()]));
            }
            // Another user would get the failure of a kernel.
            ("exchange", _) if !own.ctx.library().backend().is_gpu() => {
                let mut exchange = EXCHANGE.lock().expect("no user panics with it");
                if let Some(taken) = exchange.replace(slot) {
                    self.contexts.insert(0, Arc::clone(&taken.home));
                    self.slots.insert(0, taken);
                }
                return;
            }
            ("drop", _) if b < 128 => {
                let dropped = std::thread::spawn(|| drop(slot));
                return dropped.join().expect("no value panics");
            }
            ("drop", _) => {
                self.contexts.retain(|other| !Arc::ptr_eq(other, home));
                home.attempt(&[], || home.ctx.clear_caches());
            }
            _ => {}
        }
        self.slots.insert(0, slot);
    }

    /// Runs an operation, which must fail with one of these kinds, or return values with this content.
    fn expect(
        &mut self,
        home: &Arc<Home>,
        kinds: &[ErrorKind],
        data: Vec<Data>,
        run: impl FnOnce() -> Result<Vec<Value>>,
    ) {
        if let Some(values) = home.attempt(kinds, run) {
            assert_eq!(values.len(), data.len());
            for (value, data) in values.into_iter().zip(data) {
                let slot = Slot::new(home, value, data);
                match slot.value {
                    Value::Scalar(_) => slot.check(),
                    _ => self.slots.insert(0, slot),
                }
            }
        }
    }

    fn start(&mut self, program: u8, backend: u8) {
        let program = program as usize % self.libraries.len();
        let libraries = &self.libraries[program];
        let library = &libraries[backend as usize % libraries.len()];
        note(format_args!("start {program} on {}", library.backend()));
        let config = match library.backend() {
            Backend::Multicore => Config::new().num_threads(2),
            _ => Config::new(),
        };
        let ctx = Context::new(library, &config).expect("a context starts");
        let (losing, lost) = Default::default();
        self.contexts
            .insert(0, Arc::new(Home { ctx, losing, lost }));
    }

    /// Calls an operation with arguments that mostly fit. Its parameters are types, and whether it consumes the argument.
    fn apply(
        &mut self,
        home: &Arc<Home>,
        parameters: &[(TypeRef, bool)],
        picks: &[u8],
        model: impl FnOnce(&[Data]) -> Outcome,
        run: impl FnOnce(&mut [(Slot, Mode)]) -> Result<Vec<Value>>,
    ) {
        let mut args = vec![];
        for (&(ty, consumed), &pick) in parameters.iter().zip(picks) {
            let mode = match pick % 16 {
                1..=4 => Mode::Consume,
                n @ 5.. if consumed || n == 5 => Mode::ConsumeMut,
                _ => Mode::Borrow,
            };
            let slot = self.choose(home, ty, pick);
            note(format_args!("    {mode:?} {:?}", slot.data));
            args.push((slot, mode));
        }
        let mut kinds = vec![InvalidArgument; parameters.len() - args.len()];
        for ((slot, mode), &(ty, consumed)) in args.iter().zip(parameters) {
            kinds.extend(slot.misuse(home));
            // The number of the type can be another one in another context.
            let refused = !slot.fits(home, ty) || consumed && *mode == Mode::Borrow;
            kinds.extend(refused.then_some(InvalidArgument));
        }
        let starts = kinds.is_empty();
        let mut data: Vec<Data> = args.iter().map(|(slot, _)| slot.data.clone()).collect();
        if starts {
            match model(&data) {
                Ok(results) => data = results,
                Err(errors) => kinds = errors,
            }
        }
        if home.ctx.library().backend().is_gpu() && kinds.contains(&ContextLost) {
            return; // The memory of a lost context is leaked. In kernels, the quotient is any number.
        }
        self.expect(home, &kinds, data, || run(&mut args));
        for ((mut slot, mode), (_, consumed)) in args.into_iter().zip(parameters) {
            slot.spent |= starts && *consumed && mode == Mode::ConsumeMut;
            if !matches!(slot.value, Value::Scalar(_)) {
                self.slots.insert(0, slot);
            }
        }
    }

    /// Takes a value of a type, or makes one; sometimes it is any value.
    fn choose(&mut self, home: &Arc<Home>, ty: TypeRef, pick: u8) -> Slot {
        let has = self.slots.iter().any(|slot| slot.fits(home, ty));
        if let (false, TypeRef::Type(id)) = (has, ty) {
            self.make(home, id.index(), [pick / 4, pick / 8, pick / 16, pick]);
        }
        let (from, count) = (pick as usize / 8, self.slots.len());
        let mut all = (from..from + count).map(|i| i % count);
        match all.find(|&i| pick > 250 || self.slots[i].fits(home, ty)) {
            Some(i) => self.slots.remove(i),
            None => {
                let int = INTS[pick as usize % INTS.len()];
                Slot::new(home, int.into(), Data::Int(int))
            }
        }
    }

    fn call(&mut self, home: &Arc<Home>, entry: u8, picks: [u8; 4], mistake: u8) {
        let entries = home.ctx.library().program().entries();
        let entry = &entries[entry as usize % entries.len()];
        let parameters = entry.inputs.iter().map(|i| (i.ty, i.is_consumed()));
        let parameters: Vec<_> = parameters.collect();
        let picks = if mistake == 255 { &picks[..1] } else { &picks };
        note(format_args!("call {}", entry.name));
        let model = |data: &[Data]| model::call(&entry.name, data);
        self.apply(home, &parameters, picks, model, |args| {
            let args = args.iter_mut().map(|(slot, mode)| match mode {
                Mode::Borrow => Arg::Borrow(&slot.value),
                Mode::Consume => Arg::Consume(replace(&mut slot.value, 0i64.into())),
                Mode::ConsumeMut => Arg::ConsumeMut(&mut slot.value),
            });
            let results = home.ctx.call(&entry.name, args.collect())?;
            home.ctx.sync()?; // A call on a GPU can fail later.
            Ok(results)
        });
    }

    /// Uploads an array, or makes a record, a sum or an array of records.
    fn make(&mut self, home: &Arc<Home>, ty: usize, picks: [u8; 4]) {
        let types = home.ctx.library().program().types();
        let ty = &types[ty % types.len()];
        let structure = match &ty.kind {
            TypeKind::Array(array) => {
                let shape = [picks[0] as usize % 6, picks[1] as usize % 6][..array.rank].to_vec();
                let int = |i| INTS[(picks[2] as usize + 5 * i) % INTS.len()];
                let elements: Vec<i64> = (0..shape.iter().product()).map(int).collect();
                let data = vec![Data::Array(shape.clone(), elements.clone())];
                let run = || Ok(vec![home.ctx.array_nd(&shape, &elements)?.into()]);
                return self.expect(home, &[], data, run);
            }
            TypeKind::Opaque(opaque) => &opaque.structure,
        };
        let types = |fields: &[Field]| fields.iter().map(|field| (field.ty, false)).collect();
        let mut variant = None;
        let parts: Vec<_> = match structure {
            Structure::Sum(sum) => {
                let chosen = &sum.variants[picks[3] as usize % sum.variants.len()];
                variant = Some(chosen.name.clone());
                chosen.payload.iter().map(|&ty| (ty, false)).collect()
            }
            Structure::Record(record) => types(&record.fields),
            Structure::RecordArray(array) => types(&array.fields),
            _ => return,
        };
        let is_array = ty.as_record_array().is_some();
        note(format_args!("make {} {variant:?}", ty.name));
        let model = |data: &[Data]| match data {
            [a, b] if is_array && a.ints().len() != b.ints().len() => Err(vec![InvalidArgument]),
            _ => Ok(vec![Data::Opaque(variant.clone(), data.to_vec())]),
        };
        self.apply(home, &parts, &picks, model, |args| {
            let parts: Vec<&Value> = args.iter().map(|(slot, _)| &slot.value).collect();
            let made = match &variant {
                Some(variant) => home.ctx.sum(&ty.name, variant, &parts),
                None if is_array => home.ctx.zip(&ty.name, &parts),
                None => home.ctx.record(&ty.name, &parts),
            };
            Ok(vec![made?.into()])
        });
    }
}
