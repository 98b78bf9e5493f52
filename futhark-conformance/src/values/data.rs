//! Data files and stored values: values in Futhark's binary format, as text, or as a mixture;
//! files are compressed if the name ends in `.gz`.
//!
//! In the binary format, Futhark programs store scalars, arrays, and the components of
//! opaque values: the letter `b`, the version 2 of the format, the rank, four letters for the element
//! type, the size of each dimension as a 64-bit integer, and the elements in row-major order; all
//! numbers are little-endian.

use super::{HostValue, TextError, found, parse_input};
use flate2::read::MultiGzDecoder;
use futhark_manifest::ElemType;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The maximum size of a decompressed file.
const LARGEST: u64 = 4 << 30;

/// The path of a file that a test block of a program names, if the test block may read it: a regular file which, links
/// followed, is in the folder of the program or in one of `folders`. Without `folders`, in any folder.
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

/// Parses all values of a data file, as a program parses its input. Numbers without a suffix have the types
/// of the parameters, which `elems` lists, or of their notation. If there are more values than parameters, only
/// one more is parsed.
pub fn parse(contents: &[u8], elems: &[ElemType]) -> Result<Vec<HostValue>, TextError> {
    let mut values = Vec::new();
    let mut at = 0;
    // Text, and where it begins. A binary value may follow, so it ends at the first byte that is not UTF-8.
    let (mut text, mut start) = ("", 0);
    loop {
        at = skip_space(contents, at);
        let is_enough = !elems.is_empty() && values.len() > elems.len();
        if at == contents.len() || is_enough {
            return Ok(values);
        }
        if contents[at] == b'b' {
            let component = Component::at(contents, at)?;
            at = component.data.end;
            let mut bytes = contents[component.data].to_vec();
            if component.elem == ElemType::Bool {
                let normalize = |byte: &mut u8| *byte = u8::from(*byte != 0);
                bytes.iter_mut().for_each(normalize);
            }
            values.push(HostValue::new(component.elem, component.shape, bytes));
            continue;
        }
        // A binary value in the text may have ended within a character.
        if text.get(at - start..).is_none_or(str::is_empty) {
            let chunk = contents[at..].utf8_chunks().next();
            (text, start) = (chunk.map_or("", |chunk| chunk.valid()), at);
        }
        let elem = elems.get(values.len()).copied();
        let (value, length) =
            parse_input(&text[at - start..], elem).map_err(|error| TextError {
                at: at + error.at,
                message: error.message,
            })?;
        at += length;
        values.push(value);
    }
}

/// The end of white space and comments.
fn skip_space(contents: &[u8], mut at: usize) -> usize {
    loop {
        let rest = contents[at..].trim_ascii_start();
        at = contents.len() - rest.len();
        if !rest.starts_with(b"--") {
            return at;
        }
        at += rest.iter().take_while(|byte| **byte != b'\n').count();
    }
}

const VERSION: u8 = 2;

/// Encodes a value.
#[must_use]
pub fn write(value: &HostValue) -> Vec<u8> {
    let rank = u8::try_from(value.shape().len()).unwrap_or(u8::MAX);
    let mut bytes = vec![b'b', VERSION, rank];
    bytes.extend(format!("{:>4}", value.elem().as_str()).bytes());
    for &extent in value.shape() {
        let extent = i64::try_from(extent).unwrap_or(i64::MAX);
        bytes.extend(extent.to_le_bytes());
    }
    bytes.extend(value.bytes());
    bytes
}

/// The byte ranges of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// `b`, the version, the rank, the element type.
    pub head: Range<usize>,
    /// Eight bytes for each dimension.
    pub dims: Range<usize>,
    /// The elements.
    pub data: Range<usize>,
    /// The element type.
    pub elem: ElemType,
    /// The extents.
    pub shape: Vec<usize>,
}

impl Component {
    /// Finds the value that starts at an offset.
    pub fn at(bytes: &[u8], start: usize) -> Result<Component, TextError> {
        let error = |at: usize, message: String| TextError { at, message };
        let take = |at: usize, count: usize, what: &str| {
            let left = bytes.len() - at;
            let message = format!("truncated: expected {count} bytes for {what}, found {left}");
            let range = (count <= left).then(|| at..at + count);
            range.ok_or_else(|| error(at, message))
        };
        let head = take(start, 7, "the head of a binary value")?;
        let at = head.end;
        let [b'b', version, rank, ref name @ ..] = bytes[head.clone()] else {
            return Err(error(start, "expected a binary value".to_owned()));
        };
        if version != VERSION {
            let message = format!("expected version {VERSION} of the format, found {version}");
            return Err(error(at, message));
        }
        let name = String::from_utf8_lossy(name);
        let elem = ElemType::from_name(name.trim_start())
            .ok_or_else(|| error(at, format!("unknown element type {name:?}")))?;
        let dims = take(at, usize::from(rank) * 8, "the sizes of the dimensions")?;
        let (extents, _) = bytes[dims.clone()].as_chunks::<8>();
        let extents = extents.iter().map(|extent| {
            let extent = i64::from_le_bytes(*extent);
            let wrong = |_| error(dims.end, format!("a dimension has the size {extent}"));
            usize::try_from(extent).map_err(wrong)
        });
        let shape = extents.collect::<Result<Vec<usize>, TextError>>()?;
        let size = HostValue::size(elem, &shape).ok_or_else(|| {
            let shape = found(&format!("{shape:?}"));
            error(dims.end, format!("an array of shape {shape} is too large"))
        })?;
        let data = take(dims.end, size, "the elements")?;
        Ok(Component {
            head,
            dims,
            data,
            elem,
            shape,
        })
    }
}

