//! What tests on the emulated device share.

use futhark_conformance::emulated::{Emulated, FINDINGS};
use std::path::Path;
use std::process::Command;

/// Whether this is the process in which the driver is the emulated one; if it is not, the
/// test is run in one that is.
pub fn in_a_process_with_the_device(test: &str, settings: &str) -> bool {
    if std::env::var_os("FUTHARK_LIBCUDA").is_some_and(|file| is_emulated(Path::new(&file))) {
        return true;
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
    let emulated = Emulated::build(&kept).unwrap();
    let findings = kept.join(test);
    let _ = std::fs::remove_file(&findings);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .envs(emulated.environment(settings))
        .env(FINDINGS, &findings)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let findings = std::fs::read_to_string(&findings).unwrap_or_default();
    assert!(!findings.contains("stack of some thread"), "{findings}");
    false
}

fn is_emulated(file: &Path) -> bool {
    file.ends_with("libfuthark-emulated.so")
}
