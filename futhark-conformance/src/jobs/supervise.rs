//! One job, seen from outside: a child process is started, listened to, and
//! killed when it falls silent. When it dies in the middle of a step, that
//! step has failed, and another child goes on behind it.

use super::{Job, Settings, Update};
use crate::devices::{Device, on_platform};
use crate::emulated::FINDINGS;
use crate::protocol::{Event, JobSpec, RunSpec, events};
use crate::record::{Cause, CompilerInfo, Finding, Outcome};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// A program in which this many steps kill the process has been shown to be
/// broken; more of the same would only take time.
const MAX_DEATHS: usize = 20;

/// The same for steps that have to be waited for until their time is up.
const MAX_TIMEOUTS: usize = 5;

/// The same for steps that may take too long without anybody being wrong.
const MAX_ATTEMPTS: usize = 50;

/// How many times the usual limit a step may take when it is repeated in optimised code.
const PATIENCE: u32 = 3;

/// How much of what a child writes to its standard error is kept.
const STDERR_LINES: usize = 40;

/// Sees a job through to its end.
pub(super) fn job(job: &Job, settings: &Settings, send: &mut dyn FnMut(Update)) {
    let findings = match findings_of(job) {
        Ok(file) => file,
        Err(error) => {
            let step = Step::before_all(Instant::now());
            let message = format!("cannot create a file for what the device tells: {error}");
            send(Update::Found(step.finding(Cause::Error, message)));
            return;
        }
    };
    let mut resume_after = None;
    let (mut deaths, mut timeouts, mut given_up) = (0, 0, 0);
    let (mut optimise, mut timeout) = (settings.run.optimise, settings.timeout);
    loop {
        let spec = JobSpec {
            program: Some(job.program.clone()),
            device: job.device.clone(),
            compiler: PathBuf::from(&job.compiler.path),
            resume_after,
            run: RunSpec {
                optimise,
                ..settings.run.clone()
            },
        };
        let findings = findings.as_ref().map(NamedTempFile::path);
        let command = command(settings, &spec, findings);
        let end = match command.and_then(|command| Process::start(command, timeout)) {
            Ok(mut process) => process.listen(&mut |event| match event {
                Event::Begin { check, case, .. } => send(Update::Step { check, case }),
                Event::End(finding) => send(Update::Found(finding)),
                Event::Quiet | Event::Device { .. } | Event::Done => {}
            }),
            Err(error) => End::died(
                Cause::Error,
                format!("cannot start a child process: {error}"),
            ),
        };
        let (cause, message) = match end.death {
            None => return,
            Some(death) => death,
        };
        match end.step {
            Some(step) if step.limit.is_some() && cause == Cause::Timeout => {
                resume_after = Some(step.index);
                given_up += 1;
                if given_up == MAX_ATTEMPTS {
                    let message =
                        format!("{given_up} steps were given up: the rest was not checked");
                    send(Update::Found(step.finding(cause, message)));
                    return;
                }
            }
            Some(step) if cause == Cause::Timeout && !optimise && step.runs_host_code(job) => {
                resume_after = step.index.checked_sub(1);
                optimise = true;
                timeout = settings.timeout * PATIENCE;
            }
            Some(step) => {
                resume_after = Some(step.index);
                timeout = settings.timeout;
                deaths += 1;
                timeouts += usize::from(cause == Cause::Timeout);
                let enough = deaths == MAX_DEATHS || timeouts == MAX_TIMEOUTS;
                let message = if enough {
                    format!(
                        "{message}\nthe process died in {deaths} steps: the rest was not checked"
                    )
                } else {
                    message
                };
                send(Update::Found(step.finding(cause, message)));
                if enough {
                    return;
                }
            }
            None => {
                let step = Step::before_all(end.last_heard);
                send(Update::Found(
                    step.finding(cause, format!("between two steps: {message}")),
                ));
                return;
            }
        }
    }
}

/// A device that is there is not given up for being slow to start: without it nothing is checked.
const PROBE: Duration = Duration::from_secs(60);

/// Compiles and runs a small program; the device's name if that worked.
pub(super) fn probe(
    device: &Device,
    compiler: &CompilerInfo,
    settings: &Settings,
) -> Result<String, String> {
    let spec = JobSpec {
        program: None,
        device: device.clone(),
        compiler: PathBuf::from(&compiler.path),
        resume_after: None,
        run: settings.run.clone(),
    };
    let limit = settings.timeout.max(PROBE);
    let command = command(settings, &spec, None);
    let process = command.and_then(|command| Process::start(command, limit));
    let mut process = process.map_err(|error| error.to_string())?;
    let (mut found, mut reason) = (None, None);
    let end = process.listen(&mut |event| match event {
        Event::Device { name } => found = Some(name),
        Event::End(finding) if finding.outcome == Outcome::Fail => reason = Some(finding.message),
        _ => {}
    });
    if let Some((_, message)) = end.death {
        return Err(message);
    }
    match (found, reason) {
        (Some(name), _) if name.is_empty() => {
            Ok(logged_device(&process.last_words()).unwrap_or_else(|| "default".to_owned()))
        }
        (Some(name), _) => Ok(name),
        (None, reason) => Err(reason.unwrap_or_else(|| "the probe gave no answer".to_owned())),
    }
}

