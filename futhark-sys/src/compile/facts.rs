//! What compilers report about themselves, kept in the folder of results, so that the next process need
//! not run them; and stamps, which tell whether a file was replaced or written.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::cache::temporary;
use super::error::Error;
use super::hash::Hash;
use super::toolchain::{self, Toolchain};

/// The version of an executable, which `ask` returns, kept in the folder `results`.
pub(super) fn version(
    results: Option<&Path>,
    program: &Path,
    ask: impl Fn() -> Result<String, Error>,
) -> Result<String, Error> {
    let name = Hash::new().with("version");
    let name = name.with(program.as_os_str().as_encoded_bytes());
    kept(results, name, || Ok((vec![program.to_owned()], ask()?)))
}

/// The text that `ask` returns with the executables that answered, kept in the folder `results` under `name`. Calls
/// `ask` only if one of the executables was replaced since, or is a script or the like, which can run anything.
pub(super) fn kept(
    results: Option<&Path>,
    name: Hash,
    ask: impl Fn() -> Result<(Vec<PathBuf>, String), Error>,
) -> Result<String, Error> {
    let Some(results) = results else {
        return Ok(ask()?.1);
    };
    let folder = results.join("facts");
    let name = name.with(env!("FUTHARK_SYS_SOURCES")).hex();
    let file = folder.join(&name[..32]);
    // The last line is missing after a power failure.
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let mut parts = found.rsplitn(3, '\n');
    if let (Some(then), Some(paths), Some(text)) = (parts.next(), parts.next(), parts.next()) {
        let programs: Vec<PathBuf> = paths.split('\t').map(PathBuf::from).collect();
        if stamps(&programs).as_deref() == Some(then) {
            return Ok(text.to_owned());
        }
    }
    let (programs, text) = ask()?;
    let Some(before) = stamps(&programs) else {
        return Ok(text);
    };
    // Again, now that the files are known: the answer of a file that is replaced meanwhile is not kept for the new one.
    let (answered, text) = ask()?;
    if answered == programs {
        let paths: Vec<_> = programs.iter().map(|path| path.to_string_lossy()).collect();
        let kept = format!("{text}\n{}\n{before}", paths.join("\t"));
        // Without the file, the next process only asks again.
        let new = temporary(&file);
        let _ = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&new, kept))
            .and_then(|()| std::fs::rename(new, file));
    }
    Ok(text)
}

/// The [exact] stamps of some executables; `None` if one of them can run others.
fn stamps(programs: &[PathBuf]) -> Option<String> {
    let files: Vec<PathBuf> = programs.iter().map(|file| Toolchain::file(file)).collect();
    let can_run_others = files.iter().any(|file| toolchain::can_run_others(file));
    (!can_run_others).then(|| files.iter().map(|file| exact(file)).collect())
}

/// The real path, size and time of each file. Equal for a copy that keeps them, such as an unpacked archive
/// at the same path.
pub(super) fn stamp(files: &[PathBuf]) -> String {
    files.iter().map(|file| stamp_of(file)).collect()
}

fn stamp_of(file: &Path) -> String {
    // Links are resolved, because the target of a link can change. A missing file causes an error
    // when it is run.
    let place = file.canonicalize().ok();
    let data = file.metadata().ok();
    let changed = data.as_ref().and_then(|data| data.modified().ok());
    format!("{place:?} {:?} {changed:?}", data.map(|data| data.len()))
}

/// As [`stamp`] of one file, but different after every change. A program can set the time of a file at which its
/// content changed, but not that at which the system noticed it.
pub(super) fn exact(file: &Path) -> String {
    let mut stamp = stamp_of(file);
    #[cfg(unix)]
    if let Ok(data) = file.metadata() {
        use std::os::unix::fs::MetadataExt;
        let place = (data.dev(), data.ino());
        let _ = write!(stamp, " {place:?} {}.{}", data.ctime(), data.ctime_nsec());
    }
    stamp
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;

    #[test]
    fn a_version_is_kept_until_the_executable_is_replaced() {
        let folder = std::env::temp_dir().join(format!("futhark-sys-facts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (program, new) = (folder.join("program"), folder.join("new"));
        // Whether the program was asked for its version.
        let asked = || {
            let asked = Cell::new(false);
            let version = version(Some(&folder), &program, || {
                asked.set(true);
                Ok("1.0\nof it\n".to_owned())
            });
            assert_eq!(version.unwrap(), "1.0\nof it\n");
            asked.get()
        };
        let time = fs::metadata("/bin/true").unwrap().modified().unwrap();
        fs::copy("/bin/true", &program).unwrap();
        assert_eq!([asked(), asked()], [true, false]);
        // Another file of the same size and time.
        fs::copy("/bin/true", &new).unwrap();
        for file in [&program, &new] {
            let file = fs::File::options().write(true).open(file).unwrap();
            file.set_modified(time).unwrap();
        }
        assert_eq!([asked(), asked()], [true, false]);
        fs::rename(&new, &program).unwrap();
        assert_eq!([asked(), asked()], [true, false]);
        // A script can run another program.
        fs::write(&program, "#!/bin/sh\nexec true\n").unwrap();
        assert_eq!([asked(), asked()], [true, true]);
        // A program that is replaced while it answers, and one without file.
        fs::copy("/bin/true", &program).unwrap();
        let number = Cell::new(0);
        let count = |program: &Path| {
            let version = version(Some(&folder), program, || {
                fs::copy("/bin/true", &new).unwrap();
                fs::rename(&new, folder.join("program")).unwrap();
                number.set(number.get() + 1);
                Ok(number.get().to_string())
            });
            version.unwrap()
        };
        // It is asked twice before an answer is kept.
        assert_eq!(count(&program), "2");
        assert_eq!(count(&program), "4");
        assert_eq!(count(&folder.join("none")), "5");
        fs::remove_dir_all(&folder).unwrap();
    }
}
