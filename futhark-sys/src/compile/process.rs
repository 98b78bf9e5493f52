//! Runs a command to its end in bounded memory and, with a limit, in bounded time.
//!
//! The process writes its output to files without names, of which the beginning and the end are read when it has
//! ended. So a process that the command leaves behind, such as the compile server of the user, holds up nothing.
//!
//! The module is public for futhark-conformance, and not part of the interface for users.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::cache::temporary;

/// The longest pause between two questions whether a process has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// The time limit of a query.
const QUERY: Duration = Duration::from_secs(20);

/// The most that is kept of the text that a process prints, per stream.
const TEXT: u64 = 4 << 20;

/// The most that a process may print, per stream. Otherwise it is killed, before it fills the disk.
const DATA: u64 = 1 << 30;

/// The limits of one command.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time until the process is killed; `None` for the limit of [`limit_time`].
    pub time: Option<Duration>,
    /// The number of bytes to keep of each stream; half of them from its end.
    pub bytes: u64,
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
    pub fn data(self) -> io::Result<Vec<u8>> {
        match self.stdout.omitted {
            0 => Ok([self.stdout.first, self.stdout.last].concat()),
            _ => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "the output is longer than the limit",
            )),
        }
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
/// killed. [`io::ErrorKind::FileTooLarge`]: it printed more than 1 GiB, and was killed.
pub fn run(command: &mut Command, limits: Limits) -> io::Result<Output> {
    #[cfg(feature = "tracing")]
    let _span = tracing::debug_span!(target: "futhark_sys", "compile step", ?command).entered();
    let (mut stdout, mut stderr) = (unnamed_file()?, unnamed_file()?);
    command.stdin(Stdio::null());
    command.stdout(stdout.try_clone()?);
    command.stderr(stderr.try_clone()?);
    #[cfg(unix)]
    if let group @ 1.. = GROUP.load(Ordering::Relaxed) {
        std::os::unix::process::CommandExt::process_group(command, group);
    }
    let begun = Instant::now();
    let mut child = command.spawn()?;
    let limit = limits.time.or_else(default_time);
    let mut pause = Duration::from_micros(100);
    let error = loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Output {
                status,
                stdout: Captured::read(&mut stdout, limits.bytes)?,
                stderr: Captured::read(&mut stderr, limits.bytes)?,
            });
        }
        if let Some(limit) = limit.filter(|limit| begun.elapsed() >= *limit) {
            let message = format!("did not end within {} s", limit.as_secs_f64());
            break io::Error::new(io::ErrorKind::TimedOut, message);
        }
        if stdout.metadata()?.len().max(stderr.metadata()?.len()) > DATA {
            break io::Error::new(io::ErrorKind::FileTooLarge, "printed more than 1 GiB");
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
    let text = Captured::read(&mut stderr, limits.bytes)?.text();
    if !text.trim().is_empty() {
        message += &format!("; its error output was:\n{}", text.trim_end());
    }
    Err(io::Error::new(error.kind(), message))
}

/// A file that exists until it is closed. Everything is written at its end, also by a process that is left behind while
/// the beginning is read.
fn unnamed_file() -> io::Result<File> {
    let path = temporary(&std::env::temp_dir().join("futhark-output"));
    let mut options = File::options();
    let options = options.read(true).append(true).create_new(true);
    let file = options.open(&path).map_err(|error| {
        let message = format!("cannot write its output to {}: {error}", path.display());
        io::Error::new(error.kind(), message)
    })?;
    fs::remove_file(path)?;
    Ok(file)
}

/// The beginning and the end of a stream.
#[derive(Debug)]
struct Captured {
    first: Vec<u8>,
    /// The number of bytes between them.
    omitted: u64,
    last: Vec<u8>,
}

impl Captured {
    fn read(file: &mut File, bytes: u64) -> io::Result<Captured> {
        let length = file.metadata()?.len();
        let start = length.min(bytes / 2);
        let end = start.max(length.saturating_sub(bytes / 2));
        let mut part = |from, to| {
            let mut part = Vec::new();
            file.seek(SeekFrom::Start(from))?;
            file.take(to - from).read_to_end(&mut part)?;
            io::Result::Ok(part)
        };
        Ok(Captured {
            first: part(0, start)?,
            omitted: end - start,
            last: part(end, length)?,
        })
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

#[cfg(test)]
#[cfg(unix)]
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
        assert_eq!(output.data().unwrap(), b"done\n");
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