/// The name in the runtime's log, with that of the platform if there is one.
fn logged_device(log: &str) -> Option<String> {
    let named = |what: &str| {
        log.lines()
            .find_map(|line| line.trim().strip_prefix(what))
            .map(str::trim)
    };
    let Some(device) = named("Using device:") else {
        return numbered_device(named("Using device #")?, log);
    };
    Some(on_platform(named("Using platform:"), device))
}

/// The name of the device that cuda or hip has chosen by its number, which it lists before:
/// `Device #0: name="A100", compute capability=8.0`.
fn numbered_device(number: &str, log: &str) -> Option<String> {
    let entry = format!("Device #{number}: name=\"");
    let listed = log.lines().find_map(|line| line.strip_prefix(&entry))?;
    let (name, _) = listed.rsplit_once('"')?;
    Some(name.to_owned())
}

/// The file for what the emulated device has to tell; it is gone after the job.
fn findings_of(job: &Job) -> std::io::Result<Option<NamedTempFile>> {
    let emulated = job.device.is_emulated();
    emulated.then(NamedTempFile::new).transpose()
}

/// The command that starts a child process for this work. The emulated device writes to the file
/// `findings`.
///
/// # Errors
/// If a path in the specification is not valid Unicode.
fn command(
    settings: &Settings,
    spec: &JobSpec,
    findings: Option<&Path>,
) -> std::io::Result<Command> {
    let mut command = Command::new(&settings.executable);
    let environment = spec.device.environment.iter();
    command.envs(environment.map(|(name, value)| (name, value)));
    if let Some(file) = findings {
        command.env(FINDINGS, file);
    }
    command.arg("child").arg(serde_json::to_string(spec)?);
    Ok(command)
}

/// A step that has begun.
struct Step {
    index: usize,
    check: String,
    case: String,
    begun: Instant,
    /// A limit of its own, after which nothing is known.
    limit: Option<Duration>,
}

impl Step {
    /// What is not the fault of any step that was announced.
    fn before_all(begun: Instant) -> Step {
        Step {
            index: 0,
            check: "lifecycle".into(),
            case: "process".into(),
            begun,
            limit: None,
        }
    }

    /// Whether the step may be slow because the program's C is not optimised: then it is repeated
    /// in optimised code. Kernels of GPU backends are always optimised.
    fn runs_host_code(&self, job: &Job) -> bool {
        self.check != "compile" && !job.device.backend.is_gpu()
    }

    fn finding(&self, cause: Cause, message: String) -> Finding {
        Finding {
            check: self.check.clone(),
            case: self.case.clone(),
            outcome: Outcome::Fail,
            cause: Some(cause),
            message,
            seconds: self.begun.elapsed().as_secs_f64(),
        }
    }
}

/// How a child ended: of itself, or by a death with its cause.
struct End {
    step: Option<Step>,
    death: Option<(Cause, String)>,
    last_heard: Instant,
}

impl End {
    fn died(cause: Cause, message: String) -> End {
        End {
            step: None,
            death: Some((cause, message)),
            last_heard: Instant::now(),
        }
    }
}

/// A child process and the threads that read from it.
struct Process {
    child: Child,
    events: Receiver<Event>,
    stderr: Option<JoinHandle<String>>,
    timeout: Duration,
}

impl Process {
    fn start(mut command: Command, timeout: Duration) -> std::io::Result<Process> {
        // A group of its own, so that compilers that the child has started
        // die with it.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
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
        let stderr = child
            .stderr
            .take()
            .map(|stderr| thread::spawn(move || tail(stderr)));
        Ok(Process {
            child,
            events,
            stderr,
            timeout,
        })
    }

