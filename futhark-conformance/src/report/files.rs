//! The files of reports. Those that are written at the end of a run get their names when they are complete, so
//! that a run that is killed leaves those of an earlier run as they were.

use crate::cli::ReportFiles;
use crate::corpus::is_source;
use crate::files::{new_beside, replace_file_by};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Junit,
    Html,
    Markdown,
}

/// The error of a report that cannot be written.
pub(crate) fn failed(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    let path = path.display();
    move |error| {
        io::Error::new(
            error.kind(),
            format!("failed to write the report {path}: {error}"),
        )
    }
}

impl ReportFiles {
    /// Where to write. None is the file of a program, or that of two options, by any path, and each can be
    /// written.
    pub(crate) fn targets(&self, json: Option<&Path>) -> io::Result<Vec<(Format, Target)>> {
        let files = [
            ("--json", Format::Json, json),
            ("--junit", Format::Junit, self.junit.as_deref()),
            ("--html", Format::Html, self.html.as_deref()),
            ("--summary", Format::Markdown, self.summary.as_deref()),
        ];
        let mut used: Vec<(&str, PathBuf)> = Vec::new();
        let mut targets = Vec::new();
        for (option, format, path) in files {
            let Some(path) = path else { continue };
            let refuse = |why: String| Err(failed(path)(io::Error::other(why)));
            if is_source(path) {
                return refuse("its name is that of a program".to_owned());
            }
            let target = Target::new(path).map_err(failed(path))?;
            if let Some((other, _)) = used.iter().find(|(_, used)| *used == target.path) {
                return refuse(format!("{other} and {option} name the same file"));
            }
            if !target.is_special {
                used.push((option, target.path.clone()));
            }
            target.must_be_writable().map_err(failed(path))?;
            targets.push((format, target));
        }
        Ok(targets)
    }
}

/// A file to write.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Not a link, which would be replaced by the file: two targets are one file if they have the same path.
    pub(crate) path: PathBuf,
    /// Whether it is a device or a pipe, such as `/dev/stdout`, which cannot be replaced.
    pub(crate) is_special: bool,
}

impl Target {
    /// Creates the folder of the file.
    pub(crate) fn new(path: &Path) -> io::Result<Target> {
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let resolved = match (path.canonicalize(), path.file_name()) {
            (Ok(resolved), _) => resolved,
            (Err(_), Some(name)) => folder.canonicalize()?.join(name),
            (Err(error), None) => return Err(error),
        };
        let kind = fs::metadata(&resolved).map(|data| data.file_type());
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Target {
            path: resolved,
            is_special: kind.is_ok_and(|kind| !kind.is_file()),
        })
    }

    /// Verifies that the file can be written, without changing it.
    pub(crate) fn must_be_writable(&self) -> io::Result<()> {
        match self.is_special {
            true => self.open_special().map(drop),
            false => new_beside(&self.path).map(drop),
        }
    }

    /// Writes the whole file; after an error it is as it was.
    pub(crate) fn write(
        &self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.is_special {
            let mut out = BufWriter::new(self.open_special()?);
            content(&mut out)?;
            return out.flush();
        }
        replace_file_by(&self.path, content)
    }

    /// Begins the file without its name, so that the caller can write what it keeps of the old one. Fails while another
    /// run writes it.
    pub(crate) fn begin(&self) -> io::Result<(File, Option<TempPath>)> {
        if self.is_special {
            return Ok((self.open_special()?, None));
        }
        // Not every file system has locks.
        let lock = |file: &File| match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(io::Error::other("another run is writing it")),
            _ => Ok(()),
        };
        if let Ok(old) = File::open(&self.path) {
            lock(&old)?;
        }
        let (file, unnamed) = new_beside(&self.path)?.into_parts();
        // Released when the file is closed.
        lock(&file)?;
        Ok((file, Some(unnamed)))
    }

    fn open_special(&self) -> io::Result<File> {
        File::options().write(true).open(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_file_is_replaced_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let read = |name: &str| fs::read_to_string(at(name)).unwrap();
        fs::write(at("page"), "old").unwrap();
        symlink("page", at("link")).unwrap();
        let target = Target::new(&at("link")).unwrap();
        target.must_be_writable().unwrap();
        let failed = target.write(|out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.is_err());
        assert_eq!(read("page"), "old");
        target.write(|out| out.write_all(b"new")).unwrap();
        assert_eq!(read("page"), "new");
        assert!(at("link").is_symlink());
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            2,
            "nothing else is left"
        );
        assert!(Target::new(folder.path()).is_err());
        Target::new(Path::new("/dev/null"))
            .unwrap()
            .write(|out| out.write_all(b"x"))
            .unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn results_are_kept_until_the_next_run_and_belong_to_one_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        let target = Target::new(&path).unwrap();
        let begin = |text: &str| {
            let (mut file, unnamed) = target.begin()?;
            file.write_all(text.as_bytes())?;
            unnamed.unwrap().persist(&path)?;
            Ok::<File, io::Error>(file)
        };
        let file = begin("one").unwrap();
        let error = begin("two").unwrap_err().to_string();
        assert!(error.contains("another run is writing"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        drop(file);
        // A process that another test is starting can hold the lock until it runs its program.
        let patience = Instant::now() + Duration::from_secs(10);
        while target.begin().is_err() && Instant::now() < patience {
            thread::yield_now();
        }
        // An interrupted run keeps its own until the next one has begun.
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        begin("two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }
}
