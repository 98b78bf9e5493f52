//! The work of a child process, passed to it as JSON.

use crate::devices::Device;
use crate::pattern::CheckPattern;
use crate::toolchain::Seen;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::PathBuf;

/// The work of one child process: one program, on one device, with one compiler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// The program to check. Without a program the child only tries the device.
    pub program: Option<PathBuf>,
    /// The device, which also selects the backend.
    pub device: Device,
    /// The Futhark compiler.
    pub compiler: PathBuf,
    /// The checks to run; all checks if empty.
    pub checks: Vec<CheckPattern>,
    /// What earlier processes of this job have done.
    pub earlier: Earlier,
    /// The settings of the whole run.
    pub run: RunSpec,
}

/// What earlier processes of a job have done. Cases are known by their names
/// ([`name`](crate::record::name)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Earlier {
    /// The cases that have ended. They are not reported again.
    pub ended: HashSet<String>,
    /// Those of them that ended a process. They are not run again, even if later cases need them.
    pub fatal: HashSet<String>,
    /// The number of those that exceeded their budgets, which is not a failure.
    pub overruns: usize,
    /// Whether the last process ended because a case exceeded its budget.
    pub last_was_slow: bool,
}

/// The settings that all jobs of a run share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The folder for compiled programs.
    pub build_dir: PathBuf,
    /// The seed of generated inputs.
    pub seed: u64,
    /// The number of inputs to generate per entry point, if the user chose one.
    pub cases: Option<u32>,
    /// The folder for inputs that showed a failure.
    pub regressions: PathBuf,
    /// The only input to try, if the user chose one.
    pub input: Option<PathBuf>,
    /// The folders with files for test blocks, besides that of each program; any folder if there is none.
    pub data_folders: Option<Vec<PathBuf>>,
    /// All compilers of the run, oldest first, for comparison.
    pub compilers: Vec<PathBuf>,
    /// Their labels in reports.
    pub labels: Vec<String>,
    /// The compilers as the parent has found them.
    pub seen: Vec<Seen>,
    /// The architectures to compile kernels for.
    pub architectures: Vec<String>,
    /// The memory limit of the child in MiB; 0 for no limit.
    pub memory: u64,
    /// Whether the C compiler optimises, as for users.
    pub optimise: bool,
}

impl RunSpec {
    /// The settings of a run with no options but the build folder: generated inputs from seed 1, and no
    /// other compiler to compare with.
    #[must_use]
    pub fn new(build_dir: PathBuf) -> RunSpec {
        RunSpec {
            seed: 1,
            cases: None,
            regressions: build_dir.join("regressions"),
            input: None,
            data_folders: Some(Vec::new()),
            compilers: Vec::new(),
            labels: Vec::new(),
            seen: Vec::new(),
            architectures: Vec::new(),
            memory: 0,
            optimise: false,
            build_dir,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Kind;
    use futhark_manifest::Backend;

    #[test]
    fn a_spec_round_trips_through_the_command_line() {
        let spec = JobSpec {
            program: Some("programs/a b.fut".into()),
            device: Device {
                choice: Some("#1".to_owned()),
                kind: Kind::Simulated,
                ..Device::host(Backend::OpenCl)
            },
            compiler: "/x/futhark".into(),
            checks: vec!["blocks:main #0".to_owned().into(), "a*".to_owned().into()],
            earlier: Earlier {
                ended: ["compile".to_owned(), "blocks:f #0".to_owned()].into(),
                fatal: ["blocks:f #0".to_owned()].into(),
                overruns: 1,
                last_was_slow: true,
            },
            run: RunSpec {
                build_dir: "target/x".into(),
                seed: u64::MAX,
                cases: Some(3),
                regressions: "r".into(),
                input: None,
                data_folders: Some(vec!["/x/data".into()]),
                compilers: vec!["/x/futhark".into(), "/y/futhark".into()],
                labels: vec!["1-3fa9c1".to_owned(), "1-70aa21".to_owned()],
                seen: vec![Seen {
                    path: "/x/futhark".into(),
                    version: "0.25.32.\n".to_owned(),
                    stamp: "s".to_owned(),
                }],
                architectures: vec!["sm_90".to_owned()],
                memory: 8192,
                optimise: true,
            },
        };
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<JobSpec>(&text).unwrap(), spec);
    }
}
