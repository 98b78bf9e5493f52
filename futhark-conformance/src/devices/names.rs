//! Names of devices.

use super::Kind;

impl Kind {
    /// The kind of a device with this name, as reported by its driver.
    pub(super) fn of(name: &str) -> Kind {
        let name = name.to_lowercase();
        let simulated = ["oclgrind", "simulat", "emulat"];
        match simulated.iter().any(|word| name.contains(word)) {
            true => Kind::Simulated,
            false => Kind::Real,
        }
    }
}

/// The name of the emulated device in reports. It always contains "emulated".
pub(super) fn emulated(settings: &str) -> String {
    match settings {
        "" => EMULATED.to_owned(),
        _ => format!("{EMULATED}: {settings}"),
    }
}

const EMULATED: &str = "emulated";

/// The settings in the name of an emulated device that has any.
pub(crate) fn emulated_settings(name: &str) -> Option<&str> {
    name.strip_prefix(EMULATED)?.strip_prefix(": ")
}

/// The word that the column of such a device must show.
pub(crate) fn column_label(name: &str) -> Option<&str> {
    name.starts_with(EMULATED).then_some(EMULATED)
}

/// The platform in a name, or the whole name if there is none; and the rest.
pub(crate) fn parts(name: &str) -> (&str, &str) {
    name.split_once(": ").unwrap_or((name, name))
}

/// Shortens a message to one line: keeps the start, which names the source, and the end, which has
/// the driver's error.
pub(crate) fn one_line(text: &str) -> String {
    const BEGINNING: usize = 100;
    const END: usize = 200;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let places: Vec<usize> = line.char_indices().map(|(place, _)| place).collect();
    if places.len() <= BEGINNING + END {
        return line;
    }
    let (beginning, end) = (places[BEGINNING], places[places.len() - END]);
    format!("{} ... {}", &line[..beginning], &line[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulators_are_recognised_by_name() {
        assert_eq!(Kind::of("Oclgrind: Oclgrind Simulator"), Kind::Simulated);
        assert_eq!(Kind::of("NVIDIA A100"), Kind::Real);
    }

    #[test]
    fn long_reasons_are_shortened_to_one_line() {
        assert_eq!(one_line("a\n  b"), "a b");
        let long = one_line(&format!("from here{}to there", "é".repeat(500)));
        assert!(long.starts_with("from here") && long.ends_with("to there"));
        assert_eq!(long.chars().count(), 305);
    }
}
