//! Stored values as bytes: the frame of files and messages, as defined in [`crate::stored`], and in it the body, in the
//! format of the runtime.

use std::ops::Range;

use futhark_manifest::ElemType;
use futhark_sys::checksum::{checksum, little_endian};
use futhark_sys::table::Component;

use super::{Untrusted, fail};
use crate::error::{Result, counted};
use crate::ffi;

const MAGIC: [u8; 8] = *b"\x89FUT\r\n\x1a\n";
const VERSION: u8 = 1;
const HEAD: usize = 32;
/// The position of the checksum.
const SUM: Range<usize> = 24..32;

pub(super) fn write_frame(program: &str, type_name: &str, body: &[u8]) -> Result<Vec<u8>> {
    let (p, n) = (u16::try_from(program.len()), u32::try_from(type_name.len()));
    let (Ok(p), Ok(n)) = (p, n) else {
        let message = "the name of the program or type is too long for the frame";
        return Err(fail(message));
    };
    let size = HEAD + program.len() + type_name.len() + body.len();
    let mut bytes = ffi::try_vec(size, "store")?;
    bytes.extend(MAGIC);
    bytes.extend([VERSION, u8::from(cfg!(target_endian = "big"))]);
    bytes.extend(p.to_le_bytes());
    bytes.extend(n.to_le_bytes());
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend([0; SUM.end - SUM.start]);
    bytes.extend(program.as_bytes());
    bytes.extend(type_name.as_bytes());
    bytes.extend(body);
    let sum = checksum(&[&bytes[..SUM.start], &bytes[SUM.end..]]);
    bytes[SUM].copy_from_slice(&sum.to_le_bytes());
    Ok(bytes)
}

/// Parses and validates the output of [`write_frame`].
pub(super) fn read_frame(bytes: &[u8]) -> Result<Untrusted> {
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else {
        return Err(fail(format!(
            "not a stored value: expected more than {HEAD} bytes, got {}",
            bytes.len()
        )));
    };
    if head[..8] != MAGIC {
        return Err(fail("not a stored value: the magic number is missing"));
    }
    if head[8] != VERSION {
        return Err(fail(format!(
            "expected frame version {VERSION}, got {}",
            head[8]
        )));
    }
    let lengths = [
        little_endian(&head[10..12]),
        little_endian(&head[12..16]),
        little_endian(&head[16..24]),
    ];
    let wanted = lengths.iter().try_fold(0u64, |sum, &n| sum.checked_add(n));
    if wanted != Some(rest.len() as u64) {
        return Err(fail(format!(
            "truncated or too long: expected {} after the header, got {}",
            wanted.map_or_else(|| "2^64 or more bytes".into(), |n| counted(n, "byte")),
            rest.len()
        )));
    }
    if checksum(&[&head[..SUM.start], rest]) != little_endian(&head[SUM]) {
        return Err(fail("the checksum does not match: the bytes were changed"));
    }
    if head[9] != u8::from(cfg!(target_endian = "big")) {
        return Err(fail("the value was stored with another byte order"));
    }
    // Their sum is the length of `rest`.
    let (program, rest) = rest.split_at(lengths[0] as usize);
    let (type_name, body) = rest.split_at(lengths[1] as usize);
    let text =
        |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| fail("a name is not UTF-8"));
    Ok(Untrusted {
        program: text(program)?,
        type_name: text(type_name)?,
        body: body.to_vec(),
    })
}

/// The first bytes of a component of the body: `b`, and the version of the format.
const COMPONENT: [u8; 2] = [b'b', 2];

/// Validates all that the table describes: type and rank of each component, sizes that are
/// possible and equal where they must be, tags of variants that exist, bools that are 0 or 1, and
/// the total length.
///
/// The components of the value follow each other without gaps. Each consists of:
///
/// | bytes | content |
/// |---|---|
/// | 1 | `b` |
/// | 1 | version of the format: 2 |
/// | 1 | r: rank, 0 for a scalar |
/// | 4 | element type, with spaces in front: `" f32"`, `"bool"` |
/// | 8 r | size of each dimension |
/// | … | the elements in row-major order |
///
/// in native byte order. The runtime's own `restore` validates only the first seven bytes of each
/// component.
pub(super) fn check_body(body: &[u8], components: &[Component]) -> Result<()> {
    let mut rest = Reader { body, at: 0 };
    let mut shapes: Vec<Vec<usize>> = Vec::with_capacity(components.len());
    for (i, component) in components.iter().enumerate() {
        let shape = check_component(&mut rest, component)
            .map_err(|why| fail(format!("component {i}, at byte {}: {why}", rest.at)))?;
        if component.shared > 0 {
            let n = component.shared as usize;
            let like = shapes.get(component.like as usize);
            // `None` only if the table contradicts itself.
            let outer = like.and_then(|like| like.get(..n));
            if outer.is_none() || outer != shape.get(..n) {
                return Err(fail(format!(
                    "component {i} has shape {shape:?}, component {} has {:?}; their {} must be equal",
                    component.like,
                    like.map_or(&[][..], |like| like),
                    counted(n, "outer dimension")
                )));
            }
        }
        shapes.push(shape);
    }
    match body.len() - rest.at {
        0 => Ok(()),
        n => Err(fail(format!(
            "expected the end after the last component, got {}",
            counted(n, "more byte")
        ))),
    }
}

