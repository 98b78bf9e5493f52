//! The responses, one by one and under load. With `FUTHARK_TESTS_FULL` the load takes two minutes per
//! backend, otherwise three seconds.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, header::RETRY_AFTER};
use futhark_example_service::{Shared, router, service};
use futhark_safe::{Backend, Config};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// More numbers than an address space has.
const SIZE: i64 = 1 << 45;

async fn post(router: &Router, path: &str, body: Value) -> (u16, Value) {
    let request = Request::post(path).header("Content-Type", "application/json");
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    assert_eq!(response.headers().contains_key(RETRY_AFTER), status == 503);
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn errors_have_a_status_and_a_kind() {
    let shared = Shared::new(Config::new()).unwrap();
    let endpoints = router(shared.clone(), true);
    for (path, body, status, kind) in [
        ("/summary", json!([1, 2, 6]), 200, None),
        ("/summary", json!([]), 422, Some("Program")),
        ("/fill", json!(-1), 422, Some("Program")),
        ("/fill", json!(SIZE), 507, Some("OutOfMemory")),
        ("/lose", json!(null), 503, Some("ContextLost")),
        // From axum, as text.
        ("/summary", json!({ "xs": [] }), 422, None),
        ("/status", json!(null), 405, None),
    ] {
        let (got, value) = post(&endpoints, path, body).await;
        assert_eq!((got, value["kind"].as_str()), (status, kind), "{path}");
    }
    assert_eq!(shared.current().number, 2);
    let safe = router(shared, false);
    assert_eq!(post(&safe, "/lose", json!(null)).await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn failures_under_load_concern_only_their_requests() {
    let full = std::env::var_os("FUTHARK_TESTS_FULL").is_some();
    let time = Duration::from_secs(if full { 120 } else { 3 });
    let mut backends = service::Context::backends().unwrap();
    backends.retain(|backend| matches!(backend, Backend::C | Backend::Multicore));
    assert!(!backends.is_empty());
    for backend in backends {
        let shared = Shared::new(Config::new().backend(backend)).unwrap();
        let router = router(shared.clone(), true);
        let end = Instant::now() + time;
        let clients = [(); 4].map(|()| tokio::spawn(client(router.clone(), end)));
        tokio::time::sleep(time / 3).await;
        let before = resident_kib();
        let mut requests = 0;
        for client in clients {
            requests += client.await.unwrap();
        }
        let (made, after) = (shared.current().number, resident_kib());
        eprintln!("{backend}: {requests} requests, {made} contexts, {before} then {after} KiB");
        // One request in thirty loses a context, unless another one has just lost it.
        assert!(made > 5 && made <= 1 + requests / 30, "{made} contexts");
        assert!(after < before + (8 << 10), "{before} then {after} KiB");
    }
}

/// Sends requests, of which one in ten fails, and checks each response. Returns their number.
async fn client(router: Router, end: Instant) -> u64 {
    for n in 1.. {
        let x = n as f64;
        let (path, body, status, answer) = match n % 30 {
            10 => ("/summary", json!([]), 422, json!("Program")),
            20 => ("/fill", json!(SIZE), 507, json!("OutOfMemory")),
            0 => ("/lose", json!(null), 503, json!("ContextLost")),
            _ => (
                "/summary",
                json!([x, x + 5.0, x + 1.0]),
                200,
                json!(x + 2.0),
            ),
        };
        let (got, value) = post(&router, path, body).await;
        let found = &value[if got == 200 { "mean" } else { "kind" }];
        assert_eq!((got, found), (status, &answer), "{path}: {value}");
        if Instant::now() > end {
            return n;
        }
    }
    unreachable!()
}

/// The resident memory of this process.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}
