//! Events that a child process writes to its standard output, to which the compiled program and the
//! driver may write as well.
//!
//! Each event is a line that begins with the control character "record separator", as in JSON text
//! sequences. A line end before it terminates an unfinished line of other output.

use crate::record::Finding;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::time::Duration;

/// A message from a child process, one JSON text per line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A case begins, or something that later cases need.
    Begin {
        /// The check.
        check: String,
        /// The case.
        case: String,
        /// The case's own time limit. A case that takes longer has not failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Duration>,
        /// Whether later cases need it, so that it has the usual time limit also if it is expected to
        /// hang, and is not reported if it exceeds its budget.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_need: bool,
        /// Why a failure is possible, and no finding.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        excuse: Option<String>,
    },
    /// The current case has ended with a result.
    End(Finding),
    /// The current case has ended without a result to report.
    Quiet,
    /// The process waits for another run that builds the same library. It sends this event again and
    /// again while it waits.
    Waiting,
    /// Something that is neither a result nor a failure.
    Remark {
        /// One sentence.
        text: String,
    },
    /// The probed device, whether or not it works.
    Device {
        /// The device's name; empty if it is not known.
        name: String,
        /// Whether it is known to compute wrong results.
        known_bad: bool,
    },
    /// All cases have ended.
    Done,
}

const SEPARATOR: u8 = 0x1e;

/// Writes one event in a single call.
///
/// # Errors
/// If writing fails.
pub fn write(out: &mut dyn Write, event: &Event) -> io::Result<()> {
    let mut line = vec![b'\n', SEPARATOR];
    serde_json::to_writer(&mut line, event)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// The event in a line, if there is one.
#[must_use]
pub fn read(line: &[u8]) -> Option<Event> {
    let start = line.iter().rposition(|&byte| byte == SEPARATOR)?;
    serde_json::from_slice(&line[start + 1..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_between_other_output() {
        let mut out = b"Using device: x".to_vec();
        let event = Event::Device {
            name: "a\nb".into(),
            known_bad: true,
        };
        write(&mut out, &event).unwrap();
        out.extend_from_slice(b"bye\n");
        let events: Vec<_> = out.split(|&byte| byte == b'\n').filter_map(read).collect();
        assert_eq!(events, [event]);
    }

    #[test]
    fn malformed_events_are_ignored() {
        assert_eq!(read(b"{\"event\":\"done\"}"), None);
        assert_eq!(read(b"\x1enonsense"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn events_round_trip() {
        let event = Event::Begin {
            check: "arrays".into(),
            case: "[]i32".into(),
            budget: Some(Duration::from_millis(10)),
            is_need: true,
            excuse: Some("why".into()),
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        assert!(!text.contains('\n'));
    }
}
