//! A user: a sequence of operations on contexts and values through one of the interfaces, each compared with the model.

use std::any::Any;
use std::fmt::Arguments;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};

use futhark_manifest::{Field, Structure, TypeKind, TypeRef};
use futhark_safe::Backend;

use crate::c::C;
use crate::face::{Face, Kind, Result, Rust, read, read_parts};
use crate::model::{self, Class, Data, Outcome};
use Class::{Argument, Foreign, Lost};

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
static EXCHANGE: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);

fn note(text: Arguments<'_>) {
    if VERBOSE.load(Relaxed) {
        println!("{text}");
    }
}

/// A context. Users on several threads can have values of it.
struct Home<F: Face> {
    library: &'static F::Library,
    /// The index of its program.
    program: usize,
    ctx: F::Context,
    /// Whether a call that can lose the context has started, and whether one has lost it.
    losing: AtomicBool,
    lost: AtomicBool,
    /// On a GPU: for each wait, whether pending work has failed. A pending value has the number of the next wait.
    waits: Mutex<Vec<bool>>,
}

impl<F: Face> Home<F> {
    fn backend(&self) -> Backend {
        F::backend(self.library)
    }

    fn waits(&self) -> MutexGuard<'_, Vec<bool>> {
        self.waits.lock().expect("no user panics with it")
    }

    /// Waits for pending work.
    fn wait(&self) -> Result<()> {
        let waited = F::sync(&self.ctx);
        if self.backend().is_gpu() {
            self.waits().push(waited.is_err());
        }
        waited
    }

    /// Waits for calls that succeed, and runs an operation.
    fn attempt<T>(&self, classes: &[Class], run: impl FnOnce() -> Result<T>) -> Option<T> {
        if self.backend().is_gpu() {
            self.wait().expect("all pending work succeeds");
        }
        self.attempt_call(classes, run)
    }

    /// Runs an operation, which must fail with one of these classes, or succeed if there are none. In a lost context
    /// it must fail.
    fn attempt_call<T>(&self, classes: &[Class], run: impl FnOnce() -> Result<T>) -> Option<T> {
        let was_lost = self.lost.load(SeqCst);
        self.losing.fetch_or(classes.contains(&Lost), SeqCst);
        let error = match run() {
            Ok(value) => {
                assert!(!was_lost && classes.is_empty(), "success, not {classes:?}");
                return Some(value);
            }
            Err(error) => error,
        };
        note(format_args!("    {error:?}"));
        // Another thread can lose the context at any time, which leaves arguments of calls in either state.
        let losing = self.losing.load(SeqCst);
        let is_expected = match error.is(Lost) {
            true => losing,
            false if losing && (error.is(Argument) || error.is(Foreign)) => true,
            false => classes.iter().any(|&class| error.is(class)),
        };
        assert!(is_expected, "expected {classes:?}, got {error:?}");
        if error.is(Lost) && !self.lost.swap(true, SeqCst) {
            LOST.fetch_add(1, Relaxed);
        }
        None
    }
}

/// The context is freed before the last of its values.
pub struct Slot<F: Face> {
    home: Arc<Home<F>>,
    pub value: F::Value,
    data: Data,
    /// Whether a call consumed the value by `&mut`.
    spent: bool,
    /// The number of the wait that completes the value, or after which it is invalid.
    pending: Option<usize>,
}

impl<F: Face> Slot<F> {
    fn new(home: &Arc<Home<F>>, value: F::Value, data: Data) -> Slot<F> {
        note(format_args!("    {data:?}"));
        Slot {
            home: Arc::clone(home),
            value,
            data,
            spent: false,
            pending: None,
        }
    }

    fn is_int(&self) -> bool {
        matches!(F::kind(&self.value), Kind::Int(_))
    }

    /// Whether the value can be an argument of this type.
    fn fits(&self, home: &Arc<Home<F>>, ty: TypeRef) -> bool {
        let name = F::program(home.library).name_of(ty);
        self.misuse(home).is_empty() && F::type_name(&self.value) == name
    }

