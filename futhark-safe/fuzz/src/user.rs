//! A user: a sequence of operations on contexts and values, each compared with the model.

use std::fmt::Arguments;
use std::mem::replace;
use std::slice::ChunksExact;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};

use futhark_manifest::{Structure, TypeKind, TypeRef};
use futhark_safe::dynamic::{Arg, Context, Library, Stored, Value};
use futhark_safe::{Backend, Config, ErrorKind, Result};

use crate::model::{self, Data};
use ErrorKind::{ContextLost, InvalidArgument, WrongContext};

/// The bytes of an operation. All have the same number, so that a mutation of one keeps the others.
pub const OP: usize = 8;

const MOST_SLOTS: usize = 24;
const MOST_CONTEXTS: usize = 4;

/// Arguments for scalar parameters, and elements of arrays.
const INTS: [i64; 16] = [
    0,
    1,
    2,
    3,
    4,
    7,
    -1,
    999,
    1,
    i64::MIN,
    i64::MAX,
    1 << 46,
    5,
    -2,
    2,
    0,
];

/// Whether operations are printed.
pub static VERBOSE: AtomicBool = AtomicBool::new(false);
pub static OPERATIONS: AtomicU64 = AtomicU64::new(0);
pub static ERRORS: AtomicU64 = AtomicU64::new(0);
pub static LOST: AtomicU64 = AtomicU64::new(0);

/// Values that one user left for others.
static EXCHANGE: Mutex<Vec<Slot>> = Mutex::new(vec![]);

fn exchange() -> MutexGuard<'static, Vec<Slot>> {
    EXCHANGE.lock().expect("no user panics with it")
}

fn note(text: Arguments<'_>) {
    if VERBOSE.load(Relaxed) {
        println!("{text}");
    }
}

/// A context. Users on several threads can have values of it.
struct Home {
    ctx: Context,
    program: usize,
    /// Whether a call that can lose the context has started, and whether one has lost it.
    losing: AtomicBool,
    lost: AtomicBool,
}

impl Home {
    fn is_gpu(&self) -> bool {
        self.ctx.library().backend().is_gpu()
    }

    /// Runs an operation, which must fail with one of these kinds, or succeed if there are none. In a lost context
    /// it must fail.
    fn attempt<T>(&self, kinds: &[ErrorKind], run: impl FnOnce() -> Result<T>) -> Option<T> {
        let was_lost = self.lost.load(SeqCst);
        self.losing.fetch_or(kinds.contains(&ContextLost), SeqCst);
        let error = match run() {
            Ok(value) => {
                assert!(!was_lost, "success in a lost context");
                assert!(kinds.is_empty(), "success instead of {kinds:?}");
                return Some(value);
            }
            Err(error) => error,
        };
        note(format_args!("    {error:#}"));
        ERRORS.fetch_add(1, Relaxed);
        // Another thread can lose the context at any time, which leaves arguments of calls in either state.
        let losing = self.losing.load(SeqCst);
        let is_expected = match error.kind() {
            ContextLost => losing,
            InvalidArgument | WrongContext if losing => true,
            kind => kinds.contains(&kind),
        };
        assert!(
            is_expected,
            "expected {kinds:?}, got {:?}: {error:#}",
            error.kind()
        );
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
    /// Whether the value can be an argument of this type.
    fn fits(&self, home: &Arc<Home>, ty: &str) -> bool {
        !self.spent && self.value.type_name() == ty && Arc::ptr_eq(&self.home, home)
    }

    /// Runs an operation that reads the value, with the error that it must have.
    fn attempt<T>(&self, error: Option<ErrorKind>, run: impl FnOnce() -> Result<T>) -> Option<T> {
        let error = error.or(self.spent.then_some(InvalidArgument));
        self.home.attempt(error.as_slice(), run)
    }

    /// Compares the content with the model's.
    fn check(&self) {
        // The length of an empty array can be read in a lost context, too.
        let sync = || self.home.ctx.sync();
        if let Some(found) = self.attempt(None, || sync().and_then(|()| Data::read(&self.value))) {
            assert_eq!(found, self.data);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Borrow,
    Consume,
    ConsumeMut,
}

/// An argument: a scalar, or the value of a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    Int(i64),
    Slot(usize, Mode),
}

impl Choice {
    fn slot(self) -> Option<usize> {
        match self {
            Choice::Int(_) => None,
            Choice::Slot(i, _) => Some(i),
        }
    }
}

/// The types of parameters, and whether a call consumes the argument.
type Parameters<'a> = Vec<(&'a str, bool)>;

pub struct User<'a> {
    /// Those of each program.
    libraries: &'a [Vec<Library>],
    contexts: Vec<Arc<Home>>,
    slots: Vec<Slot>,
    stored: Vec<(Stored, usize, Data)>,
}

