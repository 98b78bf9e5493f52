//! One at a time: two processes that want the same library do not both compile
//! it. The second waits, and finds what the first has made.

use crate::key::key;
use futhark_manifest::Backend;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::Path;

/// The right to compile one program for one backend with one compiler, until
/// it is dropped or the process ends.
///
/// A process holds one at a time, so that nobody waits in a circle. It saves
/// work and nothing else: a build is put into place whole, by one rename,
/// whoever else builds the same.
#[derive(Debug)]
pub struct Turn {
    // The lock is the file's, and goes with it.
    _file: Option<File>,
}

impl Turn {
    /// Waits for the turn. Where the system has no such locks there is no
    /// waiting, and the work may be done twice.
    #[must_use]
    pub fn take(build_dir: &Path, program: &Path, backend: Backend, compiler: &Path) -> Turn {
        let key = key(&[
            program.as_os_str().as_encoded_bytes(),
            backend.as_str().as_bytes(),
            compiler.as_os_str().as_encoded_bytes(),
        ]);
        let folder = build_dir.join("turns");
        let path = folder.join(key);
        let locked = || {
            std::fs::create_dir_all(&folder).ok()?;
            let file = File::create(path).ok()?;
            flock(&file, FlockOperation::LockExclusive).ok()?;
            Some(file)
        };
        Turn { _file: locked() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn the_second_waits_for_the_first_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let take = |backend| {
            Turn::take(
                folder.path(),
                Path::new("a.fut"),
                backend,
                Path::new("futhark"),
            )
        };
        let first = take(Backend::C);
        let other = take(Backend::Multicore);
        let had_it = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _second = take(Backend::C);
                had_it.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(50));
            assert!(!had_it.load(Ordering::SeqCst), "the first still has it");
            drop(first);
        });
        assert!(had_it.load(Ordering::SeqCst));
        drop(other);
    }
}
