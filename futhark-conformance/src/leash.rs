//! Ends every process of a run when the run ends, by whatever: its result, a signal, also SIGKILL, or
//! a panic.
//!
//! * The process of a job leads a process group, which its compilers join. Its standard input is a
//!   pipe whose other end only the runner holds: at the end of the file the runner has ended, and the
//!   process kills its group ([`end_with_parent`]).
//! * On Linux, all processes of a run have its mark in their environment. A second process, the
//!   guard, watches such a pipe too, and then kills every process with the mark: the compilers that
//!   the runner itself started, and processes that left their group.
//!
//! The mark is a variable of the environment that a process inherits. A process cannot change its own
//! environment safely, so the runner replaces itself by itself with the variable
//! ([`Command::exec`](std::os::unix::process::CommandExt::exec)), and keeps its process number.

use rustix::process::{Pid, Signal, getpgrp, getpid, getppid};
use rustix::process::{kill_current_process_group, kill_process};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The variable with the mark, and those of the runs that started this one, separated by colons.
const MARK: &str = "FUTHARK_CONFORMANCE_RUN";

/// The subcommand of the guard.
pub const GUARD: &str = "@guard";

/// How often [`sweep`] looks for processes. New ones can start while it kills.
const ROUNDS: usize = 100;

/// The processes of a run. Dropping it kills those that are left.
#[derive(Debug)]
pub struct Leash {
    guard: Option<Child>,
}

impl Leash {
    /// Marks this process and those that it will start. Call it first: it may start this program again
    /// in its place. Where the mark or the guard cannot be had, the run goes on without them.
    #[must_use]
    pub fn hold() -> Leash {
        if !cfg!(target_os = "linux") {
            return Leash { guard: None };
        }
        let mut arguments = std::env::args_os();
        let (name, program) = (arguments.next(), std::env::current_exe());
        let Ok(program) = program else {
            return Leash { guard: None };
        };
        let inherited = std::env::var_os(MARK);
        if !inherited.as_deref().is_some_and(is_ours) {
            let mut again = Command::new(&program);
            again.args(arguments).env(MARK, mark_below(inherited));
            if let Some(name) = name {
                again.arg0(name);
            }
            // Returns only if it fails.
            let _ = again.exec();
            return Leash { guard: None };
        }
        let guard = Command::new(program)
            .arg(GUARD)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Signals of the terminal are for the runner.
            .process_group(0)
            .spawn();
        Leash { guard: guard.ok() }
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(guard) = &mut self.guard {
            // The guard acts at the end of the file, and spares its parent.
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}

/// The beginning of a mark of this process.
fn prefix() -> String {
    format!("{}-", getpid().as_raw_nonzero())
}

/// Whether the last mark is that of this process, not that of a run that started it.
fn is_ours(marks: &OsStr) -> bool {
    let last = marks.as_bytes().split(|&byte| byte == b':').next_back();
    last.is_some_and(|last| last.starts_with(prefix().as_bytes()))
}

/// The marks of this process. The time distinguishes it from earlier processes of its number.
fn mark_below(inherited: Option<OsString>) -> OsString {
    let mut marks = inherited.unwrap_or_default();
    if !marks.is_empty() {
        marks.push(":");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_nanos();
    marks.push(format!("{}{now}", prefix()));
    marks
}

/// The guard: waits until the runner has ended, and kills the processes with its mark.
pub fn guard() {
    wait_for_end(io::stdin());
    let marks = std::env::var_os(MARK).unwrap_or_default();
    let own = marks.as_bytes().split(|&byte| byte == b':').next_back();
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        sweep(own);
    }
}

/// Blocks until the other end of a pipe is closed.
fn wait_for_end(mut pipe: impl Read) {
    let mut bytes = [0; 64];
    loop {
        match pipe.read(&mut bytes) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}

/// Kills all processes with a mark, except this one and its parent.
fn sweep(mark: &[u8]) {
    let spared = [Some(getpid()), getppid()];
    for _ in 0..ROUNDS {
        let mut any = false;
        for pid in processes().filter(|pid| !spared.contains(&Some(*pid))) {
            if has_mark(pid, mark) {
                any = true;
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if !any {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| {
        let name = entry.ok()?.file_name();
        Pid::from_raw(name.to_str()?.parse().ok()?)
    })
}

/// Whether a process has a mark. One that has ended, or belongs to another user, has none.
fn has_mark(pid: Pid, mark: &[u8]) -> bool {
    let file = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let environment = std::fs::read(file).unwrap_or_default();
    let mut variables = environment.split(|&byte| byte == 0);
    let marks = variables.find_map(|variable| {
        let value = variable.strip_prefix(MARK.as_bytes())?;
        value.strip_prefix(b"=")
    });
    let mut marks = marks.unwrap_or_default().split(|&byte| byte == b':');
    marks.any(|other| other == mark)
}

/// Makes the process of a job end with its runner, and all processes in its group with it, which it
/// leads.
pub fn end_with_parent() {
    if getpgrp() != getpid() {
        return;
    }
    let watch = || {
        wait_for_end(io::stdin());
        // This process is in the group, so nothing follows.
        let _ = kill_current_process_group(Signal::KILL);
    };
    // Without the thread, the process ends at its next event.
    let _ = thread::Builder::new().stack_size(64 << 10).spawn(watch);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_below_another_is_ours_and_keeps_it() {
        assert!(!is_ours(OsStr::new("1-5:x")));
        let marks = mark_below(Some("0-5".into()));
        assert!(is_ours(&marks));
        assert!(marks.as_bytes().starts_with(b"0-5:"));
        assert!(is_ours(&mark_below(None)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_sweep_kills_only_processes_with_the_mark() {
        use std::os::unix::process::ExitStatusExt;
        let start = |mark: &str| {
            let mut command = Command::new("sleep");
            command.arg("60").env(MARK, mark);
            command.spawn().unwrap()
        };
        let own = mark_below(None).into_string().unwrap();
        let mut marked = start(&format!("x:{own}:y"));
        let mut other = start(&format!("{own}1"));
        sweep(own.as_bytes());
        assert_eq!(marked.wait().unwrap().signal(), Some(9));
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
