//! Makes compilers with a fault: a script that answers as the real compiler does, except
//! for one program and one backend, for which it hands out what was changed.

use crate::fault::Fault;
use crate::mutate::Generated;
use crate::programs;
use futhark_conformance::emulated::Emulated;
use futhark_safe::compile::Compiler;
use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use tempfile::TempDir;

/// Where compilers with faults grow, all from the same healthy one.
pub struct Nursery {
    folder: TempDir,
    compiler: Compiler,
    device: OnceLock<()>,
    generated: Mutex<HashMap<(&'static str, &'static str), Generated>>,
}

impl Nursery {
    pub fn new(compiler: Compiler) -> Nursery {
        Nursery {
            folder: tempfile::tempdir().expect("a folder for temporary files"),
            compiler,
            device: OnceLock::new(),
            generated: Mutex::new(HashMap::new()),
        }
    }

    /// The healthy compiler.
    pub fn healthy(&self) -> PathBuf {
        let path = self.compiler.program();
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    }

    /// Its version.
    pub fn version(&self) -> String {
        self.compiler.version().to_string()
    }

    /// Where programs are built. The emulated device is kept for the next time: what a run
    /// finds in this folder, it does not compile again.
    pub fn builds(&self) -> PathBuf {
        let builds = self.folder("build");
        self.device.get_or_init(|| {
            fs::create_dir_all(&builds).expect("the folder can be made");
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
            // Without a C++ compiler the runs say so themselves.
            if Emulated::build(&kept).is_ok() {
                for entry in fs::read_dir(kept).expect("it was just made") {
                    let entry = entry.expect("the folder can be read");
                    let here = builds.join(entry.file_name());
                    std::os::unix::fs::symlink(entry.path(), here).expect("it is empty");
                }
            }
        });
        builds
    }

    /// A folder for a purpose.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the compiler writes for the fault's program, with the fault.
    ///
    /// # Errors
    /// If the healthy text is not what the fault expects.
    pub fn mutant(&self, fault: &Fault) -> Result<Generated, String> {
        let mut generated = self.generate(fault.program, fault.backend)?;
        fault
            .rules
            .iter()
            .try_for_each(|rule| generated.apply(rule))?;
        Ok(generated)
    }

    /// A compiler that has the fault.
    ///
    /// # Errors
    /// As [`Nursery::mutant`].
    pub fn plant(&self, fault: &Fault) -> Result<PathBuf, String> {
        let mutant = self.mutant(fault)?;
        let folder = self.folder(&format!("mutant-{}", fault.name));
        let write = |name: &str, text: &str| {
            fs::write(folder.join(name), text).expect("the folder can be written");
        };
        fs::create_dir_all(&folder).expect("the folder can be made");
        // Builds are kept by what this says of the source: it is another program now.
        let mut hasher = DefaultHasher::new();
        (&mutant.code, &mutant.header, &mutant.manifest).hash(&mut hasher);
        write("hash", &format!("{:016x}", hasher.finish()).repeat(4));
        write("mutant.c", &mutant.code);
        write("mutant.h", &mutant.header);
        write("mutant.json", &mutant.manifest);
        write("futhark", &self.script(fault));
        let script = folder.join("futhark");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
        Ok(script)
    }

    fn script(&self, fault: &Fault) -> String {
        let (healthy, backend, program) = (self.healthy(), fault.backend, fault.program);
        format!(
            r#"#!/bin/sh
# A Futhark compiler with a planted fault: {name}.
here=${{0%/*}}
case "$1 ${{2##*/}}" in
"hash {program}") exec cat "$here/hash" ;;
esac
case "$1 $2 ${{3##*/}} $4" in
"{backend} --library {program} -o")
    for kind in c h json; do cp "$here/mutant.$kind" "$5.$kind" || exit 1; done
    exit 0
    ;;
esac
exec '{healthy}' "$@"
"#,
            name = fault.name,
            healthy = healthy.display(),
        )
    }

    /// What the healthy compiler writes; asked once for each program and backend.
    fn generate(&self, program: &'static str, backend: &'static str) -> Result<Generated, String> {
        let mut all = self.generated.lock().expect("no thread panicked");
        if let Some(known) = all.get(&(program, backend)) {
            return Ok(known.clone());
        }
        let base = self.folder(&format!("{program}-{backend}"));
        let output = Command::new(self.healthy())
            .args([backend, "--library"])
            .arg(programs().join(program))
            .arg("-o")
            .arg(&base)
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let generated = Generated {
            code: read(&base, "c")?,
            header: read(&base, "h")?,
            manifest: read(&base, "json")?,
        };
        all.insert((program, backend), generated.clone());
        Ok(generated)
    }
}

fn read(base: &Path, kind: &str) -> Result<String, String> {
    let mut path = base.as_os_str().to_owned();
    path.push(".");
    path.push(kind);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}
