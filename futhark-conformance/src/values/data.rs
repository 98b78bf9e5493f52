//! Data files: values in Futhark's binary format, as text, or as a mixture; compressed if the name
//! ends in `.gz`.

use super::binary::Component;
use super::{HostValue, TextError, parse_input};
use flate2::read::MultiGzDecoder;
use futhark_manifest::ElemType;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The maximum size of a decompressed file.
const LARGEST: u64 = 4 << 30;

/// The path of a file that a test block of a program names, if the test block may read it: a regular
/// file which, links followed, is in the folder of the program or in one of `folders`. Without
/// `folders`, in any folder.
///
/// # Errors
/// If the file does not exist, is of another kind, or is elsewhere.
pub fn locate(program: &Path, file: &Path, folders: Option<&[PathBuf]>) -> io::Result<PathBuf> {
    let own = match program.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let path = own.join(file);
    let real = path.canonicalize()?;
    if let Some(folders) = folders {
        let own = own.canonicalize()?;
        let mut folders = folders.iter().chain([&own]);
        if !folders.any(|folder| real.starts_with(folder)) {
            return Err(io::Error::other(
                "it is outside of the folder of the program and of the named folders; \
                 name a folder that contains both, or use --allow-outside-data",
            ));
        }
    }
    if !real.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(path)
}

/// The contents of a data file, decompressed.
///
/// # Errors
/// If it cannot be read, is damaged, or is larger than 4 GiB.
pub fn load(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut contents = Vec::new();
    let read = if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file)
            .take(LARGEST + 1)
            .read_to_end(&mut contents)
    } else {
        file.take(LARGEST + 1).read_to_end(&mut contents)
    };
    if read? as u64 > LARGEST {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the contents are larger than 4 GiB",
        ));
    }
    Ok(contents)
}

/// Parses values of these element types and ranks, as a program parses its input: a number without
/// a suffix has the expected type.
///
/// # Errors
/// If the contents differ, or there are more.
pub fn inputs(contents: &[u8], types: &[(ElemType, usize)]) -> Result<Vec<HostValue>, TextError> {
    let mut reader = Reader { contents, at: 0 };
    let mut values = Vec::with_capacity(types.len());
    for &(elem, rank) in types {
        let value = reader.value(Some(elem))?;
        if (value.elem(), value.shape().len()) != (elem, rank) {
            let wanted = "[]".repeat(rank);
            let message = format!("expected {wanted}{elem}, found {}", value.type_text());
            return Err(reader.error(message));
        }
        values.push(value);
    }
    reader.skip_space();
    if reader.at < contents.len() {
        let message = format!(
            "expected the end of the data, found {} more bytes",
            contents.len() - reader.at
        );
        return Err(reader.error(message));
    }
    Ok(values)
}

/// Parses values up to the end, each with its own type.
///
/// # Errors
/// If the contents are not values.
pub fn values(contents: &[u8]) -> Result<Vec<HostValue>, TextError> {
    let mut reader = Reader { contents, at: 0 };
    let mut values = Vec::new();
    loop {
        reader.skip_space();
        if reader.at == contents.len() {
            return Ok(values);
        }
        values.push(reader.value(None)?);
    }
}

