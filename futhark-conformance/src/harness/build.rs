//! Builds of a program under test, and the lock that keeps two processes from compiling the same
//! library.

use crate::files::{key, replace_file};
use crate::protocol::Event;
use futhark_manifest::Backend;
use futhark_safe::compile::Build;
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The program that tries a device. It is parallel, so that it uses the device.
const PROBE: &str = "entry probe (n: i64): i64 = i64.sum (map (+ 1) (iota n))\n";

/// Writes the program that tries a device. The path is always the same, so that a later run finds the compiled
/// program, and needs not write to the folder. Probes for other backends run at the same time.
pub fn write_probe(build_dir: &Path) -> io::Result<PathBuf> {
    let source = build_dir.join("probe.fut");
    if !std::fs::read(&source).is_ok_and(|text| text == PROBE.as_bytes()) {
        replace_file(&source, PROBE.as_bytes())?;
    }
    Ok(source)
}

/// The beginning of the message of a failed probe if the machine cannot compile any program.
pub const CANNOT_COMPILE: &str = "this machine cannot compile programs: ";

/// How long to wait for another run that builds the same library. That run can be stopped.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often to look whether it has ended.
const INTERVAL: Duration = Duration::from_millis(100);

/// The build of a program under test.
///
/// futhark-safe does not track memory in it: the generated code alone frees memory, so its leaks
/// and uses after free show. The hooks end the process by a trap, so the check `symbols` finds any
/// other function that ends it. For comparisons, the environment variable `FUTHARK_HARDENED=0` omits the added checks.
pub fn build(program: &Path, backend: Backend, optimise: bool) -> Build {
    Build::new(program, backend)
        .fast(!optimise)
        .hardened(std::env::var_os("FUTHARK_HARDENED").is_none_or(|value| value != "0"))
        .flag("-DFUT_TRACKS_MEMORY=0")
        .flag("-DFUT_END=__builtin_trap")
}

/// An exclusive lock on building one program for one backend with one compiler, released when it
/// is dropped or the process ends. The process that waits then finds the finished library.
///
/// A process holds at most one such lock, so they cannot deadlock. The lock only avoids duplicate
/// work: builds are correct without it, because a build is put into place by one rename.
#[derive(Debug)]
pub struct BuildLock {
    // Closing the file releases the lock.
    _file: Option<File>,
}

impl BuildLock {
    /// Blocks until the lock is free, and tells the parent of this process meanwhile that it waits.
    /// After ten minutes, or on a system without file locks, it returns without the lock, and two
    /// processes may compile the same library.
    #[must_use]
    pub fn take(build_dir: &Path, program: &Path, backend: Backend, compiler: &str) -> BuildLock {
        let key = key(&[
            program.as_os_str().as_encoded_bytes(),
            backend.as_str().as_bytes(),
            compiler.as_bytes(),
        ]);
        let folder = build_dir.join("turns");
        let path = folder.join(key);
        let locked = || {
            std::fs::create_dir_all(&folder).ok()?;
            let file = File::create(path).ok()?;
            lock(&file, &mut announce, PATIENCE).then_some(file)
        };
        BuildLock { _file: locked() }
    }
}

/// Tells the parent that this process waits, so that the time does not count as that of a case. The
/// lock on the standard output can be held by another thread; nothing is buffered there.
fn announce() {
    if let Ok(out) = io::stdout().as_fd().try_clone_to_owned() {
        // Without a reader, this process ends at its next event.
        let _ = Event::Waiting.write(&mut File::from(out));
    }
}

/// Whether a file could be locked within the time limit.
fn lock(file: &File, waiting: &mut dyn FnMut(), limit: Duration) -> bool {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if begun.elapsed() < limit => {}
            Err(_) => return false,
        }
        waiting();
        thread::sleep(INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn only_builds_of_the_same_library_exclude_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let take = |backend| BuildLock::take(folder.path(), Path::new("a.fut"), backend, "futhark");
        let first = take(Backend::C);
        let other = take(Backend::Multicore);
        let second_ran = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _second = take(Backend::C);
                second_ran.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(50));
            assert!(
                !second_ran.load(Ordering::SeqCst),
                "the first still holds the lock"
            );
            drop(first);
        });
        assert!(second_ran.load(Ordering::SeqCst));
        drop(other);
    }

    #[test]
    fn a_lock_that_stays_taken_is_waited_for_in_bounded_time() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::create(folder.path().join("lock")).unwrap();
        let first = open();
        assert!(lock(&first, &mut || {}, Duration::ZERO));
        let mut calls = 0;
        assert!(!lock(&open(), &mut || calls += 1, 2 * INTERVAL));
        assert!(calls >= 1);
        drop(first);
        // A process that another test is starting can have the file open for a moment.
        assert!(lock(&open(), &mut || {}, PATIENCE));
    }
}
