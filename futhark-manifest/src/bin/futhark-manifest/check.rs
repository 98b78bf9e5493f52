//! `futhark-manifest check`: checks manifests in up to three depths.
//!
//! | depth | implemented by |
//! |---|---|
//! | `schema` | [`schema::validate_text`] (`manifest/schema.rs`) |
//! | `semantics` | [`Manifest::parse_bytes`] (`manifest/decode.rs`), [`Manifest::check`] (`manifest/check/`) |
//! | `header` | [`c::agree`] (`manifest/c/agree.rs`) |
//!
//! [`Report::of`] runs them on one file.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use futhark_manifest::c::{self, Disagreement, Header};
use futhark_manifest::schema::{self, Violation};
use futhark_manifest::{Code, Finding, Manifest, Program, Severity};
use serde_json::json;

use crate::args::{CheckArgs, Depth};
use crate::input::{File, Text};
use crate::{Failure, say};

pub(crate) fn run(args: &CheckArgs, out: &mut impl Write) -> Result<(), Failure> {
    if args.header.is_some() && args.files.len() != 1 {
        let message = "--header needs exactly one manifest; without it, each prog.json is compared with the prog.h beside it";
        return Err(Failure::Usage(message));
    }
    File::once(args.files.iter().chain(&args.header))?;
    let mut found = false;
    let mut unread = false;
    let mut printed = Ok(());
    for file in &args.files {
        // Continue with the other files if one cannot be read.
        let text = match Text::read(file) {
            Ok(text) => text,
            Err(Failure::Io(message)) => {
                say::error(&message);
                unread = true;
                continue;
            }
            Err(other) => return Err(other),
        };
        let report = Report::of(&text, args)?;
        found |= report.errors() > 0 || (args.strict && report.warnings() > 0);
        // Findings count even if printing fails.
        if printed.is_ok() {
            printed = if args.json {
                report.write_json(out)
            } else {
                report.write(out)
            };
        }
    }
    match (unread, found) {
        (true, _) => Err(Failure::Unusable),
        (false, true) => Err(Failure::Found),
        (false, false) => printed,
    }
}

/// The findings about one manifest.
struct Report<'t> {
    text: &'t Text,
    depths: Vec<&'static str>,
    violations: Vec<Violation>,
    findings: Vec<Finding>,
    header: Option<(File, Vec<Disagreement>)>,
    program: Option<Program>,
}

impl<'t> Report<'t> {
    fn of(text: &'t Text, args: &CheckArgs) -> Result<Report<'t>, Failure> {
        let mut report = Report {
            text,
            depths: Vec::new(),
            violations: Vec::new(),
            findings: Vec::new(),
            header: None,
            program: None,
        };
        match Manifest::parse_bytes(&text.bytes) {
            Ok(manifest) => report.check(manifest, args)?,
            Err(error) => report.unreadable(&error),
        }
        Ok(report)
    }

    /// Reports a manifest that could not be read. If it is JSON, the schema finds all violations
    /// instead of only the first.
    fn unreadable(&mut self, error: &futhark_manifest::Error) {
        let without_schema = [Code::NotJson, Code::DuplicateMember, Code::NotAManifest];
        if !without_schema.contains(&error.code()) {
            self.schema();
        }
        if self.violations.is_empty() {
            self.findings.extend(error.findings().cloned());
        }
    }

    fn check(&mut self, manifest: Manifest, args: &CheckArgs) -> Result<(), Failure> {
        self.schema();
        let depth = args.depth.unwrap_or(Depth::Header);
        if depth < Depth::Semantics {
            return Ok(());
        }
        self.depths.push("semantics");
        self.findings = manifest.check();
        // Report each problem once.
        let violations = self.violations.iter();
        let reported: HashSet<&str> = violations.map(|one| &*one.instance_path).collect();
        self.findings
            .retain(|finding| !reported.contains(finding.pointer()));
        self.program = manifest.into_program().ok();
        let Some(program) = &self.program else {
            return Ok(());
        };
        if depth < Depth::Header {
            return Ok(());
        }
        let beside = || header_beside(&self.text.file);
        let Some(file) = args.header.clone().or_else(beside) else {
            if args.depth.is_some() {
                let file = &self.text.file;
                let message = format!("no header found beside {file}; pass one with --header");
                return Err(Failure::Io(message));
            }
            return Ok(());
        };
        let header = String::from_utf8_lossy(&file.read()?).into_owned();
        let agreement = c::agree(program, &Header::parse(&header));
        self.depths.push("header");
        self.header = Some((file, agreement.disagreements));
        Ok(())
    }

    /// Validates a text that is known to be JSON.
    fn schema(&mut self) {
        self.depths.push("schema");
        self.violations = schema::validate_text(&self.text.bytes).unwrap_or_default();
    }

    fn disagreements(&self) -> &[Disagreement] {
        self.header.as_ref().map_or(&[], |(_, list)| list)
    }

    fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings.filter(|f| f.severity() == severity).count()
    }

