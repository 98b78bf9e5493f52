//! A running server program and its protocol: a command is one line; the answer is any number of
//! lines, then a line that ends it.

use crate::lines::{Lines, shortened};
use crate::stopwatch::Stopwatch;
use rustix::process::getpgrp;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The line after an answer.
const DONE: &str = "%%% OK";

/// The line before the text of an error.
const FAILED: &str = "%%% FAILURE";

/// How often to look whether the time limit has passed.
const INTERVAL: Duration = Duration::from_millis(50);

/// The number of lines to read ahead, and to keep of an error.
const LINES: usize = 1000;

/// The most bytes to keep of a line, and of an error.
const LINE: usize = 64 << 10;

/// A server process. Dropping it kills the process.
pub struct Server {
    child: Child,
    commands: ChildStdin,
    lines: Receiver<String>,
    limit: Duration,
}

/// The answer of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The command failed.
    pub failed: bool,
    /// The message.
    pub text: String,
}

impl Server {
    /// Starts a program, and waits until it is ready. `limit` is the time limit of each answer.
    ///
    /// # Errors
    /// If the program does not start, or does not report that it is ready.
    pub fn start(program: &Path, limit: Duration) -> io::Result<Server> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The error messages of this process are not needed.
            .stderr(Stdio::null())
            .spawn()?;
        let commands = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (sender, lines) = mpsc::sync_channel(LINES);
        // The thread ends when the server closes its output, or this one has enough of it.
        thread::spawn(move || {
            for (line, _) in Lines::new(output, LINE) {
                let line = String::from_utf8_lossy(&line).into_owned();
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let server = Server {
            child,
            commands,
            lines,
            limit,
        };
        match server.reply() {
            Some(reply) if !reply.failed => Ok(server),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Sends a command. `None` if the server has died or exceeded the time limit; it cannot be used
    /// after that.
    pub fn command(&mut self, command: &str) -> Option<Reply> {
        writeln!(self.commands, "{command}").ok()?;
        self.commands.flush().ok()?;
        self.reply()
    }

    fn reply(&self) -> Option<Reply> {
        // The server is in the group of this process, which only waits for it.
        let mut stopwatch = Stopwatch::start(getpgrp());
        let mut failed = false;
        let mut text = Vec::new();
        loop {
            let line = match self.lines.recv_timeout(INTERVAL) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if !stopwatch.has_reached(self.limit) => continue,
                Err(_) => return None,
            };
            match line.trim_end() {
                DONE => break,
                FAILED => failed = true,
                line if failed && text.len() < LINES => text.push(line.to_owned()),
                _ => {}
            }
        }
        Some(Reply {
            failed,
            text: shortened(text.join("\n"), LINE),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // This fails if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    fn script(text: &str, limit: Duration) -> (tempfile::TempDir, io::Result<Server>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server");
        fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        let server = Server::start(&path, limit);
        (folder, server)
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn failures_are_distinguished_from_answers() {
        let text = "echo '%%% OK'; read a; echo runtime: 5; echo '%%% OK'\n\
                    read a; echo '%%% FAILURE'; echo \"no $a\"; echo '%%% OK'; read a\n";
        let (_folder, server) = script(text, LONG);
        let mut server = server.unwrap();
        let fine = server.command("call f").unwrap();
        assert!(!fine.failed && fine.text.is_empty());
        let failed = server.command("call g").unwrap();
        assert_eq!((failed.failed, failed.text.as_str()), (true, "no call g"));
    }

    #[test]
    fn a_server_that_dies_or_hangs_returns_none() {
        let (_folder, server) = script("echo '%%% OK'; read a; exit 1\n", LONG);
        assert_eq!(server.unwrap().command("call f"), None);
        let begun = Instant::now();
        let (_folder, server) =
            script("echo '%%% OK'; exec sleep 60\n", Duration::from_millis(300));
        let mut server = server.unwrap();
        assert_eq!(server.command("call f"), None);
        drop(server);
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert!(script("exit 0\n", LONG).1.is_err());
    }
}
