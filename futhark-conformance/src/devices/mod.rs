//! The devices that backends run on: one description each, which stands in the header of
//! the reports, goes with every job, and is handed to every child process.

mod choose;
mod find;
mod names;
mod pocl;

pub use choose::{NoEmulation, NoSuchDevice, NothingUsable, at_hand, columns, insist, pick};
pub use find::{Emulate, Search, find};
pub(crate) use names::{must_be_told, on_platform, parts};

use futhark_manifest::Backend;
use futhark_safe::Config;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// Variables that a child process gets beside those of this one.
pub type Environment = Vec<(OsString, OsString)>;

/// A device of a backend, or why the backend has none, and what follows from that for all
/// who work with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The backend.
    #[serde(with = "as_name")]
    pub backend: Backend,
    /// What reports and expectations call it; empty if there is none.
    #[serde(rename = "device")]
    pub name: String,
    /// What does its work.
    pub kind: Kind,
    /// Whether a program ran on it.
    pub usable: bool,
    /// Why none did; of an emulated one, why no real one was used.
    pub reason: String,
    /// What the backend calls it where it has several (Futhark's option `--device`); without
    /// it the backend takes its first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// What its processes need to know to find it.
    #[serde(skip)]
    pub environment: Environment,
}

/// What does a device's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The device, or the host itself.
    #[default]
    Real,
    /// An interpreter that somebody else wrote, such as Oclgrind.
    Simulated,
    /// The driver in `emulated/`.
    Emulated,
}

impl Device {
    /// The first device of a backend, of which nothing is known yet.
    #[must_use]
    pub fn unknown(backend: Backend) -> Device {
        Device {
            backend,
            name: String::new(),
            kind: Kind::Real,
            usable: false,
            reason: String::new(),
            choice: None,
            environment: Environment::new(),
        }
    }

    /// The host, which can run what it compiles for itself.
    #[must_use]
    pub fn host(backend: Backend) -> Device {
        Device {
            name: HOST.to_owned(),
            usable: true,
            ..Device::unknown(backend)
        }
    }

    /// [`Device::reason`], for a table or a sentence.
    #[must_use]
    pub fn why(&self) -> String {
        names::one_line(&self.reason)
    }

    /// Whether the driver in `emulated/` stands for it, which also tells of misuse.
    #[must_use]
    pub fn is_emulated(&self) -> bool {
        self.kind == Kind::Emulated
    }

    /// Whether something slow stands for it: then everything is less.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.kind != Kind::Real
    }

    /// Whether several threads of a process may each have a context on it. With Oclgrind even
    /// plain C computes wrongly or crashes then; the emulated device was never asked to.
    #[must_use]
    pub fn bears_threads(&self) -> bool {
        self.kind == Kind::Real
    }

    /// Whether a context takes seconds to make where there is much code: an interpreter reads
    /// it all, PoCL compiles it.
    #[must_use]
    pub fn has_costly_contexts(&self) -> bool {
        self.is_slow() || pocl::is_it(&self.name)
    }

    /// Whether the address space of its processes can be limited. Drivers reserve more than
    /// they use.
    #[must_use]
    pub fn bears_memory_limit(&self) -> bool {
        !self.backend.is_gpu()
    }

    /// Whether it compiles kernels when a context is made, and can keep them in a file.
    #[must_use]
    pub fn compiles_kernels(&self) -> bool {
        self.backend.is_gpu()
    }

    /// Whether contexts are cheaper with such a file. PoCL compiles a kernel when it is first
    /// used and keeps it by itself; for a file it compiles all there are.
    #[must_use]
    pub fn needs_cache_file(&self) -> bool {
        self.compiles_kernels() && !pocl::is_it(&self.name)
    }

    /// Settings of a context on this device, also if it is known to compute wrong results: to
    /// show that is what the checks are for.
    pub fn config(&self) -> Config {
        let config = Config::new().allow_known_bad_device(true);
        match &self.choice {
            Some(choice) => config.device(choice),
            None => config,
        }
    }
}

/// The name of the device where the host does the work.
pub(crate) const HOST: &str = "cpu";

/// A backend in JSON: its name.
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