/// Finds all values in the bytes. `None` if the bytes are not a sequence of complete values.
#[must_use]
pub fn components(bytes: &[u8]) -> Option<Vec<Component>> {
    let mut components = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let component = Component::at(bytes, at).ok()?;
        at = component.data.end;
        components.push(component);
    }
    Some(components)
}

/// Decodes all values in the bytes. `None` if the bytes are not a sequence of complete values.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Vec<HostValue>> {
    let components = components(bytes)?.into_iter();
    let value = |one: Component| HostValue::new(one.elem, one.shape, bytes[one.data].to_vec());
    Some(components.map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{Taste, fill};
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
        assert_eq!(shown(parse(&contents, &[]).unwrap()), expected);
        assert_eq!(
            shown(parse(&contents, &[I32, F32, Bool]).unwrap()),
            expected
        );
    }

    #[test]
    fn a_binary_value_may_end_within_a_character() {
        let value = binary("u8", &[1], &[0xc3]);
        let contents = [b"1 ", &value[..], b"\xa2"].concat();
        let error = shown_error(parse(&contents, &[]));
        assert_eq!(error, "at byte 18: expected a value, found the end");
    }

    #[test]
    fn text_has_the_expected_type_or_its_own() {
        assert_eq!(shown(parse(b"3\n", &[I64]).unwrap()), ["3i64"]);
        assert_eq!(shown(parse(b"3\n", &[]).unwrap()), ["3i32"]);
        assert_eq!(shown(parse(b"3i32", &[I64]).unwrap()), ["3i32"]);
        assert!(parse(b"1.5", &[I64]).is_err());
    }

    #[test]
    fn truncated_and_unknown_values_are_errors() {
        let three = binary("i64", &[], &[3, 0, 0, 0, 0, 0, 0, 0]);
        let error = |contents: &[u8]| shown_error(parse(contents, &[I64]));
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
        assert_eq!(error(&more), "at byte 16: expected a value, found \"x\"");
        assert!(error(&binary("i63", &[], &[0; 8])).contains("unknown element type"));
        assert!(error(&[b'b', 1, 0, 0, 0, 0, 0]).contains("version 2"));
    }

    #[test]
    fn sizes_beyond_the_data_are_errors() {
        let error = |dims: &[i64]| shown_error(parse(&binary("i64", dims, &[]), &[]));
        assert!(error(&[-1]).contains("size -1"));
        assert!(error(&[1 << 40]).contains("truncated"));
        assert!(error(&[1 << 40, 1 << 40]).contains("is too large"));
        assert!(error(&[(1 << 61) - 1]).contains("truncated"));
        let empty = parse(&binary("i64", &[1 << 62, 3, 0], &[]), &[]).unwrap();
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

    #[test]
    fn values_round_trip() {
        let shapes: [&[usize]; 4] = [&[], &[3], &[2, 5], &[4, 0]];
        let mut values: Vec<HostValue> = ElemType::ALL
            .iter()
            .flat_map(|&elem| shapes.map(|shape| fill(1, elem, shape, Taste::Wild)))
            .collect();
        let signalling_nans = [0x7c01, 0xfdff];
        values.push(HostValue::of_bits(ElemType::F16, &[2], signalling_nans));
        let bytes: Vec<u8> = values.iter().flat_map(write).collect();
        assert_eq!(read(&bytes), Some(values));
        assert_eq!(read(&bytes[..bytes.len() - 1]), None);
        assert_eq!(read(&bytes[1..]), None);
        assert_eq!(read(&[]), Some(vec![]));
    }

    #[test]
    fn the_format_is_that_of_futhark_programs() {
        let value = fill(1, ElemType::I8, &[1], Taste::Tame);
        let bytes = write(&value);
        assert_eq!(&bytes[..15], b"b\x02\x01  i8\x01\0\0\0\0\0\0\0");
        assert_eq!(bytes.len(), 16);
    }

    #[test]
    fn components_are_found_one_after_another() {
        let mut body = b"b\x02\x00 i32\x07\x00\x00\x00b\x02\x01bool".to_vec();
        body.extend(3i64.to_le_bytes());
        body.extend([0, 1, 1]);
        let found = components(&body).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].data.clone(), found[0].elem), (7..11, I32));
        assert_eq!(
            (found[1].dims.clone(), found[1].data.clone()),
            (18..26, 26..29)
        );
        assert!(components(&body[..28]).is_none());
        assert!(components(&body[1..]).is_none());
        assert!(components(&[]).unwrap().is_empty());
    }
}
