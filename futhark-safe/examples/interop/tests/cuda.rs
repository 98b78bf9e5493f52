//! Runs `interop-cuda` on the emulated device. No test here needs a GPU, and none shows that one works.

mod support;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use futhark_conformance::emulated::{Emulated, MISUSE_REPORTS};

#[test]
fn cudarc_and_futhark_share_memory_on_the_emulated_device() {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds");
    let built = Emulated::build(&builds).map_err(|error| format!("{error:#}"));
    let Some(emulated) = support::or_skip(built) else {
        return;
    };
    for settings in ["", "delayed"] {
        let variables = emulated.environment(settings);
        let device = variables
            .iter()
            .find(|(name, _)| name == "FUTHARK_LIBCUDA")
            .map(|(_, file)| file)
            .unwrap();
        // cudarc has no variable for its libraries, so it finds links to the device by their names.
        let folder = tempfile::tempdir().unwrap();
        for name in ["libcuda.so", "libnvrtc.so"] {
            symlink(device, folder.path().join(name)).unwrap();
        }
        let findings = folder.path().join("findings");
        let mut command = Command::new(env!("CARGO_BIN_EXE_interop-cuda"));
        command.envs(variables);
        command.env("LD_LIBRARY_PATH", folder.path());
        command.env(MISUSE_REPORTS, &findings);
        assert_eq!(
            support::run(&mut command).unwrap(),
            "device: Emulated CUDA device 0\n\
             copied 1000 prefix sums to the primary context\n\
             cudarc uploaded 1000 numbers, Futhark borrows them\n\
             cudarc ran a kernel on the prefix sums: 1000 results, the last one is 4004001\n\
             Futhark ended last\n",
            "with settings {settings:?}"
        );
        let misuse = std::fs::read_to_string(&findings).unwrap_or_default();
        assert_eq!(misuse, "", "with settings {settings:?}");
    }
}
