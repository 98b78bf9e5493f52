//! Writers of the log: code of the user, which runs when the lock is free. The fake table logs copies.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;
use crate::ffi::{Host, Log};

/// A writer that calls a function with the text.
struct Calls<F>(F);

impl<F: FnMut(&str)> Write for Calls<F> {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0(&String::from_utf8_lossy(text));
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn logged(world: &World, write: impl FnMut(&str) + Send + 'static) -> Arc<Core> {
    let log = Log::new(Box::new(Calls(write)));
    world.start(Flavour::Host, &[Setting::log_to(log)]).unwrap()
}

/// An array that shares its memory, so that writing elements copies, which is logged.
fn shared(core: &Arc<Core>) -> (Host<i32>, Handle) {
    let xs = ints(core, &[1, 2, 3]);
    let alias = identity(core, &xs).unwrap();
    (Host::new(xs).unwrap(), alias)
}

/// The copy is logged while the lock is held, and the original is dropped under it.
#[test]
fn a_writer_can_use_the_context_of_the_call_that_it_logs() {
    let world = World::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let place = Arc::new(Mutex::new(std::sync::Weak::<Core>::new()));
    let core = {
        let (seen, place) = (Arc::clone(&seen), Arc::clone(&place));
        logged(&world, move |text| {
            let core = place.lock().unwrap().upgrade().unwrap();
            let sum = total(&core, &ints(&core, &[2, 5])).unwrap();
            seen.lock().unwrap().push((text.to_owned(), sum));
        })
    };
    *place.lock().unwrap() = Arc::downgrade(&core);
    let (mut host, alias) = shared(&core);
    host.elements_mut().unwrap()[0] = 9;
    assert_eq!(*seen.lock().unwrap(), [("copied a value\n".to_owned(), 7)]);
    assert_eq!(host.elements(), [9, 2, 3]);
    assert_eq!(read(&alias).unwrap(), [1, 2, 3]);
}

struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        // The log leaks the payload (`mem::forget`); this one has no memory, whose leak Miri would report.
        std::panic::resume_unwind(Box::new(()));
    }
}

/// The outer writer drops the last values of another context, whose text is still to be written.
/// Therefore the writer of that context is dropped at the end of the outer operation, after the copy.
#[test]
fn a_writer_that_panics_when_it_is_dropped_interrupts_nothing() {
    let world = World::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |who: &'static str| {
        let seen = Arc::clone(&seen);
        move |_: &str| seen.lock().unwrap().push(who)
    };
    let (note_inner, note_outer) = (note("inner"), note("outer"));
    let panics = Panics;
    let inner = logged(&world, move |text| {
        let _ = &panics;
        note_inner(text);
    });
    let mut values = Some(shared(&inner));
    drop(inner);
    let outer = logged(&world, move |text| {
        note_outer(text);
        if let Some((mut host, alias)) = values.take() {
            host.elements_mut().unwrap()[0] = 8;
            assert_eq!(read(&alias).unwrap(), [1, 2, 3]);
        }
    });
    let (mut host, alias) = shared(&outer);
    host.elements_mut().unwrap()[0] = 9;
    assert_eq!(*seen.lock().unwrap(), ["outer", "inner"]);
    assert_eq!(host.elements(), [9, 2, 3]);
    assert_eq!(world.contexts(), 1);
    drop(alias);
    assert_eq!(read(&host.into_array()).unwrap(), [9, 2, 3]);

    // The log is still delivered.
    let (mut host, _alias) = shared(&outer);
    host.elements_mut().unwrap()[0] = 7;
    assert_eq!(*seen.lock().unwrap(), ["outer", "inner", "outer"]);
}

/// Uses the context, on this thread and on another one, for each text.
#[derive(Clone, Default)]
struct Writer(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    core: Option<Arc<Core>>,
    text: String,
    /// How often calls in the writer succeeded.
    calls: usize,
}

impl Writer {
    fn get(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A context that logs here. It is in `Written` then, which it owns: the caller ends this cycle by taking it out.
    fn core(&self, world: &World, flavour: Flavour) -> Arc<Core> {
        let log = Log::new(Box::new(self.clone()));
        let core = world.start(flavour, &[Setting::log_to(log)]).unwrap();
        self.get().core = Some(Arc::clone(&core));
        core
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let core = {
            let mut written = self.get();
            written.text += std::str::from_utf8(bytes).unwrap();
            written.core.clone()
        };
        if let Some(core) = core {
            let sync = || sync(&core).unwrap();
            sync();
            std::thread::scope(|scope| scope.spawn(sync).join().unwrap());
            self.get().calls += 1;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The copy replaces the argument, which is dropped while the call holds the lock.
fn copies_an_argument(core: &Arc<Core>) {
    let xs = ints(core, &[1, 2]);
    let alias = identity(core, &xs).unwrap();
    let changed = set_first(core, alias, 9).unwrap();
    assert_eq!(read(&changed).unwrap(), [9, 2]);
}

#[test]
fn no_text_is_delivered_while_a_call_holds_the_lock() {
    in_time(|| {
        for flavour in FLAVOURS {
            let (world, writer) = (World::new(), Writer::default());
            let core = writer.core(&world, flavour);
            copies_an_argument(&core);
            assert_eq!(core.copies().len(), 1);
            let mut written = writer.get();
            assert!(written.text.contains("copied"), "{}", written.text);
            assert!(written.calls > 0);
            let kept = written.core.take();
            drop(written);
            drop(kept);
        }
    });
}

/// If it were freed under the lock, its context would deliver its log then.
#[test]
fn the_result_of_an_earlier_call_is_freed_before_the_call() {
    for flavour in FLAVOURS {
        let world = World::new();
        let (core, other) = (world.core(flavour), world.core(flavour));
        let mut output = Output::value(INTS);
        for core in [&other, &core] {
            let xs = ints(core, &[1, 2]);
            let inputs = [Input::Consumed(xs), scalar(9)];
            let set_first = function(core, "entry_set_first");
            call(core, set_first, inputs, &mut [&mut output]).unwrap();
        }
        assert_eq!(world.values(), 1);
        assert_eq!(read(&output.take_handle()).unwrap(), [9, 2]);
    }
}

/// The thread's list of writers is destroyed before the value, which was stored earlier.
#[test]
fn text_of_a_thread_that_ends_is_delivered_by_another_thread() {
    struct CopiesOnDrop(
        Host<i32>,
        #[expect(dead_code, reason = "makes the copy necessary")] Handle,
    );
    impl Drop for CopiesOnDrop {
        fn drop(&mut self) {
            self.0.elements_mut().unwrap()[0] = 9;
        }
    }
    thread_local! {
        static LAST: std::cell::OnceCell<CopiesOnDrop> = const { std::cell::OnceCell::new() };
    }
    let (world, writer) = (World::new(), Writer::default());
    let core = writer.core(&world, Flavour::Host);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            world.enter();
            LAST.with(|last| {
                let (host, alias) = shared(&core);
                assert!(last.set(CopiesOnDrop(host, alias)).is_ok());
            });
            copies_an_argument(&core);
        });
        thread.join().unwrap();
    });
    let copies = || writer.get().text.matches("copied").count();
    assert_eq!(copies(), 1);
    sync(&core).unwrap();
    assert_eq!(copies(), 2);
    let kept = writer.get().core.take();
    drop(kept);
}
