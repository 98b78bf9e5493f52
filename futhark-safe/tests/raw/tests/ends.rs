//! Where a safe call would lose its context, a plain call ends the process, as in C: with a
//! message, at once, on whichever thread it happens.
#![expect(unsafe_code, reason = "plain C is")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use futhark_safe::{Backend, Config, Raw};
use futhark_safe_raw_tests::stats;

const CHILD: &str = "FUTHARK_RAW_TEST_BACKEND";

macro_rules! divide {
    ($module:ident, $backend:ident) => {{
        use stats::raw::$module as c;
        let mut config = Config::new().backend(Backend::$backend);
        if Backend::$backend == Backend::Multicore {
            config = config.num_threads(4);
        }
        let ctx = stats::Context::new(&config).unwrap();
        // The last part is for another thread than this one, where there are several.
        let mut xs = vec![1i64; 1 << 22];
        xs[(1 << 22) - 1] = i64::MIN;
        let xs = ctx.array(&xs).unwrap();
        let calls = |raw: &mut Raw<'_, c::futhark_context>| {
            let (xs, mut out) = (raw.pointer(&xs)?, std::ptr::null_mut());
            // SAFETY: pointers of this context.
            let code = unsafe { c::futhark_entry_divide(raw.context(), &raw mut out, xs, -1) };
            raw.check(code)
        };
        let result = ctx.with_raw(calls);
        panic!("the process goes on: {result:?}");
    }};
}

#[test]
fn a_plain_call_that_gives_up_ends_the_process() {
    match std::env::var(CHILD).as_deref() {
        Ok("c") => divide!(c, C),
        Ok(_) => divide!(multicore, Multicore),
        Err(_) => {}
    }
    for backend in ["c", "multicore"] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "a_plain_call_that_gives_up_ends_the_process",
                "--nocapture",
            ])
            .env(CHILD, backend)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(120) {
                child.kill().unwrap();
                panic!("{backend}: the process hangs");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code().is_none(),
            "{backend}: no signal: {text}"
        );
        assert!(text.contains("futhark-sys: "), "{backend}: {text}");
        assert!(!text.contains("the process goes on"), "{backend}: {text}");
    }
}
