//! An HTTP server that computes with a Futhark program. All requests share one context.
#![forbid(unsafe_code)]

mod shared;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Json, State};
use axum::http::{StatusCode, header::RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futhark_safe::{Error, ErrorKind};
use serde_json::{Value, json};

pub use shared::{Current, Shared};

futhark_safe::include_program!(pub service);

/// The endpoints. `provoke` adds those that use up memory and lose the context.
pub fn router(shared: Arc<Shared>, provoke: bool) -> Router {
    let mut router = Router::new()
        .route("/summary", post(summary))
        .route("/status", get(status));
    if provoke {
        router = router.route("/fill", post(fill)).route("/lose", post(lose));
    }
    router.with_state(shared)
}

type Answer = Result<Json<Value>, Failure>;

async fn summary(State(shared): State<Arc<Shared>>, Json(xs): Json<Vec<f64>>) -> Answer {
    let compute = move |ctx: &service::Context| ctx.entry().summary(&ctx.array(&xs)?);
    let (mean, min, max) = shared.call(compute).await?;
    Ok(Json(json!({ "mean": mean, "min": min, "max": max })))
}

async fn fill(State(shared): State<Arc<Shared>>, Json(n): Json<i64>) -> Answer {
    let last = shared.call(move |ctx| ctx.entry().fill(n)).await?;
    Ok(Json(json!({ "last": last })))
}

async fn lose(State(shared): State<Arc<Shared>>) -> Answer {
    let lost = shared.call(|ctx| ctx.entry().divide(i64::MIN, -1)).await?;
    Ok(Json(json!({ "quotient": lost })))
}

async fn status(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let Current { number, ctx } = shared.current();
    Json(json!({ "backend": ctx.backend().as_str(), "contexts_made": number }))
}

/// The error of a call, as a response.
struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Failure(error) = self;
        let status = match error.kind() {
            // Found before the call: a shape, or a number of the wrong range.
            ErrorKind::InvalidArgument => StatusCode::BAD_REQUEST,
            // The program rejects the input: an assertion, an index out of bounds.
            ErrorKind::Program => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::OutOfMemory => StatusCode::INSUFFICIENT_STORAGE,
            // A later request can succeed, with the next context.
            ErrorKind::ContextLost | ErrorKind::Load | ErrorKind::Start => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            // Failures of the server or its device, and kinds that later versions add.
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let retry = (status == StatusCode::SERVICE_UNAVAILABLE).then_some([(RETRY_AFTER, "1")]);
        // The message names source files and sizes. A public server would log it, and send the kind only.
        let kind = format!("{:?}", error.kind());
        let body = json!({ "kind": kind, "message": error.to_string() });
        (status, retry, Json(body)).into_response()
    }
}
