//! The results of a run: outcomes, results of cases, and records. `report::json` documents their JSON form.

use crate::devices::Device;
use crate::jobs::Shard;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The promise held.
    Pass,
    /// The promise did not hold.
    Fail,
    /// The promise could not be checked; the message says why.
    Skip,
    /// The promise did not hold, and the expectations list this failure.
    ExpectedFail,
}

/// Why a check failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A wrong result.
    Mismatch,
    /// An error from an operation that must succeed.
    Error,
    /// The process died.
    Crash,
    /// A case exceeded its time limit.
    Timeout,
    /// Memory was not freed.
    Leak,
    /// The emulated device reported misuse, which a real driver may not detect.
    Misuse,
    /// The check passed, although the expectations list a failure.
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

/// The result of one case of one check, in some job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The check's name, as `list --checks` shows it.
    pub check: String,
    /// The part of the program that was checked: a type, an entry point, a test case.
    pub case: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The cause of a failure.
    pub cause: Option<Cause>,
    /// The details of a failure, the reason of a skip, or a remark on a pass, which is mostly empty.
    pub message: String,
    /// The time that the case took.
    pub seconds: f64,
}

impl CaseResult {
    /// A failure for which there is an excuse is a skip.
    #[must_use]
    pub fn excused(self, excuse: Option<&str>) -> CaseResult {
        let (Some(excuse), Some(cause)) = (excuse, self.cause) else {
            return self;
        };
        CaseResult {
            outcome: Outcome::Skip,
            cause: None,
            message: format!("{excuse}: {cause}: {}", self.message),
            ..self
        }
    }
}

/// The name of a case in its job: `CHECK` or `CHECK:CASE`.
#[must_use]
pub fn name(check: &str, case: &str) -> String {
    match case {
        "" => check.to_owned(),
        case => format!("{check}:{case}"),
    }
}

/// Backend, device and compiler in the records of files that are not compiled, and the program in the record of a device
/// that fails.
pub const NOWHERE: &str = "-";

/// What identifies a job of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId {
    /// The program's path, as given or found.
    pub program: String,
    /// The backend's name.
    pub backend: String,
    /// The device that the backend uses.
    pub device: String,
    /// The compiler's version.
    pub compiler: String,
}

impl JobId {
    /// The job of a program on a device, compiled by the compiler of this version.
    #[must_use]
    pub fn new(device: &Device, program: String, compiler: String) -> JobId {
        JobId {
            program,
            backend: device.backend.to_string(),
            device: device.name.clone(),
            compiler,
        }
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, backend) = (&self.program, &self.backend);
        write!(
            f,
            "{program} [{backend}, {}, {}]",
            self.device, self.compiler
        )
    }
}

/// The result of a case, with its job: one line of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The job. Its records share this value.
    #[serde(flatten)]
    pub job: Arc<JobId>,
    /// The result.
    #[serde(flatten)]
    pub result: CaseResult,
}

/// What a record is about: its job, check and case.
pub type CaseId<'r> = (&'r JobId, &'r str, &'r str);

impl Record {
    /// What the record is about.
    #[must_use]
    pub fn id(&self) -> CaseId<'_> {
        (&self.job, &self.result.check, &self.result.case)
    }
}

/// A Futhark compiler that a run uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerInfo {
    /// The numbers of its version, or the first line of its version text. No two compilers of a run have the same.
    pub version: String,
    /// The path.
    pub path: String,
    /// The SHA-256 hash of the executable; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}

impl CompilerInfo {
    /// A compiler whose hash is not known.
    #[must_use]
    pub fn new(version: impl Into<String>, path: impl Into<String>) -> CompilerInfo {
        CompilerInfo {
            version: version.into(),
            path: path.into(),
            hash: String::new(),
        }
    }
}

/// The first line of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the report's format.
    pub schema: u32,
    /// The program that wrote it, with its version.
    pub generator: String,
    /// The seed of generated inputs.
    pub seed: u64,
    /// The shard of the run, if it has shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The compilers.
    pub compilers: Vec<CompilerInfo>,
    /// Compilers that are only compared with.
    #[serde(default)]
    pub against: Vec<CompilerInfo>,
    /// Options of the run that a command to repeat a result needs as well.
    #[serde(default)]
    pub options: Vec<String>,
    /// A hash of the lists of expected failures; empty without any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expectations: String,
    /// The options that select programs, jobs and checks, and those that limit them.
    #[serde(default)]
    pub selection: Vec<String>,
    /// The devices of the selected backends.
    pub devices: Vec<Device>,
}

/// The end of a job: the line of a report after its records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "finished")]
pub struct Finished {
    #[serde(flatten)]
    pub job: JobId,
    /// A hash of the program's source, of the files that it imports, and of the checks of the job.
    pub source: String,
    pub seconds: f64,
}
