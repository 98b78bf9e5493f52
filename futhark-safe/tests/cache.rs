//! Misuse 27 and 46: a damaged or unusable cache file of device code is ignored.

use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;

use futhark_safe::Config;
use futhark_safe::dynamic::{Context, Library};

use super::support::{self, each_on_opencl, fresh, sum};

#[test]
fn damaged_cache_files_are_replaced() {
    each_on_opencl(|library| {
        let version = &library.program().version;
        let file = fresh(&format!("cache/{version}.cache"));
        works_with(library, &file);
        let good = std::fs::read(&file).expect("the first start writes it");
        works_with(library, &file);
        assert!(
            std::fs::read(&file).unwrap() == good,
            "a valid file is used"
        );

        // The driver reads the bytes after the header of 48 bytes.
        for at in [0, 8, 16, 47, 48, 148, good.len() / 2, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 0xff;
            std::fs::write(&file, bad).unwrap();
            works_with(library, &file);
            assert!(std::fs::read(&file).unwrap() == good, "byte {at}");
        }
        let longer = [&good[..], b"and more"].concat();
        for bad in [
            b"",
            &good[..7],
            &good[..48],
            &good[..good.len() - 1],
            &longer,
        ] {
            std::fs::write(&file, bad).unwrap();
            works_with(library, &file);
            assert!(std::fs::read(&file).unwrap() == good, "{} bytes", bad.len());
        }
        // A missing or wrong checksum.
        let sum = sum(&file);
        for bad in [None, Some("0000000000000000\n"), Some("")] {
            match bad {
                None => std::fs::remove_file(&sum).unwrap(),
                Some(bad) => std::fs::write(&sum, bad).unwrap(),
            }
            works_with(library, &file);
            assert_eq!(std::fs::read_to_string(&sum).unwrap().len(), 17);
        }

        // A start waits while another process holds the lock.
        let other = std::fs::File::open(&sum).unwrap();
        other.lock().unwrap();
        std::thread::scope(|scope| {
            let (done, is_done) = std::sync::mpsc::channel();
            let file = &file;
            scope.spawn(move || {
                works_with(library, file);
                done.send(()).unwrap();
            });
            let early = is_done.recv_timeout(std::time::Duration::from_millis(300));
            other.unlock().unwrap();
            assert!(early.is_err(), "the start did not wait");
            is_done.recv().unwrap();
        });

        // Another block size needs other code, which the runtime does not notice.
        let smaller = Config::new().block_size(32).cache_file(&file);
        works_with_config(library, &smaller);
        assert!(std::fs::read(&file).unwrap() != good, "compiled again");
        works_with(library, &file);
        assert!(std::fs::read(&file).unwrap() == good, "compiled once more");

        // A device, a missing folder, a folder instead of a file.
        for path in ["/dev/full", "/nonexistent/cache", "/"] {
            works_with(library, Path::new(path));
        }

        // A FIFO that no process writes to, as the cache file or as its checksum.
        for path in [&file, &sum] {
            std::fs::remove_file(path).unwrap();
            let fifo = std::process::Command::new("mkfifo").arg(path).status();
            assert!(fifo.unwrap().success());
            works_in_time(library, &file);
            let there = std::fs::metadata(path).unwrap();
            assert!(!there.is_file(), "the FIFO was replaced");
            std::fs::remove_file(path).unwrap();
            works_with(library, &file);
        }
        assert!(
            std::fs::read(&file).unwrap() == good,
            "the file is valid again"
        );
    });
}

/// Fails instead of blocking forever.
fn works_in_time(library: &Library, file: &Path) {
    let (done, is_done) = std::sync::mpsc::channel();
    let (library, file) = (library.clone(), file.to_owned());
    let thread = std::thread::spawn(move || {
        works_with(&library, &file);
        let _ = done.send(());
    });
    let waited = is_done.recv_timeout(std::time::Duration::from_secs(60));
    assert!(waited != Err(RecvTimeoutError::Timeout), "the start blocks");
    thread.join().unwrap();
}

fn works_with(library: &Library, file: &Path) {
    works_with_config(library, &Config::new().cache_file(file));
}

fn works_with_config(library: &Library, config: &Config) {
    let context = Context::new(library, config).unwrap();
    support::works(&context).unwrap();
    context.close().unwrap();
}
