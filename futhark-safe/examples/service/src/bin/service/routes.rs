//! The endpoints.

use futhark_example_service::http::{Request, Response};
use futhark_example_service::service::Context;
use futhark_safe::Result;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::metrics::Metrics;
use crate::reply;
use crate::server::Stop;
use crate::shared::Shared;

/// What all requests share.
pub struct App {
    shared: Shared,
    metrics: Metrics,
    provoke: bool,
    stop: Stop,
}

/// The body of `POST /summary`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Summary {
    xs: Vec<f64>,
}

/// The body of `POST /histogram`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Histogram {
    xs: Vec<f64>,
    bins: i64,
    low: f64,
    high: f64,
}

/// The body of `POST /smooth`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Smooth {
    xs: Vec<f64>,
    radius: i64,
}

/// The body of `POST /at`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct At {
    xs: Vec<f64>,
    index: i64,
}

/// The body of `POST /fill`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fill {
    n: i64,
}

/// A request that is answered without a call.
struct Refusal(u16, &'static str, String);

impl App {
    pub fn new(shared: Shared, provoke: bool, stop: Stop) -> App {
        App {
            shared,
            metrics: Metrics::new(),
            provoke,
            stop,
        }
    }

    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    pub fn into_shared(self) -> Shared {
        self.shared
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Answers a request.
    pub fn answer(&self, request: &Request) -> Response {
        self.route(request)
            .unwrap_or_else(|Refusal(status, kind, message)| reply::refusal(status, kind, &message))
    }

    fn route(&self, request: &Request) -> Result<Response, Refusal> {
        let wanted = match request.path.as_str() {
            "/metrics" => "GET",
            "/summary" | "/histogram" | "/smooth" | "/at" => "POST",
            "/fill" | "/lose" | "/quit" if self.provoke => "POST",
            path => {
                let text = format!("there is no `{path}`; see the README for the endpoints");
                return Err(Refusal(404, "NotFound", text));
            }
        };
        if request.method != wanted {
            let text = format!("expected {wanted}, got {}", request.method);
            return Err(Refusal(405, "Method", text));
        }
        match request.path.as_str() {
            "/metrics" => Ok(reply::ok(&self.metrics.report(&self.shared))),
            "/summary" => self.summary(&body(request)?),
            "/histogram" => self.histogram(&body(request)?),
            "/smooth" => self.smooth(&body(request)?),
            "/at" => self.at(&body(request)?),
            "/fill" => self.fill(&body(request)?),
            "/lose" => Ok(self.call(|ctx| {
                let quotient = ctx.entry().divide(i64::MIN, -1)?;
                Ok(json!({ "quotient": quotient }))
            })),
            _ => {
                self.stop.stop();
                Ok(reply::ok(&json!({ "stopping": true })))
            }
        }
    }

    fn summary(&self, Summary { xs }: &Summary) -> Result<Response, Refusal> {
        Ok(self.call(|ctx| {
            let (mean, deviation, minimum, maximum) = ctx.entry().summary(&ctx.array(xs)?)?;
            Ok(json!({
                "mean": mean, "deviation": deviation, "minimum": minimum, "maximum": maximum,
            }))
        }))
    }

    fn histogram(&self, request: &Histogram) -> Result<Response, Refusal> {
        let &Histogram {
            ref xs,
            bins,
            low,
            high,
        } = request;
        // Limit every size before the call: Linux grants memory that it does not have, and ends the
        // process when the memory is used.
        within("bins", bins, 1, 10_000)?;
        Ok(self.call(|ctx| {
            let counts = ctx.entry().histogram(bins, low, high, &ctx.array(xs)?)?;
            Ok(json!({ "counts": counts.to_vec()? }))
        }))
    }

    fn smooth(&self, Smooth { xs, radius }: &Smooth) -> Result<Response, Refusal> {
        within("radius", *radius, 0, 1_000_000)?;
        Ok(self.call(|ctx| {
            let means = ctx.entry().smooth(*radius, &ctx.array(xs)?)?;
            Ok(json!({ "means": means.to_vec()? }))
        }))
    }

    /// The index is not checked here: the program does.
    fn at(&self, At { xs, index }: &At) -> Result<Response, Refusal> {
        Ok(self.call(|ctx| {
            let number = ctx.entry().at(&ctx.array(xs)?, *index)?;
            Ok(json!({ "number": number }))
        }))
    }

    /// Without a limit, which is why `--provoke` is needed.
    fn fill(&self, Fill { n }: &Fill) -> Result<Response, Refusal> {
        Ok(self.call(|ctx| Ok(json!({ "last": ctx.entry().fill(*n)? }))))
    }

    fn call(&self, compute: impl Fn(&Context) -> Result<Value>) -> Response {
        match self.shared.call(compute) {
            Ok(value) => reply::ok(&value),
            Err(error) => reply::failure(&error),
        }
    }
}

fn body<T: DeserializeOwned>(request: &Request) -> Result<T, Refusal> {
    serde_json::from_slice(&request.body)
        .map_err(|error| Refusal(400, "Body", format!("the body is invalid: {error}")))
}

fn within(name: &str, value: i64, low: i64, high: i64) -> Result<(), Refusal> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let text = format!("{name}: expected {low} to {high}, got {value}");
    Err(Refusal(400, "Body", text))
}
