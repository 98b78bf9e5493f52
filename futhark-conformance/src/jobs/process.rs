//! A child process, seen from its parent.
//!
//! Three threads of the parent are involved:
//!
//! * A reader of the child's standard output parses events and sends them into a channel.
//! * A reader of its standard error keeps the last lines, for the message if the child dies.
//! * The thread of the job waits for the channel, at most as long as the current case may take ([`Process::listen`]).
//!
//! A wait ends in one of four ways. An event arrives: the thread handles it and waits again,
//! with a new time limit. The time limit passes, as [`crate::stopwatch`] measures it: the thread kills the child's process
//! group, which includes the compilers that the child started. The child ends: the thread kills the
//! rest of the group, and reads what is left of the output. The channel closes, because the child
//! has closed its standard output: the thread waits until the child has ended, and kills it if
//! that takes longer than the time limit.
//!
//! Both readers end when the pipes close, which is when the last process of the group has ended. A
//! process that has left the group can keep them open; then the readers are waited for only as long
//! as [`GRACE`]. Whatever arrives, they keep a bounded part of it.
//!
//! Every process of a run ends with the run, by whatever: its result, a signal, also SIGKILL, or a panic. Each
//! process that a run starts is in a group whose leader has a pipe as its standard input. Only the runner holds the
//! other end: at the end of the file the runner has ended, and the leader kills its group. The process of a job,
//! whose standard input first has one line, the job, leads a group, which its compilers join. For the compilers
//! that the runner itself starts, the leader is a process that does nothing else, the guard. Only a process that
//! leaves its group on purpose stays.

use crate::lines::Lines;
use crate::protocol::Event;
use crate::record::Cause;
use crate::stopwatch::Stopwatch;
use futhark_safe::compile;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_current_process_group,
    kill_process_group, waitid,
};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// How long a killed process may take to end.
const STUBBORN: Duration = Duration::from_secs(10);

/// The number of lines of a child's standard error to keep.
const STDERR_LINES: usize = 40;

/// The most bytes to keep of each of them.
const STDERR_LINE: usize = 4 << 10;

/// The most bytes of an event. Longer lines are other output, because messages are limited.
const EVENT: usize = 4 << 20;

/// The number of events to read ahead.
const EVENTS: usize = 1000;

/// How often to look whether a child has ended whose output is open.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long the output may stay open after the process group was killed.
const GRACE: Duration = Duration::from_secs(1);

/// Why a child did not finish its work.
pub(super) struct Death {
    pub(super) cause: Cause,
    pub(super) message: String,
}

/// A child process and the threads that read its output. Dropping it kills the child and its process
/// group.
pub(super) struct Process {
    child: Child,
    /// The status, after the child was waited for.
    status: Option<ExitStatus>,
    events: Receiver<Event>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    /// Closed when the standard error is.
    stderr_closed: Receiver<()>,
    timeout: Duration,
    _misuse_reports: Option<NamedTempFile>,
}

