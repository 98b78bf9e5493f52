//! Ends every process of a run when the run ends, by whatever: its result, a signal, also SIGKILL, or
//! a panic.
//!
//! Each process that a run starts is in a group whose leader has a pipe as its standard input. Only the
//! runner holds the other end: at the end of the file the runner has ended, and the leader kills its
//! group. The process of a job leads a group, which its compilers join. For the compilers that the
//! runner itself starts, the leader is a process that does nothing else, the guard. Only a process that
//! leaves its group on purpose stays.

use futhark_safe::compile::process;
use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;

/// The subcommand of the guard.
pub const GUARD: &str = "@guard";

/// The guard of this process. Dropping it ends the processes that are left.
#[derive(Debug)]
pub struct Leash {
    guard: Option<Child>,
}

impl Leash {
    /// Starts the guard. Without one, the run goes on, and compilers can outlive it.
    #[must_use]
    pub fn hold() -> Leash {
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
        process::join_group(guard.as_ref().map(Child::id));
        Leash { guard }
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        process::join_group(None);
        if let Some(guard) = &mut self.guard {
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
