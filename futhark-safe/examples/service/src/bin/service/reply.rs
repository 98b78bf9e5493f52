//! Responses: results as JSON, and a status for each kind of error.

use futhark_example_service::http::Response;
use futhark_safe::{Error, ErrorKind};
use serde::Serialize;
use serde_json::{Value, json};

/// A result.
pub fn ok(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => response(200, body),
        Err(error) => refusal(500, "Response", &error.to_string()),
    }
}

/// An error of this server, not of the program.
pub fn refusal(status: u16, kind: &str, message: &str) -> Response {
    error(status, json!({ "kind": kind, "message": message }))
}

/// The failure of a call.
pub fn failure(failure: &Error) -> Response {
    let kind = failure.kind();
    // The message names source files and sizes. A public server would log it, and send the kind only.
    let mut value = json!({ "kind": format!("{kind:?}"), "message": failure.to_string() });
    if let Some(place) = failure.place() {
        value["place"] = place.to_string().into();
    }
    error(status(kind), value)
}

/// The status for a kind of error.
pub fn status(kind: ErrorKind) -> u16 {
    match kind {
        // Found before the call: a shape, or a number of the wrong range.
        ErrorKind::InvalidArgument => 400,
        // The program rejects the input: an assertion, an index out of bounds.
        ErrorKind::Program => 422,
        ErrorKind::OutOfMemory => 507,
        ErrorKind::Unsupported => 501,
        // This request, or the ones before it, lost the context, or no new one could be made.
        // A later request can succeed.
        ErrorKind::ContextLost | ErrorKind::Load | ErrorKind::Start => 503,
        // Failures of the server or its device, and kinds that later versions add.
        _ => 500,
    }
}

fn error(status: u16, error: Value) -> Response {
    response(status, json!({ "error": error }).to_string().into_bytes())
}

fn response(status: u16, body: Vec<u8>) -> Response {
    Response {
        status,
        // Contexts of host backends are made within milliseconds; one second is the shortest that
        // the header can say.
        retry_after: (status == 503).then_some(1),
        body,
        keep_alive: true,
    }
}
