//! The status and the body of responses.

use serde_json::json;

use crate::server::Server;

#[test]
fn results_are_json() {
    let server = Server::start(&[]);
    for (path, body, wanted) in [
        (
            "/summary",
            json!({ "xs": [1, 3] }),
            json!({ "mean": 2.0, "deviation": 1.0, "minimum": 1.0, "maximum": 3.0 }),
        ),
        (
            "/histogram",
            json!({ "xs": [0, 1, 1.5, 7], "bins": 2, "low": 0, "high": 2 }),
            json!({ "counts": [1, 2] }),
        ),
        (
            "/smooth",
            json!({ "xs": [1, 2, 6], "radius": 1 }),
            json!({ "means": [1.5, 3.0, 4.0] }),
        ),
        (
            "/at",
            json!({ "xs": [5], "index": 0 }),
            json!({ "number": 5.0 }),
        ),
    ] {
        let response = server.send("POST", path, &body.to_string());
        assert_eq!(response, (200, wanted), "{path}");
    }
}

#[test]
fn errors_have_a_status_and_a_kind() {
    let server = Server::start(&["--provoke"]);
    for (path, body, status, kind) in [
        ("/at", r#"{"xs": [1], "index": 1}"#, 422, "Program"),
        ("/at", r#"{"xs": [1], "index": -1}"#, 422, "Program"),
        ("/summary", r#"{"xs": []}"#, 422, "Program"),
        ("/fill", r#"{"n": -1}"#, 422, "Program"),
        ("/fill", r#"{"n": 35184372088832}"#, 507, "OutOfMemory"),
        ("/lose", "", 503, "ContextLost"),
        ("/summary", r#"{"xs": [1], "ys": []}"#, 400, "Body"),
        ("/summary", r#"{"xs": "#, 400, "Body"),
        (
            "/histogram",
            r#"{"xs": [1], "bins": 1000000000, "low": 0, "high": 1}"#,
            400,
            "Body",
        ),
        ("/smooth", r#"{"xs": [1], "radius": -1}"#, 400, "Body"),
        ("/metrics", "", 405, "Method"),
        ("/nothing", "", 404, "NotFound"),
    ] {
        let (got, value) = server.send("POST", path, body);
        assert_eq!(
            (got, value["error"]["kind"].as_str()),
            (status, Some(kind)),
            "{path} {body}"
        );
        assert!(!value["error"]["message"].as_str().unwrap().is_empty());
        server.assert_works();
    }
    let (_, value) = server.send("POST", "/at", r#"{"xs": [1], "index": 1}"#);
    let place = value["error"]["place"].as_str().unwrap();
    assert!(place.contains("service.fut:"), "{place}");

    let (_, metrics) = server.send("GET", "/metrics", "");
    assert_eq!(metrics["by_status"]["507"], 1);
    assert_eq!(metrics["by_status"]["422"], 5);
    assert_eq!(metrics["contexts_made"], 2);
    assert_eq!(metrics["context_host_bytes"], 0);
}

#[test]
fn failures_cannot_be_provoked_without_the_option() {
    let server = Server::start(&[]);
    for path in ["/fill", "/lose", "/quit"] {
        assert_eq!(server.send("POST", path, r#"{"n": 1}"#).0, 404);
    }
    server.assert_works();
}