impl Process {
    /// Starts a child, and writes a line to its standard input, which stays open. `timeout` is how long it may take until
    /// its first event, and to end after its last. The file `misuse_reports` is deleted after the child has ended.
    pub(super) fn start(
        command: &mut Command,
        input: &str,
        misuse_reports: Option<NamedTempFile>,
        timeout: Duration,
    ) -> io::Result<Process> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A process group, so that the child's compilers are killed with it.
            .process_group(0);
        let mut child = command.spawn()?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        let (sender, events) = mpsc::sync_channel(EVENTS);
        let (closed, stderr_closed) = mpsc::channel();
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        // From here on, an error kills the child.
        let mut process = Process {
            child,
            status: None,
            events,
            stderr: Arc::clone(&tail),
            stderr_closed,
            timeout,
            _misuse_reports: misuse_reports,
        };
        let (stdout, stderr) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        thread::Builder::new().spawn(move || {
            for (line, _) in Lines::new(stdout, EVENT) {
                if let Some(event) = Event::read(&line)
                    && sender.send(event).is_err()
                {
                    break;
                }
            }
        })?;
        thread::Builder::new().spawn(move || keep_tail(stderr, &tail, closed))?;
        if let Some(stdin) = &mut process.child.stdin {
            // This fails if the child has ended, which `listen` reports.
            let _ = writeln!(stdin, "{input}");
        }
        Ok(process)
    }

    /// Passes the child's events on until the child has ended. `on_event` returns how long the child may take
    /// until the next one; if it takes longer, it is killed. Returns why it did not finish, if it did not.
    pub(super) fn listen(&mut self, on_event: &mut dyn FnMut(Event) -> Duration) -> Option<Death> {
        let mut limit = self.timeout;
        let mut is_done = false;
        let mut stopwatch = Stopwatch::start(Pid::from_child(&self.child));
        // When to stop reading the output of a child that has ended.
        let mut last_moment: Option<Instant> = None;
        loop {
            match self.events.recv_timeout(INTERVAL.min(limit)) {
                Ok(event) => {
                    stopwatch.restart();
                    is_done |= event == Event::Done;
                    limit = on_event(event);
                }
                Err(RecvTimeoutError::Disconnected) => return self.reap(is_done),
                Err(RecvTimeoutError::Timeout) => match last_moment {
                    Some(last_moment) if Instant::now() < last_moment => {}
                    Some(_) => {
                        let text = LEFT_BEHIND.to_owned();
                        on_event(Event::Remark { text });
                        return self.reap(is_done);
                    }
                    None if self.has_ended() => {
                        self.kill();
                        last_moment = Some(Instant::now() + GRACE);
                    }
                    None if stopwatch.has_reached(limit) => {
                        let _ = self.end();
                        return Some(Death {
                            cause: Cause::Timeout,
                            message: format!(
                                "no answer within {} s; killed\n--timeout allows more time, and --optimise makes \
                                 C code faster",
                                limit.as_secs()
                            ),
                        });
                    }
                    None => {}
                },
            }
        }
    }

    /// Waits for a child that has closed its output, and says why it has died if it has not done its work.
    /// Kills it if it hangs, for example in the destructors of a driver.
    fn reap(&mut self, is_done: bool) -> Option<Death> {
        let begun = Instant::now();
        while !self.has_ended() && begun.elapsed() < self.timeout {
            thread::sleep(Duration::from_millis(2));
        }
        match self.end() {
            _ if is_done => None,
            Ok(status) => Some(Death {
                cause: Cause::Crash,
                message: self.describe_death(status),
            }),
            Err(error) => Some(Death {
                cause: Cause::Error,
                message: format!("failed to wait for the child process: {error}"),
            }),
        }
    }

    /// Whether the child has ended. It keeps its number until [`Process::end`], so that no other
    /// process can have it.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let state = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        self.status.is_some() || matches!(state, Ok(Some(_)))
    }

    /// Kills what is left of the child's group, and waits for the child.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.kill();
        // A process that waits for a driver or a disk does not end before the wait does.
        let deadline = Instant::now() + STUBBORN;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                self.status = Some(status);
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(1));
        }
        let message = format!(
            "process {} does not end although it was killed",
            self.child.id()
        );
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }

    fn kill(&self) {
        // This fails if the group has already ended.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// The end of the standard error of a child that has ended.
    fn stderr(&self) -> String {
        let _ = self.stderr_closed.recv_timeout(GRACE);
        let mut tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        tail.make_contiguous().join("\n").trim().to_owned()
    }

    fn describe_death(&self, status: ExitStatus) -> String {
        // Such as `signal: 11 (SIGSEGV) (core dumped)`.
        let signal = status.to_string().replace("signal: ", "signal ");
        let how = match status.code() {
            None => format!(
                "the process was killed by {}",
                signal.replace(" (core dumped)", "")
            ),
            Some(code) => format!("the process exited with status {code}"),
        };
        match self.stderr().as_str() {
            "" => how,
            stderr => format!("{how}; its last output was:\n{stderr}"),
        }
    }
}