    fn errors(&self) -> usize {
        let others = self.violations.len() + self.disagreements().len();
        others + self.count(Severity::Error)
    }

    fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn write(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (file, text) = (&self.text.file, self.text.as_str());
        let mut findings = say::Findings::new(file, &text);
        for violation in &self.violations {
            let position = findings.position(&violation.instance_path);
            let message = violation.to_string();
            findings.write_at(out, position, Severity::Error, "schema", &message)?;
        }
        findings.write_all(out, &self.findings)?;
        if let Some((header, disagreements)) = &self.header {
            for disagreement in disagreements {
                let (style, bold, code) = (say::RED, say::BOLD, disagreement.code);
                let line = disagreement
                    .line
                    .map_or(String::new(), |line| format!(":{line}"));
                let found = disagreement.found.as_deref().unwrap_or("nothing");
                writeln!(
                    out,
                    "{bold}{header}{line}{bold:#}: {style}error[{code}]{style:#}: \
                     expected `{}`, found `{found}`",
                    disagreement.expected
                )?;
            }
        }
        self.write_verdict(out)
    }

    fn write_verdict(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (errors, warnings) = (self.errors(), self.warnings());
        let (style, verdict) = match (errors, warnings) {
            (0, 0) => (say::GREEN, "ok".to_owned()),
            (0, _) => (say::YELLOW, counted(warnings, "warning")),
            (_, 0) => (say::RED, counted(errors, "error")),
            (_, _) => {
                let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
                (say::RED, format!("{errors}, {warnings}"))
            }
        };
        write!(out, "{}: {style}{verdict}{style:#}", self.text.file)?;
        if !self.depths.is_empty() {
            write!(out, " ({})", self.depths.join(", "))?;
        }
        if let Some(program) = &self.program {
            write!(
                out,
                ": {}, Futhark {}, {}, {}",
                program.backend,
                program.version,
                counted(program.entries().len(), "entry point"),
                counted(program.types().len(), "type"),
            )?;
        }
        Ok(writeln!(out)?)
    }

    fn write_json(&self, out: &mut impl Write) -> Result<(), Failure> {
        let text = self.text.as_str();
        let file = self.text.file.to_string();
        let mut findings = say::Findings::new(&self.text.file, &text);
        for violation in &self.violations {
            let position = findings.position(&violation.instance_path);
            let line = json!({
                "file": file,
                "pointer": violation.instance_path,
                "line": position.line,
                "column": position.column,
                "depth": "schema",
                "severity": "error",
                "code": "schema",
                "schema_path": violation.schema_path,
                "message": violation.message,
            });
            say::json_line(out, &line)?;
        }
        for finding in &self.findings {
            let known = finding.position();
            let position = known.unwrap_or_else(|| findings.position(finding.pointer()));
            let line = json!({
                "file": file,
                "pointer": finding.pointer(),
                "line": position.line,
                "column": position.column,
                "depth": "semantics",
                "severity": finding.severity().to_string(),
                "code": finding.code().as_str(),
                "expected": finding.expected(),
                "found": finding.found(),
                "message": finding.to_string(),
            });
            say::json_line(out, &line)?;
        }
        if let Some((header, disagreements)) = &self.header {
            for disagreement in disagreements {
                let line = json!({
                    "file": header.to_string(),
                    "line": disagreement.line,
                    "depth": "header",
                    "severity": "error",
                    "code": disagreement.code.as_str(),
                    "name": disagreement.name,
                    "expected": disagreement.expected,
                    "found": disagreement.found,
                    "message": disagreement.to_string(),
                });
                say::json_line(out, &line)?;
            }
        }
        let summary = json!({
            "file": file,
            "depths": self.depths,
            "errors": self.errors(),
            "warnings": self.warnings(),
        });
        Ok(say::json_line(out, &summary)?)
    }
}

/// `prog.h` for `prog.json`, if it exists.
fn header_beside(manifest: &File) -> Option<File> {
    let path: PathBuf = manifest.path()?.with_extension("h");
    path.is_file().then_some(File::Path(path))
}

/// `1 error`, `2 errors`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
