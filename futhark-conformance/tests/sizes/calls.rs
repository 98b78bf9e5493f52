//! Calls of the entry points of a program, in a context that is replaced when it is lost.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futhark_safe::dynamic::{Arg, Context, Library, Value};
use futhark_safe::{Backend, Config, Error, ErrorKind};

use crate::literals::Literals;

/// Makes the first argument of every call, if there is one.
pub type First = fn(&Context) -> Option<Value>;

/// The calls of one library, and their numbers.
pub struct Calls<'a> {
    library: &'a Library,
    threads: Option<usize>,
    make_first: First,
    literals: Literals,
    pub context: Context,
    first: Option<Value>,
    watch: Watch,
    pub calls: usize,
    pub errors: usize,
    pub lost: usize,
}

impl<'a> Calls<'a> {
    /// Calls without a common first argument. `threads` is their number on multicore.
    pub fn new(library: &'a Library, threads: usize) -> Calls<'a> {
        Calls::with(library, Some(threads), |_| None)
    }

    pub fn with(library: &'a Library, threads: Option<usize>, make_first: First) -> Calls<'a> {
        let context = start(library, threads).unwrap();
        Calls {
            first: make_first(&context),
            library,
            threads,
            make_first,
            literals: Literals::None,
            context,
            watch: Watch::start(),
            calls: 0,
            errors: 0,
            lost: 0,
        }
    }

    /// Calls the entry points with literals for some of the numbers.
    pub fn literals(self, literals: Literals) -> Self {
        Calls { literals, ..self }
    }

    /// The first result, after the device has computed it.
    pub fn call(&mut self, entry: &str, numbers: &[i64]) -> Result<Value, Error> {
        let (entry, numbers) = self.literals.call(entry, numbers);
        let numbers: Vec<Value> = numbers.into_iter().map(Value::from).collect();
        self.call_with(&entry, &numbers)
    }

    pub fn call_with(&mut self, entry: &str, arguments: &[Value]) -> Result<Value, Error> {
        let backend = self.library.backend();
        self.watch
            .begin(format!("{entry} {arguments:?} on {backend}"));
        let all = self.first.iter().chain(arguments).map(Arg::Borrow);
        let results = self.context.call(entry, all.collect());
        // A kernel may fail after the call has returned.
        let results = results.and_then(|results| self.context.sync().map(|()| results));
        self.watch.end();
        self.calls += 1;
        if let Err(error) = &results {
            self.errors += 1;
            if error.kind() == ErrorKind::ContextLost {
                self.lost += 1;
                self.context = start(self.library, self.threads).unwrap();
                self.first = (self.make_first)(&self.context);
            }
        }
        results.map(|mut results| results.remove(0))
    }
}

impl fmt::Display for Calls<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Calls {
            calls,
            errors,
            lost,
            ..
        } = self;
        let backend = self.library.backend();
        write!(
            f,
            "{backend}: {calls} calls, {errors} errors, {lost} lost contexts"
        )
    }
}

/// A context for many small calls.
pub fn start(library: &Library, threads: Option<usize>) -> Result<Context, Error> {
    let config = match (library.backend(), threads) {
        (Backend::Multicore, Some(threads)) => Config::new().num_threads(threads),
        // A simulated device takes time for each thread.
        (backend, _) if backend.is_gpu() => Config::new().block_size(16).grid_size(2),
        _ => Config::new(),
    };
    Context::new(library, &config)
}

/// A call that takes longer does not end.
fn limit() -> Duration {
    let seconds = std::env::var("FUTHARK_TESTS_LIMIT").map(|text| text.parse().unwrap());
    Duration::from_secs(seconds.unwrap_or(100))
}

/// Ends the process if a call does not end, since nothing else could.
struct Watch(Arc<Mutex<Option<(Instant, String)>>>);

impl Watch {
    fn start() -> Watch {
        let running = Arc::new(Mutex::new(None::<(Instant, String)>));
        let weak = Arc::downgrade(&running);
        std::thread::spawn(move || {
            while let Some(running) = weak.upgrade() {
                if let Some((since, case)) = &*running.lock().unwrap()
                    && since.elapsed() > limit()
                {
                    eprintln!("{case}: no answer within {} s", limit().as_secs());
                    std::process::abort();
                }
                drop(running);
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Watch(running)
    }

    fn begin(&self, case: String) {
        *self.0.lock().unwrap() = Some((Instant::now(), case));
    }

    fn end(&self) {
        *self.0.lock().unwrap() = None;
    }
}
