//! A server process, and a client.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use futhark_example_service::http::{Connection, Limits, Response};
use serde_json::Value;

/// A server, which ends with this value.
pub struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Server {
    /// Starts a server on the first backend of the program.
    pub fn start(options: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_futhark-example-service"))
            .args(["--port", "0"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let (_, rest) = line.split_once("http://").unwrap();
        let address: SocketAddr = rest.split_whitespace().next().unwrap().parse().unwrap();
        assert!(address.ip().is_loopback());
        Server {
            child,
            output,
            address,
        }
    }

    /// A new connection.
    pub fn connect(&self) -> Connection {
        Connection::open(self.address, Limits::default()).unwrap()
    }

    /// A new connection without the code under test.
    pub fn socket(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).unwrap();
        let limit = Some(Duration::from_secs(10));
        socket.set_read_timeout(limit).unwrap();
        socket
    }

    /// Sends a request by a new connection.
    pub fn send(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let Response { status, body, .. } = send(&mut self.connect(), method, path, body);
        (status, serde_json::from_slice(&body).unwrap())
    }

    /// Asserts that the server computes.
    pub fn assert_works(&self) {
        let (status, value) = self.send("POST", "/at", r#"{"xs": [1, 2.5, 4], "index": 1}"#);
        assert_eq!((status, value["number"].as_f64()), (200, Some(2.5)));
    }

    pub fn id(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    /// Waits for the end, and returns what the server printed since the start.
    pub fn wait(&mut self, most: Duration) -> (ExitStatus, String) {
        let end = Instant::now() + most;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < end, "the server runs after {most:?}");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        (status, text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn send(connection: &mut Connection, method: &str, path: &str, body: &str) -> Response {
    connection
        .write_request(method, path, body.as_bytes())
        .unwrap();
    connection.read_response().unwrap()
}
