//! Calls and transfers by the typed interface.

use std::hint::black_box;
use std::ops::Range;

use futhark_safe::{Backend, Config};
use futhark_safe_benches::builds::Variant;
use futhark_safe_benches::calls::{ArrayPt, Context, PtFields};
use futhark_safe_benches::page::{Budget, Section};
use futhark_safe_benches::plain::Calls;

use crate::alternate::{Bench, variant};

/// Elements of transfers, and their budgets.
const SIZES: [(usize, f64); 4] = [
    (1 << 10, 1.35),
    (1 << 16, 1.03),
    (1 << 20, 1.03),
    (1 << 24, 1.03),
];
/// Elements of a page of memory.
const PAGE: usize = 4096 / size_of::<f32>();

const TEXT: &str = "The typed interface, and the hardened library for other languages, beside the same calls in plain C, which checks return codes and syncs. Times plain C, or \
                    how much more. Until a process starts its first thread, locks of glibc cost less: the call on c is \
                    measured before that, everything else after it.";

pub fn measure(bench: &mut Bench, backend: Backend) -> Section {
    let typed = &Context::new(&Config::new().backend(backend)).expect("a context");
    let plain = &Calls::open(backend, Variant::Plain);
    let library = &Calls::open(backend, Variant::Library);

    let add = || {
        typed
            .entry()
            .add(black_box(1), black_box(2))
            .expect("a sum")
    };
    bench.alternate(backend, "call", Budget::Above(25.0), || {
        vec![
            variant("plain", || plain.add(black_box(1), black_box(2))),
            variant("ours", add),
            variant("hardened library", || {
                library.add(black_box(1), black_box(2))
            }),
        ]
    });
    for (elements, limit) in SIZES {
        transfers(
            bench,
            backend,
            elements,
            Budget::Ratio(limit),
            typed,
            [plain, library],
        );
    }

    let data = vec![1.0; 1 << 24];
    let name = "download to a new vector 16 Mi";
    bench.alternate(backend, name, Budget::Ratio(0.5), || {
        let (theirs, ours) = (plain.array(&data), typed.array(&data).expect("an array"));
        let other = library.array(&data);
        vec![
            variant("plain", move || theirs.copy_to_new_memory()),
            variant("ours", move || ours.to_vec().expect("a download")),
            variant("hardened library", move || other.copy_to_new_memory()),
        ]
    });
    records(bench, backend, typed, [plain, library]);
    Section {
        title: format!("Calls and transfers on {backend}"),
        text: TEXT,
        rows: std::mem::take(&mut bench.rows),
    }
}

fn transfers(
    bench: &mut Bench,
    backend: Backend,
    n: usize,
    budget: Budget,
    typed: &Context,
    [plain, library]: [&Calls; 2],
) {
    let data: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let ki = n >> 10;
    bench.alternate(backend, &format!("upload {ki} Ki"), budget, || {
        // A new array is where the last one was freed.
        let ours = typed.array(&data).expect("an array");
        let (ours, range) = placed(&data, ours.view().expect("a view").as_ptr());
        let (theirs, at) = placed(&data, plain.array(&data).address());
        let (others, place) = placed(&data, library.array(&data).address());
        vec![
            variant("plain", move || plain.array(&theirs[at.clone()])),
            variant("ours", move || {
                typed.array(&ours[range.clone()]).expect("an array")
            }),
            variant("hardened library", move || {
                library.array(&others[place.clone()])
            }),
        ]
    });
    bench.alternate(backend, &format!("download {ki} Ki"), budget, || {
        let (theirs, ours) = (plain.array(&data), typed.array(&data).expect("an array"));
        let other = library.array(&data);
        let (mut to_other, place) = placed(&data, other.address());
        let (mut to, at) = placed(&data, theirs.address());
        let (mut to_ours, range) = placed(&data, ours.view().expect("a view").as_ptr());
        vec![
            variant("plain", move || {
                theirs.read_into(black_box(&mut to[at.clone()]));
            }),
            variant("ours", move || {
                let to = black_box(&mut to_ours[range.clone()]);
                ours.read_into(to).expect("a download");
            }),
            variant("hardened library", move || {
                other.read_into(black_box(&mut to_other[place.clone()]));
            }),
        ]
    });
}

fn records(bench: &mut Bench, backend: Backend, typed: &Context, [plain, library]: [&Calls; 2]) {
    let column: Vec<f32> = (0..1 << 20).map(|i| i as f32).collect();
    let rows: Vec<PtFields> = column.iter().map(|&x| PtFields { x, y: -x }).collect();
    let budget = Budget::Ratio(1.2);
    // Plain C: the columns alone, from slices that hold them.
    bench.alternate(backend, "1 Mi records from a slice", budget, || {
        vec![
            variant("plain", || (plain.array(&column), plain.array(&column))),
            variant("ours", || {
                ArrayPt::from_slice(typed, &rows).expect("an array")
            }),
            variant("hardened library", || {
                (library.array(&column), library.array(&column))
            }),
        ]
    });
    bench.alternate(backend, "1 Mi records to a vector", budget, || {
        let [theirs, other] = [plain, library].map(|calls| calls.array(&column));
        let ours = ArrayPt::from_slice(typed, &rows).expect("an array");
        assert!(
            ours.to_vec().expect("a download") == rows,
            "the rows round-trip"
        );
        vec![
            variant("plain", move || {
                theirs.copy_to_new_memory();
                theirs.copy_to_new_memory();
            }),
            variant("ours", move || ours.to_vec().expect("a download")),
            variant("hardened library", move || {
                other.copy_to_new_memory();
                other.copy_to_new_memory();
            }),
        ]
    });
}

/// Copies elements to where they have the same offset in a page as an array to or from which they are copied: with
/// different offsets in a cache line a copy of 256 KiB takes 7 % longer.
fn placed(elements: &[f32], other: *const f32) -> (Vec<f32>, Range<usize>) {
    let mut memory = vec![0.0; elements.len() + PAGE];
    let in_page = |address: usize| address / size_of::<f32>() % PAGE;
    let start = (PAGE + in_page(other.addr()) - in_page(memory.as_ptr().addr())) % PAGE;
    let range = start..start + elements.len();
    memory[range.clone()].copy_from_slice(elements);
    (memory, range)
}
