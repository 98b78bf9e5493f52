//! Devices of a backend.

use std::fmt;
use std::io::{self, BufRead, Write};

use crate::error::counted;

/// A device of a backend, as its driver describes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Device {
    /// The name of the platform: that of the OpenCL driver, `CUDA`, `HIP` or `host`.
    pub platform: String,
    /// The version of the platform.
    pub platform_version: String,
    /// The name of the device. On host backends the architecture and the number of processors, which `c` does
    /// not use.
    pub name: String,
    /// The version of the driver.
    pub driver_version: String,
    /// The size of its memory in bytes. `None` on host backends.
    pub memory: Option<u64>,
}

impl Device {
    /// The processor, for host backends.
    pub(crate) fn host() -> Device {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Device {
            platform: "host".to_owned(),
            platform_version: std::env::consts::OS.to_owned(),
            name: format!(
                "{}, {}",
                std::env::consts::ARCH,
                counted(threads, "processor")
            ),
            driver_version: String::new(),
            memory: None,
        }
    }

    /// The device of a context, from its description; a host backend has none.
    pub(crate) fn of_context(text: Option<String>) -> Device {
        let device = text.and_then(|text| Device::parse(&text).pop());
        device.unwrap_or_else(Device::host)
    }

    /// The devices of a backend, from their descriptions; a host backend has none.
    pub(crate) fn of_backend(text: Option<String>) -> Vec<Device> {
        text.map_or_else(|| vec![Device::host()], |text| Device::parse(&text))
    }

    /// Parses descriptions of five lines each; `futhark_table.h` documents them.
    pub(crate) fn parse(text: &str) -> Vec<Device> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        lines
            .chunks_exact(5)
            .map(|lines| Device {
                platform: lines[0].to_owned(),
                platform_version: lines[1].to_owned(),
                name: lines[2].to_owned(),
                driver_version: lines[3].to_owned(),
                memory: lines[4].parse().ok(),
            })
            .collect()
    }

    /// Asks for one of `devices`: lists them on `output`, and reads a number from `input`.
    ///
    /// Returns the answer, which can be passed to [`Config::device_number`](crate::Config::device_number). Asks again after an
    /// invalid answer; `None` at the end of the input. Blocks until there is an answer.
    ///
    /// ```
    /// use futhark_safe::Device;
    ///
    /// let answer = Device::ask(&[], &mut "".as_bytes(), &mut std::io::sink())?;
    /// assert_eq!(answer, None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Reading or writing failed.
    pub fn ask(
        devices: &[Device],
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<Option<usize>> {
        if devices.is_empty() {
            return Ok(None);
        }
        for (i, device) in devices.iter().enumerate() {
            writeln!(output, "[{i}] {device}")?;
        }
        loop {
            write!(output, "Device [0 to {}]: ", devices.len() - 1)?;
            output.flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            match line.trim().parse() {
                Ok(i) if i < devices.len() => return Ok(Some(i)),
                _ => writeln!(
                    output,
                    "expected a number of the list, got {:?}",
                    line.trim()
                )?,
            }
        }
    }
}

/// `NVIDIA H200 (CUDA 12.4, driver 12.4, 139 GiB)`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({} {}",
            self.name, self.platform, self.platform_version
        )?;
        if !self.driver_version.is_empty() {
            write!(f, ", driver {}", self.driver_version)?;
        }
        if let Some(memory) = self.memory {
            write!(f, ", {:.1} GiB", memory as f64 / f64::from(1 << 30))?;
        }
        f.write_str(")")
    }
}
