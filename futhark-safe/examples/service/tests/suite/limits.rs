//! Clients that send too much, too slowly, or too many requests at once.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::server::{Server, send};

/// Everything until the server closes the connection.
fn read_all(mut socket: TcpStream) -> String {
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

fn assert_status(text: &str, status: u16) {
    assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{text}");
    assert!(text.contains("Connection: close"), "{text}");
}

#[test]
fn messages_over_a_limit_are_refused() {
    let server = Server::start(&[]);
    let body = vec![b' '; 2 << 20];
    let mut socket = server.socket();
    let head = format!(
        "POST /at HTTP/1.1\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).unwrap();
    // The response arrives although the body is sent.
    socket.write_all(&body).unwrap();
    assert_status(&read_all(socket), 413);

    let mut socket = server.socket();
    let head = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n", "x".repeat(9000));
    socket.write_all(head.as_bytes()).unwrap();
    assert_status(&read_all(socket), 431);

    let mut socket = server.socket();
    let head = "POST /at HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    socket.write_all(head.as_bytes()).unwrap();
    assert_status(&read_all(socket), 411);
    server.assert_works();
}

#[test]
fn a_slow_body_is_refused_although_bytes_arrive() {
    let server = Server::start(&["--threads", "1"]);
    let mut socket = server.socket();
    let start = Instant::now();
    socket
        .write_all(b"POST /at HTTP/1.1\r\nContent-Length: 1000\r\n\r\n")
        .unwrap();
    let mut reader = socket.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        // Ends when the server has closed the connection.
        while start.elapsed() < Duration::from_secs(9) && socket.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let mut bytes = [0; 16];
    let n = reader.read(&mut bytes).unwrap();
    assert!(bytes[..n].starts_with(b"HTTP/1.1 408"), "{bytes:?}");
    let elapsed = start.elapsed();
    assert!((4..8).contains(&elapsed.as_secs()), "{elapsed:?}");
    server.assert_works();
    sender.join().unwrap();
}

#[test]
fn connections_without_a_thread_are_answered() {
    let server = Server::start(&["--threads", "1"]);
    let mut served = server.connect();
    assert_eq!(send(&mut served, "GET", "/metrics", "").status, 200);
    // The queue has one place.
    let mut queued = server.connect();
    std::thread::sleep(Duration::from_millis(200));
    let response = server.connect().read_response().unwrap();
    assert_eq!((response.status, response.retry_after), (503, Some(1)));
    drop(served);
    assert_eq!(send(&mut queued, "GET", "/metrics", "").status, 200);
}
