//! The end of the server.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::server::{Server, send};

#[test]
fn a_signal_stops_the_server_also_with_idle_connections() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Server::start(&[]);
        let mut idle = server.connect();
        assert_eq!(send(&mut idle, "GET", "/metrics", "").status, 200);
        kill_process(Pid::from_raw(server.id()).unwrap(), signal).unwrap();
        let (status, text) = server.wait(Duration::from_secs(3));
        assert!(status.success(), "{status}");
        assert_eq!(text, "stopped after 1 requests\n");
    }
}

#[test]
fn quit_is_answered_before_the_server_stops() {
    let mut server = Server::start(&["--provoke"]);
    // The server survives a lost context.
    assert_eq!(server.send("POST", "/lose", "").0, 503);
    let response = send(&mut server.connect(), "POST", "/quit", "");
    assert_eq!((response.status, response.keep_alive), (200, false));
    let (status, text) = server.wait(Duration::from_secs(3));
    assert!(status.success(), "{status}");
    assert_eq!(text, "stopped after 2 requests\n");
}

#[test]
fn a_port_in_use_is_an_error() {
    let server = Server::start(&[]);
    let port = server.socket().peer_addr().unwrap().port().to_string();
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_futhark-example-service"))
        .args(["--port", &port])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let text = String::from_utf8_lossy(&second.stderr);
    assert!(text.contains("cannot listen on 127.0.0.1:"), "{text}");
}
