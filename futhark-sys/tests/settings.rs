//! Each setting of `c/fut_settings.def` is applied, or refused with its message by a backend that lacks it.
#![cfg(all(feature = "compile", feature = "load", target_os = "linux"))]

mod support;

use std::ffi::CStr;
use std::path::Path;
use std::ptr;

use futhark_manifest::Backend;
use futhark_sys::compile::Build;
use futhark_sys::table::{
    FUT_OK, FUT_REFUSED, FUT_SET_CACHE, FUT_SET_CACHE_FILE, FUT_SET_COMMAND_QUEUE,
    FUT_SET_DEBUGGING, FUT_SET_DEVICE, FUT_SET_LOG, FUT_SET_LOGGING, FUT_SET_NUM_THREADS,
    FUT_SET_PROFILING, FUT_SET_TUNING_PARAM, Log, Setting, Table,
};

unsafe extern "C" fn ignore(_: *mut std::ffi::c_void, _: *const std::ffi::c_char, _: usize) {}

/// The message with which a context with the setting is refused; none if the context is created.
fn refusal(table: &Table, what: u32) -> Option<String> {
    let log = Log {
        write: Some(ignore),
        data: ptr::null_mut(),
    };
    let setting = Setting {
        what,
        number: 0,
        text: c"x".as_ptr(),
        object: (&raw const log).cast(),
    };
    let raw = table.raw();
    let mut status = 0;
    // SAFETY: the text and the object live until the context is freed. The object is not a queue, which only OpenCL
    // would read.
    let context = unsafe { raw.context_new.unwrap()(&raw const setting, 1, &raw mut status) };
    assert!(!context.is_null());
    let message = (status as u32 != FUT_OK).then(|| {
        assert_eq!(status as u32, FUT_REFUSED, "{what}");
        // SAFETY: the context is live.
        let failure = unsafe { raw.failure.unwrap()(context, 0) };
        // SAFETY: the failure of the last call, which is valid until the next one.
        let words = unsafe { (*failure).words };
        // SAFETY: a NUL-terminated text of that failure.
        unsafe { CStr::from_ptr(words) }
            .to_str()
            .unwrap()
            .to_owned()
    });
    // SAFETY: the context is live, has no values, and is not used again.
    unsafe { raw.context_free.unwrap()(context) };
    message
}

#[test]
fn host_backends_refuse_the_settings_that_they_lack() {
    if support::no_compiler() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings");
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("settings.fut");
    std::fs::write(&source, "entry next (x: i32): i32 = x + 1").unwrap();
    for backend in [Backend::C, Backend::Multicore] {
        let artifact = Build::new(&source, backend)
            .out_dir(&folder)
            .fast(true)
            .run();
        let table = artifact.unwrap().open().unwrap();
        for what in 0..=FUT_SET_COMMAND_QUEUE {
            let refused = refusal(table, what);
            match what {
                FUT_SET_DEBUGGING | FUT_SET_PROFILING | FUT_SET_LOGGING | FUT_SET_CACHE_FILE
                | FUT_SET_LOG => assert_eq!(refused, None, "{what}"),
                FUT_SET_NUM_THREADS if backend == Backend::Multicore => assert_eq!(refused, None),
                FUT_SET_TUNING_PARAM => assert!(
                    refused
                        .unwrap()
                        .starts_with("this program has no tuning parameter `x`")
                ),
                _ => assert!(refused.unwrap().starts_with("this backend "), "{what}"),
            }
        }
        for (what, message) in [
            (FUT_SET_DEVICE, "this backend cannot select a device"),
            (
                FUT_SET_CACHE,
                "this backend has no default size of the cache",
            ),
            (FUT_SET_COMMAND_QUEUE + 1, "unknown setting number 22"),
        ] {
            assert_eq!(refusal(table, what).as_deref(), Some(message));
        }
    }
}
