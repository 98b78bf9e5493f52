//! Reading back the jobs of JSON reports: to continue an interrupted run, and for their times.

use crate::blocks::TestBlocks;
use crate::harness::env::tuning_file;
use crate::jobs::Job;
use crate::key::key;
use crate::protocol::RunSpec;
use crate::record::{Finished, Header, Place, Record};
use crate::report::output::part_of;
use crate::times::{Seconds, Times};
use crate::toolchain;
use crate::values::data;
use anyhow::{Context as _, bail};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// The report of an interrupted run, set aside while its records are copied.
pub struct Interrupted {
    file: PathBuf,
    /// Whether the file is the report of a run that has ended, which the new report replaces.
    is_whole: bool,
    /// The jobs that have ended.
    finished: HashSet<Place>,
}

impl Interrupted {
    /// Finds the report of an interrupted run that was to be written to `report`, and the jobs of it
    /// that need not run again: those that have ended, of programs that have not changed, nor a file that
    /// they import. Returns `None` if no report exists.
    ///
    /// # Errors
    /// If the report cannot be read, or is of a run with other compilers, devices or options.
    pub fn find(
        report: &Path,
        header: &Header,
        jobs: &[Job],
        run: &RunSpec,
    ) -> anyhow::Result<Option<Interrupted>> {
        let report = &resolved(report);
        let set_aside = set_aside(report);
        // If it exists, its records have not all been copied to the other file.
        let candidates = [set_aside.clone(), part_of(report), report.to_owned()];
        let Some(found) = candidates.into_iter().find(|file| file.is_file()) else {
            return Ok(None);
        };
        let cannot = || format!("cannot resume the run of {}", found.display());
        if is_being_written(&found) {
            bail!("{}: another run is writing it", cannot());
        }
        let mut lines = lines(&found).with_context(cannot)?;
        let first = lines.next().transpose().with_context(cannot)?;
        // The run was interrupted before it wrote a whole line.
        let Some(first) = first else { return Ok(None) };
        let old: Header = serde_json::from_str(&first).with_context(cannot)?;
        if let Some(difference) = difference(&old, header) {
            bail!(
                "{}: {difference}; give the same options as before, or leave out --resume",
                cannot()
            );
        }
        let mut finished = HashMap::new();
        for line in lines {
            let line = line.with_context(cannot)?;
            if let Some(Finished { place, source, .. }) = Finished::read(&line) {
                finished.insert(place, source);
            }
        }
        // Many jobs have one program, and a program can import many files.
        let mut sources = HashMap::new();
        let places = jobs.iter().filter(|job| {
            finished.get(&job.place).is_some_and(|known| {
                let key = (&job.program, &job.compiler.path);
                let source = sources.entry(key).or_insert_with(|| source(job, run));
                *known == with_checks(source, job)
            })
        });
        let finished = places.map(|job| job.place.clone()).collect();
        let mut file = found;
        // A part is about to be overwritten; a whole report stays until the new one is complete.
        if file == part_of(report) {
            fs::rename(&file, &set_aside).with_context(|| "failed to set the report aside")?;
            file = set_aside;
        }
        Ok(Some(Interrupted {
            is_whole: file == *report,
            file,
            finished,
        }))
    }

    /// Whether the job need not run again.
    pub fn has(&self, job: &Job) -> bool {
        self.finished.contains(&job.place)
    }

    /// The number of jobs that need not run again.
    pub fn len(&self) -> usize {
        self.finished.len()
    }

    /// Passes on the lines of the finished jobs.
    ///
    /// # Errors
    /// If the report cannot be read.
    pub fn copy(&self, keep: &mut dyn FnMut(Line)) -> anyhow::Result<()> {
        let cannot = || format!("failed to read {}", self.file.display());
        for text in lines(&self.file).with_context(cannot)?.skip(1) {
            let text = text.with_context(cannot)?;
            // The last line can be neither, if the run was complete.
            let Some(line) = Line::read(&text) else {
                continue;
            };
            if self.finished.contains(line.job()) {
                keep(line);
            }
        }
        Ok(())
    }

    /// Deletes the old report, whose lines are in the new one.
    ///
    /// # Errors
    /// If it cannot be deleted.
    pub fn delete(&self) -> anyhow::Result<()> {
        if self.is_whole {
            return Ok(());
        }
        let cannot = || format!("failed to delete {}", self.file.display());
        fs::remove_file(&self.file).with_context(cannot)
    }
}

/// The file that a report replaces, without links.
fn resolved(report: &Path) -> PathBuf {
    report.canonicalize().unwrap_or_else(|_| report.to_owned())
}

/// Whether another run has the lock that it holds while it writes a report.
fn is_being_written(report: &Path) -> bool {
    let file = File::open(report);
    file.is_ok_and(|file| {
        flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
    })
}