/// Reads one component and returns its shape.
fn check_component(rest: &mut Reader<'_>, component: &Component) -> Result<Vec<usize>, String> {
    let elem = *ElemType::ALL
        .get(component.elem as usize)
        .ok_or("the program's table has an unknown element type")?;
    let head = rest.take(7)?;
    if head[..2] != COMPONENT {
        return Err("it does not start with the header of a value".into());
    }
    if u32::from(head[2]) != component.rank {
        return Err(format!("expected rank {}, got {}", component.rank, head[2]));
    }
    if !is_named(&head[3..], elem) {
        return Err(format!(
            "expected element type {elem}, got {:?}",
            String::from_utf8_lossy(&head[3..])
        ));
    }
    let mut shape = Vec::with_capacity(component.rank as usize);
    for _ in 0..component.rank {
        let mut dim = [0; 8];
        dim.copy_from_slice(rest.take(8)?);
        let dim = i64::from_ne_bytes(dim);
        shape.push(usize::try_from(dim).map_err(|_| format!("negative dimension {dim}"))?);
    }
    let n = ffi::elements(&shape, elem).map_err(|error| error.to_string())?;
    // `elements` has checked the product for overflow.
    let data = rest.take(n * elem.size())?;
    if elem == ElemType::Bool && data.iter().any(|&byte| byte > 1) {
        return Err("a bool that is neither 0 nor 1".into());
    }
    if component.variants > 0
        && let Some(&tag) = data
            .iter()
            .find(|&&tag| u32::from(tag) >= component.variants)
    {
        return Err(format!(
            "it has variant {tag}, but the type has {}",
            counted(component.variants, "variant")
        ));
    }
    Ok(shape)
}

