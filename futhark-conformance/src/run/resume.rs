//! The jobs of an interrupted run that need not run again.

use crate::blocks::TestBlocks;
use crate::files::key;
use crate::harness::env::tuning_file;
use crate::jobs::Job;
use crate::protocol::RunSpec;
use crate::record::{Header, JobId};
use crate::report::json::{Line, Lines, SCHEMA};
use crate::values::data;
use anyhow::{Context as _, bail};
use futhark_safe::compile::sources;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

/// The results of an interrupted run.
#[derive(Default)]
pub struct Interrupted {
    /// The jobs that need not run again.
    pub finished: HashSet<JobId>,
    /// The lines of these jobs.
    pub lines: Vec<Line>,
}

impl Interrupted {
    /// Reads the results of an interrupted run in `file`, and finds the jobs that need not run again: those that have
    /// ended, of programs that have not changed, nor a file that they import. `None` if the file does not exist; an
    /// error if the results are of a run with other compilers, devices or options.
    pub fn read(
        file: &Path,
        header: &Header,
        jobs: &[Job],
        run: &RunSpec,
    ) -> anyhow::Result<Option<Interrupted>> {
        if !file.is_file() {
            return Ok(None);
        }
        let cannot = || format!("cannot resume the run of {}", file.display());
        let old = Lines::read(file).with_context(cannot)?;
        if let Some(difference) = difference(&old.header, header) {
            bail!(
                "{}: {difference}; give the same options as before, or leave out --resume",
                cannot()
            );
        }
        let ends = old.lines.iter().filter_map(|line| match line {
            Line::Finished(end) => Some((&end.job, &end.source)),
            _ => None,
        });
        let ends: HashMap<&JobId, &String> = ends.collect();
        // Many jobs have one program, and a program can import many files.
        let mut sources = HashMap::new();
        let same = jobs.iter().filter(|job| {
            ends.get(&job.id).is_some_and(|known| {
                let key = (&job.program, &job.compiler.path);
                let source = sources.entry(key).or_insert_with(|| source(job, run));
                **known == with_checks(source, job)
            })
        });
        let finished: HashSet<JobId> = same.map(|job| job.id.clone()).collect();
        let mut lines = old.lines;
        lines.retain(|line| match line {
            Line::Record(record) => finished.contains(&*record.job),
            Line::Finished(end) => finished.contains(&end.job),
            _ => false,
        });
        Ok(Some(Interrupted { finished, lines }))
    }
}

/// A hash of the source of a job's program, of the files that it imports, and of its checks.
pub fn hash(job: &Job, run: &RunSpec) -> String {
    with_checks(&source(job, run), job)
}

fn with_checks(source: &str, job: &Job) -> String {
    let checks: Vec<String> = job.checks.iter().map(ToString::to_string).collect();
    key(&[source.as_bytes(), checks.join("\n").as_bytes()])
}

/// A hash of the names and contents of the files of a job's program: its source, with the test blocks, those that
/// it imports, those with values of test blocks, and the one with tuning parameters.
fn source(job: &Job, run: &RunSpec) -> String {
    // If imports cannot be found, the job reports that, as it does an unreadable file.
    let mut files = sources(&job.program).unwrap_or_else(|_| vec![job.program.clone()]);
    let text = fs::read_to_string(&job.program).unwrap_or_default();
    // The job reads no other files. One may be a FIFO, which would block the run.
    let read = |file: &Path| data::locate(&job.program, file, run.data_folders.as_deref()).ok();
    if let Ok(blocks) = TestBlocks::parse(&text) {
        files.extend(blocks.files().filter_map(read));
    }
    let tuning = tuning_file(&job.program);
    files.extend(read(Path::new(tuning.file_name().unwrap_or_default())));
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for file in files {
        parts.push(fs::read(&file).unwrap_or_default());
        parts.push(file.into_os_string().into_encoded_bytes());
    }
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    key(&parts)
}

/// What differs between two runs.
fn difference(old: &Header, new: &Header) -> Option<String> {
    let fields = |header: &Header| {
        let mut header = header.clone();
        header.schema = SCHEMA;
        header.devices.retain(|device| device.usable);
        json!(header)
    };
    let (old, new) = (fields(old), fields(new));
    let names = [&old, &new].into_iter().filter_map(Value::as_object);
    let mut names = names.flat_map(Map::keys);
    let name = names.find(|&name| old[name] != new[name])?;
    Some(format!("expected {name} {}, got {}", old[name], new[name]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_can_only_be_continued_with_the_options_and_expectations_that_it_had() {
        let header = |options: &[&str], expectations: &str| -> Header {
            serde_json::from_value(serde_json::json!({
                "schema": 3, "generator": "g", "seed": 1, "compilers": [], "devices": [],
                "options": options, "expectations": expectations,
            }))
            .unwrap()
        };
        let old = header(&["--cases", "3"], "1");
        assert_eq!(difference(&old, &header(&["--cases", "3"], "1")), None);
        for other in [header(&[], "1"), header(&["--cases", "3"], "2")] {
            assert!(difference(&old, &other).is_some());
        }
    }
}
