//! How events travel through the child's standard output, to which the
//! compiled program, and the driver below it, may write as well.
//!
//! Each event is a line that begins with the control character "record
//! separator", as JSON text sequences have it. A line end before it closes
//! whatever stands there unfinished.

use crate::record::Finding;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// What a child process says on its standard output, one JSON text per line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A step begins. Steps are numbered, so that another process can go on
    /// behind one that killed this process.
    Begin {
        /// The step's number.
        index: usize,
        /// The check.
        check: String,
        /// The case.
        case: String,
        /// How long it may take, in milliseconds, where that is less than for
        /// others. It says nothing about the program if it takes longer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_ms: Option<u64>,
    },
    /// The step that began last has ended.
    End(Finding),
    /// The step that began last has ended, and there is nothing to say of it.
    Quiet,
    /// A device works: the answer to a probe.
    Device {
        /// The device's name.
        name: String,
    },
    /// There is nothing more to do.
    Done,
}

const SEPARATOR: u8 = 0x1e;

/// Writes one event, in one piece.
///
/// # Errors
/// If the stream does not take it.
pub fn write(out: &mut dyn Write, event: &Event) -> io::Result<()> {
    let mut line = vec![b'\n', SEPARATOR];
    serde_json::to_writer(&mut line, event)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// The event of a line, if it holds one.
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
        };
        write(&mut out, &event).unwrap();
        out.extend_from_slice(b"bye\n");
        let events: Vec<_> = out.split(|&byte| byte == b'\n').filter_map(read).collect();
        assert_eq!(events, [event]);
    }

    #[test]
    fn what_only_looks_like_an_event_is_none() {
        assert_eq!(read(b"{\"event\":\"done\"}"), None);
        assert_eq!(read(b"\x1enonsense"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn events_survive_the_pipe() {
        let event = Event::Begin {
            index: 3,
            check: "arrays".into(),
            case: "[]i32".into(),
            limit_ms: Some(10),
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        assert!(!text.contains('\n'));
    }
}
