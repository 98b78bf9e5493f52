//! A child process, seen from its parent.
//!
//! Three threads of the parent are involved:
//!
//! * A reader of the child's standard output parses events and sends them into a channel.
//! * A reader of its standard error keeps the last lines, for the message if the child dies.
//! * The supervisor waits for the channel, at most as long as the current step may take.
//!
//! A wait ends in one of three ways. An event arrives: the supervisor handles it and waits again,
//! with a new time limit. The time limit passes: the supervisor kills the child's process group,
//! which includes the compilers that the child started. The channel closes, because the child has
//! closed its standard output: the supervisor waits until the child has exited, and kills it if
//! that takes longer than the time limit.
//!
//! Both readers end when the pipes close, which is when the last process of the group has ended.

use super::log;
use crate::protocol::{Event, events};
use crate::record::Cause;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The number of lines of a child's standard error to keep.
const STDERR_LINES: usize = 40;

/// A step that has begun.
pub(super) struct Step {
    pub(super) index: usize,
    pub(super) check: String,
    pub(super) case: String,
    pub(super) begun: Instant,
    /// The step's own time limit. A step that exceeds it is not a failure.
    pub(super) limit: Option<Duration>,
    /// Whether the step is reported as skipped if it exceeds its own time limit.
    pub(super) skip_at_limit: bool,
    /// Why a failure is possible, and no finding.
    pub(super) excuse: Option<String>,
}

impl Step {
    /// The step for failures of the process itself.
    pub(super) fn of_the_process(begun: Instant) -> Step {
        Step {
            index: 0,
            check: "lifecycle".into(),
            case: "process".into(),
            begun,
            limit: None,
            skip_at_limit: false,
            excuse: None,
        }
    }
}

/// The end of a child.
pub(super) struct End {
    /// The step that had begun and not ended.
    pub(super) step: Option<Step>,
    /// Why the child did not finish; `None` if it did.
    pub(super) death: Option<Death>,
    /// The time of the last event.
    pub(super) last_event: Instant,
}

/// Why a child did not finish its work.
pub(super) struct Death {
    pub(super) cause: Cause,
    pub(super) message: String,
}

impl End {
    /// The end of a child that could not be started.
    pub(super) fn not_started(error: &io::Error) -> End {
        End {
            step: None,
            death: Some(Death {
                cause: Cause::Error,
                message: format!("failed to start a child process: {error}"),
            }),
            last_event: Instant::now(),
        }
    }
}

/// A child process and the threads that read its output. Dropping it kills the child.
pub(super) struct Process {
    child: Child,
    events: Receiver<Event>,
    stderr: Option<JoinHandle<String>>,
    timeout: Duration,
}

