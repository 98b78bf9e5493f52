//! The command that repeats a finding.

use super::escape::is_hidden;
use crate::checks::device_code;
use crate::devices::{HOST, emulated_settings};
use crate::emulated::SETTINGS;
use crate::record::{Header, NOWHERE, Record};

/// The command that repeats only this finding of a run with this header.
#[must_use]
pub fn repeat(header: &Header, record: &Record) -> String {
    let Record { place, finding } = record;
    // It is not an option.
    let folder = if place.program.starts_with('-') {
        "./"
    } else {
        ""
    };
    let program = quoted(&format!("{folder}{}", place.program));
    let mut command = match emulated_settings(&place.device) {
        Some(settings) => format!("{SETTINGS}={} ", quoted(settings)),
        None => String::new(),
    };
    command += &format!("futhark-conformance run {program}");
    if place.backend == NOWHERE {
        return command;
    }
    let mut words = vec!["--backend", &place.backend];
    // All backends on the host use the same device; the name is empty if there is no device.
    if !matches!(place.device.as_str(), "" | HOST) {
        words.extend(["--device", &place.device]);
    }
    let mut compilers = header.compilers.iter();
    let compiler = compilers.find(|compiler| compiler.version == place.compiler);
    words.extend(["--futhark", compiler.map_or("futhark", |one| &one.path)]);
    let case = match finding.case.as_str() {
        "" => finding.check.clone(),
        case => format!("{}:{case}", finding.check),
    };
    words.extend(["--check", &case]);
    let seed = header.seed.to_string();
    if header.seed != 1 {
        words.extend(["--seed", &seed]);
    }
    // On backend c, `differential` compares compilers, so the command must name the others.
    if finding.check == "differential" && place.backend == "c" {
        let others = header.compilers.iter().chain(&header.against);
        for other in others.filter(|other| compiler.is_none_or(|one| one.path != other.path)) {
            words.extend(["--against", &other.path]);
        }
    }
    if finding.check == device_code::NAME {
        words.extend(["--architectures", &finding.case]);
    }
    words.extend(header.options.iter().map(String::as_str));
    for word in words {
        command.push(' ');
        command.push_str(&quoted(word));
    }
    command
}

/// Quotes a word for a shell, so that it is one line of visible characters. A word with hidden
/// characters or `##` (see [`escape`](super::escape)) is quoted as `$'...'`, which POSIX has since 2024, and
/// bash, zsh and BusyBox have had before.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if !word.chars().any(is_hidden) && !word.contains("##") {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        let bytes = word.as_bytes().escape_ascii().to_string();
        format!("$'{}'", bytes.replace('#', r"\x23"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::report::shown;
    use crate::report::tests::{header, record};
    use std::process::Command;
    use std::sync::Arc;

    #[test]
    fn the_command_repeats_exactly_one_case() {
        let mut record = record("programs/a b.fut", "c", Outcome::Fail);
        record.finding.case = "f' #0".into();
        assert_eq!(
            repeat(&header(), &record),
            r"futhark-conformance run 'programs/a b.fut' --backend c --futhark /x/futhark-1 --check 'blocks:f'\'' #0'"
        );
        let seed = Header {
            seed: 7,
            ..header()
        };
        assert!(repeat(&seed, &record).ends_with(" --seed 7"));
        Arc::make_mut(&mut record.place).device = "A: b".into();
        assert!(repeat(&header(), &record).contains(" --backend c --device 'A: b' "));
        Arc::make_mut(&mut record.place).compiler = "2".into();
        assert!(repeat(&header(), &record).contains("--futhark futhark "));
    }

    #[test]
    fn settings_of_the_emulated_device_are_repeated() {
        let options = ["--emulate", "always", "--cases", "3"]
            .map(str::to_owned)
            .to_vec();
        let header = Header {
            options,
            ..header()
        };
        let command = |record: &Record| repeat(&header, record);
        let mut found = record("a.fut", "cuda", Outcome::Fail);
        Arc::make_mut(&mut found.place).device = "emulated: delayed,order=reversed".into();
        let shown = command(&found);
        assert!(
            shown.starts_with(
                "FUTHARK_EMULATED=delayed,order=reversed futhark-conformance run a.fut "
            ) && shown.ends_with(" --emulate always --cases 3"),
            "{shown}"
        );
        found.finding.check = device_code::NAME.into();
        found.finding.case = "sm_90".into();
        assert!(command(&found).contains(" --architectures sm_90 --emulate "));
        let host = record("a.fut", "c", Outcome::Fail);
        assert!(command(&host).starts_with("futhark-conformance run a.fut "));
        let unread = record("a.fut", NOWHERE, Outcome::Fail);
        assert_eq!(command(&unread), "futhark-conformance run a.fut");
    }

    #[test]
    fn commands_for_unusual_names_are_shell_words() {
        let command = |name: &str| repeat(&header(), &record(name, "c", Outcome::Fail));
        for (name, word) in [
            ("-x.fut", "./-x.fut"),
            ("it's.fut", r"'it'\''s.fut'"),
            ("a\nb\\.fut", r"$'a\nb\\.fut'"),
        ] {
            let expected = format!("futhark-conformance run {word} --backend c ");
            assert!(command(name).starts_with(&expected), "{}", command(name));
        }
    }

    #[test]
    fn quoted_words_survive_a_shell() {
        let words = [
            "plain.fut",
            "",
            "a ",
            "it's",
            "\"$HOME\" `x` \\n !1 *?[a] ~ # ; & | > \x21",
            "~",
            "new\nline\n",
            "\x1b[31m\x7f\t'\\'\"",
            "\u{202e}é\u{85}7",
            "\x017",
            "-x",
            "##[error]x",
        ];
        for word in words {
            let quoted = quoted(word);
            assert_eq!(shown(&quoted), quoted, "shown as it is");
            let shells = if quoted.starts_with('$') {
                &["bash"][..]
            } else {
                &["bash", "sh"]
            };
            for shell in shells {
                let script = format!("printf %s. {quoted}");
                let output = Command::new(shell).args(["-c", &script]).output().unwrap();
                let got = String::from_utf8_lossy(&output.stdout);
                assert_eq!(got, format!("{word}."), "{shell}: {quoted}");
            }
        }
    }
}
