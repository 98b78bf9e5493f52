//! Runs a command to its end in bounded memory and, with a limit, in bounded time.
//!
//! Two threads read the output of the process and keep its beginning and its end. A process that the
//! command leaves behind can hold the pipes open for ever, so the readers are not waited for longer
//! than a second after the command has ended, in which this process runs: it can be stopped meanwhile.
//! That process is not killed here: in a build script it
//! can be a compile server that belongs to the user. [`take_remarks`] names it.
//!
//! The module is public for futhark-conformance, and not part of the interface for users.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a process whose output is open is asked whether it has ended.
const INTERVAL: Duration = Duration::from_millis(50);

/// How many intervals the output may stay open after the process has ended: a second.
const GRACE: usize = 20;

/// The time limit of a query.
const QUERY: Duration = Duration::from_secs(20);

/// The most that is kept of the text that a process prints, per stream.
const TEXT: usize = 4 << 20;

/// The most data that a process may print.
const DATA: usize = 1 << 30;

/// The limits of one command.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time until the process is killed; `None` for the limit of [`limit_time`].
    pub time: Option<Duration>,
    /// The number of bytes to keep of each stream; half of them from its end.
    pub bytes: usize,
}

impl Limits {
    /// For a compiler at work.
    pub const WORK: Limits = Limits {
        time: None,
        bytes: TEXT,
    };

    /// For a program that prints data.
    pub const DATA: Limits = Limits {
        time: None,
        bytes: DATA,
    };

    /// For a question that a program answers at once, such as `--version`.
    #[must_use]
    pub fn query() -> Limits {
        Limits {
            time: [Some(QUERY), default_time()].into_iter().flatten().min(),
            bytes: TEXT,
        }
    }
}

/// The time limit of commands without one, in milliseconds.
static DEFAULT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Limits the time of every later command of this process that has no limit of its own, and of
/// queries. Without this call they have none, as in a build script; queries have 20 seconds.
pub fn limit_time(limit: Duration) {
    let milliseconds = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    DEFAULT.store(milliseconds, Ordering::Relaxed);
}

fn default_time() -> Option<Duration> {
    match DEFAULT.load(Ordering::Relaxed) {
        u64::MAX => None,
        milliseconds => Some(Duration::from_millis(milliseconds)),
    }
}

/// The process group of commands; 0 for that of this process.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// Makes every later command of this process, with what it starts, join a process group. Its leader must
/// not end before the last command has started. `None` for the group of this process.
pub fn join_group(leader: Option<u32>) {
    let leader = leader.and_then(|leader| i32::try_from(leader).ok());
    GROUP.store(leader.unwrap_or(0), Ordering::Relaxed);
}

/// What happened besides the results of commands.
static REMARKS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Returns one sentence for each program that has left processes behind since the last call.
#[must_use]
pub fn take_remarks() -> Vec<String> {
    std::mem::take(&mut *lock(&REMARKS))
}

/// The result of a command that has ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    stdout: Captured,
    stderr: Captured,
}

impl Output {
    /// Everything that it printed on its standard output.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::FileTooLarge`]: it printed more than the limit.
    /// [`io::ErrorKind::UnexpectedEof`]: the end of the output was not read, because a process that the
    /// command left behind keeps it open.
    pub fn data(self) -> io::Result<Vec<u8>> {
        self.stdout.whole()
    }

    /// The text on its standard output. A line in brackets takes the place of what was not kept.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// The text on its standard error, likewise.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }
}