impl Drop for Process {
    /// Kills the process group, so that no compiler outlives its job.
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// What is said about an output that stays open.
const LEFT_BEHIND: &str = "a process that the job started has left its process group and keeps the \
                           output of the job open; it was not waited for";

/// Keeps the last lines of a stream. Reads to its end, so that the child never blocks on a full pipe. Drops
/// `_closed` at the end.
fn keep_tail(stream: impl Read, tail: &Mutex<VecDeque<String>>, _closed: Sender<()>) {
    for (line, omitted) in Lines::new(stream, STDERR_LINE) {
        let mut line = String::from_utf8_lossy(&line).into_owned();
        if omitted > 0 {
            line += &format!(" [{omitted} bytes omitted]");
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == STDERR_LINES {
            tail.pop_front();
        }
        tail.push_back(line);
    }
}

/// The variables that children get, also after `HOST_` and `TARGET_`, as `README.md` lists them for users.
/// RUSTC_WRAPPER is not among them: the cc crate would run C compilers by it, and a server that it starts
/// would end with the run, although others use it.
const PASSED: &str = "
    PATH HOME USER LOGNAME SHELL TERM TZ TMPDIR TMP TEMP LANG LANGUAGE LC_* XDG_*
    FUTHARK_* GHCRTS LIBCLANG_PATH BINDGEN_EXTRA_CLANG_ARGS
    CC CC_* CXX CXX_* CPP LD LD_* DYLD_* AR AR_* AS NM RANLIB STRIP OBJCOPY
    CFLAGS* CXXFLAGS* ARFLAGS* CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
    LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX CCC_OVERRIDE_OPTIONS CROSS_COMPILE
    PKG_CONFIG_PATH SOURCE_DATE_EPOCH SDKROOT DEVELOPER_DIR MACOSX_DEPLOYMENT_TARGET
    CONDA_PREFIX CONDA_BUILD_SYSROOT NIX_* CCACHE_*
    OCL_* OPENCL_* POCL_* OCLGRIND_* CL_* RUSTICL_* MESA_* LIBGL_DRIVERS_PATH ZE_* ONEAPI_*
    CUDA_* NVIDIA_* NVRTC_* HIP_* ROCM_* ROCR_* HSA_* HCC_AMDGPU_TARGET AMD_* GPU_*
    OMP_* GOMP_* KMP_* MALLOC_* GLIBC_TUNABLES ASAN_* LSAN_* UBSAN_* TSAN_* MSAN_*
    RUST_BACKTRACE RUST_LIB_BACKTRACE RUST_MIN_STACK LLVM_PROFILE_FILE";

/// The variable with the names of further variables that children get, separated by commas.
const FURTHER: &str = "FUTHARK_PASS_ENV";

/// The variables of this process that children get: those of the list, and those that [`FURTHER`] names.
pub(super) fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    let further = std::env::var(FURTHER).unwrap_or_default();
    std::env::vars_os().filter(move |(name, _)| is_passed(name, &further))
}

fn is_passed(name: &OsStr, further: &str) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    // The target form of the cc crate, such as TARGET_CC.
    let own = ["HOST_", "TARGET_"];
    let own = own.iter().find_map(|prefix| name.strip_prefix(prefix));
    let own = own.unwrap_or(name);
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => own.starts_with(beginning),
        None => own == pattern,
    };
    PASSED.split_whitespace().any(matches) || further.split(',').any(|further| further == name)
}

pub const GUARD: &str = "@guard";

/// The guard of this process. Dropping it ends the processes that are left.
#[derive(Debug)]
pub struct Guard {
    process: Option<Child>,
}

