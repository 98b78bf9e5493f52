//! A fatal failure in a plain call ends the process at once, with a message, on any thread. In a safe
//! call it would lose the context.

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
        // On multicore a worker computes the last part.
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
        panic!("the process continues: {result:?}");
    }};
}

#[test]
fn a_fatal_failure_in_a_plain_call_ends_the_process() {
    match std::env::var(CHILD).as_deref() {
        Ok("c") => divide!(c, C),
        Ok(_) => divide!(multicore, Multicore),
        Err(_) => {}
    }
    for backend in ["c", "multicore"] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "ends::a_fatal_failure_in_a_plain_call_ends_the_process",
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
        assert!(!text.contains("the process continues"), "{backend}: {text}");
    }
}
