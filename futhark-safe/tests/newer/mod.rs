//! A Futhark compiler of version 0.25.36 as far as arrays of opaque values go, made of the one
//! that is set up: no such version can be installed, and what is to be tested is that our
//! side meets real C. See `futhark.sh`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use futhark_safe::compile::Compiler;

/// Makes the compiler: the file `script`. `here` is this folder.
pub fn compiler(here: &Path, script: &Path) {
    // 0.25.27 cannot compile the program: it takes one type for two.
    let real = Compiler::all().pop().expect("a Futhark compiler is set up");
    let text = std::fs::read_to_string(here.join("futhark.sh")).expect("it is in this folder");
    let text = text
        .replace("@REAL@", &real.program().display().to_string())
        .replace("@HERE@", &here.display().to_string());
    // A compiler that changes makes every kept build stale.
    if std::fs::read_to_string(script).is_ok_and(|there| there == text) {
        return;
    }
    std::fs::write(script, text).expect("the folder can be written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(script, mode).expect("the file is ours");
}
