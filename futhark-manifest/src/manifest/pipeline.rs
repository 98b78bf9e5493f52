//! The stages from the text of a manifest to the resolved program.

use crate::manifest::finding::{Error, Finding};
use crate::manifest::model::Manifest;
use crate::manifest::program::Program;
use crate::manifest::{check, read, resolve};

impl Manifest {
    /// Reads the text of a manifest.
    ///
    /// Unknown members are not an error: they are kept, and [`warnings`](Manifest::warnings) lists
    /// them.
    ///
    /// Needs at most 150 times the length of the text in memory for malicious input, and less than ten
    /// times for manifests that compilers wrote. A text whose top is not an object is rejected before
    /// the rest is read.
    ///
    /// # Errors
    /// If the text is not JSON, has duplicate members, is not a manifest, lacks a required member, or
    /// has a value of the wrong JSON type. Reports the first such place.
    pub fn parse(text: &str) -> Result<Manifest, Error> {
        read::manifest(text.as_bytes())
    }

    /// Reads the bytes of a file, as [`parse`](Manifest::parse) does.
    ///
    /// # Errors
    /// As for [`parse`](Manifest::parse), and if the bytes are not UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Manifest, Error> {
        read::manifest(bytes)
    }

    /// Checks that the parts are consistent. Returns errors, then warnings, each ordered by place; empty
    /// for a valid manifest.
    ///
    /// If several types contain themselves, only one is reported.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = check::errors(self);
        findings.extend(self.warnings());
        findings
    }

    /// Returns problems that do not prevent use: unknown members, a compiler that is newer than this
    /// crate or of an unknown [version](crate::Version), missing operations. Ordered by place.
    #[must_use]
    pub fn warnings(&self) -> Vec<Finding> {
        check::warnings(self)
    }

    /// Checks that the parts are consistent and resolves every reference.
    ///
    /// # Errors
    /// If [`check`](Manifest::check) finds anything that is not a warning.
    pub fn resolve(&self) -> Result<Program, Error> {
        self.ensure_valid()?;
        Ok(resolve::program(self.clone()))
    }

    /// Resolves every reference as [`resolve`](Manifest::resolve) does, without a copy
    /// of the manifest.
    ///
    /// # Errors
    /// As for [`resolve`](Manifest::resolve).
    pub fn into_program(self) -> Result<Program, Error> {
        self.ensure_valid()?;
        Ok(resolve::program(self))
    }

    fn ensure_valid(&self) -> Result<(), Error> {
        match Error::from_findings(check::errors(self)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
