//! `futhark-manifest check`

use std::io::Write;
use std::path::PathBuf;

use futhark_manifest::c::{self, Disagreement, Header};
use futhark_manifest::schema::{self, Violation};
use futhark_manifest::{Finding, Manifest, Position, Program, Severity};
use serde_json::{Value, json};

use crate::args::{Check, Depth};
use crate::input::{File, Text};
use crate::{Failure, say};

pub(crate) fn run(args: &Check, out: &mut impl Write) -> Result<(), Failure> {
    if args.header.is_some() && args.files.len() != 1 {
        let message =
            "--header goes with one manifest; without it, prog.h is taken for each prog.json";
        return Err(Failure::Usage(message));
    }
    let mut found = false;
    for file in &args.files {
        let text = Text::read(file)?;
        let report = Report::of(&text, args)?;
        if args.json {
            report.write_json(out)?;
        } else {
            report.write(out)?;
        }
        found |= report.errors() > 0 || (args.strict && report.warnings() > 0);
    }
    if found { Err(Failure::Found) } else { Ok(()) }
}

/// What the depths found about one manifest.
struct Report<'t> {
    text: &'t Text,
    depths: Vec<&'static str>,
    violations: Vec<Violation>,
    findings: Vec<Finding>,
    header: Option<(File, Vec<Disagreement>)>,
    program: Option<Program>,
}

impl<'t> Report<'t> {
    fn of(text: &'t Text, args: &Check) -> Result<Report<'t>, Failure> {
        let mut report = Report {
            text,
            depths: Vec::new(),
            violations: Vec::new(),
            findings: Vec::new(),
            header: None,
            program: None,
        };
        match Manifest::parse_bytes(&text.bytes) {
            Ok(manifest) => report.look(&manifest, args)?,
            Err(error) => {
                // What is JSON at least can be held against the schema, which
                // tells all that is wrong and not only the first.
                if let Ok(json) = serde_json::from_slice::<Value>(&text.bytes) {
                    report.schema(&json);
                }
                if report.violations.is_empty() {
                    report.findings.extend(error.findings().cloned());
                }
            }
        }
        Ok(report)
    }

    fn look(&mut self, manifest: &Manifest, args: &Check) -> Result<(), Failure> {
        self.schema(&manifest.to_json());
        if args.depth < Depth::Semantics {
            return Ok(());
        }
        self.depths.push("semantics");
        self.findings = manifest.check();
        self.program = manifest.resolve().ok();
        let Some(program) = &self.program else {
            return Ok(());
        };
        if args.depth < Depth::Header {
            return Ok(());
        }
        let beside = || header_beside(&self.text.file);
        let Some(file) = args.header.clone().or_else(beside) else {
            return Ok(());
        };
        let header = String::from_utf8_lossy(&file.read()?).into_owned();
        let agreement = c::agree(program, &Header::parse(&header));
        self.depths.push("header");
        self.header = Some((file, agreement.disagreements));
        Ok(())
    }

    fn schema(&mut self, json: &Value) {
        self.depths.push("schema");
        self.violations = schema::validate(json).err().unwrap_or_default();
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
        for violation in &self.violations {
            let position = Position::nearest(&text, &violation.instance_path);
            let (severity, message) = (Severity::Error, violation.to_string());
            say::place(out, file, &text, position, severity, "schema", &message);
        }
        for finding in &self.findings {
            say::finding(out, file, &text, finding);
        }
        if let Some((header, disagreements)) = &self.header {
            for disagreement in disagreements {
                let (style, bold, code) = (say::RED, say::BOLD, disagreement.code);
                writeln!(
                    out,
                    "{bold}{header}{bold:#}: {style}error[{code}]{style:#}: {disagreement}"
                )?;
            }
        }
        let depths = self.depths.join(", ");
        let (errors, warnings) = (self.errors(), self.warnings());
        let (style, verdict) = match (errors, warnings) {
            (0, 0) => (say::GREEN, "ok".to_owned()),
            (0, _) => (say::YELLOW, counted(warnings, "warning")),
            (_, 0) => (say::RED, counted(errors, "error")),
            (_, _) => {
                let both = format!(
                    "{}, {}",
                    counted(errors, "error"),
                    counted(warnings, "warning")
                );
                (say::RED, both)
            }
        };
        write!(out, "{file}: {style}{verdict}{style:#}")?;
        if !depths.is_empty() {
            write!(out, " ({depths})")?;
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
        let place = |pointer: &str, position: Option<Position>| {
            let position = position.unwrap_or_else(|| Position::nearest(&text, pointer));
            json!({"file": file, "pointer": pointer, "line": position.line, "column": position.column})
        };
        let mut lines = Vec::new();
        for violation in &self.violations {
            let mut line = place(&violation.instance_path, None);
            line["depth"] = "schema".into();
            line["severity"] = "error".into();
            line["code"] = "schema".into();
            line["schema_path"] = violation.schema_path.as_str().into();
            line["message"] = violation.message.as_str().into();
            lines.push(line);
        }
        for finding in &self.findings {
            let mut line = place(finding.pointer(), finding.position());
            line["depth"] = "semantics".into();
            line["severity"] = finding.severity().to_string().into();
            line["code"] = finding.code().as_str().into();
            line["expected"] = finding.expected().into();
            line["found"] = finding.found().into();
            line["message"] = finding.to_string().into();
            lines.push(line);
        }
        if let Some((header, disagreements)) = &self.header {
            lines.extend(disagreements.iter().map(|disagreement| {
                json!({
                    "file": header.to_string(),
                    "line": disagreement.line,
                    "depth": "header",
                    "severity": "error",
                    "code": disagreement.code.as_str(),
                    "name": disagreement.name,
                    "expected": disagreement.expected,
                    "found": disagreement.found,
                    "message": disagreement.to_string(),
                })
            }));
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// `prog.h` for `prog.json`, where it is there.
fn header_beside(manifest: &File) -> Option<File> {
    let path: PathBuf = manifest.path()?.with_extension("h");
    path.is_file().then_some(File::Path(path))
}

/// `1 error`, `2 errors`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