/// Runs a command without input, and blocks until it has ended.
///
/// # Errors
///
/// It cannot be started. [`io::ErrorKind::TimedOut`]: it did not end within its time limit, and was
/// killed.
pub fn run(command: &mut Command, limits: Limits) -> io::Result<Output> {
    #[cfg(feature = "tracing")]
    let _span = tracing::debug_span!(target: "futhark_sys", "compile step", ?command).entered();
    let limit = limits.time.or_else(default_time);
    let begun = Instant::now();
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    if let group @ 1.. = GROUP.load(Ordering::Relaxed) {
        std::os::unix::process::CommandExt::process_group(command, group);
    }
    let mut child = command.spawn()?;
    let (sender, closed) = mpsc::channel();
    let readers = child.stdout.take().zip(child.stderr.take());
    let started = readers.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe));
    let started = started.and_then(|(stdout, stderr)| {
        let stdout = read(stdout, limits.bytes, sender.clone())?;
        Ok((stdout, read(stderr, limits.bytes, sender)?))
    });
    let (stdout, stderr) = started.inspect_err(|_| end(&mut child))?;
    let kept = |stream: Arc<Mutex<Captured>>| std::mem::take(&mut *lock(&stream));
    // A limit beyond the end of time is none.
    let deadline = limit.and_then(|limit| begun.checked_add(limit));
    match wait(&mut child, &closed, deadline) {
        Ok(Some((status, left_open))) => {
            if left_open {
                let program = command.get_program().display();
                let remark = format!(
                    "{program} left a process behind, which keeps its output open; it was not waited for"
                );
                let mut remarks = lock(&REMARKS);
                if !remarks.contains(&remark) {
                    remarks.push(remark);
                }
            }
            Ok(Output {
                status,
                stdout: kept(stdout),
                stderr: kept(stderr),
            })
        }
        Ok(None) => {
            end(&mut child);
            let _ = closed.recv_timeout(INTERVAL);
            let limit = limit.unwrap_or_default();
            Err(too_slow(command, limit, &kept(stderr).text()))
        }
        Err(error) => {
            end(&mut child);
            Err(error)
        }
    }
}

fn too_slow(command: &Command, limit: Duration, said: &str) -> io::Error {
    let program = command.get_program().display();
    let argument = command.get_args().next();
    let argument = argument.map(|argument| format!(" {}", argument.display()));
    let mut message = format!(
        "`{program}{}` did not end within {} s and was killed",
        argument.unwrap_or_default(),
        limit.as_secs_f64()
    );
    if !said.trim().is_empty() {
        message += &format!("; its error output was:\n{}", said.trim_end());
    }
    io::Error::new(io::ErrorKind::TimedOut, message)
}

fn end(child: &mut Child) {
    // Both fail only if it has ended.
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits until the process has ended. Returns its status, and whether another process holds its
/// output open; `None` after the deadline.
fn wait(
    child: &mut Child,
    closed: &Receiver<()>,
    deadline: Option<Instant>,
) -> io::Result<Option<(ExitStatus, bool)>> {
    let mut open = true;
    // The pipes close when the process ends, so in general this does not poll.
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            let left_open = open && stays_open(|| closed.recv_timeout(INTERVAL));
            return Ok(Some((status, left_open)));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
        let left = left.unwrap_or(INTERVAL);
        if open {
            let ended = closed.recv_timeout(INTERVAL.min(left));
            open = ended == Err(RecvTimeoutError::Timeout);
        } else {
            thread::sleep(pause.min(left));
            pause = INTERVAL.min(pause * 2);
        }
    }
}

/// Whether the output stays open. Waits in intervals, because a clock also counts the time in which
/// this process is stopped: the readers cannot read then, and one long wait would end without them.
fn stays_open(mut wait: impl FnMut() -> Result<(), RecvTimeoutError>) -> bool {
    (0..GRACE).all(|_| wait() == Err(RecvTimeoutError::Timeout))
}

