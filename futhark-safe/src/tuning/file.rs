//! The format of `.tuning` files.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::path::Path;

use futhark_manifest::Printable;

use crate::error::{Error, Result};

/// The largest size of a file, in bytes. `futhark autotune` writes a line per threshold.
const MOST_BYTES: usize = 1 << 20;

/// The longest line, in bytes: that of programs which Futhark compiles.
const LONGEST_LINE: usize = 1022;

/// Values of tuning parameters, as in the files that `futhark autotune` writes.
///
/// Each line is `name=value`, where `value` is a number from 0 to 2147483647, and 0 selects the default.
/// Blank lines, and lines that begin with `--`, are ignored. If a name occurs twice, the last value counts.
///
/// ```
/// use futhark_safe::Tuning;
///
/// let tuning = Tuning::parse("-- measured on an A100\nsums.suff_outer_par_0=16\n")?;
/// assert_eq!(tuning.values().collect::<Vec<_>>(), [("sums.suff_outer_par_0", 16)]);
/// # Ok::<(), futhark_safe::Error>(())
/// ```
///
/// Whether a program has these parameters is verified when a context is created: see
/// [`Config::tuning`](crate::Config::tuning).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    file: Option<String>,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub number: usize,
    pub name: String,
    pub value: u32,
}

impl Tuning {
    /// Parses the text of a file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): a line has another form, or the text is
    /// larger than 1 MiB. The message
    /// has the number and the text of the line.
    pub fn parse(text: &str) -> Result<Tuning> {
        Tuning::of(None, text)
    }

    /// Reads a file. Blocks while it is read.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the file cannot be read, is not a regular
    /// file or not UTF-8, or as for
    /// [`parse`](Self::parse). The message begins with the path.
    pub fn read(path: impl AsRef<Path>) -> Result<Tuning> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text =
            text_of(path).map_err(|why| Error::invalid(OPERATION, format!("{name}: {why}")))?;
        Tuning::of(Some(name), &text)
    }

    /// Parses the text that the build script wrote into a module.
    #[cfg(feature = "run")]
    pub(crate) fn embedded(text: &str) -> Result<Tuning> {
        Tuning::of(Some("embedded tuning".to_owned()), text)
    }

    /// The names and values, in the order of the file.
    pub fn values(&self) -> impl Iterator<Item = (&str, u32)> {
        self.lines.iter().map(|line| (&*line.name, line.value))
    }

    /// Whether it has no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The place of a line, for messages: `rows.fut.tuning:3`.
    pub(super) fn place(&self, number: usize) -> String {
        match &self.file {
            Some(file) => format!("{file}:{number}"),
            None => format!("line {number}"),
        }
    }

    fn of(file: Option<String>, text: &str) -> Result<Tuning> {
        let mut tuning = Tuning {
            file,
            lines: Vec::new(),
        };
        let fail =
            |place: String, why: String| Err(Error::invalid(OPERATION, format!("{place}: {why}")));
        if text.len() > MOST_BYTES {
            return fail(tuning.place(1), too_large());
        }
        for (i, line) in text.lines().enumerate() {
            let number = i + 1;
            let content = line.trim();
            if content.is_empty() || content.starts_with("--") {
                continue;
            }
            if line.len() > LONGEST_LINE {
                let why = format!("expected at most {LONGEST_LINE} bytes, got {}", line.len());
                return fail(tuning.place(number), why);
            }
            match parse_line(content) {
                Some((name, value)) => tuning.lines.push(Line {
                    number,
                    name: name.to_owned(),
                    value,
                }),
                None => {
                    let why = format!(
                        "expected `name=value` with a value from 0 to {}, got `{}`",
                        i32::MAX,
                        Printable(content)
                    );
                    return fail(tuning.place(number), why);
                }
            }
        }
        Ok(tuning)
    }
}

impl fmt::Display for Tuning {
    /// Writes the values in the format of files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values()
            .try_for_each(|(name, value)| writeln!(f, "{name}={value}"))
    }
}

const OPERATION: &str = "tuning";

fn parse_line(line: &str) -> Option<(&str, u32)> {
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim_end(), value.trim_start());
    let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // The runtime keeps the value as an `int` of device code.
    let value = value.parse().ok().filter(|&n| i32::try_from(n).is_ok())?;
    (is_name && is_number).then_some((name, value))
}

/// The text of a regular file of limited size, or why it cannot be read.
fn text_of(path: &Path) -> Result<String, String> {
    std::fs::metadata(path).map_err(|error| error.to_string())?;
    // Opening a FIFO would block until another process writes to it.
    let file = regular(path, File::options().read(true));
    let file = file.ok_or_else(|| "not a regular file that can be read".to_owned())?;
    let mut bytes = Vec::new();
    let mut limited = file.take(MOST_BYTES as u64 + 1);
    let read = limited.read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() > MOST_BYTES {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())
}

fn too_large() -> String {
    format!("expected at most {MOST_BYTES} bytes, got more")
}

/// Opens a regular file; `None` if it cannot be opened. Other files can block forever when they are opened or read: a FIFO waits
/// for another process, and a device may be endless.
pub(crate) fn regular(path: &Path, options: &mut OpenOptions) -> Option<File> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return None;
    }
    // The file may be replaced after this check, so the open must not block either.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, NON_BLOCKING);
    let file = options.open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// `O_NONBLOCK` on most architectures. On the others, the flag of this value has no effect on
/// existing regular files.
#[cfg(any(target_os = "linux", target_os = "macos"))]
const NON_BLOCKING: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn refused(text: &str) -> String {
        let error = Tuning::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.to_string()
    }

    #[test]
    fn lines_of_other_forms_are_errors_with_their_number_and_text() {
        let values = Tuning::parse("\n -- x=y\r\na.b_0=2147483647\r\nc = 0").unwrap();
        let expected = [("a.b_0", 2_147_483_647), ("c", 0)];
        assert_eq!(values.values().collect::<Vec<_>>(), expected);
        assert_eq!(
            Tuning::parse(&values.to_string()).unwrap().values().count(),
            2
        );
        assert!(Tuning::parse("").unwrap().is_empty());
        for line in [
            "a",
            "=1",
            "a=",
            "a=-1",
            "a=+1",
            "a=1x",
            "a=2147483648",
            "a b=1",
            "a\0=1",
        ] {
            let message = refused(&format!("-- first\n{line}\n"));
            let shown = "line 2: expected `name=value`";
            assert!(message.contains(shown), "{line:?}: {message}");
            assert!(message.contains(&Printable(line).to_string()), "{message}");
        }
    }

    #[test]
    fn sizes_are_limited() {
        let long = format!("{}=1", "x".repeat(LONGEST_LINE));
        assert!(refused(&long).contains("1022 bytes, got 1024"));
        assert!(refused(&"\n".repeat(MOST_BYTES + 1)).contains("1048576 bytes"));
        assert!(Tuning::parse(&"\n".repeat(MOST_BYTES)).unwrap().is_empty());
    }
}
