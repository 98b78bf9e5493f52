//! `futhark-manifest check`: checks manifests in up to two depths.
//!
//! | depth | implemented by |
//! |---|---|
//! | `schema` | [`schema::validate_text`] (`manifest/schema.rs`) |
//! | `semantics` | [`Manifest::parse_bytes`] (`manifest/decode.rs`), [`Manifest::check`] (`manifest/check/`) |
//!
//! [`Report::of`] runs them on one file.

use std::collections::HashSet;
use std::io::Write;

use futhark_manifest::schema::{self, Violation};
use futhark_manifest::{Code, Finding, Manifest, Program, Severity};
use serde_json::json;

use crate::args::{CheckArgs, Depth};
use crate::input::{File, Text};
use crate::{Failure, say};

pub(crate) fn run(args: &CheckArgs, out: &mut impl Write) -> Result<(), Failure> {
    File::once(&args.files)?;
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
        let report = Report::of(&text, args);
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
    program: Option<Program>,
}

impl<'t> Report<'t> {
    fn of(text: &'t Text, args: &CheckArgs) -> Report<'t> {
        let mut report = Report {
            text,
            depths: Vec::new(),
            violations: Vec::new(),
            findings: Vec::new(),
            program: None,
        };
        match Manifest::parse_bytes(&text.bytes) {
            Ok(manifest) => report.check(manifest, args.depth),
            Err(error) => report.unreadable(&error),
        }
        report
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

    fn check(&mut self, manifest: Manifest, depth: Depth) {
        self.schema();
        if depth < Depth::Semantics {
            return;
        }
        self.depths.push("semantics");
        self.findings = manifest.check();
        // Report each problem once.
        let violations = self.violations.iter();
        let reported: HashSet<&str> = violations.map(|one| &*one.instance_path).collect();
        self.findings
            .retain(|finding| !reported.contains(finding.pointer()));
        self.program = manifest.into_program().ok();
    }

    /// Validates a text that is known to be JSON.
    fn schema(&mut self) {
        self.depths.push("schema");
        self.violations = schema::validate_text(&self.text.bytes).unwrap_or_default();
    }

    fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings.filter(|f| f.severity() == severity).count()
    }

    fn errors(&self) -> usize {
        self.violations.len() + self.count(Severity::Error)
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
        let summary = json!({
            "file": file,
            "depths": self.depths,
            "errors": self.errors(),
            "warnings": self.warnings(),
        });
        Ok(say::json_line(out, &summary)?)
    }
}

/// `1 error`, `2 errors`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
