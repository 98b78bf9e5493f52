//! Names of programs in reports, from which the path can be recovered.
//!
//! A name is the path with `/` between its parts. A backslash is doubled, and what a report cannot
//! contain or show is an escape: `\n`, `\r` and `\t`, `\xHH` for a byte that is not UTF-8 or is
//! another ASCII control character, `\u{HEX}` for other characters that are not shown.

use crate::report::escape::{escape, is_hidden};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The name of a path. Two paths have one name only if they differ in `.` and repeated slashes.
#[must_use]
pub fn of(path: &Path) -> String {
    let parts = path.iter().filter(|part| *part != ".");
    let parts: Vec<String> = parts.map(|part| escaped(part.as_bytes())).collect();
    // A root is a part of its own, and is already a slash.
    parts.join("/").replace("//", "/")
}

fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str(r"\\"),
                c if is_hidden(c) => out.push_str(&escape(c)),
                c => out.push(c),
            }
        }
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    out
}

/// The path of a name. A backslash that begins no escape stands for itself.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.as_bytes());
        rest = unescaped(after, &mut bytes).unwrap_or_else(|| {
            bytes.push(b'\\');
            after
        });
    }
    bytes.extend(rest.as_bytes());
    OsString::from_vec(bytes).into()
}

/// Appends what the escape stands for that begins `text`, after its backslash; returns the rest.
fn unescaped<'t>(text: &'t str, bytes: &mut Vec<u8>) -> Option<&'t str> {
    let mut chars = text.chars();
    match chars.next()? {
        '\\' => bytes.push(b'\\'),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'x' => {
            let digits = text.get(1..3)?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            return Some(&text[3..]);
        }
        'u' => {
            let (digits, rest) = text.strip_prefix("u{")?.split_once('}')?;
            let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(rest);
        }
        _ => return None,
    }
    Some(chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn names_are_visible_and_have_one_path() {
        let names: [(&[u8], &str); 9] = [
            (b"programs/a b.fut", "programs/a b.fut"),
            (b"/x/y.fut", "/x/y.fut"),
            ("é.fut".as_bytes(), "é.fut"),
            (b"a\xff.fut", r"a\xff.fut"),
            (br"a\xff.fut", r"a\\xff.fut"),
            (b"\x1b[1m\nx.fut", r"\x1b[1m\nx.fut"),
            ("\u{202e}\u{85}.fut".as_bytes(), r"\u{202e}\u{85}.fut"),
            (b"\xed\xa0\x80.fut", r"\xed\xa0\x80.fut"),
            (b"\xc3", r"\xc3"),
        ];
        for (bytes, expected) in names {
            let original = Path::new(OsStr::from_bytes(bytes));
            let name = of(original);
            assert_eq!(name, expected);
            assert_eq!(path(&name), original, "{name}");
        }
        assert_eq!(of(Path::new("./a//b.fut")), "a/b.fut");
    }

    #[test]
    fn names_of_older_reports_are_paths() {
        for name in [r"a\b.fut", r"a\", r"a\xg0", r"\u{}", r"\u{d800}", r"\x"] {
            assert_eq!(path(name), Path::new(name));
        }
    }
}
