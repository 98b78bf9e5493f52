//! A context is unusable in a forked child, whose calls fail instead of hanging.
#![cfg(all(feature = "compile", feature = "load", target_os = "linux"))]

mod support;

use futhark_manifest::Backend;
use futhark_sys::table::{FUT_LOST, FUT_OK};

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
}

#[test]
fn calls_in_a_forked_child_fail() {
    let Some(source) = support::Source::to_compile("fork", "entry twice (x: i32) : i32 = x * 2\n")
    else {
        return;
    };
    for backend in [Backend::C, Backend::Multicore] {
        let table = source.build(backend).run().unwrap().open().unwrap();
        let raw = table.raw();
        let (context, status) = support::context(table, &[]);
        assert_eq!(status, FUT_OK);
        // SAFETY: the context is live and no other thread uses it; `sync` takes no arguments.
        let sync = || unsafe {
            raw.enter.unwrap()(raw.sync, 0, context, std::ptr::null(), std::ptr::null()) as u32
        };
        assert_eq!(sync(), FUT_OK);

        let child = fork();
        if child == 0 {
            _exit(if sync() == FUT_LOST { 7 } else { 8 });
        }
        let mut status = 0;
        // SAFETY: `child` is a child of this process, and the pointer to the status is valid.
        let waited = unsafe { waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status >> 8), (child, 7), "{backend}");
        assert_eq!(sync(), FUT_OK, "the parent's context remains usable");
        support::free(table, context);
    }
}