struct Reader<'a> {
    contents: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A value: a text has the expected type, if there is one, or its own; a binary value always
    /// has its own.
    fn value(&mut self, wanted: Option<ElemType>) -> Result<HostValue, TextError> {
        self.skip_space();
        if self.rest().first() == Some(&b'b') {
            return self.binary();
        }
        // A binary value may follow, so the text ends at the first byte that is not UTF-8.
        let text = match std::str::from_utf8(self.rest()) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&self.rest()[..error.valid_up_to()])
                .unwrap_or_else(|_| unreachable!("this part was found to be valid")),
        };
        let read = parse_input(text).and_then(|(value, length)| {
            let value = match wanted {
                Some(elem) => value.typed(elem),
                None => value.by_itself(),
            };
            value.map(|value| (value, length))
        });
        let (value, length) = read.map_err(|error| TextError {
            at: self.at + error.at,
            message: error.message,
        })?;
        self.at += length;
        Ok(value)
    }

    fn binary(&mut self) -> Result<HostValue, TextError> {
        let component = Component::at(self.contents, self.at)?;
        self.at = component.data.end;
        let (elem, mut bytes) = (component.elem, self.contents[component.data].to_vec());
        if elem == ElemType::Bool {
            bytes
                .iter_mut()
                .for_each(|byte| *byte = u8::from(*byte != 0));
        }
        if cfg!(target_endian = "big") {
            bytes
                .chunks_exact_mut(elem.size())
                .for_each(<[u8]>::reverse);
        }
        Ok(HostValue::new(elem, component.shape, bytes))
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            let space = self
                .rest()
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace());
            self.at += space.count();
            if !self.rest().starts_with(b"--") {
                return;
            }
            let line = self.rest().iter().take_while(|byte| **byte != b'\n');
            self.at += line.count();
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.contents[self.at..]
    }

    fn error(&self, message: String) -> TextError {
        TextError {
            at: self.at,
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElemType::{Bool, F32, I32, I64};
    use std::io::Write;

    fn binary(elem: &str, dims: &[i64], bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![b'b', 2, u8::try_from(dims.len()).unwrap()];
        out.extend(format!("{elem:>4}").bytes());
        dims.iter().for_each(|dim| out.extend(dim.to_le_bytes()));
        out.extend(bytes);
        out
    }

    fn shown(values: Vec<HostValue>) -> Vec<String> {
        values.iter().map(ToString::to_string).collect()
    }

    fn shown_error(read: Result<Vec<HostValue>, TextError>) -> String {
        let TextError { at, message } = read.unwrap_err();
        format!("at byte {at}: {message}")
    }

    #[test]
    fn binary_values_and_text_can_be_mixed() {
        let mut contents = binary("i32", &[2], &[1, 0, 0, 0, 255, 255, 255, 255]);
        contents.extend(b" -- two\n[1.5f32, 2] ");
        contents.extend(binary("bool", &[], &[7]));
        let expected = ["[1i32, -1]", "[1.5f32, 2.0]", "true"];
        assert_eq!(shown(values(&contents).unwrap()), expected);
        let read = inputs(&contents, &[(I32, 1), (F32, 1), (Bool, 0)]);
        assert_eq!(shown(read.unwrap()), expected);
    }

    #[test]
    fn text_has_the_expected_type_or_its_own() {
        assert_eq!(shown(inputs(b"3\n", &[(I64, 0)]).unwrap()), ["3i64"]);
        assert_eq!(shown(values(b"3\n").unwrap()), ["3i32"]);
        assert!(inputs(b"3i32", &[(I64, 0)]).is_err());
    }

    #[test]
    fn missing_extra_and_mistyped_values_are_errors() {
        let three = binary("i64", &[], &[3, 0, 0, 0, 0, 0, 0, 0]);
        let error = |contents: &[u8]| shown_error(inputs(contents, &[(I64, 0)]));
        assert_eq!(
            error(&three[..10]),
            "at byte 7: truncated: expected 8 bytes for the elements, found 3"
        );
        assert!(
            error(&three[..4]).contains("head"),
            "{}",
            error(&three[..4])
        );
        let more = [&three[..], b"\nx"].concat();
        assert!(error(&more).ends_with("expected the end of the data, found 1 more bytes"));
        assert_eq!(error(b""), "at byte 0: expected a value, found the end");
        let i32 = binary("i32", &[], &[0; 4]);
        assert!(
            error(&i32).ends_with("expected i64, found i32"),
            "{}",
            error(&i32)
        );
        let array = binary("i64", &[1], &[0; 8]);
        assert!(error(&array).ends_with("expected i64, found [1]i64"));
        assert!(error(&binary("i63", &[], &[0; 8])).contains("unknown element type"));
        assert!(error(&[b'b', 1, 0, 0, 0, 0, 0]).contains("version 2"));
    }

    #[test]
    fn sizes_beyond_the_data_are_errors() {
        let error = |dims: &[i64]| shown_error(values(&binary("i64", dims, &[])));
        assert!(error(&[-1]).contains("size -1"));
        assert!(error(&[1 << 40]).contains("truncated"));
        assert!(error(&[1 << 40, 1 << 40]).contains("is too large"));
        let empty = values(&binary("i64", &[1 << 62, 3, 0], &[])).unwrap();
        assert_eq!(shown(empty), ["empty([4611686018427387904][3][0]i64)"]);
    }

    #[test]
    fn compressed_files_are_read_and_damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("three.in.gz");
        let mut encoder = flate2::write::GzEncoder::new(
            File::create(&path).unwrap(),
            flate2::Compression::new(6),
        );
        encoder.write_all(b"3i64\n").unwrap();
        encoder.finish().unwrap();
        assert_eq!(load(&path).unwrap(), b"3i64\n");
        let whole = std::fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() - 4], b"3i64", b""] {
            std::fs::write(&path, damaged).unwrap();
            assert!(load(&path).is_err(), "{damaged:?}");
        }
        assert!(load(&folder.path().join("nowhere")).is_err());
    }
}
