//! Each setting of a context on each backend: applied, or refused with a reason.

use std::io::Write;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futhark_safe::dynamic::{Context, Library};
use futhark_safe::{Backend, Config, ErrorKind};

use super::support::{self, each, each_on_opencl, says, works};

fn has_threads(library: &Library) -> bool {
    library.backend() == Backend::Multicore
}

fn is_gpu(library: &Library) -> bool {
    library.backend() == Backend::OpenCl
}

#[test]
fn tuning_parameters_have_the_limit_of_tuning_files() {
    each(|library| {
        let context = Context::new(library, &Config::new().tuning_param("x", u32::MAX));
        let words = "at most 2147483647, got 4294967295";
        says(context, ErrorKind::InvalidArgument, words);
    });
}

#[test]
fn settings_are_applied_or_refused() {
    type Case = (&'static str, fn(Config) -> Config, fn(&Library) -> bool);
    let cases: [Case; 16] = [
        ("debugging", |c| c.debugging(false), |_| true),
        ("profiling", |c| c.profiling(true), |_| true),
        ("logging", |c| c.logging(false), |_| true),
        ("log_to", |c| c.log_to(std::io::sink()), |_| true),
        ("num_threads", |c| c.num_threads(2), has_threads),
        ("device", |c| c.device_number(0), is_gpu),
        ("platform", |c| c.platform(""), is_gpu),
        (
            "build_option",
            // SAFETY: the device code does not have this name.
            |c| unsafe { c.build_option("-DX=1") },
            is_gpu,
        ),
        ("block_size", |c| c.block_size(32), is_gpu),
        ("grid_size", |c| c.grid_size(2), is_gpu),
        ("tile_size", |c| c.tile_size(8), is_gpu),
        ("reg_tile_size", |c| c.reg_tile_size(2), is_gpu),
        ("registers", |c| c.registers(64), is_gpu),
        ("cache_size", |c| c.cache_size(1 << 16), is_gpu),
        ("threshold", |c| c.threshold(100), is_gpu),
        ("unified_memory", |c| c.unified_memory(false), is_gpu),
    ];
    each(|library| {
        for (name, set, allowed) in cases {
            let context = Context::new(library, &set(Config::new()));
            match context {
                Ok(context) => {
                    assert!(allowed(library), "{name} was accepted");
                    works(&context).unwrap();
                }
                Err(error) => {
                    assert!(!allowed(library), "{name}: {error}");
                    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{name}: {error}");
                    let words = match name {
                        "cache_size" => "this backend has no default size of the cache",
                        _ => "this backend",
                    };
                    assert!(error.to_string().contains(words), "{name}: {error}");
                }
            }
        }
    });
}

#[test]
fn extreme_sizes_do_not_end_the_process() {
    type Size = fn(Config, u32) -> Config;
    let sizes: [(&str, Size); 7] = [
        ("block_size", Config::block_size),
        ("grid_size", Config::grid_size),
        ("tile_size", Config::tile_size),
        ("reg_tile_size", Config::reg_tile_size),
        ("registers", Config::registers),
        ("cache_size", Config::cache_size),
        ("threshold", Config::threshold),
    ];
    each_on_opencl(|library| {
        for (name, set) in sizes {
            for n in [0, 1, i32::MAX as u32, u32::MAX] {
                let context = Context::new(library, &set(Config::new(), n));
                if let Err(error) = context.and_then(|context| works(&context)) {
                    assert!(!error.to_string().is_empty(), "{name} {n}");
                }
                let context = Context::new(library, &Config::new()).unwrap();
                works(&context).unwrap();
            }
        }
    });
}

#[test]
fn the_log_goes_to_the_writer() {
    each(|library| {
        let (log, received) = support::log();
        let config = Config::new().logging(true).debugging(true).log_to(log);
        let context = Context::new(library, &config).unwrap();
        works(&context).unwrap();
        let _ = context.array(&[1i64, 2, 3]).unwrap();
        drop(context);
        let text = received.text();
        assert!(text.contains("Allocating 24 bytes"), "{text}");
        if is_gpu(library) {
            // Also of a start that fails while it has the turn for a file.
            let (log, received) = support::log();
            let file = std::env::temp_dir().join("no-such-folder/cache");
            let config = Config::new().logging(true).log_to(log).cache_file(file);
            // SAFETY: does not compile, so nothing runs.
            let config = unsafe { config.device_source("not OpenCL C") };
            Context::new(library, &config).unwrap_err();
            assert!(
                received.text().contains("Using device"),
                "{}",
                received.text()
            );
        }
    });
}

/// Panics, fails, or makes calls on the context that logs and on other ones.
struct Hostile {
    contexts: Arc<Mutex<Vec<Context>>>,
    right: Arc<AtomicUsize>,
    calls: usize,
}

impl Write for Hostile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.calls += 1;
        match self.calls % 3 {
            0 => panic!("a writer that panics"),
            1 => Err(std::io::Error::other("a writer that fails")),
            _ => {
                // Also contexts of its own, which log to it as well.
                let contexts = self.contexts.lock().unwrap().clone();
                for context in contexts {
                    works(&context).unwrap();
                    self.right.fetch_add(1, Ordering::Relaxed);
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn writers_can_fail_and_use_contexts() {
    each(|library| {
        let contexts = Arc::<Mutex<Vec<Context>>>::default();
        let right = Arc::<AtomicUsize>::default();
        let writer = Hostile {
            contexts: Arc::clone(&contexts),
            right: Arc::clone(&right),
            calls: 0,
        };
        let config = Config::new().debugging(true).logging(true).log_to(writer);
        let made = Context::new(library, &config).unwrap();
        contexts.lock().unwrap().push(made.clone());
        // Oclgrind has one context at a time.
        if !is_gpu(library) {
            for config in [config, Config::new()] {
                // Not under the lock, which the writer takes.
                let other = Context::new(library, &config).unwrap();
                contexts.lock().unwrap().push(other);
            }
        }
        for _ in 0..20 {
            works(&made).unwrap();
            made.array(&[1i64, 2, 3]).unwrap();
        }
        assert!(right.load(Ordering::Relaxed) > 0, "the writer made no call");
        // The writer owns handles to its contexts.
        contexts.lock().unwrap().clear();
    });
}

#[test]
fn devices_are_listed_and_described() {
    each(|library| {
        let devices = library.devices().unwrap();
        let context = Context::new(library, &Config::new()).unwrap();
        let device = context.device().unwrap();
        assert!(devices.contains(&device), "{device} of {devices:?}");
        assert!(!device.name.is_empty() && !device.platform.is_empty());
        assert_eq!(device.memory.is_some(), is_gpu(library), "{device}");
        assert!(device.memory != Some(0), "{device}");
        if is_gpu(library) {
            let by_name = Config::new().device(device.name.clone());
            let again = Context::new(library, &by_name).unwrap();
            assert_eq!(again.device().unwrap(), device);
        }
    });
}

#[test]
fn memory_in_use_follows_values() {
    each(|library| {
        let context = Context::new(library, &Config::new()).unwrap();
        let used = || {
            let memory = context.memory().unwrap();
            let peaks = memory.host <= memory.host_peak && memory.device <= memory.device_peak;
            assert!(peaks, "{memory:?}");
            memory.host + memory.device
        };
        let before = used();
        let array = context.array(&vec![1i64; 1000]).unwrap();
        assert_eq!(used(), before + 8000);
        drop(array);
        assert_eq!(used(), before);
        let memory = context.memory().unwrap();
        assert_eq!(memory.device_peak >= 8000, is_gpu(library), "{memory:?}");
        assert_eq!(memory.host_peak >= 8000, !is_gpu(library), "{memory:?}");
    });
}

#[test]
fn other_backends_have_neither_a_command_queue_nor_device_code() {
    each(|library| {
        let context = Context::new(library, &Config::new()).unwrap();
        let queue = context.command_queue().unwrap();
        assert_eq!(queue.is_some(), is_gpu(library));
        if !is_gpu(library) {
            // SAFETY: the backend refuses the setting without looking at the pointer.
            let queue = unsafe { Config::new().command_queue(NonNull::dangling()) };
            // SAFETY: nothing runs.
            let source = unsafe { Config::new().device_source("x") };
            for config in [queue, source] {
                let error = Context::new(library, &config).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            }
        }
    });
}

#[test]
fn contexts_share_a_command_queue() {
    each_on_opencl(|library| {
        let first = Context::new(library, &Config::new()).unwrap();
        let queue = first.command_queue().unwrap().and_then(NonNull::new);
        let queue = queue.unwrap();
        // SAFETY: the queue of a live context.
        let config = unsafe { Config::new().command_queue(queue) };
        let second = Context::new(library, &config).unwrap();
        assert_eq!(second.command_queue().unwrap(), Some(queue.as_ptr()));
        assert_eq!(second.device().unwrap(), first.device().unwrap());
        works(&first).and_then(|()| works(&second)).unwrap();
        // The queue was created without profiling, whose events the runtime would read.
        says(
            Context::new(library, &config.clone().profiling(true)),
            ErrorKind::InvalidArgument,
            "CL_QUEUE_PROFILING_ENABLE",
        );
        // Each context retains the queue.
        first.close().unwrap();
        works(&second).unwrap();
        second.close().unwrap();
    });
}
