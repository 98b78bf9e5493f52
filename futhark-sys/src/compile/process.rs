//! Runs a command to its end in bounded memory and, with a limit, in bounded time.
//!
//! The process writes its output to files without names, of which the beginning and the end are read when it has
//! ended. So a process that the command leaves behind, such as the compile server of the user, holds up nothing.
//!
//! The module is public for futhark-conformance, and not part of the interface for users.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::cache::temporary;
use super::error::{Error, ErrorKind};

/// The longest pause between two questions whether a process has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// The time limit of a query.
const QUERY: Duration = Duration::from_secs(20);

/// The most that is read as text of what a process prints, per stream; half of it from its end.
const TEXT: u64 = 4 << 20;

/// A process that prints this number of bytes to a stream is killed, before it fills the disk.
static MOST_OUTPUT: AtomicU64 = AtomicU64::new(1 << 30);

/// Sets the number of bytes at which a later process is killed that prints them to a stream; 1 GiB without this call.
pub fn limit_output(bytes: u64) {
    MOST_OUTPUT.store(bytes, Ordering::Relaxed);
}

/// The time limit of commands.
static LIMIT: Mutex<Option<Duration>> = Mutex::new(None);

/// Limits the time of every later [`run`] and [`query`] of this process. Without this call they have no limit, as in a
/// build script; queries have 20 seconds.
pub fn limit_time(limit: Duration) {
    *LIMIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(limit);
}

fn default_time() -> Option<Duration> {
    *LIMIT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process group of commands; 0 for that of this process.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// Makes every later command of this process, with what it starts, join a process group. Its leader must
/// not end before the last command has started. `None` for the group of this process.
pub fn join_group(leader: Option<u32>) {
    let leader = leader.and_then(|leader| i32::try_from(leader).ok());
    GROUP.store(leader.unwrap_or(0), Ordering::Relaxed);
}

/// The result of a command that has ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    stdout: File,
    stderr: File,
}

impl Output {
    /// Everything that it printed on its standard output.
    pub fn data(&self) -> io::Result<Vec<u8>> {
        part(&self.stdout, 0, self.stdout.metadata()?.len())
    }

    /// The text on its standard output. A line in brackets takes the place of what is beyond 4 MiB.
    #[must_use]
    pub fn stdout(&self) -> String {
        text_of(&self.stdout)
    }

    /// The text on its standard error, likewise.
    #[must_use]
    pub fn stderr(&self) -> String {
        text_of(&self.stderr)
    }

    /// Whether a compiler failed for lack of memory or disk space, not because of its input: it says so, or was killed, or
    /// failed without a word, which it could not write.
    pub(super) fn lacks_room(&self) -> bool {
        const SIGNS: &str =
            "No space left,Disk quota exceeded,out of memory,Cannot allocate memory,Killed,SIGKILL";
        let text = format!("{}\n{}", self.status, self.stderr());
        let is_silent = self.status.code().is_some() && text.trim_end().lines().count() == 1;
        is_silent || SIGNS.split(',').any(|sign| text.contains(sign))
    }
}

/// Runs a command without input, and blocks until it has ended.
///
/// # Errors
/// It cannot be started. [`io::ErrorKind::TimedOut`]: it did not end within the limit of [`limit_time`], and was
/// killed. [`io::ErrorKind::FileTooLarge`]: it printed what [`limit_output`] allows or more, and was killed.
pub fn run(command: &mut Command) -> io::Result<Output> {
    run_within(command, default_time())
}

/// As [`run`], for a question that a program answers at once, such as `--version`.
pub fn query(command: &mut Command) -> io::Result<Output> {
    let limit = [Some(QUERY), default_time()].into_iter().flatten().min();
    run_within(command, limit)
}

/// As [`run`], with another limit; `None` for none.
pub fn run_within(command: &mut Command, limit: Option<Duration>) -> io::Result<Output> {
    #[cfg(feature = "tracing")]
    let _span = tracing::debug_span!(target: "futhark_sys", "compile step", ?command).entered();
    let (stdout, stderr) = (unnamed_file()?, unnamed_file()?);
    command.stdin(Stdio::null());
    command.stdout(stdout.try_clone()?);
    command.stderr(stderr.try_clone()?);
    #[cfg(unix)]
    if let group @ 1.. = GROUP.load(Ordering::Relaxed) {
        std::os::unix::process::CommandExt::process_group(command, group);
    }
    let begun = Instant::now();
    let mut child = command.spawn()?;
    let mut pause = Duration::from_micros(100);
    let error = loop {
        let status = child.try_wait()?;
        // Also if it has ended: a limit of the system on files may have killed it.
        let most = MOST_OUTPUT.load(Ordering::Relaxed);
        if stdout.metadata()?.len().max(stderr.metadata()?.len()) >= most {
            let message = format!("printed {} MiB", most >> 20);
            break io::Error::new(io::ErrorKind::FileTooLarge, message);
        }
        if let Some(status) = status {
            return Ok(Output {
                status,
                stdout,
                stderr,
            });
        }
        if let Some(limit) = limit.filter(|limit| begun.elapsed() >= *limit) {
            let message = format!("did not end within {} s", limit.as_secs_f64());
            break io::Error::new(io::ErrorKind::TimedOut, message);
        }
        thread::sleep(pause);
        pause = PAUSE.min(pause * 2);
    };
    // Both fail only if it has ended.
    let _ = child.kill();
    let _ = child.wait();
    let program = command.get_program().display();
    let argument = command.get_args().next();
    let argument = argument.map(|argument| format!(" {}", argument.display()));
    let argument = argument.unwrap_or_default();
    let mut message = format!("`{program}{argument}` {error} and was killed");
    let text = text_of(&stderr);
    if !text.trim().is_empty() {
        message += &format!("; its error output was:\n{}", text.trim_end());
    }
    Err(io::Error::new(error.kind(), message))
}

