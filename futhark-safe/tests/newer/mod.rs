//! Imitates Futhark 0.27.1 with an older compiler, since `ci/setup` cannot install that version. See
//! `futhark.sh`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::SystemTime;

use futhark_safe::compile::Compiler;

/// Writes the compiler to the file `script`. `here` is this folder.
pub fn compiler(here: &Path, script: &Path) {
    // 0.25.27 cannot compile the program: it confuses two types.
    let real = Compiler::all().pop().expect("a Futhark compiler is set up");
    let text =
        std::fs::read_to_string(here.join("futhark.sh")).expect("the script is in this folder");
    let text = text
        .replace("@REAL@", &real.program().display().to_string())
        .replace("@HERE@", &here.display().to_string());
    // A new file would invalidate the kept builds.
    if std::fs::read_to_string(script).is_ok_and(|old| old == text) {
        return;
    }
    std::fs::write(script, text).expect("the folder can be written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(script, mode).expect("the file is ours");
    // Build scripts watch their compiler, and Cargo runs a script again if a watched file is newer
    // than the start of the script, as one that the script itself writes.
    std::fs::File::options()
        .append(true)
        .open(script)
        .and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH))
        .expect("the file is ours");
}
