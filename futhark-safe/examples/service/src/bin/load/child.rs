//! The server as a child process.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use futhark_example_service::http::{Connection, Limits};

use crate::options::Options;

/// A server that this process started. Dropping it ends it.
pub struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts the server from the folder of this program, on a free port.
    ///
    /// # Errors
    ///
    /// The program is missing, or does not start.
    pub fn start(options: &Options) -> Result<Server, String> {
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let program = this.with_file_name("futhark-example-service");
        let mut command = Command::new(&program);
        command
            .args(["--port", "0", "--provoke"])
            .args(["--backend", options.backend.as_str()])
            // One more for the metrics.
            .args(["--threads", &(options.threads + 1).to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        // Ctrl-C ends the load first, and then the server.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| {
            let program = program.display();
            format!("cannot start {program}: {error}; run `cargo build` for the whole package")
        })?;
        let output = child.stdout.take().ok_or("no standard output")?;
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        let address = read.ok().and_then(|_| address(&line));
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("the server did not start: {line}"));
        };
        Ok(Server { child, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Asks the server to stop, and waits.
    ///
    /// # Errors
    ///
    /// It does not stop within ten seconds, or reports a failure.
    pub fn stop(mut self) -> Result<(), String> {
        Connection::open(self.address, Limits::default())
            .and_then(|mut connection| connection.write_request("POST", "/quit", b""))
            .map_err(|error| format!("cannot stop the server: {error}"))?;
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server failed: {status}")),
                None => thread::sleep(Duration::from_millis(10)),
            }
        }
        Err("the server did not stop within 10 seconds".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Without effect if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address in `listening on http://127.0.0.1:1234 (c)`.
fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://")?;
    rest.split_whitespace().next()?.parse().ok()
}
