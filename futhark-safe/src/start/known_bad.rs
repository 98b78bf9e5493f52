//! Devices that are known to compute wrong results, listed in `known_bad_devices.toml`.

use crate::observe::Device;

/// An entry of the list.
#[derive(Default)]
pub(crate) struct Known {
    backend: &'static str,
    platform: &'static str,
    device: &'static str,
    driver: &'static str,
    reason: &'static str,
}

/// Returns the entry for this backend and device, if the list has one.
pub(crate) fn find(backend: &str, device: &Device) -> Option<Known> {
    list().into_iter().find(|known| {
        known.backend == backend
            && known.platform == device.platform
            && matches(known.device, &device.name)
            && is_version(known.driver, &device.driver_version)
    })
}

impl Known {
    /// The message for a context on `device`: the reason, and how to continue.
    pub(crate) fn refusal(&self, device: &Device) -> String {
        let Device {
            platform,
            platform_version,
            name,
            driver_version: driver,
            ..
        } = device;
        format!(
            "device \"{name}\" of platform \"{platform}\" ({platform_version}; driver {driver}) is known to compute \
             wrong results: {}; choose another device, platform, driver version or backend, or use this one \
             anyway with Config::allow_known_bad_device(true)",
            self.reason
        )
    }
}

/// Parses the subset of TOML that the list uses: `[[device]]` tables whose values are strings without
/// escapes.
fn list() -> Vec<Known> {
    let mut list = Vec::new();
    for line in include_str!("known_bad_devices.toml").lines() {
        if line == "[[device]]" {
            list.push(Known::default());
        }
        let pair = line.strip_suffix('"').and_then(|l| l.split_once(" = \""));
        let (Some((key, value)), Some(known)) = (pair, list.last_mut()) else {
            continue;
        };
        match key {
            "backend" => known.backend = value,
            "platform" => known.platform = value,
            "device" => known.device = value,
            "driver" => known.driver = value,
            "reason" => known.reason = value,
            _ => {}
        }
    }
    list
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => text.starts_with(beginning),
        None => text == pattern,
    }
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
    fn every_entry_is_complete() {
        let list = list();
        assert!(!list.is_empty());
        for known in list {
            let texts = [known.backend, known.platform, known.device, known.reason];
            assert!(texts.iter().all(|text| !text.is_empty()), "{texts:?}");
            assert!(known.driver.starts_with(|c: char| c.is_ascii_digit()));
        }
    }

    #[test]
    fn only_listed_versions_are_rejected() {
        for bad in ["3.1", "3.1+debian", "3.1-rc1", "3.1.2"] {
            assert!(find("opencl", &pocl(bad)).is_some(), "{bad}");
        }
        for other in ["3.0", "3.10", "4.0+debian", "13.1"] {
            assert!(find("opencl", &pocl(other)).is_none(), "{other}");
        }
        assert!(find("cuda", &pocl("3.1")).is_none());
    }

    #[test]
    fn the_message_names_device_reason_and_setting() {
        let device = pocl("3.1+debian");
        let text = find("opencl", &device).unwrap().refusal(&device);
        for part in [
            "pthread-x86-64",
            "3.1+debian",
            "i32.sum",
            "allow_known_bad_device",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
