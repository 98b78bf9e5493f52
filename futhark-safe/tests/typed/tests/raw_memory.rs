//! Raw memory of a backend, in both directions.
#![expect(unsafe_code, reason = "tests unsafe functions")]

use std::ffi::c_void;

use futhark_safe::__private::{observed, slot};
use futhark_safe::{Backend, ErrorKind, RawMemory};
use futhark_safe_typed_tests::arrays::{self, Array};

use super::support::{each, says};

/// The memory of an array that outlives its use.
fn memory(lender: &Array<i32, 1>) -> RawMemory {
    // SAFETY: every test keeps `lender` until the end, and only reads the memory.
    unsafe { lender.raw_memory() }.unwrap()
}

/// An array of length `n` on borrowed memory.
fn borrowed(ctx: &arrays::Context, memory: RawMemory, n: usize) -> Array<i32, 1> {
    // SAFETY: the tests pass memory of a lender of this length, which they keep and do not
    // change.
    unsafe { ctx.array_from_raw([n], memory) }.unwrap()
}

#[test]
fn borrowed_memory_is_read_and_never_written_or_freed() {
    each(|ctx: arrays::Context| {
        let entry = ctx.entry();
        let lender = ctx.array(&[1, 2, 3]).unwrap();
        for _ in 0..3 {
            let xs = borrowed(&ctx, memory(&lender), 3);
            assert_eq!((xs.shape(), xs.to_vec().unwrap()), ([3], vec![1, 2, 3]));
            assert_eq!(entry.sum(&xs).unwrap(), 6);
            let alias = entry.alias(&xs).unwrap();
            let pair = entry.pair(&xs, &alias).unwrap();
            let field = entry.left(&pair).unwrap();
            let copy = xs.try_clone().unwrap();
            for consumed in [xs, alias, field, copy] {
                let changed = entry.set_first(consumed, 99).unwrap();
                assert_eq!(changed.to_vec().unwrap(), [99, 2, 3]);
            }
            assert_eq!(entry.poke(pair, 98).unwrap().get(0).unwrap(), 98);
            ctx.clear_caches().unwrap();
            assert_eq!(lender.to_vec().unwrap(), [1, 2, 3]);
        }
    });
}

/// The runtime reads the reference count of each field, which raw arrays lack.
#[test]
fn borrowed_memory_can_be_part_of_a_record() {
    each(|ctx: arrays::Context| {
        let lender = ctx.array(&[4, 5]).unwrap();
        let xs = borrowed(&ctx, memory(&lender), 2);
        let mut made = 0;
        // Two functions return a pair of two arrays: the entry point and the constructor.
        for function in 0.. {
            let mut slot = slot::<arrays::Pair>();
            let inputs = [observed(&xs), observed(&xs)];
            match ctx.__call(function, inputs, &mut [slot.output()]) {
                Ok(()) => {
                    let pair = slot.finish();
                    assert_eq!(ctx.entry().left(&pair).unwrap().to_vec().unwrap(), [4, 5]);
                    made += 1;
                }
                Err(error) if error.to_string().contains("no function of this number") => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}"),
            }
        }
        assert_eq!(made, 2);
        drop(xs);
        assert_eq!(lender.to_vec().unwrap(), [4, 5]);
    });
}

#[test]
fn host_memory_of_the_caller_is_not_copied() {
    each(|ctx: arrays::Context| {
        if ctx.backend() == Backend::OpenCl {
            return;
        }
        let own: Vec<i32> = (0..1000).collect();
        let address = RawMemory::Host(own.as_ptr().cast_mut().cast());
        let xs = borrowed(&ctx, address, own.len());
        assert_eq!(xs.view().unwrap().as_ptr(), own.as_ptr(), "no copy");
        assert_eq!(memory(&xs), address);
        let changed = ctx.entry().set_first(xs, -1).unwrap();
        assert_eq!(changed.get(0).unwrap(), -1);
        assert!(own.iter().copied().eq(0..1000));
    });
}

#[test]
fn wrong_memory_is_rejected() {
    each(|ctx: arrays::Context| {
        let lender = ctx.array(&[1, 2, 3]).unwrap();
        let wrong = match memory(&lender) {
            RawMemory::Host(_) => RawMemory::Cuda(4096),
            _ => RawMemory::Host(std::ptr::dangling_mut::<i32>().cast()),
        };
        let null: *mut c_void = std::ptr::null_mut();
        let null = match memory(&lender) {
            RawMemory::Host(_) => RawMemory::Host(null),
            _ => RawMemory::OpenCl(null),
        };
        let mut cases = vec![
            (wrong, 3, "expected memory of backend"),
            (null, 3, "3 elements, but the memory is null"),
            (memory(&lender), usize::MAX, "larger than any memory"),
        ];
        if let RawMemory::Host(address) = memory(&lender) {
            let odd = RawMemory::Host(address.wrapping_byte_add(1));
            cases.push((odd, 2, "not aligned for element type i32"));
        }
        for (memory, n, words) in cases {
            // SAFETY: the call rejects the memory without reading it.
            says(
                unsafe { ctx.array_from_raw::<i32, 1>([n], memory) },
                ErrorKind::InvalidArgument,
                words,
            );
        }
        // An array without elements needs no memory.
        // SAFETY: as above.
        let none = unsafe { ctx.array_from_raw::<i32, 1>([0], null) }.unwrap();
        assert!(none.is_empty() && none.to_vec().unwrap().is_empty());
        let kind = match ctx.backend() {
            Backend::OpenCl => matches!(memory(&lender), RawMemory::OpenCl(_)),
            _ => matches!(memory(&lender), RawMemory::Host(_)),
        };
        assert!(kind, "{:?}", memory(&lender));
    });
}