    /// The errors of an operation of a context that reads the value.
    fn misuse(&self, home: &Arc<Home<F>>) -> Vec<Class> {
        let foreign = (!Arc::ptr_eq(&self.home, home)).then_some(Foreign);
        let spent = self.spent.then_some(Argument);
        let waited = self.pending.and_then(|n| self.home.waits().get(n).copied());
        let invalid = (waited == Some(true)).then_some(Class::Program);
        foreign.into_iter().chain(spent).chain(invalid).collect()
    }

    /// Compares the content with the model's.
    fn check(&self) {
        // An empty array can be read in a lost context, too.
        let read = || F::sync(&self.home.ctx).and_then(|()| read::<F>(&self.value));
        if let Some(found) = self.home.attempt(&self.misuse(&self.home), read) {
            assert_eq!(found, self.data);
        }
    }
}

/// How a call gets an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Borrow,
    Consume,
    ConsumeMut,
}

pub struct User<F: Face> {
    /// Those of each program.
    libraries: &'static [Vec<F::Library>],
    contexts: Vec<Arc<Home<F>>>,
    slots: Vec<Slot<F>>,
    /// Each with the index of its program.
    pub stored: Vec<(F::Stored, usize, Data)>,
}

/// Runs the operations of a single user through each interface.
pub fn run(operations: &[u8]) {
    run_through::<Rust>(crate::linked(), operations);
    run_through::<C>(crate::opened(), operations);
}

pub fn run_through<F: Face>(libraries: &'static [Vec<F::Library>], operations: &[u8]) {
    *EXCHANGE.lock().expect("no user panics with it") = None;
    User::<F>::new(libraries).run(operations);
}

