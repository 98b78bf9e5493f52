//! The devices that backends run on. Report headers, jobs and the arguments of child processes
//! contain their description.

mod find;

pub(crate) use find::for_newer_compilers;
pub use find::{Emulate, Search, find};

use crate::lines::shortened;
use crate::pattern::Pattern;
use anyhow::bail;
use futhark_manifest::Backend;
use futhark_safe::Config;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// Environment variables that a child process gets in addition to those of this one.
pub type Environment = Vec<(OsString, OsString)>;

/// A device of a backend, or the reason why the backend has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The backend.
    #[serde(with = "as_name")]
    pub backend: Backend,
    /// The name in reports and expectations; empty if there is none. A device that is not usable has one
    /// if its driver works, but not with programs of the compilers.
    #[serde(rename = "device")]
    pub name: String,
    /// The kind of device.
    pub kind: Kind,
    /// Whether jobs run programs on it. Without a device they only compile them.
    pub usable: bool,
    /// What the machine lacks, or the error of its driver; of the emulated device, why no real one was used.
    pub reason: String,
    /// Why a program failed on it that should have run: a failure of the run, of which there is a record.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
    /// Whether it is known to compute wrong results, so that the library refuses it by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known_bad: bool,
    /// The device setting that selects it; without one the backend uses its first device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Options for the driver's compiler, without which it refuses programs of the newest compiler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The environment variables that its processes need to find it.
    #[serde(skip)]
    pub environment: Environment,
}

/// The kind of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A real device, or the host itself.
    #[default]
    Real,
    /// An interpreter of a third party, such as Oclgrind.
    Simulated,
    /// The driver in `emulated/`.
    Emulated,
}

impl Device {
    /// The first device of a backend, before it is probed.
    #[must_use]
    pub fn unknown(backend: Backend) -> Device {
        Device {
            backend,
            name: String::new(),
            kind: Kind::Real,
            usable: false,
            reason: String::new(),
            failure: String::new(),
            known_bad: false,
            choice: None,
            options: Vec::new(),
            environment: Environment::new(),
        }
    }

    /// The host, for its backends.
    #[must_use]
    pub fn host(backend: Backend) -> Device {
        Device {
            name: HOST.to_owned(),
            usable: true,
            ..Device::unknown(backend)
        }
    }

    /// The failure, or else the reason.
    #[must_use]
    pub fn problem(&self) -> &str {
        match self.fails() {
            true => &self.failure,
            false => &self.reason,
        }
    }

    /// The same in one line.
    #[must_use]
    pub fn why(&self) -> String {
        one_line(self.problem())
    }

    /// Whether jobs run on it, and no program failed on it that should have run.
    #[must_use]
    pub fn works(&self) -> bool {
        self.usable && !self.fails()
    }

    /// Whether a program failed on it that should have run.
    #[must_use]
    pub fn fails(&self) -> bool {
        !self.failure.is_empty()
    }

    /// Whether it exists, and programs of the compilers do not work on it.
    #[must_use]
    pub fn is_unfit(&self) -> bool {
        !self.usable && !self.name.is_empty()
    }

    /// The backend and the device, with the reason if it does not work.
    #[must_use]
    pub fn described(&self) -> String {
        let Device { backend, name, .. } = self;
        match (self.works(), name.as_str()) {
            (true, _) => format!("{backend} on {name}"),
            (_, "") => format!("{backend}: {}", self.why()),
            (_, _) => format!("{backend} on {name}: {}", self.why()),
        }
    }

    /// Whether it is the emulated device, which reports misuse.
    #[must_use]
    pub fn is_emulated(&self) -> bool {
        self.kind == Kind::Emulated
    }

