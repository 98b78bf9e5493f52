//! Writers of the log: code of the user, which runs when a call has ended.

use std::io::Write;
use std::sync::Mutex;

use super::*;
use crate::ffi::{Host, Log};
use futhark_fake::{Flavour, World};

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
    world.start(Flavour::Host, &[Setting::Log(log)]).unwrap()
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

/// Panics when it is dropped.
struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        // The log forgets what a panic carries; this one carries no memory, which Miri would report.
        std::panic::resume_unwind(Box::new(()));
    }
}

/// The outer writer drops the last values of another context, whose text is still to be written. So that
/// context's writer is dropped at the end of the outer operation, after the copy.
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