/// Reads a stream to its end on a thread of its own, so that the process never blocks on a full pipe.
/// The thread drops `closed` at the end.
fn read(
    mut stream: impl Read + Send + 'static,
    bytes: usize,
    closed: Sender<()>,
) -> io::Result<Arc<Mutex<Captured>>> {
    let captured = Arc::new(Mutex::new(Captured::new(bytes)));
    let shared = Arc::clone(&captured);
    thread::Builder::new().spawn(move || {
        let _closed = closed;
        let mut chunk = [0; 16 << 10];
        loop {
            match stream.read(&mut chunk) {
                Ok(0) => {
                    lock(&shared).has_end = true;
                    break;
                }
                Ok(length) => lock(&shared).add(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    })?;
    Ok(captured)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
struct Captured {
    first: Vec<u8>,
    last: VecDeque<u8>,
    /// The size of `first` and of `last`.
    half: usize,
    /// The number of bytes between them.
    omitted: u64,
    /// Whether the end of the stream was read.
    has_end: bool,
}

impl Captured {
    fn new(bytes: usize) -> Captured {
        Captured {
            half: bytes / 2,
            ..Captured::default()
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.first.len()));
        self.first.extend_from_slice(first);
        self.last.extend(rest);
        let surplus = self.last.len().saturating_sub(self.half);
        self.last.drain(..surplus);
        self.omitted += surplus as u64;
    }

    fn whole(mut self) -> io::Result<Vec<u8>> {
        if self.omitted > 0 {
            let message = format!("the output is longer than {} bytes", 2 * self.half);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        if !self.has_end {
            let message = "the end of the output was not read; another process keeps it open";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        self.first.extend(self.last);
        Ok(self.first)
    }

    fn text(&self) -> String {
        let mut bytes = self.first.clone();
        if self.omitted > 0 {
            bytes.extend(format!("\n[bytes omitted: {}]\n", self.omitted).as_bytes());
        }
        bytes.extend(&self.last);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limits: Limits) -> io::Result<Output> {
        run(Command::new("sh").args(["-c", script]), limits)
    }

    fn within(milliseconds: u64) -> Limits {
        Limits {
            time: Some(Duration::from_millis(milliseconds)),
            ..Limits::WORK
        }
    }

    #[test]
    fn status_and_output_are_those_of_the_command() {
        let output = shell("echo out; echo error >&2; exit 3", Limits::WORK).unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(output.stderr(), "error\n");
        assert_eq!(output.stdout(), "out\n");
        assert_eq!(output.data().unwrap(), b"out\n");
        let missing = run(&mut Command::new("/nowhere/futhark"), Limits::WORK);
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_command_that_hangs_is_killed_and_named() {
        let begun = Instant::now();
        let error = shell("echo busy >&2; exec sleep 60", within(200)).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let message = error.to_string();
        assert!(
            message.contains("`sh -c` did not end within 0.2 s") && message.contains("busy"),
            "{message}"
        );
    }

    #[test]
    fn a_command_that_closes_its_output_and_hangs_is_killed() {
        let error = shell("exec sleep 60 >&- 2>&-", within(200)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_process_that_is_left_behind_is_not_waited_for() {
        let begun = Instant::now();
        let output = shell("echo done; sleep 3 & exit 0", Limits::WORK).unwrap();
        assert!(begun.elapsed() < Duration::from_millis(2800));
        assert!(output.status.success());
        assert_eq!(output.stdout(), "done\n");
        let remarks = take_remarks();
        let is_told = |remark: &String| remark.starts_with("sh left a process behind");
        assert!(remarks.iter().any(is_told), "{remarks:?}");
        let error = output.data().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn the_time_in_which_this_process_is_stopped_does_not_count() {
        // A wait that takes minutes, and one after which the readers have run.
        let mut waits = [RecvTimeoutError::Timeout, RecvTimeoutError::Disconnected].into_iter();
        assert!(!stays_open(|| Err(waits.next().unwrap())));
        assert!(stays_open(|| Err(RecvTimeoutError::Timeout)));
    }

    #[test]
    fn only_the_beginning_and_the_end_of_an_output_are_kept() {
        let limits = Limits {
            time: None,
            bytes: 1000,
        };
        // One line without end.
        let script = "printf first; head -c 5000000 /dev/zero | tr '\\0' x; printf last";
        let output = shell(script, limits).unwrap();
        let text = output.stdout();
        assert!(text.len() < 1100, "{}", text.len());
        assert!(text.starts_with("firstxx") && text.ends_with("xxlast"));
        assert!(text.contains("[bytes omitted: 4999009]"), "{text}");
        assert_eq!(
            output.data().unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
    }
}