impl Process {
    /// Starts a child. `timeout` is the time limit of each of its steps.
    pub(super) fn start(mut command: Command, timeout: Duration) -> io::Result<Process> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A process group, so that the child's compilers are killed with it.
            .process_group(0);
        let mut child = command.spawn()?;
        let (sender, events) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut lines = BufReader::new(stdout).split(b'\n');
                while let Some(Ok(line)) = lines.next() {
                    if let Some(event) = events::read(&line)
                        && sender.send(event).is_err()
                    {
                        break;
                    }
                }
            });
        }
        let stderr = child.stderr.take();
        Ok(Process {
            child,
            events,
            stderr: stderr.map(|stderr| thread::spawn(move || tail(stderr))),
            timeout,
        })
    }

    /// Passes the child's events on until the child has ended. Kills it if no event arrives within
    /// the time limit of the current step.
    pub(super) fn listen(&mut self, on_event: &mut dyn FnMut(Event)) -> End {
        let mut step: Option<Step> = None;
        let mut done = false;
        let mut last_event = Instant::now();
        loop {
            let limit = step.as_ref().and_then(|step| step.limit);
            let limit = limit.map_or(self.timeout, |limit| limit.min(self.timeout));
            match self.events.recv_timeout(limit) {
                Ok(event) => {
                    last_event = Instant::now();
                    match &event {
                        Event::Begin {
                            index,
                            check,
                            case,
                            limit_ms,
                            skip_at_limit,
                            excuse,
                        } => {
                            step = Some(Step {
                                index: *index,
                                check: check.clone(),
                                case: case.clone(),
                                begun: last_event,
                                limit: limit_ms.map(Duration::from_millis),
                                skip_at_limit: *skip_at_limit,
                                excuse: excuse.clone(),
                            });
                        }
                        Event::End(_) | Event::Quiet => step = None,
                        Event::Done => done = true,
                        Event::Device { .. } => {}
                    }
                    on_event(event);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    drop(self.child.wait());
                    let message = format!("no answer within {} s; killed", limit.as_secs());
                    let cause = Cause::Timeout;
                    return End {
                        step,
                        death: Some(Death { cause, message }),
                        last_event,
                    };
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let death = match self.reap() {
            _ if done && step.is_none() => None,
            Ok(status) => Some(Death {
                cause: Cause::Crash,
                message: self.describe_death(status),
            }),
            Err(error) => Some(Death {
                cause: Cause::Error,
                message: format!("failed to wait for the child process: {error}"),
            }),
        };
        End {
            step,
            death,
            last_event,
        }
    }

    /// Waits for a child that has closed its output. Kills it if it hangs, for example in the
    /// destructors of a driver.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        let deadline = Instant::now() + self.timeout;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > deadline {
                self.kill();
                return self.child.wait();
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn kill(&mut self) {
        // This fails if the group has already ended.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// The end of the standard error of a child that has ended. Empty if it was read before.
    pub(super) fn stderr(&mut self) -> String {
        let thread = self.stderr.take();
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    }

    fn describe_death(&mut self, status: ExitStatus) -> String {
        let how = match (status.signal(), status.code()) {
            (Some(signal), _) => format!("the process was killed by {}", signal_name(signal)),
            (None, Some(code)) => format!("the process exited with status {code}"),
            (None, None) => "the process ended".to_owned(),
        };
        let stderr = self.stderr();
        if stderr.is_empty() {
            how
        } else {
            format!("{how}; its last output was:\n{stderr}")
        }
    }
}

impl Drop for Process {
    /// Kills the process group, so that no compiler outlives its job.
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.kill();
            drop(self.child.wait());
        }
    }
}

/// The last lines of a stream, and earlier lines that name the device. Reads to the end of the
/// stream, so that the child never blocks on a full pipe.
fn tail(stream: impl Read) -> String {
    let (mut devices, mut last) = (Vec::<String>::new(), VecDeque::<String>::new());
    let mut lines = BufReader::new(stream).split(b'\n');
    while let Some(Ok(line)) = lines.next() {
        if last.len() == STDERR_LINES {
            devices.extend(last.pop_front().filter(|line| log::names_device(line)));
            devices.truncate(STDERR_LINES);
        }
        last.push_back(String::from_utf8_lossy(&line).into_owned());
    }
    devices.extend(last);
    devices.join("\n").trim().to_owned()
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration) -> (Vec<Event>, End) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut process = Process::start(command, timeout).unwrap();
        let mut events = Vec::new();
        let end = process.listen(&mut |event| events.push(event));
        (events, end)
    }

    /// A command that writes an event as a child does.
    fn say(event: &Event) -> String {
        let mut text = Vec::new();
        events::write(&mut text, event).unwrap();
        format!("cat <<'EOF'\n{}\nEOF\n", String::from_utf8(text).unwrap())
    }

    fn begin() -> Event {
        Event::Begin {
            index: 7,
            check: "blocks".into(),
            case: "main #0".into(),
            limit_ms: None,
            skip_at_limit: false,
            excuse: None,
        }
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_child_that_is_done_has_not_died() {
        let (events, end) = shell(&say(&Event::Done), LONG);
        assert_eq!(events, [Event::Done]);
        assert!(end.death.is_none());
    }

    #[test]
    fn other_output_on_stdout_is_ignored() {
        let script = format!("printf 'Using device: x'\n{}echo bye\n", say(&Event::Done));
        let (events, end) = shell(&script, LONG);
        assert_eq!(events, [Event::Done]);
        assert!(end.death.is_none());
    }

    #[test]
    fn a_death_is_reported_with_its_signal_its_step_and_its_stderr() {
        let script = format!("{}echo 'last words' >&2\nkill -SEGV $$\n", say(&begin()));
        let (_, end) = shell(&script, LONG);
        let Death { cause, message } = end.death.unwrap();
        assert_eq!(cause, Cause::Crash);
        assert!(
            message.contains("SIGSEGV") && message.contains("last words"),
            "{message}"
        );
        assert_eq!(end.step.unwrap().index, 7);
    }

    #[test]
    fn an_exit_within_a_step_is_a_death_even_with_status_0() {
        let (_, end) = shell(&format!("{}exit 0\n", say(&begin())), LONG);
        assert_eq!(end.death.unwrap().cause, Cause::Crash);
        let (_, end) = shell("exit 0\n", LONG);
        assert!(end.death.unwrap().message.contains("status 0"));
    }

    #[test]
    fn a_timeout_kills_the_whole_group() {
        let begun = Instant::now();
        let script = format!("{}sleep 60 & sleep 60\n", say(&begin()));
        let (_, end) = shell(&script, Duration::from_millis(300));
        let Death { cause, message } = end.death.unwrap();
        assert_eq!(cause, Cause::Timeout, "{message}");
        assert_eq!(end.step.unwrap().case, "main #0");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let text: String = (0..1000).map(|i| format!("line {i}\n")).collect();
        let kept = tail(text.as_bytes());
        assert_eq!(kept.lines().count(), STDERR_LINES);
        assert!(kept.ends_with("line 999"));
        let kept = tail(format!("Using device #0\n{text}").as_bytes());
        assert_eq!(kept.lines().count(), STDERR_LINES + 1);
        assert!(kept.starts_with("Using device #0\n"));
    }
}