    /// Passes the child's events on until it ends, or has said nothing for too
    /// long.
    fn listen(&mut self, on_event: &mut dyn FnMut(Event)) -> End {
        let mut step: Option<Step> = None;
        let mut done = false;
        let mut last_heard = Instant::now();
        loop {
            let limit = step.as_ref().and_then(|step| step.limit);
            let limit = limit.map_or(self.timeout, |limit| limit.min(self.timeout));
            match self.events.recv_timeout(limit) {
                Ok(event) => {
                    last_heard = Instant::now();
                    match &event {
                        Event::Begin {
                            index,
                            check,
                            case,
                            limit_ms,
                        } => {
                            step = Some(Step {
                                index: *index,
                                check: check.clone(),
                                case: case.clone(),
                                begun: last_heard,
                                limit: limit_ms.map(Duration::from_millis),
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
                    let death = Some((Cause::Timeout, message));
                    return End {
                        step,
                        death,
                        last_heard,
                    };
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.reap();
        let death = match status {
            _ if done && step.is_none() => None,
            Ok(status) => Some((Cause::Crash, self.obituary(status))),
            Err(error) => Some((
                Cause::Error,
                format!("cannot wait for the child process: {error}"),
            )),
        };
        End {
            step,
            death,
            last_heard,
        }
    }

    /// Waits for a child that has closed its output. One that then hangs, in
    /// the destructors of a driver for example, is killed.
    fn reap(&mut self) -> std::io::Result<ExitStatus> {
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
        // It may be gone already, which is what is wanted.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// The end of what a child that has ended wrote to its standard error.
    fn last_words(&mut self) -> String {
        let thread = self.stderr.take();
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    }

    fn obituary(&mut self, status: ExitStatus) -> String {
        let how = match (status.signal(), status.code()) {
            (Some(signal), _) => format!("the process was killed by {}", signal_name(signal)),
            (None, Some(code)) => format!("the process exited with status {code}"),
            (None, None) => "the process ended".to_owned(),
        };
        let said = self.last_words();
        if said.is_empty() {
            how
        } else {
            format!("{how}, after saying:\n{said}")
        }
    }
}

impl Drop for Process {
    /// Compilers that outlive a child that died would keep the machine busy.
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.kill();
            drop(self.child.wait());
        }
    }
}

/// The last lines of a stream, and those before them that say which device it is. Read to
/// its end, so that the child never waits for a reader.
fn tail(stream: impl Read) -> String {
    let (mut devices, mut last) = (Vec::<String>::new(), VecDeque::<String>::new());
    let mut lines = BufReader::new(stream).split(b'\n');
    while let Some(Ok(line)) = lines.next() {
        if last.len() == STDERR_LINES {
            devices.extend(last.pop_front().filter(|line| tells_the_device(line)));
            devices.truncate(STDERR_LINES);
        }
        last.push_back(String::from_utf8_lossy(&line).into_owned());
    }
    devices.extend(last);
    devices.join("\n").trim().to_owned()
}

/// A log goes on with pages about the code for the device.
fn tells_the_device(line: &str) -> bool {
    let beginnings = ["Device #", "Using device", "Using platform"];
    beginnings.iter().any(|words| line.starts_with(words))
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

    /// Writes an event as a child would.
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
    fn chatter_on_the_standard_output_is_passed_over() {
        let script = format!("printf 'Using device: x'\n{}echo bye\n", say(&Event::Done));
        let (events, end) = shell(&script, LONG);
        assert_eq!(events, [Event::Done]);
        assert!(end.death.is_none());
    }

    #[test]
    fn a_death_is_reported_with_its_signal_its_step_and_its_last_words() {
        let script = format!("{}echo 'last words' >&2\nkill -SEGV $$\n", say(&begin()));
        let (_, end) = shell(&script, LONG);
        let (cause, message) = end.death.unwrap();
        assert_eq!(cause, Cause::Crash);
        assert!(
            message.contains("SIGSEGV") && message.contains("last words"),
            "{message}"
        );
        assert_eq!(end.step.unwrap().index, 7);
    }

    #[test]
    fn an_exit_in_the_middle_is_a_death_even_if_it_looks_like_success() {
        let (_, end) = shell(&format!("{}exit 0\n", say(&begin())), LONG);
        assert_eq!(end.death.unwrap().0, Cause::Crash);
        let (_, end) = shell("exit 0\n", LONG);
        assert!(end.death.unwrap().1.contains("status 0"));
    }

    #[test]
    fn silence_is_a_timeout_and_the_whole_group_is_killed() {
        let begun = Instant::now();
        let script = format!("{}sleep 60 & sleep 60\n", say(&begin()));
        let (_, end) = shell(&script, Duration::from_millis(300));
        let (cause, message) = end.death.unwrap();
        assert_eq!(cause, Cause::Timeout, "{message}");
        assert_eq!(end.step.unwrap().case, "main #0");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn the_device_is_found_in_the_log() {
        let log = "noise\nUsing platform: Oclgrind\nUsing device: Oclgrind Simulator\nmore\n";
        assert_eq!(
            logged_device(log).as_deref(),
            Some("Oclgrind: Oclgrind Simulator")
        );
        assert_eq!(
            logged_device("Using device: A100\n").as_deref(),
            Some("A100")
        );
        assert_eq!(logged_device("nothing\n"), None);
        let cuda = "\
Device #0: name=\"A100\", compute capability=8.0
Device #1: name=\"NVIDIA T4\", compute capability=7.5
Using device #1
";
        assert_eq!(logged_device(cuda).as_deref(), Some("NVIDIA T4"));
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
