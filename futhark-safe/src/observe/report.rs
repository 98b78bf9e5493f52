//! Profiling reports as typed data.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Error, Result};

/// What the runtime measured, from [`Context::profile`](crate::Context::profile).
///
/// ```
/// use futhark_safe::Report;
///
/// let report = Report::parse(r#"{"memory": {"default space": 80}, "events": []}"#)?;
/// assert_eq!(report.peak_memory, [("default space".to_owned(), 80)]);
/// # Ok::<(), futhark_safe::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The maximum of memory in use per space of the runtime, in bytes.
    pub peak_memory: Vec<(String, u64)>,
    /// What ran, in this order: kernels and copies on GPU backends, parallel loops on `multicore`. None on
    /// `c`.
    pub events: Vec<Event>,
}

/// One measured step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The name of the kernel or loop, or the kind of copy.
    pub name: String,
    /// The place in the program that caused it; `unknown` if the compiler does not tell.
    pub provenance: String,
    /// How long it took.
    pub duration: Duration,
    /// Anything else that the runtime tells, such as the size of the grid, by name.
    pub details: BTreeMap<String, String>,
}

impl Report {
    /// Parses the JSON text of [`Context::report`](crate::Context::report).
    ///
    /// The format is that of the compilers 0.25.27 to 0.25.32. Unknown fields are ignored.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the text is not such a report.
    pub fn parse(text: &str) -> Result<Report> {
        let report: Value = serde_json::from_str(text)
            .map_err(|error| Error::invalid(OPERATION, "invalid JSON").with_source(error))?;
        let memory = report["memory"].as_object();
        let memory = memory.ok_or_else(|| missing("memory"))?;
        let events = report["events"].as_array();
        let events = events.ok_or_else(|| missing("events"))?;
        let peak = |(space, bytes): (&String, &Value)| {
            let bytes = bytes.as_u64().ok_or_else(|| missing("bytes"))?;
            Ok((space.clone(), bytes))
        };
        Ok(Report {
            peak_memory: memory.iter().map(peak).collect::<Result<_>>()?,
            events: events.iter().map(event).collect::<Result<_>>()?,
        })
    }
}

const OPERATION: &str = "profiling report";

fn event(event: &Value) -> Result<Event> {
    let text = |key: &str| {
        let text = event[key].as_str().map(str::to_owned);
        text.ok_or_else(|| missing(key))
    };
    // In microseconds; events on the host have none.
    let microseconds = event["duration"].as_f64().unwrap_or(0.0);
    let duration = Duration::try_from_secs_f64(microseconds / 1e6);
    // Values that are not texts are written as JSON.
    let shown = |value: &Value| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    let details = event["details"].as_object().into_iter().flatten();
    let details = details.map(|(name, value)| (name.clone(), shown(value)));
    Ok(Event {
        name: text("name")?,
        provenance: text("provenance")?,
        duration: duration.map_err(|_| missing("duration"))?,
        details: details.collect(),
    })
}

fn missing(what: &str) -> Error {
    Error::invalid(OPERATION, format!("the report has no valid field `{what}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn other_texts_are_errors() {
        for text in [
            "",
            "[]",
            r#"{"memory": {}}"#,
            r#"{"memory": {"a": -1}, "events": []}"#,
            r#"{"memory": {}, "events": [{"name": "k"}]}"#,
            r#"{"memory": {}, "events": [{"name": "k", "provenance": "p", "duration": -1}]}"#,
        ] {
            let error = Report::parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{text}");
        }
    }
}