impl Guard {
    /// Starts the guard. Without one, the run goes on, and compilers can outlive it.
    #[must_use]
    pub fn start() -> Guard {
        let guard = std::env::current_exe().and_then(|program| {
            Command::new(program)
                .arg(GUARD)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .process_group(0)
                .spawn()
        });
        let guard = guard.ok();
        compile::process::join_group(guard.as_ref().map(Child::id));
        Guard { process: guard }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        compile::process::join_group(None);
        if let Some(guard) = &mut self.process {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}

/// Blocks until the runner has ended, and kills the group of this process if it leads one.
pub fn wait_for_end() {
    let mut bytes = [0; 64];
    loop {
        match io::stdin().read(&mut bytes) {
            Ok(0) => break,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => break,
            _ => {}
        }
    }
    if getpgrp() == getpid() {
        // This process is in the group, so nothing follows.
        let _ = kill_current_process_group(Signal::KILL);
    }
}

/// Makes the process of a job end with its runner.
pub fn end_with_parent() {
    // Without the thread, the process ends at its next event.
    let _ = thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(wait_for_end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::CaseStart;

    fn shell(script: &str, timeout: Duration) -> (Vec<Event>, Option<Death>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut process = Process::start(&mut command, "", None, timeout).unwrap();
        let mut events = Vec::new();
        let death = process.listen(&mut |event| {
            events.push(event);
            timeout
        });
        (events, death)
    }

    /// A command that writes an event as a child does.
    fn say(event: &Event) -> String {
        let mut text = Vec::new();
        event.write(&mut text).unwrap();
        format!("cat <<'EOF'\n{}\nEOF\n", String::from_utf8(text).unwrap())
    }

    fn begin() -> Event {
        Event::Begin(CaseStart {
            check: "blocks".into(),
            case: "main #0".into(),
            budget: None,
            is_needed: false,
            excuse: None,
        })
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn other_output_on_stdout_is_ignored() {
        let script = format!("printf 'Using device: x'\n{}echo bye\n", say(&Event::Done));
        let (events, death) = shell(&script, LONG);
        assert_eq!(events, [Event::Done]);
        assert!(death.is_none());
    }

    #[test]
    fn an_exit_within_a_step_is_a_death_even_with_status_0() {
        let (_, death) = shell(&format!("{}exit 0\n", say(&begin())), LONG);
        assert_eq!(death.unwrap().cause, Cause::Crash);
        let (_, death) = shell("exit 0\n", LONG);
        assert!(death.unwrap().message.contains("status 0"));
    }

    /// Processes that keep every processor busy, until this is dropped.
    #[cfg(target_os = "linux")]
    struct Load(Vec<Child>);

    #[cfg(target_os = "linux")]
    impl Load {
        fn start() -> Load {
            let spin = |_| {
                let mut command = Command::new("sh");
                command.args(["-c", "while :; do :; done"]).spawn().unwrap()
            };
            Load((0..2 * crate::parallel::processors()).map(spin).collect())
        }
    }

    #[cfg(target_os = "linux")]
    impl Drop for Load {
        fn drop(&mut self) {
            for process in &mut self.0 {
                let _ = process.kill();
                let _ = process.wait();
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_busy_machine_does_not_shorten_time_limits() {
        let _load = Load::start();
        let limit = Duration::from_secs(2);
        // The system ends the inner shell after a second of processor time.
        let second = "(ulimit -t 1; while :; do :; done) 2>&1";
        let begun = Instant::now();
        let (events, death) = shell(&format!("{second}\n{}", say(&Event::Done)), limit);
        assert_eq!(events, [Event::Done]);
        assert!(begun.elapsed() > limit, "the load has no effect");
        assert!(death.is_none());

        for script in ["while :; do :; done\n", "sleep 600\n"] {
            let (_, death) = shell(script, limit / 4);
            assert_eq!(death.unwrap().cause, Cause::Timeout);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_leaves_the_group_is_not_waited_for() {
        // It writes a file before it ends, which it does once the folder is gone.
        let folder = tempfile::tempdir().unwrap();
        let (here, ended) = (folder.path(), folder.path().join("ended"));
        let wait =
            "while test -e \"$0\" && test $((n = n + 1)) -lt 60; do sleep 1; done; : >\"$1\"";
        let script = format!(
            "setsid sh -c '{wait}' '{}' '{}' &\n{}",
            here.display(),
            ended.display(),
            say(&Event::Done)
        );
        let (events, death) = shell(&script, LONG);
        assert!(!ended.exists());
        assert!(death.is_none());
        assert!(
            matches!(&events[..], [Event::Done, Event::Remark { .. }]),
            "{events:?}"
        );
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let script = format!(
            "head -c 50000000 /dev/zero\n{}head -c 50000000 /dev/zero >&2\necho end >&2\nkill -SEGV $$\n",
            say(&begin())
        );
        let (events, death) = shell(&script, LONG);
        assert_eq!(events, [begin()]);
        let message = death.unwrap().message;
        assert!(message.len() < 2 * STDERR_LINE, "{}", message.len());
        assert!(message.contains("bytes omitted]"), "{message}");
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let tail = |text: &str| {
            let tail = Mutex::default();
            keep_tail(text.as_bytes(), &tail, mpsc::channel().0);
            Vec::from(tail.into_inner().unwrap()).join("\n")
        };
        let text: String = (0..1000).map(|i| format!("line {i}\n")).collect();
        let kept = tail(&text);
        assert_eq!(kept.lines().count(), STDERR_LINES);
        assert!(kept.ends_with("line 999"));
    }

    #[test]
    fn credentials_are_not_passed() {
        let passed = |name: &str| is_passed(OsStr::new(name), "A,LICENSE");
        let settings = "PATH LC_ALL CC_x86_64-unknown-linux-gnu TARGET_CFLAGS LD_PRELOAD OCL_ICD_VENDORS \
                        FUTHARK_LIBCUDA CUDA_VISIBLE_DEVICES ASAN_OPTIONS LICENSE";
        for name in settings.split(' ') {
            assert!(passed(name), "{name}");
        }
        let credentials = "GITHUB_TOKEN CI_JOB_TOKEN AWS_SECRET_ACCESS_KEY CARGO_REGISTRY_TOKEN RUSTC_WRAPPER \
                           SSH_AUTH_SOCK LICENSE_KEY http_proxy";
        for name in credentials.split(' ') {
            assert!(!passed(name), "{name}");
        }
    }
}