impl<F: Face> User<F> {
    pub fn new(libraries: &'static [Vec<F::Library>]) -> User<F> {
        User {
            libraries,
            contexts: vec![],
            slots: vec![],
            stored: vec![],
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
    fn use_slot(
        &mut self,
        kind: &str,
        slot: Slot<F>,
        home: &Arc<Home<F>>,
        b: u8,
        next: &mut &[u8],
    ) {
        let (own, data) = (&slot.home, vec![slot.data.clone()]);
        let classes = slot.misuse(own);
        match (kind, F::kind(&slot.value)) {
            // The next operation is one of other values. On a GPU, there are no views.
            ("view", Kind::Array) if !own.backend().is_gpu() => {
                // A view needs no running context.
                let view = || F::sync(&own.ctx).and_then(|()| F::view(&slot.value));
                let view = own.attempt(&classes, view).flatten();
                self.step(next);
                assert!(view.is_none_or(|view| view == slot.data.ints()));
            }
            ("parts", Kind::Opaque(_)) => {
                let Data::Opaque(_, data) = &slot.data else {
                    panic!("expected an opaque value, got {:?}", slot.data)
                };
                let parts = || Ok(read_parts::<F>(&slot.value)?.1);
                self.expect(own, &classes, data.clone(), parts);
            }
            // A stored value can be restored by a context of any backend.
            ("store", Kind::Opaque(_)) => {
                let stored = own.attempt(&classes, || F::store(&slot.value));
                let stored = stored.map(|stored| (stored, own.program, slot.data.clone()));
                self.stored.splice(..0, stored);
                let which = b as usize % self.stored.len().max(1);
                if let Some((stored, program, data)) = self.stored.get(which).cloned()
                    && (program == home.program || F::HAS_TYPES)
                {
                    let classes = vec![Class::Bytes; (program != home.program).into()];
                    let run = || Ok(vec![F::restore(&home.ctx, &stored)?]);
                    self.expect(home, &classes, vec![data], run);
                }
            }
            ("batch", Kind::Array) => {
                let ints = slot.data.ints();
                self.expect(home, &slot.misuse(home), vec![Data::vector(ints)], || {
                    Ok(vec![F::batch(&home.ctx, &slot.value, ints)?])
                });
            }
            ("copy", _) => {
                self.expect(own, &classes, data, || Ok(vec![F::copy(&slot.value)?]));
            }
            // Another user would get the failure of a kernel.
            ("exchange", _) if !own.backend().is_gpu() => {
                let mut exchange = EXCHANGE.lock().expect("no user panics with it");
                // The value can be one of the other interface.
                let taken = exchange.replace(Box::new(slot));
                if let Some(Ok(taken)) = taken.map(|taken| taken.downcast::<Slot<F>>()) {
                    self.contexts.insert(0, Arc::clone(&taken.home));
                    self.slots.insert(0, *taken);
                }
                return;
            }
            ("drop", _) if b < 128 => {
                let dropped = std::thread::spawn(|| drop(slot));
                return dropped.join().expect("no value panics");
            }
            ("drop", _) => {
                self.contexts.retain(|other| !Arc::ptr_eq(other, home));
                home.attempt(&[], || F::clear_caches(&home.ctx));
            }
            _ => {}
        }
        self.slots.insert(0, slot);
    }

    /// Runs an operation, which must fail with one of these classes, or return values with this content.
    fn expect(
        &mut self,
        home: &Arc<Home<F>>,
        classes: &[Class],
        data: Vec<Data>,
        run: impl FnOnce() -> Result<Vec<F::Value>>,
    ) {
        if let Some(values) = home.attempt(classes, run) {
            self.keep(home, values, data, None);
        }
    }

    fn keep(
        &mut self,
        home: &Arc<Home<F>>,
        values: Vec<F::Value>,
        data: Vec<Data>,
        pending: Option<usize>,
    ) {
        assert_eq!(values.len(), data.len());
        for (value, data) in values.into_iter().zip(data) {
            let mut slot = Slot::new(home, value, data);
            slot.pending = pending;
            match slot.is_int() {
                true => slot.check(),
                false => self.slots.insert(0, slot),
            }
        }
    }

    fn start(&mut self, program: u8, backend: u8) {
        let program = program as usize % self.libraries.len();
        let libraries = &self.libraries[program];
        let library = &libraries[backend as usize % libraries.len()];
        note(format_args!("start {program} on {}", F::backend(library)));
        let ctx = F::start(library);
        let (losing, lost, waits) = Default::default();
        let home = Home {
            library,
            program,
            ctx,
            losing,
            lost,
            waits,
        };
        self.contexts.insert(0, Arc::new(home));
    }

    /// Calls an operation with arguments that mostly fit. Its parameters are types, and whether it consumes the argument.
    /// `late`: on a GPU, its results stay pending if it succeeds.
    fn apply(
        &mut self,
        home: &Arc<Home<F>>,
        parameters: &[(TypeRef, bool)],
        picks: &[u8],
        late: bool,
        model: impl FnOnce(&[Data]) -> Outcome,
        run: impl FnOnce(&mut [(Slot<F>, Mode)]) -> Result<Vec<F::Value>>,
    ) {
        let mut args = vec![];
        for (&(ty, consumed), &pick) in parameters.iter().zip(picks) {
            let mode = match pick % 16 {
                1..=4 => Mode::Consume,
                n @ 5.. if consumed || n == 5 => Mode::ConsumeMut,
                _ if consumed && !F::HAS_TYPES => Mode::ConsumeMut,
                _ => Mode::Borrow,
            };
            let slot = self.choose(home, ty, pick);
            note(format_args!("    {mode:?} {:?}", slot.data));
            args.push((slot, mode));
        }
        let mut classes = vec![Argument; parameters.len() - args.len()];
        for ((slot, mode), &(ty, consumed)) in args.iter().zip(parameters) {
            classes.extend(slot.misuse(home));
            // The number of the type can be another one in another context.
            let refused = !slot.fits(home, ty) || consumed && *mode == Mode::Borrow;
            classes.extend(refused.then_some(Argument));
        }
        let starts = classes.is_empty();
        let mut data: Vec<Data> = args.iter().map(|(slot, _)| slot.data.clone()).collect();
        if starts {
            match model(&data) {
                Ok(results) => data = results,
                Err(errors) => classes = errors,
            }
        }
        if home.backend().is_gpu() && classes.contains(&Lost) {
            return; // The memory of a lost context is leaked. In kernels, the quotient is any number.
        }
        let late = late && home.backend().is_gpu() && classes.is_empty() && !data[0].is_empty();
        let pending = late.then(|| home.waits().len());
        let results = home.attempt_call(&classes, || {
            let results = run(&mut args);
            if late {
                return results;
            }
            // Kernels of a call on a GPU can fail later.
            let waited = home.wait();
            results.and_then(|results| waited.map(|()| results))
        });
        if let Some(values) = results {
            self.keep(home, values, data, pending);
        }
        for ((mut slot, mode), (_, consumed)) in args.into_iter().zip(parameters) {
            slot.spent |= starts && *consumed && mode == Mode::ConsumeMut;
            if !slot.is_int() {
                self.slots.insert(0, slot);
            }
        }
    }

    /// Takes a value of a type, or makes one; sometimes it is any value.
    fn choose(&mut self, home: &Arc<Home<F>>, ty: TypeRef, pick: u8) -> Slot<F> {
        let has = self.slots.iter().any(|slot| slot.fits(home, ty));
        if let (false, TypeRef::Type(id)) = (has, ty) {
            self.make(home, id.index(), [pick / 4, pick / 8, pick / 16, pick]);
        }
        let (from, count) = (pick as usize / 8, self.slots.len());
        let mut all = (from..from + count).map(|i| i % count);
        let is_any = pick > 250 && (F::HAS_TYPES || ty.as_type().is_some());
        match all.find(|&i| is_any || self.slots[i].fits(home, ty)) {
            Some(i) => self.slots.remove(i),
            None => {
                let int = INTS[pick as usize % INTS.len()];
                Slot::new(home, int.into(), Data::Int(int))
            }
        }
    }

    fn call(&mut self, home: &Arc<Home<F>>, entry: u8, picks: [u8; 4], mistake: u8) {
        let entries = F::program(home.library).entries();
        let entry = &entries[entry as usize % entries.len()];
        let parameters = entry.inputs.iter().map(|i| (i.ty, i.is_consumed()));
        let parameters: Vec<_> = parameters.collect();
        let is_short = mistake == 255 && F::HAS_TYPES;
        let picks = if is_short { &picks[..1] } else { &picks };
        note(format_args!("call {}", entry.name));
        let model = |data: &[Data]| model::call(&entry.name, data);
        // Others start kernels only for some values.
        let late = mistake < 128 && ["divide", "paint", "replicate"].contains(&&*entry.name);
        self.apply(home, &parameters, picks, late, model, |args| {
            F::call(&home.ctx, entry, args)
        });
    }

    /// Uploads an array, or makes a record, a sum or an array of records.
    fn make(&mut self, home: &Arc<Home<F>>, ty: usize, picks: [u8; 4]) {
        let types = F::program(home.library).types();
        let ty = &types[ty % types.len()];
        let structure = match &ty.kind {
            TypeKind::Array(array) => {
                let shape = [picks[0] as usize % 6, picks[1] as usize % 6][..array.rank].to_vec();
                let int = |i| INTS[(picks[2] as usize + 5 * i) % INTS.len()];
                let elements: Vec<i64> = (0..shape.iter().product()).map(int).collect();
                let data = vec![Data::Array(shape.clone(), elements.clone())];
                let run = || Ok(vec![F::array(&home.ctx, &shape, &elements)?]);
                return self.expect(home, &[], data, run);
            }
            TypeKind::Opaque(opaque) => &opaque.structure,
        };
        let types = |fields: &[Field]| fields.iter().map(|field| (field.ty, false)).collect();
        let mut variant = None;
        let parts: Vec<_> = match structure {
            Structure::Sum(sum) => {
                let chosen = &sum.variants[picks[3] as usize % sum.variants.len()];
                variant = Some(chosen);
                chosen.payload.iter().map(|&ty| (ty, false)).collect()
            }
            Structure::Record(record) => types(&record.fields),
            Structure::RecordArray(array) => types(&array.fields),
            _ => return,
        };
        let is_array = ty.as_record_array().is_some();
        let name = variant.map(|variant| variant.name.clone());
        note(format_args!("make {} {name:?}", ty.name));
        let model = |data: &[Data]| match data {
            [a, b] if is_array && a.ints().len() != b.ints().len() => Err(vec![Class::Shapes]),
            _ => Ok(vec![Data::Opaque(name.clone(), data.to_vec())]),
        };
        self.apply(home, &parts, &picks, false, model, |args| {
            let parts: Vec<_> = args.iter().map(|(slot, _)| &slot.value).collect();
            Ok(vec![F::compose(&home.ctx, ty, variant, &parts)?])
        });
    }
}