/// Runs the operations of a single user on the host backends.
pub fn run(operations: &[u8]) {
    exchange().clear(); // A run that panicked left values.
    User::new(crate::linked()).run(operations);
    exchange().clear();
}

impl<'a> User<'a> {
    pub fn new(libraries: &'a [Vec<Library>]) -> User<'a> {
        let (contexts, slots, stored) = Default::default();
        User {
            libraries,
            contexts,
            slots,
            stored,
        }
    }

    pub fn run(&mut self, operations: &[u8]) {
        let mut operations = operations.chunks_exact(OP);
        while self.step(&mut operations) {}
        self.slots.iter().for_each(Slot::check);
    }

    /// The values that it stored, each with the number of its program.
    pub fn stored(&self) -> impl Iterator<Item = (&Stored, usize)> {
        self.stored
            .iter()
            .map(|(stored, program, _)| (stored, *program))
    }

    /// Runs the next operation; `false` if there is none.
    fn step(&mut self, operations: &mut ChunksExact<'_, u8>) -> bool {
        let Some(&[kind, a, b, c, d, e, f, g]) = operations.next() else {
            return false;
        };
        OPERATIONS.fetch_add(1, Relaxed);
        if self.contexts.is_empty() || kind % 16 == 0 {
            self.start(a, b);
        }
        let home = Arc::clone(&self.contexts[a as usize % self.contexts.len()]);
        let slot = a as usize % self.slots.len().max(1);
        match kind % 16 {
            2..=7 => self.call(&home, b, &[c, d, e, f], g),
            8 => self.restore(&home, b),
            9.. if !self.slots.is_empty() => match kind % 16 {
                9 => self.part(slot, b, c),
                10 => self.store(slot),
                11 => self.batch(&home, slot, b),
                12 => self.view(slot, operations),
                13 => self.give_up(slot, b),
                14 => self.copy(slot),
                _ => self.inspect(slot, b),
            },
            _ => self.make(&home, b.into(), [c, d, e, f]),
        }
        let surplus = self.slots.len().saturating_sub(MOST_SLOTS);
        self.slots.drain(..surplus);
        true
    }

    fn push(&mut self, home: &Arc<Home>, value: Value, data: Data) {
        if let Value::Scalar(_) = value {
            return assert_eq!(Data::read(&value).expect("a scalar"), data);
        }
        note(format_args!("    v{} = {data:?}", self.slots.len()));
        let (home, spent) = (Arc::clone(home), false);
        self.slots.push(Slot {
            home,
            value,
            data,
            spent,
        });
    }

    fn start(&mut self, program: u8, backend: u8) {
        let program = program as usize % self.libraries.len();
        let libraries = &self.libraries[program];
        let library = &libraries[backend as usize % libraries.len()];
        let config = match library.backend() {
            Backend::Multicore => Config::new().num_threads(2),
            _ => Config::new(),
        };
        note(format_args!(
            "start program {program} on {}",
            library.backend()
        ));
        let ctx = Context::new(library, &config).expect("a context starts");
        let (losing, lost) = Default::default();
        self.adopt(Arc::new(Home {
            ctx,
            program,
            losing,
            lost,
        }));
    }

    fn adopt(&mut self, home: Arc<Home>) {
        self.contexts.retain(|other| !Arc::ptr_eq(other, &home));
        self.contexts.push(home);
        let surplus = self.contexts.len().saturating_sub(MOST_CONTEXTS);
        self.contexts.drain(..surplus);
    }

    /// Chooses arguments that mostly fit.
    fn choose(
        &mut self,
        home: &Arc<Home>,
        parameters: &Parameters<'_>,
        picks: &[u8],
    ) -> Vec<Choice> {
        let mut choices = vec![];
        for (&(ty, consumed), &pick) in parameters.iter().zip(picks) {
            let n = pick as usize / 4;
            let mode = match pick % 4 {
                _ if n == 57 => Mode::Borrow,
                1 => Mode::Consume,
                2 => Mode::ConsumeMut,
                _ if consumed => Mode::ConsumeMut,
                _ => Mode::Borrow,
            };
            let candidates = |slots: &[Slot], choices: &[Choice]| -> Vec<usize> {
                let fits = |slot: &Slot| slot.fits(home, ty) || n > 57;
                let used = |i| choices.iter().any(|choice| choice.slot() == Some(i));
                let all = 0..slots.len();
                all.filter(|&i| fits(&slots[i]) && !used(i)).collect()
            };
            let mut found = candidates(&self.slots, &choices);
            let id = home.ctx.library().program().type_named(ty);
            if let (true, Some(id)) = (found.is_empty(), id) {
                self.make(home, id.index(), [pick / 4, pick / 8, pick / 16, pick]);
                found = candidates(&self.slots, &choices);
            }
            choices.push(match found.len() {
                _ if ty == "i64" => Choice::Int(INTS[n % INTS.len()]),
                0 => Choice::Int(0),
                count => Choice::Slot(found[n % count], mode),
            });
        }
        choices
    }

    /// The kinds of errors by which a call with these arguments is refused; none if they fit.
    fn mistakes(
        &self,
        home: &Arc<Home>,
        parameters: &Parameters<'_>,
        choices: &[Choice],
    ) -> Vec<ErrorKind> {
        let mut mistakes = vec![];
        mistakes.extend((choices.len() != parameters.len()).then_some(InvalidArgument));
        for (&(ty, consumed), choice) in parameters.iter().zip(choices) {
            let Choice::Slot(i, mode) = *choice else {
                mistakes.extend((ty != "i64").then_some(InvalidArgument));
                continue;
            };
            // The number of the type can be another one in another context.
            let slot = &self.slots[i];
            let foreign = !Arc::ptr_eq(&slot.home, home);
            mistakes.extend(foreign.then_some(WrongContext));
            let borrowed = consumed && mode == Mode::Borrow;
            mistakes.extend((borrowed || !slot.fits(home, ty)).then_some(InvalidArgument));
        }
        mistakes
    }

    fn data(&self, choices: &[Choice]) -> Vec<Data> {
        let data = |choice: &Choice| match *choice {
            Choice::Int(x) => Data::Int(x),
            Choice::Slot(i, _) => self.slots[i].data.clone(),
        };
        choices.iter().map(data).collect()
    }

    fn call(&mut self, home: &Arc<Home>, entry: u8, picks: &[u8], mistake: u8) {
        let program = home.ctx.library().program();
        let entry = &program.entries()[entry as usize % program.entries().len()];
        let inputs = entry.inputs.iter();
        let inputs = inputs.map(|input| (program.name_of(input.ty), input.is_consumed()));
        let parameters: Parameters<'_> = inputs.collect();
        let mut choices = self.choose(home, &parameters, picks);
        choices.truncate(if mistake == 255 { 1 } else { 4 });
        let mistakes = self.mistakes(home, &parameters, &choices);
        note(format_args!("{} {choices:?}", entry.name));
        let expected = match mistakes.is_empty() {
            true => model::call(&entry.name, &self.data(&choices)),
            false => mistakes.into(),
        };
        if home.is_gpu() && expected.kinds.contains(&ContextLost) {
            return; // The memory of a lost context is leaked. In kernels, the quotient is any number.
        }
        let results = self.with_values(&choices, |values| {
            let args = values
                .iter_mut()
                .zip(&choices)
                .map(|(value, choice)| match choice {
                    Choice::Slot(_, Mode::ConsumeMut) => Arg::ConsumeMut(value),
                    Choice::Slot(_, Mode::Consume) => Arg::Consume(replace(value, 0i64.into())),
                    _ => Arg::Borrow(value),
                });
            let args = args.collect();
            home.attempt(&expected.kinds, || {
                let results = home.ctx.call(&entry.name, args)?;
                if home.is_gpu() {
                    home.ctx.sync()?; // A call can fail later.
                }
                Ok(results)
            })
        });
        for (choice, (_, consumed)) in choices.iter().zip(parameters) {
            if let Choice::Slot(i, Mode::ConsumeMut) = *choice {
                self.slots[i].spent |= consumed && expected.starts;
            }
        }
        self.slots
            .retain(|slot| !matches!(slot.value, Value::Scalar(_)));
        if let Some(results) = results {
            assert_eq!(results.len(), expected.results.len());
            let results = results.into_iter().zip(expected.results);
            results.for_each(|(value, data)| self.push(home, value, data));
        }
    }

    /// Runs an operation on the values of arguments. It can replace a value by a scalar.
    fn with_values<R>(&mut self, choices: &[Choice], run: impl FnOnce(&mut [Value]) -> R) -> R {
        let take = |choice: &Choice| match *choice {
            Choice::Int(x) => x.into(),
            Choice::Slot(i, _) => replace(&mut self.slots[i].value, 0i64.into()),
        };
        let mut values: Vec<Value> = choices.iter().map(take).collect();
        let result = run(&mut values);
        for (choice, value) in choices.iter().zip(values) {
            if let Choice::Slot(i, _) = *choice {
                self.slots[i].value = value;
            }
        }
        result
    }

    /// Uploads an array, or makes a record, a sum or an array of records.
    fn make(&mut self, home: &Arc<Home>, ty: usize, picks: [u8; 4]) {
        let program = home.ctx.library().program();
        let ty = &program.types()[ty % program.types().len()];
        let mut variant = None;
        let structure = match &ty.kind {
            TypeKind::Array(array) => return self.upload(home, array.rank, picks),
            TypeKind::Opaque(opaque) => &opaque.structure,
        };
        let parts: Vec<TypeRef> = match structure {
            Structure::Sum(sum) => {
                let chosen = &sum.variants[picks[3] as usize % sum.variants.len()];
                variant = Some(chosen.name.as_str());
                chosen.payload.clone()
            }
            Structure::Record(record) => record.fields.iter().map(|field| field.ty).collect(),
            Structure::RecordArray(array) => array.fields.iter().map(|field| field.ty).collect(),
            _ => return,
        };
        let parts = parts
            .iter()
            .map(|&part| (program.name_of(part), false))
            .collect();
        let choices = self.choose(home, &parts, &picks);
        let mut kinds = self.mistakes(home, &parts, &choices);
        let mut data = self.data(&choices);
        note(format_args!("make {} {variant:?} of {choices:?}", ty.name));
        let is_array = ty.as_record_array().is_some();
        if is_array && kinds.is_empty() {
            kinds.extend((data[0].count() != data[1].count()).then_some(InvalidArgument));
            data = Data::points(&data);
        }
        let made = self.with_values(&choices, |values| {
            let parts: Vec<&Value> = values.iter().collect();
            home.attempt(&kinds, || match variant {
                Some(variant) => home.ctx.sum(&ty.name, variant, &parts),
                None if is_array => home.ctx.zip(&ty.name, &parts),
                None => home.ctx.record(&ty.name, &parts),
            })
        });
        if let Some(opaque) = made {
            self.push(
                home,
                opaque.into(),
                Data::Opaque(variant.map(Into::into), data),
            );
        }
    }

    fn upload(&mut self, home: &Arc<Home>, rank: usize, [n, m, seed, wrong]: [u8; 4]) {
        let dim = |n| if n > 250 { 50 } else { n as usize % 6 };
        let shape = [dim(n), dim(m)][..rank].to_vec();
        let error = (wrong == 255).then_some(InvalidArgument);
        let count = shape.iter().product::<usize>() + error.iter().len();
        let ints = INTS.iter().cycle().skip(seed.into()).step_by(5);
        let elements: Vec<i64> = ints.take(count).copied().collect();
        note(format_args!("upload of shape {shape:?}"));
        let array = home.attempt(error.as_slice(), || home.ctx.array_nd(&shape, &elements));
        if let Some(array) = array {
            self.push(home, array.into(), Data::Array(shape, elements));
        }
    }

    /// An upload and two downloads.
    fn batch(&mut self, home: &Arc<Home>, i: usize, n: u8) {
        let slot = &self.slots[i];
        let Value::Array(array) = &slot.value else {
            return;
        };
        note(format_args!("batch with v{i}"));
        let foreign = (!Arc::ptr_eq(&slot.home, home)).then_some(WrongContext);
        let spent = slot.spent.then_some(InvalidArgument);
        let kinds: Vec<ErrorKind> = foreign.into_iter().chain(spent).collect();
        let new: Vec<i64> = (0..n.into()).collect();
        let mut read = vec![0; slot.data.count()];
        let done = home.attempt(&kinds, || {
            home.ctx.batch(|batch| {
                let new = batch.array(&new)?;
                batch.read_into(array, &mut read)?;
                Ok((batch.to_vec::<i64>(&new)?, new))
            })
        });
        if let Some((download, array)) = done {
            assert_eq!(read, slot.data.ints());
            assert_eq!(download.into_vec().expect("the batch has ended"), new);
            self.push(home, array.into(), Data::vector(&new));
        }
    }

    /// Reads a field, a payload or an element.
    fn part(&mut self, i: usize, b: u8, c: u8) {
        let slot = &self.slots[i];
        let Value::Opaque(opaque) = &slot.value else {
            return;
        };
        let (home, b) = (Arc::clone(&slot.home), b as usize);
        note(format_args!("part {b} of v{i}"));
        let parts = slot.data.parts();
        let (found, data) = match &opaque.ty().as_opaque().expect("it is opaque").structure {
            Structure::Sum(sum) => {
                let name = &sum.variants[b % sum.variants.len()].name;
                let has = matches!(&slot.data, Data::Opaque(Some(variant), _) if variant == name);
                let error = (!has).then_some(InvalidArgument);
                (
                    slot.attempt(error, || opaque.destruct(name)),
                    parts.to_vec(),
                )
            }
            Structure::Record(record) => {
                let (field, i) = (&record.fields[b % record.fields.len()], b % parts.len());
                let found = slot.attempt(None, || Ok(vec![opaque.project(&field.name)?]));
                (found, vec![parts[i].clone()])
            }
            Structure::RecordArray(array) if c < 128 => {
                let field = b % array.fields.len();
                let name = &array.fields[field].name;
                let found = slot.attempt(None, || Ok(vec![opaque.project(name)?]));
                (found, vec![slot.data.column(field)])
            }
            _ => {
                let element = parts.get(b % 6).cloned();
                let error = element.is_none().then_some(InvalidArgument);
                let found = slot.attempt(error, || Ok(vec![opaque.index(&[b as i64 % 6])?]));
                (found, Vec::from_iter(element))
            }
        };
        let found = found.into_iter().flatten().zip(data);
        found.for_each(|(value, data)| self.push(&home, value, data));
    }

    fn store(&mut self, i: usize) {
        let slot = &self.slots[i];
        if let Value::Opaque(opaque) = &slot.value {
            note(format_args!("store v{i}"));
            let stored = slot.attempt(None, || opaque.store());
            let stored = stored.map(|stored| (stored, slot.home.program, slot.data.clone()));
            self.stored.extend(stored);
            let surplus = self.stored.len().saturating_sub(MOST_SLOTS);
            self.stored.drain(..surplus);
        }
    }

    /// Restores a stored value in a context of any backend.
    fn restore(&mut self, home: &Arc<Home>, which: u8) {
        let which = which as usize % self.stored.len().max(1);
        let Some((stored, program, data)) = self.stored.get(which) else {
            return;
        };
        note(format_args!("restore {data:?}"));
        let error = (*program != home.program).then_some(ErrorKind::Restore);
        let data = data.clone();
        if let Some(opaque) = home.attempt(error.as_slice(), || home.ctx.restore(stored)) {
            self.push(home, opaque.into(), data);
        }
    }

    /// Runs the next operation while a view of an array, or the value itself, is held.
    fn view(&mut self, i: usize, operations: &mut ChunksExact<'_, u8>) {
        let slot = self.slots.remove(i);
        note(format_args!(
            "view v{i}, which is no argument of the next operation"
        ));
        let view = match &slot.value {
            // Also in a lost context.
            Value::Array(array) if !slot.spent => array.view::<i64>().unwrap_or_else(|error| {
                assert!(slot.home.losing.load(SeqCst), "{error}");
                None
            }),
            _ => None,
        };
        self.step(operations);
        assert!(view.is_none_or(|view| view == slot.data.ints()));
        self.slots.push(slot);
    }

    /// Drops a value or a context, or exchanges values with other users.
    fn give_up(&mut self, i: usize, how: u8) {
        note(format_args!("give up v{i}, way {}", how % 4));
        if how % 4 == 3 {
            return drop(self.contexts.remove(i % self.contexts.len()));
        }
        let slot = self.slots.remove(i);
        match how % 4 {
            1 => std::thread::spawn(|| drop(slot))
                .join()
                .expect("no value panics"),
            // The failure of a kernel would be reported to another user.
            2 if !slot.home.is_gpu() => {
                let mut exchange = exchange();
                exchange.push(slot);
                let which = how as usize % exchange.len();
                let taken = exchange.remove(which);
                drop(exchange);
                self.adopt(Arc::clone(&taken.home));
                self.slots.push(taken);
            }
            _ => drop(slot),
        }
    }

    fn copy(&mut self, i: usize) {
        let slot = &self.slots[i];
        note(format_args!("copy v{i}"));
        let copy = slot.attempt(None, || match &slot.value {
            Value::Array(array) => array.try_clone().map(Value::from),
            Value::Opaque(opaque) => opaque.try_clone().map(Value::from),
            Value::Scalar(_) => panic!("no slot has scalars"),
        });
        let (home, data) = (Arc::clone(&slot.home), slot.data.clone());
        copy.into_iter()
            .for_each(|copy| self.push(&home, copy, data.clone()));
    }

    fn inspect(&self, i: usize, how: u8) {
        let slot = &self.slots[i];
        note(format_args!("inspect v{i}, {:?}", slot.value));
        slot.check();
        if how < 128 {
            slot.home.attempt(&[], || slot.home.ctx.clear_caches());
        }
    }
}