    /// Whether it is simulated or emulated, and therefore slow: then checks do less.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.kind != Kind::Real
    }

    /// Whether several threads of a process may each have a context on it. On Oclgrind even plain C
    /// crashes or computes wrong results then; the emulated device is not tested for it.
    #[must_use]
    pub fn supports_threads(&self) -> bool {
        self.kind == Kind::Real
    }

    /// Whether creating a context takes seconds for a large program, because an interpreter parses
    /// it or PoCL compiles it.
    #[must_use]
    pub fn has_costly_contexts(&self) -> bool {
        self.is_slow() || find::is_pocl(&self.name)
    }

    /// An estimate of the time of a job, in multiples of the time on the host.
    #[must_use]
    pub fn slowness(&self) -> u32 {
        match self.kind {
            Kind::Simulated => 4,
            Kind::Emulated => 2,
            // A device that compiles each kernel for the CPU.
            Kind::Real if self.has_costly_contexts() => 8,
            Kind::Real => 1,
        }
    }

    /// Whether creating a context compiles kernels, which a cache file can keep.
    #[must_use]
    pub fn compiles_kernels(&self) -> bool {
        self.backend.is_gpu()
    }

    /// Whether a cache file makes creating contexts faster. PoCL has its own cache and compiles
    /// each kernel on first use, but would compile all kernels to write a file.
    #[must_use]
    pub fn needs_cache_file(&self) -> bool {
        self.compiles_kernels() && !find::is_pocl(&self.name)
    }

    /// Settings of a context on this device. A device known to compute wrong results is allowed,
    /// because the checks must show that.
    pub fn config(&self) -> Config {
        self.config_with(&[])
    }

    /// The same, with these options for the compiler of device code: the version of a language or an architecture.
    #[allow(
        unsafe_code,
        reason = "it accepts options that would change device code"
    )]
    pub(crate) fn config_with(&self, options: &[String]) -> Config {
        let mut config = Config::new().allow_known_bad_device(true);
        for option in self.options.iter().chain(options) {
            // SAFETY: none of them changes the meaning of device code.
            config = unsafe { config.build_option(option) };
        }
        match &self.choice {
            Some(choice) => config.device(choice),
            None => config,
        }
    }
}

/// The devices that match one of the patterns, each of which must match one. Without patterns, all devices.
pub fn pick(mut devices: Vec<Device>, patterns: &[Pattern]) -> anyhow::Result<Vec<Device>> {
    if patterns.is_empty() {
        return Ok(devices);
    }
    let matches = |device: &Device, pattern: &Pattern| {
        !device.name.is_empty() && pattern.matches(&device.name)
    };
    for pattern in patterns {
        if !devices.iter().any(|device| matches(device, pattern)) {
            let mut names: Vec<&str> = devices.iter().map(|device| &*device.name).collect();
            names.retain(|name| !name.is_empty());
            names.dedup();
            let names = names.join("\n  ");
            bail!("no device is called \"{pattern}\"; there are:\n  {names}");
        }
    }
    devices.retain(|device| patterns.iter().any(|pattern| matches(device, pattern)));
    Ok(devices)
}

/// Verifies that the emulated device is usable, if it was requested with `always`.
pub fn insist(emulate: Emulate, devices: &[Device]) -> anyhow::Result<()> {
    let mut missing = devices.iter().filter(|device| !device.usable);
    if let Some(device) = missing.find(|one| emulate == Emulate::Always && one.is_emulated()) {
        let Device {
            backend, reason, ..
        } = device;
        bail!("the emulated device cannot be used for {backend}: {reason}");
    }
    Ok(())
}

/// The devices that jobs run on: all usable ones among `devices`, which are in the order of their backends. A backend
/// that `--backend` names (`named`) and that has none keeps one unusable device, for which programs are only compiled.
/// Other backends were not probed, so that the result has only the backends of `--backend`, if it was given. It is an
/// error if there are neither devices nor requested backends.
pub fn devices_to_run(devices: &[Device], named: &[Backend]) -> anyhow::Result<Vec<Device>> {
    let works = |backend| {
        devices
            .iter()
            .any(|one| one.usable && one.backend == backend)
    };
    let is_run = |device: &&Device| {
        device.usable || named.contains(&device.backend) && !works(device.backend)
    };
    let mut chosen: Vec<Device> = devices.iter().filter(is_run).cloned().collect();
    chosen.dedup_by(|one, other| !one.usable && one.backend == other.backend);
    if chosen.is_empty() {
        let reasons = devices.iter();
        let reasons = reasons.map(|device| format!("\n{}: {}", device.backend, device.problem()));
        let reasons: String = reasons.collect();
        bail!("no backend can be used on this machine:{reasons}");
    }
    Ok(chosen)
}

/// The name of the host as a device.
pub(crate) const HOST: &str = "cpu";