/// A file that exists until it is closed. Everything is written at its end, also by a process that is left behind while
/// the beginning is read.
fn unnamed_file() -> io::Result<File> {
    let folder = std::env::temp_dir();
    let path = temporary(&folder.join("futhark-output"));
    let mut options = File::options();
    let options = options.read(true).append(true).create_new(true);
    let create = || {
        let mut file = options.open(&path)?;
        fs::remove_file(&path)?;
        // Otherwise the process would fail, for lack of space, without a word.
        file.write_all(&[0; 4096])?;
        file.set_len(0)?;
        Ok(file)
    };
    create().map_err(|error: io::Error| {
        let folder = folder.display();
        let message =
            format!("cannot write to {folder}, the folder for temporary files (TMPDIR): {error}");
        io::Error::new(error.kind(), message)
    })
}

/// The error that the folder for temporary files cannot be written to, which explains why a tool failed, or else `error`.
pub(super) fn unless_temporary_fails(error: Error) -> Error {
    match unnamed_file() {
        Ok(_) => error,
        Err(cause) => Error::new(ErrorKind::Io, cause.to_string()),
    }
}

/// A compiler [lacks room](Output::lacks_room).
pub(super) fn no_room(said: &str) -> Error {
    let folder = std::env::temp_dir();
    let message = format!(
        "a compiler lacks memory or disk space, for its result or for temporary files in {} (TMPDIR): {said}",
        folder.display()
    );
    unless_temporary_fails(Error::new(ErrorKind::Io, message))
}

/// The text in a file; of a long one, the beginning and the end.
fn text_of(file: &File) -> String {
    let read = || {
        let length = file.metadata()?.len();
        if length <= TEXT {
            return part(file, 0, length);
        }
        let mut bytes = part(file, 0, TEXT / 2)?;
        bytes.extend(format!("\n[bytes omitted: {}]\n", length - TEXT).as_bytes());
        bytes.extend(part(file, length - TEXT / 2, length)?);
        Ok(bytes)
    };
    let bytes = read().unwrap_or_else(|error: io::Error| {
        format!("[the output cannot be read: {error}]").into_bytes()
    });
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The bytes of a file between two offsets.
fn part(mut file: &File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(to - from).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> io::Result<Output> {
        run(Command::new("sh").args(["-c", script]))
    }

    fn shortly(script: &str) -> io::Result<Output> {
        let limit = Some(Duration::from_millis(200));
        run_within(Command::new("sh").args(["-c", script]), limit)
    }

    #[test]
    fn status_and_output_are_those_of_the_command() {
        let output = shell("echo out; echo error >&2; exit 3").unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(output.stderr(), "error\n");
        assert_eq!(output.stdout(), "out\n");
        assert_eq!(output.data().unwrap(), b"out\n");
        let missing = run(&mut Command::new("/nowhere/futhark"));
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_command_that_hangs_is_killed_and_named() {
        let error = shortly("echo busy >&2; exec sleep 600").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let message = error.to_string();
        assert!(
            message.contains("`sh -c` did not end within 0.2 s") && message.contains("busy"),
            "{message}"
        );
    }

    #[test]
    fn a_command_that_closes_its_output_and_hangs_is_killed() {
        let error = shortly("exec sleep 600 >&- 2>&-").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_process_that_is_left_behind_is_not_waited_for() {
        // It writes a file before it ends, which it does once the folder is gone.
        let here = std::env::temp_dir().join(format!("futhark-sys-left-{}", std::process::id()));
        fs::create_dir_all(&here).unwrap();
        let ended = here.join("ended");
        let output = shell(&format!(
            "echo done; {{ while test -e '{}' && test $((n = n + 1)) -lt 60; do sleep 1; done; : >'{}'; }} 2>&1 & exit 0",
            here.display(),
            ended.display()
        ))
        .unwrap();
        assert!(!ended.exists());
        assert!(output.status.success());
        assert_eq!(output.stdout(), "done\n");
        assert_eq!(output.data().unwrap(), b"done\n");
        // Now the process ends, and reports that it cannot write.
        fs::remove_dir_all(&here).unwrap();
    }

    #[test]
    fn the_text_of_a_long_output_is_its_beginning_and_its_end() {
        // One line without end.
        let script = "printf first; head -c 5000000 /dev/zero | tr '\\0' x; printf last";
        let output = shell(script).unwrap();
        let text = output.stdout();
        assert!(text.len() < 4_194_400, "{}", text.len());
        assert!(text.starts_with("firstxx") && text.ends_with("xxlast"));
        assert!(text.contains("x\n[bytes omitted: 805705]\nx"));
        assert_eq!(output.data().unwrap().len(), 5_000_009);
    }
}