/// A line of a report.
pub enum Line {
    /// A result.
    Record(Record),
    /// The end of a job.
    Finished(Finished),
}

impl Line {
    fn read(text: &str) -> Option<Line> {
        let finished = Finished::read(text).map(Line::Finished);
        finished.or_else(|| serde_json::from_str(text).ok().map(Line::Record))
    }

    fn job(&self) -> &Place {
        match self {
            Line::Record(record) => &record.place,
            Line::Finished(job) => &job.place,
        }
    }
}

/// Adds the times of the jobs that ended in these reports to a file of times.
///
/// # Errors
/// If a file cannot be read or written.
pub fn add_times(reports: &[PathBuf], file: &Path) -> anyhow::Result<()> {
    let mut times = Times::read(file)?;
    for report in reports {
        let failed = || format!("failed to read {}", report.display());
        let mut running: HashMap<Place, Seconds> = HashMap::new();
        for text in lines(report).with_context(failed)?.skip(1) {
            match Line::read(&text.with_context(failed)?) {
                Some(Line::Record(Record { place, finding })) => {
                    let seconds = running.entry(place).or_default();
                    seconds.add(&finding.check, finding.seconds);
                }
                Some(Line::Finished(job)) => {
                    let mut seconds = running.remove(&job.place).unwrap_or_default();
                    seconds.end(job.seconds);
                    times.add(&job.place, seconds);
                }
                None => {}
            }
        }
    }
    times.write()
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
    let compiler = toolchain::open(job.compiler.path.as_ref(), &run.seen, &run.build_dir);
    let files = compiler.and_then(|compiler| compiler.imports(&job.program));
    // If imports cannot be found, that is a finding of the job, as is an unreadable file.
    let mut files = files.unwrap_or_else(|_| vec![job.program.clone()]);
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

/// Deletes what an earlier attempt to resume has left: the run begins anew.
pub fn forget(report: &Path) -> std::io::Result<()> {
    match fs::remove_file(set_aside(&resolved(report))) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn set_aside(report: &Path) -> PathBuf {
    with_suffix(report, ".resume")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The lines of a report without the last one, if the run was interrupted while it wrote that.
fn lines(file: &Path) -> std::io::Result<impl Iterator<Item = std::io::Result<String>>> {
    let mut reader = BufReader::new(File::open(file)?);
    Ok(std::iter::from_fn(move || {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(_) if line.ends_with('\n') => {
                line.pop();
                Some(Ok(line))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }))
}

/// What differs between two runs.
fn difference(old: &Header, new: &Header) -> Option<String> {
    let differs = |what: &str, old: String, new: String| {
        (old != new).then(|| format!("expected {what} {old}, got {new}"))
    };
    let words = |words: &[String]| format!("`{}`", words.join(" "));
    // Compiled programs are the same in any folder.
    let options = |header: &Header| {
        let mut options = header.options.clone();
        if let Some(place) = options.iter().position(|word| word == "--build-dir") {
            options.drain(place..(place + 2).min(options.len()));
        }
        words(&options)
    };
    let devices = |header: &Header| -> Vec<String> {
        let devices = header.devices.iter().filter(|device| device.usable);
        let names = devices.map(|device| format!("{}: {}", device.backend, device.name));
        names.collect()
    };
    let shard = |header: &Header| header.shard.map_or("all".to_owned(), |s| s.to_string());
    let version = |header: &Header| format!("{}, schema {}", header.generator, header.schema);
    let compilers = |header: &Header| {
        let all = header.compilers.iter().chain(&header.against);
        all.map(|compiler| format!("{compiler:?}"))
            .collect::<Vec<_>>()
    };
    differs("a report of", version(old), version(new))
        .or_else(|| differs("seed", old.seed.to_string(), new.seed.to_string()))
        .or_else(|| differs("part", shard(old), shard(new)))
        .or_else(|| {
            let [old, new] = [old, new].map(|header| compilers(header).join(", "));
            differs("compilers", old, new)
        })
        .or_else(|| differs("arguments", words(&old.selection), words(&new.selection)))
        .or_else(|| differs("options", options(old), options(new)))
        .or_else(|| {
            let [old, new] = [old, new].map(|header| header.expectations.clone());
            differs("expectations", old, new)
        })
        .or_else(|| {
            let [old, new] = [old, new].map(|header| devices(header).join(", "));
            differs("devices", old, new)
        })
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
        let old = header(&["--cases", "3", "--build-dir", "a"], "1");
        assert_eq!(
            difference(&old, &header(&["--build-dir", "b", "--cases", "3"], "1")),
            None
        );
        assert_eq!(difference(&old, &header(&["--cases", "3"], "1")), None);
        for other in [
            header(&["--build-dir", "a"], "1"),
            header(&["--cases", "3"], "2"),
        ] {
            assert!(difference(&old, &other).is_some());
        }
    }
}
