//! The runtime's log as events of the crate `tracing`.

use std::io::{Result, Write};

use crate::start::Config;

impl Config {
    /// Logs to the crate `tracing` (feature `tracing`): one event of level `DEBUG` and target
    /// `futhark_runtime` per line that the runtime prints. [`logging`](Self::logging) turns the log on.
    pub fn log_to_tracing(self) -> Config {
        self.log_to(Lines::default())
    }
}

#[derive(Default)]
struct Lines(Vec<u8>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        for &byte in bytes {
            if byte == b'\n' {
                self.emit();
            } else {
                self.0.push(byte);
            }
        }
        Ok(bytes.len())
    }

    /// The rest of a line comes with the next write.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Lines {
    fn emit(&mut self) {
        let line = String::from_utf8_lossy(&self.0);
        if !line.trim().is_empty() {
            tracing::debug!(target: "futhark_runtime", "{line}");
        }
        self.0.clear();
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.emit();
    }
}
