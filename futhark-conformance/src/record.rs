//! What a run says: outcomes, records, and the events that a child process
//! sends while it works. The JSON forms are documented in the schema of the
//! report (`report::json`).

use crate::devices::Device;
use crate::shard::Shard;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The promise held.
    Pass,
    /// It did not.
    Fail,
    /// It could not be asked; the message says why.
    Skip,
    /// It did not hold, as the expectations say.
    ExpectedFail,
}

/// Why a check failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A wrong answer.
    Mismatch,
    /// An operation that should have worked reported an error.
    Error,
    /// The process died.
    Crash,
    /// The process did not answer within its time.
    Timeout,
    /// Memory was not given back.
    Leak,
    /// The emulated device was misused in a way that a real one may not tell.
    Misuse,
    /// The check passed although the expectations say that it fails.
    UnexpectedPass,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Mismatch => "mismatch",
            Cause::Error => "error",
            Cause::Crash => "crash",
            Cause::Timeout => "timeout",
            Cause::Leak => "leak",
            Cause::Misuse => "misuse of the device",
            Cause::UnexpectedPass => "unexpected pass",
        })
    }
}

/// The result of one case of one check, without saying where it ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The check's name, as `list --checks` shows it.
    pub check: String,
    /// What of the program was checked: a type, an entry point, a test case.
    pub case: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    pub cause: Option<Cause>,
    /// The details; empty for a pass.
    pub message: String,
    /// The time it took.
    pub seconds: f64,
}

/// Where findings were made.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The program's path as it was given or found.
    pub program: String,
    /// The backend's name.
    pub backend: String,
    /// The device that the backend uses.
    pub device: String,
    /// The compiler's version.
    pub compiler: String,
}

impl Place {
    /// The place of a program on a device, compiled by this version of the compiler.
    #[must_use]
    pub fn new(device: &Device, program: String, compiler: String) -> Place {
        Place {
            program,
            backend: device.backend.to_string(),
            device: device.name.clone(),
            compiler,
        }
    }
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Where the finding was made.
    #[serde(flatten)]
    pub place: Place,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A Futhark compiler that a run uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerInfo {
    /// Its version, the first line of what it says about itself.
    pub version: String,
    /// Where it lies.
    pub path: String,
}

/// The first line of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the report's form.
    pub schema: u32,
    /// The program that wrote it, with its version.
    pub generator: String,
    /// The seed of everything that is generated.
    pub seed: u64,
    /// Which part of a run this is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The compilers.
    pub compilers: Vec<CompilerInfo>,
    /// Compilers that were only compared with.
    #[serde(default)]
    pub against: Vec<CompilerInfo>,
    /// Options of the run that a repetition of a finding needs as well.
    #[serde(default)]
    pub options: Vec<String>,
    /// The devices of the backends that were asked for.
    pub devices: Vec<Device>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_flat_object() {
        let record = Record {
            place: Place {
                program: "a.fut".into(),
                backend: "c".into(),
                device: "cpu".into(),
                compiler: "0.25.32".into(),
            },
            finding: Finding {
                check: "blocks".into(),
                case: "main #0".into(),
                outcome: Outcome::ExpectedFail,
                cause: Some(Cause::UnexpectedPass),
                message: "m".into(),
                seconds: 0.5,
            },
        };
        let json = serde_json::to_value(&record).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        for key in [
            "program", "backend", "device", "compiler", "check", "case", "outcome", "cause",
            "message", "seconds",
        ] {
            assert!(
                keys.iter().any(|k| k == key),
                "{key} is missing in {keys:?}"
            );
        }
        assert_eq!(keys.len(), 10);
        assert_eq!(json["outcome"], "expected-fail");
        assert_eq!(json["cause"], "unexpected-pass");
        assert_eq!(serde_json::from_value::<Record>(json).unwrap(), record);
    }
}