impl Kind {
    /// The kind of a device with this name, as reported by its driver.
    fn from_name(name: &str) -> Kind {
        let name = name.to_lowercase();
        let simulated = ["oclgrind", "simulat", "emulat"];
        match simulated.iter().any(|word| name.contains(word)) {
            true => Kind::Simulated,
            false => Kind::Real,
        }
    }
}

/// The name of the emulated device in reports. It always contains "emulated".
fn emulated_name(settings: &str) -> String {
    match settings {
        "" => EMULATED.to_owned(),
        _ => format!("{EMULATED}: {settings}"),
    }
}

const EMULATED: &str = "emulated";

/// The settings in the name of an emulated device that has any.
pub(crate) fn emulated_settings(name: &str) -> Option<&str> {
    name.strip_prefix(EMULATED)?.strip_prefix(": ")
}

/// The platform in a name, or the whole name if there is none.
pub(crate) fn platform(name: &str) -> &str {
    name.split(": ").next().unwrap_or(name)
}

/// A message as one line, without the middle of a long one: the start names the source, and the end has the
/// driver's error.
pub(crate) fn one_line(text: &str) -> String {
    const LONGEST: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(line, LONGEST).replace('\n', " ")
}

/// Serialises a backend as its name.
mod as_name {
    use futhark_manifest::Backend;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(backend: &Backend, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(backend.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Backend, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulators_are_recognised_by_name() {
        assert_eq!(
            Kind::from_name("Oclgrind: Oclgrind Simulator"),
            Kind::Simulated
        );
        assert_eq!(Kind::from_name("NVIDIA A100"), Kind::Real);
    }

    #[test]
    fn long_reasons_are_shortened_to_one_line() {
        assert_eq!(one_line("a\n  b"), "a b");
        let long = one_line(&format!("from here{}to there", "é".repeat(500)));
        assert!(long.starts_with("from here") && long.ends_with("to there"));
        assert!(long.contains(" [718 bytes omitted] "), "{long}");
    }

    fn devices() -> Vec<Device> {
        let opencl = |name: &str| Device {
            name: name.to_owned(),
            ..Device::host(Backend::OpenCl)
        };
        vec![
            Device::host(Backend::C),
            opencl("A: first"),
            opencl("B: second"),
            Device::unknown(Backend::Cuda),
        ]
    }

    fn picked(patterns: &[&str]) -> Result<Vec<String>, String> {
        let patterns: Vec<Pattern> = patterns.iter().map(|p| Pattern::from(*p)).collect();
        let picked = pick(devices(), &patterns).map_err(|error| error.to_string())?;
        Ok(picked.into_iter().map(|device| device.name).collect())
    }

    #[test]
    fn devices_are_picked_by_name() {
        assert_eq!(picked(&[]).unwrap().len(), 4);
        assert_eq!(picked(&["B*"]).unwrap(), ["B: second"]);
        assert_eq!(picked(&["B*", "cpu"]).unwrap(), ["cpu", "B: second"]);
        // A missing device has no name, so no pattern can match it.
        assert_eq!(picked(&["*"]).unwrap().len(), 3);
    }

    #[test]
    fn a_pattern_without_a_match_is_an_error() {
        let error = picked(&["A*", "C*"]).unwrap_err();
        assert_eq!(
            error,
            "no device is called \"C*\"; there are:\n  cpu\n  A: first\n  B: second"
        );
    }

    #[test]
    fn only_requested_backends_keep_an_unusable_device() {
        let names = |devices: &[Device], named: &[Backend]| -> Vec<String> {
            let chosen = devices_to_run(devices, named).unwrap_or_default();
            chosen.into_iter().map(|device| device.name).collect()
        };
        assert_eq!(names(&devices(), &[]), ["cpu", "A: first", "B: second"]);
        let named = [Backend::OpenCl, Backend::Cuda];
        assert_eq!(
            names(&devices()[1..], &named),
            ["A: first", "B: second", ""]
        );
        // A backend has its usable devices, or one that is not usable.
        let broken = Device::unknown(Backend::OpenCl);
        let mut with_broken = vec![broken.clone()];
        with_broken.extend(devices());
        assert_eq!(names(&with_broken, &[Backend::OpenCl]).len(), 3);
        assert_eq!(
            names(&[broken.clone(), broken.clone()], &[Backend::OpenCl]),
            [""]
        );
        assert!(devices_to_run(&[broken], &[]).is_err());
    }
}
