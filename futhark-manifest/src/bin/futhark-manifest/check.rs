//! `futhark-manifest check`: checks manifests in up to two depths.

use std::collections::HashSet;
use std::io::Write;

use clap::ValueEnum;
use futhark_manifest::schema::{self, Violation};
use futhark_manifest::{Code, Error, Finding, Manifest, Printable, Severity, Version};
use serde_json::json;

use crate::io::{
    self, Failure, File, GREEN, RED, Text, YELLOW, json_line, write_findings, write_problem,
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The manifests.
    #[arg(default_value = "-")]
    files: Vec<File>,
    /// What to check; each depth includes the previous one.
    #[arg(long, value_enum, default_value_t = Depth::Semantics)]
    depth: Depth,
    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,
    /// Print findings as JSON, one object per line, and a summary per file.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Depth {
    /// The JSON Schema.
    Schema,
    /// Also the consistency of the parts.
    Semantics,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    File::once(&args.files)?;
    let (mut found, mut unread, mut printed) = (false, false, Ok(()));
    for file in &args.files {
        // Continue with the other files if one cannot be read.
        let text = match Text::read(file) {
            Ok(text) => text,
            Err(Failure::Io(message)) => {
                io::error(&message);
                unread = true;
                continue;
            }
            Err(other) => return Err(other),
        };
        let report = Report::of(&text, args.depth);
        found |= report.errors() > 0 || (args.strict && report.warnings() > 0);
        // Findings count even if printing fails.
        if printed.is_ok() {
            printed = match args.json {
                true => report.write_json(file, out),
                false => report.write(file, out),
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
#[derive(Default)]
struct Report {
    depths: Vec<&'static str>,
    violations: Vec<Violation>,
    findings: Vec<Finding>,
    /// The content in words, if the manifest can be used.
    content: Option<String>,
}

impl Report {
    fn of(text: &Text, depth: Depth) -> Report {
        let mut report = Report::default();
        match Manifest::parse_bytes(&text.bytes) {
            Ok(manifest) => {
                report.schema(text);
                if depth == Depth::Semantics {
                    report.semantics(&manifest);
                }
            }
            Err(error) => report.unreadable(text, &error),
        }
        report
    }

    /// Reports a manifest that could not be read. If it is JSON, the schema finds all violations
    /// instead of only the first.
    fn unreadable(&mut self, text: &Text, error: &Error) {
        let without_schema = [Code::NotJson, Code::DuplicateMember, Code::NotAManifest];
        if !without_schema.contains(&error.code()) {
            self.schema(text);
        }
        if self.violations.is_empty() {
            self.findings.extend_from_slice(error.findings());
        }
    }

    /// Validates a text that is known to be JSON.
    fn schema(&mut self, text: &Text) {
        self.depths.push("schema");
        self.violations = schema::validate_text(&text.bytes).unwrap_or_default();
    }

    fn semantics(&mut self, manifest: &Manifest) {
        self.depths.push("semantics");
        self.findings = manifest.check();
        if self.count(Severity::Error) == 0 {
            let version = Version::new(manifest.version.as_deref().unwrap_or_default());
            self.content = Some(format!(
                "{}, Futhark {version}, {}, {}",
                Printable(&manifest.backend),
                counted(manifest.entry_points.len(), "entry point"),
                counted(manifest.types.len(), "type"),
            ));
        }
        // Report each problem once.
        let violations = self.violations.iter();
        let reported: HashSet<&str> = violations.map(|one| &*one.instance_path).collect();
        self.findings
            .retain(|finding| !reported.contains(finding.pointer()));
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

    fn write(&self, file: &File, out: &mut impl Write) -> Result<(), Failure> {
        for violation in &self.violations {
            write_problem(out, file, Severity::Error, "schema", violation)?;
        }
        write_findings(out, file, &self.findings)?;
        let (errors, warnings) = (self.errors(), self.warnings());
        let (style, verdict) = match (errors, warnings) {
            (0, 0) => (GREEN, "ok".to_owned()),
            (0, _) => (YELLOW, counted(warnings, "warning")),
            (_, 0) => (RED, counted(errors, "error")),
            (_, _) => {
                let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
                (RED, format!("{errors}, {warnings}"))
            }
        };
        write!(out, "{file}: {style}{verdict}{style:#}")?;
        if !self.depths.is_empty() {
            write!(out, " ({})", self.depths.join(", "))?;
        }
        if let Some(content) = &self.content {
            write!(out, ": {content}")?;
        }
        Ok(writeln!(out)?)
    }

    fn write_json(&self, file: &File, out: &mut impl Write) -> Result<(), Failure> {
        let file = file.to_string();
        for violation in &self.violations {
            let line = json!({
                "file": file,
                "pointer": violation.instance_path,
                "depth": "schema",
                "severity": "error",
                "code": "schema",
                "schema_path": violation.schema_path,
                "message": violation.message,
            });
            json_line(out, &line)?;
        }
        for finding in &self.findings {
            let line = json!({
                "file": file,
                "pointer": finding.pointer(),
                "depth": "semantics",
                "severity": finding.severity().to_string(),
                "code": finding.code().as_str(),
                "expected": finding.expected(),
                "found": finding.found(),
                "message": finding.to_string(),
            });
            json_line(out, &line)?;
        }
        let summary = json!({
            "file": file,
            "depths": self.depths,
            "errors": self.errors(),
            "warnings": self.warnings(),
        });
        Ok(json_line(out, &summary)?)
    }
}

/// `1 error`, `2 errors`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
