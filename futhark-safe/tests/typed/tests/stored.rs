//! Storing, restoring and validating values.

use futhark_safe::{Array, Backend, ErrorKind, OpaqueTag, Untrusted, f16};
use futhark_safe_typed_tests::{records, stored};

use super::support::{BACKENDS, context, lock_device};

/// A context on each backend.
fn contexts() -> Vec<stored::Context> {
    BACKENDS.iter().map(|&backend| context(backend)).collect()
}

fn array<T: futhark_safe::Element>(
    ctx: &stored::Context,
    data: &[T],
) -> Array<stored::Program, T, 1>
where
    stored::Program: futhark_safe::HasArray<T, 1>,
{
    ctx.array(data).unwrap()
}

fn mixed(ctx: &stored::Context) -> stored::Mixed {
    let words = ctx.array_nd([2, 3], &[1, 2, 3, 4, 5, 6]).unwrap();
    let half = f16::from_bits(0x7e01);
    ctx.entry().mixed(true, half, 1000, &words).unwrap()
}

/// Makes a value on every backend and expects equal bytes, then restores it on every backend and
/// runs `look` on it.
fn everywhere<G: OpaqueTag<Program = stored::Program>>(
    make: impl Fn(&stored::Context) -> G,
    look: impl Fn(&stored::Context, &G),
) {
    let _device = lock_device();
    let contexts = contexts();
    let mut first = None;
    for from in &contexts {
        let value = make(from);
        let stored = value.store().unwrap();
        assert!(stored == value.store().unwrap(), "stored twice");
        let bytes = stored.to_bytes().unwrap();
        assert_eq!(*first.get_or_insert_with(|| bytes.clone()), bytes);
        look(from, &value);
        let untrusted = Untrusted::from_bytes(&bytes).unwrap();
        assert_eq!(untrusted.type_name(), G::NAME);
        untrusted.check::<G>().unwrap();
        // SAFETY: `store` returned these bytes.
        let trusted = unsafe { untrusted.trust::<G>() }.unwrap();
        assert!(trusted == stored);
        for to in &contexts {
            let back = to.restore(&stored).unwrap();
            look(to, &back);
            assert!(stored == back.store().unwrap(), "restored and stored again");
            look(to, &to.restore(&trusted).unwrap());
        }
    }
}

#[test]
fn records_are_stored_and_restored() {
    everywhere(
        |ctx| ctx.entry().sizes(6, 7).unwrap(),
        |ctx, sizes| assert_eq!(ctx.entry().area(sizes).unwrap(), 42),
    );
    everywhere(mixed, |ctx, mixed| {
        assert_eq!(ctx.entry().sum_of(mixed).unwrap(), 1022);
    });
}

/// The runtime writes only the components of its variant into a new sum. The others must not
/// contain old bytes of the heap.
#[test]
fn equal_sums_are_stored_as_equal_bytes() {
    let _device = lock_device();
    for ctx in contexts() {
        let store = |fill: u8| {
            // Freed, so that the allocator returns memory with these bytes.
            let dirty: Vec<Vec<u8>> = (8..128).map(|size| vec![fill; size]).collect();
            drop(std::hint::black_box(dirty));
            let shape = stored::Shape::new(&ctx, &stored::ShapeVariant::Nothing).unwrap();
            shape.store().unwrap().to_bytes().unwrap()
        };
        let first = store(0);
        for fill in 1..=255 {
            assert_eq!(store(fill), first, "{}: {fill}", ctx.backend());
        }
    }
}

#[test]
fn a_small_value_has_the_documented_size() {
    let ctx: stored::Context = context(Backend::C);
    let stored = ctx.entry().sizes(6, 7).unwrap().store().unwrap();
    let (frame, body) = (stored.to_bytes().unwrap().len(), stored.body().len());
    assert_eq!(body, 2 * (7 + 8));
    assert_eq!(frame, 96 + "sizes".len() + body);
}

/// Misuse 14: storing waits for pending work, and restoring does not read the bytes after it
/// returns.
#[test]
fn transfers_are_complete_when_store_and_restore_return() {
    let _device = lock_device();
    for ctx in contexts() {
        let n = 4_000;
        let items = ctx.entry().items(n).unwrap();
        let stored = items.store().unwrap();
        drop(items);
        let last = stored.body().len() - 4;
        assert_eq!(stored.body()[last..], (n as i32 - 1).to_ne_bytes());
        let back = ctx.restore(&stored).unwrap();
        drop(stored);
        // A late read of the freed bytes would see these.
        let scribble = vec![0xa5u8; 1 << 20];
        let sum = (0..n as i32).fold(0i32, i32::wrapping_add);
        assert_eq!(ctx.entry().weight(&back).unwrap(), sum);
        drop(scribble);
    }
}

