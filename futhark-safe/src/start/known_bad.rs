//! Devices that are known to compute wrong results, so a context on them is an error unless
//! [`Config::allow_known_bad_device`](super::Config::allow_known_bad_device) is set. Only what was seen is listed:
//! other versions are used.

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Device;

struct Known {
    backend: &'static str,
    platform: &'static str,
    /// The beginning of the name of the device.
    device: &'static str,
    /// The version of the driver, with all that only adds to it: 3.1 means 3.1.4 and `3.1+debian`, too, and not 3.10.
    driver: &'static str,
    /// What is wrong, with the smallest program that shows it.
    reason: &'static str,
}

const LIST: [Known; 1] = [Known {
    backend: "opencl",
    platform: "Portable Computing Language",
    device: "pthread-",
    driver: "3.1",
    reason: "PoCL 3.1 does not reset the counter that a reduction keeps on the device, so the second reduction in a \
             context returns an old result: `entry sum (xs: []i32): i32 = i32.sum xs` called with [1, 2, 3, 4] and \
             then with [5, 6, 7, 8] returns 10 both times",
}];

/// An error for a device that the list has: the reason, and how to continue.
pub(super) fn reject_known_bad(backend: &str, device: &Device) -> Result<()> {
    let is_listed = |known: &&Known| {
        known.backend == backend
            && known.platform == device.platform
            && device.name.starts_with(known.device)
            && is_version(known.driver, &device.driver_version)
    };
    let Some(known) = LIST.iter().find(is_listed) else {
        return Ok(());
    };
    let Device {
        platform,
        platform_version,
        name,
        driver_version: driver,
        ..
    } = device;
    let message = format!(
        "device \"{name}\" of platform \"{platform}\" ({platform_version}; driver {driver}) is known to compute \
         wrong results: {}; choose another device, platform, driver version or backend, or use this one \
         anyway with Config::allow_known_bad_device(true)",
        known.reason
    );
    let operation = format!("{backend} context");
    Err(Error::new(ErrorKind::Unsupported, operation, message))
}

/// Whether `version` is `known` or a more specific form of it, such as `3.1+debian` for `3.1`.
fn is_version(known: &str, version: &str) -> bool {
    version
        .strip_prefix(known)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pocl(driver: &str) -> Device {
        let text =
            format!("Portable Computing Language\nOpenCL 3.0 PoCL\npthread-x86-64\n{driver}\n1");
        Device::parse(&text).remove(0)
    }

    #[test]
    fn only_listed_versions_are_rejected() {
        for bad in ["3.1", "3.1+debian", "3.1-rc1", "3.1.2"] {
            let text = reject_known_bad("opencl", &pocl(bad))
                .unwrap_err()
                .to_string();
            // The message names device, version, reason and setting.
            for part in ["pthread-x86-64", bad, "i32.sum", "allow_known_bad_device"] {
                assert!(text.contains(part), "{text}");
            }
        }
        for other in ["3.0", "3.10", "4.0+debian", "13.1"] {
            assert!(reject_known_bad("opencl", &pocl(other)).is_ok(), "{other}");
        }
        assert!(reject_known_bad("cuda", &pocl("3.1")).is_ok());
    }
}
