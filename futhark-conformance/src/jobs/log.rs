//! The device's name in the log of the generated code.

use crate::devices::on_platform;

/// The name of the device in use, with its platform if the log has one.
pub(super) fn device(log: &str) -> Option<String> {
    let value = |key: &str| {
        log.lines()
            .find_map(|line| line.trim().strip_prefix(key))
            .map(str::trim)
    };
    let Some(device) = value("Using device:") else {
        return numbered_device(value("Using device #")?, log);
    };
    Some(on_platform(value("Using platform:"), device))
}

/// The name of the device that cuda or hip chose by its number, from the list before it in the log:
/// `Device #0: name="A100", compute capability=8.0`.
fn numbered_device(number: &str, log: &str) -> Option<String> {
    let entry = format!("Device #{number}: name=\"");
    let listed = log.lines().find_map(|line| line.strip_prefix(&entry))?;
    let (name, _) = listed.rsplit_once('"')?;
    Some(name.to_owned())
}

/// Whether a line of the log names a device.
pub(super) fn names_device(line: &str) -> bool {
    let beginnings = ["Device #", "Using device", "Using platform"];
    beginnings.iter().any(|words| line.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_found_in_the_log() {
        let log = "noise\nUsing platform: Oclgrind\nUsing device: Oclgrind Simulator\nmore\n";
        assert_eq!(device(log).as_deref(), Some("Oclgrind: Oclgrind Simulator"));
        assert_eq!(device("Using device: A100\n").as_deref(), Some("A100"));
        assert_eq!(device("nothing\n"), None);
        let cuda = "\
Device #0: name=\"A100\", compute capability=8.0
Device #1: name=\"NVIDIA T4\", compute capability=7.5
Using device #1
";
        assert_eq!(device(cuda).as_deref(), Some("NVIDIA T4"));
    }
}
