//! Files of device code and their seals: only a pair that belongs together reaches the driver.

use futhark_safe::dynamic::Context;
use futhark_safe::{Config, ErrorKind};
use futhark_sys::checksum::checksum;

/// The seal of code for the program without settings.
fn seal(code: &[u8], device: &str) -> Vec<u8> {
    let library = crate::without_driver();
    let program = format!("{} {} []", library.backend(), library.program_id());
    let sum = checksum(&[program.as_bytes(), device.as_bytes(), code]);
    format!("{sum:016x}\n{device}").into_bytes()
}

/// The first two bytes: flags for a cache file and for a seal whose checksum is right, and the length of the code.
pub fn run(bytes: &[u8]) {
    let Some((&[how, length], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let (code, text) = rest.split_at(rest.len().min(length.into()));
    let device = |text: &[u8]| {
        let lines = text.splitn(2, |byte| *byte == b'\n').nth(1);
        String::from_utf8(lines.unwrap_or_default().to_vec())
    };
    let written = match device(text) {
        Ok(device) if how & 1 == 0 => seal(code, &device),
        _ => text.to_vec(),
    };
    let path = std::env::temp_dir().join(format!("futhark-fuzz-{}", std::process::id()));
    std::fs::write(&path, code).expect("a writable folder");
    std::fs::write(path.with_added_extension("sum"), &written).expect("a writable folder");

    let belongs = device(&written).is_ok_and(|device| written == seal(code, &device));
    let cached = how & 2 == 0;
    let config = match cached {
        true => Config::new().cache_file(&path),
        false => Config::new().load_device_code(&path),
    };
    let error = Context::new(crate::without_driver(), &config).expect_err("there is no driver");
    assert_eq!(error.kind(), ErrorKind::Load, "{error}");
    if cached {
        let device = device(&written).unwrap_or_default();
        assert_eq!(path.exists(), belongs && device.is_empty(), "{error}");
    } else {
        let described = device(&written).is_ok_and(|device| device.lines().count() >= 5);
        let accepted = belongs && described && !code.is_empty();
        let refused = error.to_string().contains("dump_device_code");
        assert_ne!(refused, accepted, "{error}");
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let device = "CUDA\n12.4\nNVIDIA H100\n12.4\n85899345920\n";
    let seeds = (0..8u8).map(|how| {
        let code = &b"the code of a kernel"[..usize::from(how / 2 * 5)];
        let device = if how & 2 == 0 { "" } else { device };
        [&[how, code.len() as u8], code, &seal(code, device)].concat()
    });
    seeds.collect()
}
