//! A compiler with a fault: a script that runs the real compiler, except for one program and
//! one backend, for which it copies the changed files.

use crate::fault::Fault;
use crate::mutate::Generated;
use crate::{programs, run};
use futhark_conformance::emulated::Emulated;
use futhark_safe::compile::Compiler;
use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use tempfile::TempDir;

/// The variable that names the folder of changed files; see [`Nursery::compiler`].
pub const PLANTED: &str = "FUTHARK_PLANTED";

/// Plants faults into the output of one compiler.
pub struct Nursery {
    folder: TempDir,
    compiler: Compiler,
    device: OnceLock<()>,
    script: OnceLock<()>,
    generated: Mutex<HashMap<[String; 2], Generated>>,
}

impl Nursery {
    pub fn new(compiler: Compiler) -> Nursery {
        Nursery {
            folder: tempfile::tempdir().expect("a folder for temporary files"),
            compiler,
            device: OnceLock::new(),
            script: OnceLock::new(),
            generated: Mutex::new(HashMap::new()),
        }
    }

    /// The real compiler.
    fn healthy(&self) -> PathBuf {
        let path = self.compiler.program();
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    }

    /// The version.
    pub fn version(&self) -> String {
        self.compiler.version().to_string()
    }

    /// The build folder of all runs. The emulated device in it is shared with other tests and
    /// kept for the next run.
    pub fn builds(&self) -> PathBuf {
        let builds = self.folder("build");
        self.device.get_or_init(|| {
            fs::create_dir_all(&builds).expect("the folder can be made");
            let kept = run::kept();
            // Without a C++ compiler the runs themselves report the error.
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

    /// A path in the temporary folder.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The compiler's output for the fault's program, with the fault.
    ///
    /// # Errors
    /// If a rule of the fault does not match the output.
    pub fn mutant(&self, fault: &Fault) -> Result<Generated, String> {
        let mut generated = self.generate(&fault.program, &fault.backend)?;
        fault
            .rules
            .iter()
            .try_for_each(|rule| generated.apply(rule))?;
        Ok(generated)
    }

    /// Writes the changed text where [`Nursery::compiler`] finds it: a folder to name in [`PLANTED`],
    /// which also has the program.
    ///
    /// # Errors
    /// As [`Nursery::mutant`].
    pub fn plant(&self, fault: &Fault) -> Result<PathBuf, String> {
        let mutant = self.mutant(fault)?;
        Ok(self.write(&fault.name, &fault.program, &fault.backend, &mutant))
    }

    /// Writes the unchanged text in the same way.
    ///
    /// # Errors
    /// If the compiler rejects the program.
    pub fn unchanged(&self, program: &str, backend: &str) -> Result<PathBuf, String> {
        let generated = self.generate(program, backend)?;
        let name = format!("healthy-{program}-{backend}");
        Ok(self.write(&name, program, backend, &generated))
    }

    fn write(&self, name: &str, program: &str, backend: &str, generated: &Generated) -> PathBuf {
        let folder = self.folder(&format!("planted-{name}"));
        fs::create_dir_all(&folder).expect("the folder can be created");
        // Builds are cached under the text of the source, so each fault has its own.
        let mut hasher = DefaultHasher::new();
        (&generated.code, &generated.header, &generated.manifest).hash(&mut hasher);
        let hash = format!("{:016x}", hasher.finish());
        let source = fs::read_to_string(programs().join(program)).expect("the program can be read");
        for (name, text) in [
            (program, &*format!("{source}\n-- {hash}\n")),
            ("place", &format!("{backend} {program}\n")),
            ("planted.c", &generated.code),
            ("planted.h", &generated.header),
            ("planted.json", &generated.manifest),
        ] {
            fs::write(folder.join(name), text).expect("the folder can be written");
        }
        folder
    }

    /// The compiler for all faults. Its path and time are part of every cache key, so a
    /// compiler per fault would also compile the program that probes the device again.
    pub fn compiler(&self) -> PathBuf {
        let script = self.folder("futhark");
        self.script.get_or_init(|| {
            run::write_script(script.clone(), &self.script_text());
        });
        script
    }

    fn script_text(&self) -> String {
        format!(
            r#"#!/bin/sh
# Writes the files in ${PLANTED} for the program and backend that its file `place` names.
# Everything else is up to the real compiler.
if [ -n "${{{PLANTED}-}}" ] && read -r backend program <"${PLANTED}/place"; then
    case "$1 $2 ${{3##*/}} $4" in
    "$backend --library $program -o")
        for kind in c h json; do cp "${PLANTED}/planted.$kind" "$5.$kind" || exit 1; done
        exit 0
        ;;
    esac
fi
exec '{compiler}' "$@"
"#,
            compiler = self.healthy().display(),
        )
    }

    /// The compiler's own output, generated once per program and backend.
    fn generate(&self, program: &str, backend: &str) -> Result<Generated, String> {
        let key = [program, backend].map(str::to_owned);
        let mut all = self.generated.lock().expect("no thread panicked");
        if let Some(known) = all.get(&key) {
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
        all.insert(key, generated.clone());
        Ok(generated)
    }
}

fn read(base: &Path, kind: &str) -> Result<String, String> {
    let mut path = base.as_os_str().to_owned();
    path.push(".");
    path.push(kind);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}
