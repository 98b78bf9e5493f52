//! Files and standard input, and how findings about them are printed.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use futhark_manifest::{Finding, Manifest, Printable, Program, Severity};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Why a run did not succeed.
pub(crate) enum Failure {
    /// Errors or breaking changes were found and reported: exit code 1.
    Found,
    /// The arguments contradict each other: exit code 2.
    Usage(&'static str),
    /// A file could not be read, or has no manifest, which was reported: exit code 3.
    Unusable,
    /// Reading or writing failed: exit code 3.
    Io(String),
    /// The reader of standard output closed it, as in `futhark-manifest show | head`.
    Closed,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Io(error.to_string()),
        }
    }
}

/// A file named on the command line.
#[derive(Clone)]
pub(crate) enum File {
    Stdin,
    Path(PathBuf),
}

impl From<OsString> for File {
    fn from(name: OsString) -> File {
        match name.to_str() {
            Some("-") => File::Stdin,
            _ => File::Path(name.into()),
        }
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            File::Stdin => f.write_str("standard input"),
            File::Path(path) => Printable(&path.to_string_lossy()).fmt(f),
        }
    }
}

impl File {
    /// Returns an error if standard input is named more than once.
    pub(crate) fn once<'a>(files: impl IntoIterator<Item = &'a File>) -> Result<(), Failure> {
        let stdin = files.into_iter().filter(|file| matches!(file, File::Stdin));
        match stdin.count() {
            0 | 1 => Ok(()),
            _ => Err(Failure::Usage(
                "standard input (-) can be used for one file only",
            )),
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            File::Stdin => None,
            File::Path(path) => Some(path),
        }
    }

    pub(crate) fn read(&self) -> Result<Vec<u8>, Failure> {
        let read = match self {
            File::Stdin => {
                if io::stdin().is_terminal() {
                    note("reading the manifest from standard input; see --help");
                }
                read_all(io::stdin())
            }
            File::Path(path) => std::fs::File::open(path).and_then(read_all),
        };
        read.map_err(|error| Failure::Io(format!("cannot read {self}: {error}")))
    }
}

/// More than any manifest has; the input may have no end.
const MOST_BYTES: u64 = 256 << 20;

fn read_all(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match input.take(MOST_BYTES).read_to_end(&mut bytes)? as u64 {
        MOST_BYTES => Err(io::Error::other("it has 256 MiB or more")),
        _ => Ok(bytes),
    }
}

/// The content of a manifest file.
pub(crate) struct Text {
    pub(crate) file: File,
    pub(crate) bytes: Vec<u8>,
}

impl Text {
    pub(crate) fn read(file: &File) -> Result<Text, Failure> {
        let bytes = file.read()?;
        let file = file.clone();
        Ok(Text { file, bytes })
    }

    /// Resolves the manifest; writes errors and warnings to standard error.
    pub(crate) fn program(&self) -> Result<Program, Failure> {
        let manifest = Manifest::parse_bytes(&self.bytes);
        let resolved =
            manifest.and_then(|manifest| Ok((manifest.warnings(), manifest.into_program()?)));
        let mut out = anstream::stderr();
        match resolved {
            Ok((warnings, program)) => {
                write_findings(&mut out, &self.file, &warnings)?;
                Ok(program)
            }
            Err(error) => {
                write_findings(&mut out, &self.file, error.findings())?;
                Err(Failure::Unusable)
            }
        }
    }
}

pub(crate) fn error(message: &str) {
    // Nothing else can be done if standard error is closed.
    let _ = writeln!(anstream::stderr(), "{RED}error{RED:#}: {message}");
}

pub(crate) fn note(message: &str) {
    let _ = writeln!(anstream::stderr(), "{DIM}{message}{DIM:#}");
}

/// Writes a JSON value as one line. Escapes the control characters that JSON allows unescaped,
/// which a stream that strips colours would drop.
pub(crate) fn json_line(out: &mut impl Write, value: &serde_json::Value) -> io::Result<()> {
    for c in value.to_string().chars() {
        if c.is_control() {
            write!(out, "\\u{:04x}", u32::from(c))?;
        } else {
            write!(out, "{c}")?;
        }
    }
    writeln!(out)
}

/// Writes each finding about a file on a line.
pub(crate) fn write_findings(
    out: &mut impl Write,
    file: &File,
    findings: &[Finding],
) -> io::Result<()> {
    for finding in findings {
        let code = finding.code().as_str();
        write_problem(out, file, finding.severity(), code, finding)?;
    }
    Ok(())
}

pub(crate) fn write_problem(
    out: &mut impl Write,
    file: &File,
    severity: Severity,
    code: &str,
    message: &dyn fmt::Display,
) -> io::Result<()> {
    let style = match severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
    };
    writeln!(
        out,
        "{BOLD}{file}{BOLD:#}: {style}{severity}[{code}]{style:#}: {message}"
    )
}