// --- Untrusted bytes --------------------------------------------------------------

/// The checksum, as documented in `stored`.
fn checksum(bytes: &[u8]) -> u64 {
    let mut s = 0xcbf2_9ce4_8422_2325u64;
    let mut word = |w: u64| {
        s = (s ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        s ^= s >> 32;
    };
    for part in [&bytes[..24], &bytes[32..]] {
        let mut padded = part.to_vec();
        padded.resize(part.len() / 8 * 8 + 8, 0);
        for chunk in padded.chunks(8) {
            word(u64::from_le_bytes(chunk.try_into().unwrap()));
        }
        word(part.len() as u64);
    }
    s
}

/// A consistent frame with any program, name and body.
pub fn forge(program: &str, name: &str, body: &[u8]) -> Untrusted {
    let mut bytes = b"\x89FUT\r\n\x1a\n\x01\x00".to_vec();
    bytes[9] = u8::from(cfg!(target_endian = "big"));
    bytes.extend((program.len() as u16).to_le_bytes());
    bytes.extend((name.len() as u32).to_le_bytes());
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend([program.as_bytes(), name.as_bytes(), body].concat());
    let sum = checksum(&bytes);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
    Untrusted::from_bytes(&bytes).expect("a consistent frame")
}

/// Stores a value and returns its key and body.
fn parts<G: OpaqueTag>(value: &G) -> (String, Vec<u8>) {
    let bytes = value.store().unwrap().to_bytes().unwrap();
    let untrusted = Untrusted::from_bytes(&bytes).unwrap();
    let (program, body) = (untrusted.program_id().to_owned(), untrusted.body().to_vec());
    assert!(
        forge(&program, G::NAME, &body) == untrusted,
        "the frame is as documented"
    );
    (program, body)
}

fn refused<G: OpaqueTag>(untrusted: Untrusted, why: &str) {
    let error = untrusted.check::<G>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Restore);
    assert!(error.to_string().contains(why), "{error}");
    // SAFETY: the call fails, so no value is made.
    assert!(unsafe { untrusted.trust::<G>() }.is_err());
}

#[test]
fn every_changed_bit_and_length_is_rejected() {
    let ctx: stored::Context = context(Backend::C);
    let good = mixed(&ctx).store().unwrap().to_bytes().unwrap();
    let refused = |bytes: &[u8]| {
        let error = Untrusted::from_bytes(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Restore, "{error}");
    };
    for i in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[i] ^= 1 << bit;
            refused(&bad);
        }
        refused(&good[..i]);
        let mut zeroed = good.clone();
        zeroed[i..].fill(0);
        if zeroed != good {
            refused(&zeroed);
        }
    }
    refused(&[&good[..], &[0]].concat());
    refused(&vec![0; good.len()]);
}

#[test]
fn another_program_or_type_is_rejected() {
    let ctx: stored::Context = context(Backend::C);
    let point = ctx.entry().point(1.0, 2.0).unwrap();
    let (program, body) = parts(&point);
    forge(&program, "pt", &body).check::<stored::Pt>().unwrap();
    // Same name and structure in another program.
    refused::<records::Pt>(forge(&program, "pt", &body), "another program");
    refused::<stored::Pt>(forge(&program[1..], "pt", &body), "another program");
    refused::<stored::Pt>(forge("", "pt", &body), "another program");
    // Same structure under another name.
    refused::<stored::Track>(
        forge(&program, "pt", &body),
        "expected a value of type track, got one of type pt",
    );
    refused::<stored::Pt>(forge(&program, "dot", &body), "got one of type dot");
}

/// Both have one type in the table, and only the runtime distinguishes them.
#[test]
fn a_u16_is_not_restored_as_an_f16() {
    let ctx: stored::Context = context(Backend::C);
    let (program, mut body) = parts(&mixed(&ctx));
    assert_eq!(body[8 + 3..8 + 7], *b" f16");
    body[8 + 4] = b'u';
    body[8 + 5..8 + 7].copy_from_slice(b"16");
    // SAFETY: the checks cover every field of a `mixed`.
    let stored = unsafe { forge(&program, "mixed", &body).trust::<stored::Mixed>() }.unwrap();
    assert_eq!(ctx.restore(&stored).unwrap_err().kind(), ErrorKind::Restore);
    assert_eq!(ctx.entry().sum_of(&mixed(&ctx)).unwrap(), 1022);
}