/// Whether the four bytes name the element type.
fn is_named(name: &[u8], elem: ElemType) -> bool {
    let is = |elem: ElemType| name == format!("{:>4}", elem.as_str()).as_bytes();
    // Both have the same C type, and the table has no other.
    is(elem) || elem == ElemType::U16 && is(ElemType::F16)
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let rest = &self.body[self.at..];
        let taken = rest
            .get(..n)
            .ok_or_else(|| format!("expected {}, got {}", counted(n, "more byte"), rest.len()))?;
        self.at += n;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use futhark_sys::table::{FUT_BOOL, FUT_F64, FUT_I8, FUT_I32, FUT_U16};

    use super::*;
    use crate::error::ErrorKind;

    const PROGRAM: &str = "0123456789abcdef0123456789abcdef";
    const TYPE: &str = "[]pt";
    const BODY: &[u8] = b"b\x02\x00 i32\x07\x00\x00\x00";

    fn written() -> Vec<u8> {
        write_frame(PROGRAM, TYPE, BODY).unwrap()
    }

    #[test]
    fn a_frame_is_read_as_written() {
        assert_eq!(written().len(), 64 + 4 + 11);
        for (program, ty, body) in [(PROGRAM, TYPE, BODY), ("", "", &[])] {
            let read = read_frame(&write_frame(program, ty, body).unwrap()).unwrap();
            let parts = (read.program_id(), read.type_name(), read.body());
            assert_eq!(parts, (program, ty, body));
        }
    }

    /// Compares with the documented table byte by byte. Only a new version may change this test.
    #[test]
    #[cfg(target_endian = "little")]
    fn the_frame_is_as_documented() {
        let bytes = written();
        assert_eq!(
            bytes[..24],
            *b"\x89FUT\r\n\x1a\n\x01\x00\x20\x00\x04\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00"
        );
        // Computed from the documentation by another implementation.
        assert_eq!(little_endian(&bytes[SUM]), 0xac5a_b6af_13b1_15a2);
        assert_eq!(&bytes[32..64], PROGRAM.as_bytes());
        assert_eq!(&bytes[64..68], b"[]pt");
        assert_eq!(&bytes[68..], BODY);
    }

    #[test]
    fn every_changed_byte_is_rejected() {
        let good = written();
        for i in 0..good.len() {
            for change in 1..=255 {
                let mut bad = good.clone();
                bad[i] ^= change;
                let error = read_frame(&bad).err().unwrap();
                assert_eq!(error.kind(), ErrorKind::Restore, "byte {i}: {error}");
            }
        }
    }

    #[test]
    fn truncated_extended_and_zeroed_frames_are_rejected() {
        let good = written();
        for n in 0..good.len() {
            assert!(read_frame(&good[..n]).is_err(), "{n} bytes");
            let mut zeroed = good.clone();
            zeroed[n..].fill(0);
            assert!(
                zeroed == good || read_frame(&zeroed).is_err(),
                "zeros from {n} on"
            );
        }
        let longer = [&good[..], &[0]].concat();
        assert!(read_frame(&longer).is_err());
        assert!(read_frame(&[0; 200]).is_err());
    }

    /// A plain sum or product misses two flips of one bit in two words.
    #[test]
    fn pairs_of_bit_flips_are_rejected() {
        let body: Vec<u8> = (0..64).collect();
        let good = write_frame(PROGRAM, TYPE, &body).unwrap();
        let bits = good.len() * 8;
        let flip = |bytes: &mut [u8], bit: usize| bytes[bit / 8] ^= 1 << (bit % 8);
        for one in 0..bits {
            for other in one + 1..bits {
                let mut bad = good.clone();
                flip(&mut bad, one);
                flip(&mut bad, other);
                assert!(read_frame(&bad).is_err(), "bits {one} and {other}");
            }
        }
    }

    fn component(elem: u32, rank: u32) -> Component {
        Component {
            elem,
            rank,
            variants: 0,
            like: 0,
            shared: 0,
            offset: 0,
            shape: 0,
        }
    }

    fn bytes(name: &str, dims: &[i64], data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![b'b', 2, dims.len() as u8];
        bytes.extend(name.as_bytes());
        bytes.extend(dims.iter().flat_map(|dim| dim.to_ne_bytes()));
        bytes.extend(data);
        bytes
    }

    fn refused(body: &[u8], components: &[Component], why: &str) {
        let error = check_body(body, components).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }

    #[test]
    fn bodies_of_another_length_are_rejected() {
        let all = [component(FUT_F64, 0), component(FUT_I32, 2)];
        let body = [
            bytes(" f64", &[], &[0; 8]),
            bytes(" i32", &[2, 3], &[7; 24]),
        ]
        .concat();
        check_body(&body, &all).unwrap();
        for n in 0..body.len() {
            refused(&body[..n], &all, "more bytes");
        }
        refused(&[&body[..], &[0]].concat(), &all, "expected the end");
        refused(&body, &all[..1], "expected the end");
        refused(&body, &[all[1], all[0]], "got 0");
    }

    #[test]
    fn other_types_and_versions_are_rejected() {
        let i32 = [component(FUT_I32, 0)];
        check_body(&bytes(" i32", &[], &[0; 4]), &i32).unwrap();
        refused(
            &bytes(" u32", &[], &[0; 4]),
            &i32,
            "expected element type i32, got \" u32\"",
        );
        refused(&bytes("i32 ", &[], &[0; 4]), &i32, "element type");
        let mut other = bytes(" i32", &[], &[0; 4]);
        other[1] = 3;
        refused(&other, &i32, "does not start");
        let u16 = [component(FUT_U16, 0)];
        check_body(&bytes(" f16", &[], &[0; 2]), &u16).unwrap();
        refused(&bytes(" i16", &[], &[0; 2]), &u16, "element type");
    }

    #[test]
    fn impossible_sizes_are_rejected() {
        let array = [component(FUT_I32, 2)];
        for dims in [[-1, 1], [1, i64::MIN], [-1, -1]] {
            refused(&bytes(" i32", &dims, &[]), &array, "negative dimension -");
        }
        for dims in [[1 << 32, 1 << 32], [0, i64::MAX], [1 << 62, 4]] {
            refused(&bytes(" i32", &dims, &[]), &array, "larger than any memory");
        }
        refused(&bytes(" i32", &[1 << 40, 1], &[]), &array, "more bytes");
        check_body(&bytes(" i32", &[0, 5], &[]), &array).unwrap();
    }

    #[test]
    fn bools_other_than_0_and_1_are_rejected() {
        let array = [component(FUT_BOOL, 1)];
        check_body(&bytes("bool", &[3], &[0, 1, 1]), &array).unwrap();
        refused(&bytes("bool", &[3], &[0, 2, 1]), &array, "neither 0 nor 1");
    }

    #[test]
    fn tags_without_a_variant_are_rejected() {
        for (rank, dims) in [(0, &[][..]), (1, &[2][..])] {
            let tags = Component {
                variants: 3,
                ..component(FUT_I8, rank)
            };
            let body = |tag: u8| bytes("  i8", dims, &vec![tag; if rank == 0 { 1 } else { 2 }]);
            check_body(&body(2), &[tags]).unwrap();
            refused(&body(3), &[tags], "variant 3, but the type has 3");
            refused(&body(255), &[tags], "variant 255");
        }
    }

    #[test]
    fn different_outer_dimensions_are_rejected() {
        let like = Component {
            like: 0,
            shared: 1,
            ..component(FUT_I32, 2)
        };
        let all = [component(FUT_I32, 1), like];
        let body = |n: i64| {
            let first = bytes(" i32", &[2], &[0; 8]);
            [first, bytes(" i32", &[n, 1], &vec![0; 4 * n as usize])].concat()
        };
        check_body(&body(2), &all).unwrap();
        refused(&body(1), &all, "their 1 outer dimension must be equal");
        refused(&body(3), &all, "component 1 has shape [3, 1]");
    }
}