/// For types without an array in a payload, the checks are complete: each changed body in a
/// consistent frame is rejected, or is a valid value of the type.
#[test]
fn values_that_pass_the_checks_can_be_used() {
    fn changed<G: OpaqueTag<Program = stored::Program>>(
        contexts: &[stored::Context],
        value: G,
        use_it: impl Fn(&stored::Context, &G),
    ) -> (usize, usize) {
        let (program, good) = parts(&value);
        let (mut refused, mut used) = (0, 0);
        for i in 0..good.len() {
            let near = [good[i] ^ 1, good[i].wrapping_add(1)];
            for new in [0, 1, 2, 3, 0x7f, 0x80, 0xff].into_iter().chain(near) {
                let mut body = good.clone();
                body[i] = new;
                let untrusted = forge(&program, G::NAME, &body);
                // SAFETY: the checks are complete for this type, as this test shows.
                match unsafe { untrusted.trust::<G>() } {
                    Ok(stored) => {
                        for ctx in contexts {
                            let back = ctx.restore(&stored).unwrap();
                            assert_eq!(back.store().unwrap().body(), body);
                            use_it(ctx, &back);
                        }
                        used += 1;
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Restore);
                        refused += 1;
                    }
                }
            }
        }
        (refused, used)
    }
    let contexts: [stored::Context; 2] = [Backend::C, Backend::Multicore].map(context);
    let entry = contexts[0].entry();
    let sums = [
        changed(&contexts, mixed(&contexts[0]), |ctx, mixed| {
            ctx.entry().sum_of(mixed).unwrap();
        }),
        changed(&contexts, entry.circle(1.0).unwrap(), |ctx, shape| {
            assert!(ctx.entry().corners(shape).unwrap() < 3);
        }),
        changed(&contexts, entry.items(3).unwrap(), |ctx, items| {
            ctx.entry().weight(items).unwrap();
        }),
    ];
    for (refused, used) in sums {
        assert!(
            refused > 100 && used > 100,
            "{refused} refused, {used} used"
        );
    }
}

/// The reason why `trust` is `unsafe` (see SAFETY.md): no check compares the lengths of the parts
/// of an array in a payload.
#[test]
fn payloads_with_parts_of_different_lengths_pass_the_checks() {
    let ctx: stored::Context = context(Backend::C);
    let track = |n: usize| parts(&ctx.entry().track(&array(&ctx, &vec![1.0; n])).unwrap());
    let ((program, three), (_, one)) = (track(3), track(1));
    // The tag, then the two parts.
    let first = &three[..8 + (three.len() - 8) / 2];
    let second = &one[8 + (one.len() - 8) / 2..];
    let untrusted = forge(&program, "track", &[first, second].concat());
    untrusted.check::<stored::Track>().unwrap();
}

#[test]
fn wrong_tags_and_bools_are_rejected() {
    let ctx: stored::Context = context(Backend::C);
    let (program, mut body) = parts(&ctx.entry().circle(1.0).unwrap());
    for tag in [3, 77, 255] {
        body[7] = tag;
        refused::<stored::Shape>(
            forge(&program, "shape", &body),
            "but the type has 3 variants",
        );
    }
    let rs = array(&ctx, &[1.0, -1.0]);
    let (_, mut body) = parts(&ctx.entry().shapes(&rs).unwrap());
    body[7 + 8 + 1] = 3;
    refused::<stored::ArrayShape>(forge(&program, "[]shape", &body), "variant 3");
    // Inside of a record: a bool, an f16, then the tag.
    let (_, body) = parts(&mixed(&ctx));
    for (at, why) in [(7, "neither 0 nor 1"), (8 + 9 + 7, "variant 3")] {
        let mut body = body.clone();
        body[at] = 3;
        refused::<stored::Mixed>(forge(&program, "mixed", &body), why);
    }
}

#[test]
fn arrays_with_parts_of_different_lengths_are_rejected() {
    let ctx: stored::Context = context(Backend::C);
    let points = |n: usize| {
        let xs = array(&ctx, &vec![1.0; n]);
        parts(&ctx.entry().points(&xs, &xs).unwrap())
    };
    let ((program, three), (_, four)) = (points(3), points(4));
    let half = |body: &[u8]| body[..body.len() / 2].to_vec();
    let body = [half(&three), half(&four)].concat();
    refused::<stored::ArrayPt>(
        forge(&program, "[]pt", &body),
        "component 1 has shape [4], component 0 has [3]",
    );
    let body = [half(&three), half(&three)].concat();
    forge(&program, "[]pt", &body)
        .check::<stored::ArrayPt>()
        .unwrap();
}
