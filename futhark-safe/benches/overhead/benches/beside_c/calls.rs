//! Calls and transfers by the typed interface.

use std::hint::black_box;
use std::ops::Range;

use futhark_safe::{Backend, Config};
use futhark_safe_benches::calls::{ArrayPt, Context, PtFields};
use futhark_safe_benches::page::Budget;
use futhark_safe_benches::plain::Calls;

use crate::alternate::{Bench, variant};

/// Elements of transfers.
const SIZES: [usize; 4] = [1 << 10, 1 << 16, 1 << 20, 1 << 24];
/// Elements of arrays of records.
const RECORDS: usize = 1 << 20;
/// Elements of a page of memory.
const PAGE: usize = 4096 / size_of::<f32>();

pub fn measure(bench: &mut Bench, backend: Backend) {
    let typed = &Context::new(&Config::new().backend(backend)).expect("a context");
    let plain = &Calls::open(backend);

    let add = || {
        typed
            .entry()
            .add(black_box(1), black_box(2))
            .expect("a sum")
    };
    bench.alternate(backend, "call", 0, || {
        vec![
            variant("plain", Budget::None, || {
                plain.add(black_box(1), black_box(2))
            }),
            variant("typed", Budget::Above(25.0), add),
        ]
    });
    for elements in SIZES {
        let budget = Budget::Ratio(if elements < 1 << 16 { 1.35 } else { 1.03 });
        transfers(bench, backend, elements, budget, typed, plain);
    }

    let data = vec![1.0; SIZES[3]];
    bench.alternate(backend, "download to a new vector", SIZES[3], || {
        let (theirs, ours) = (plain.array(&data), typed.array(&data).expect("an array"));
        vec![
            variant("plain", Budget::None, move || theirs.copy_to_new_memory()),
            variant("to_vec", Budget::Ratio(0.5), move || {
                ours.to_vec().expect("a download")
            }),
        ]
    });
    records(bench, backend, typed, plain);
}

fn transfers(
    bench: &mut Bench,
    backend: Backend,
    n: usize,
    budget: Budget,
    typed: &Context,
    plain: &Calls,
) {
    let data: Vec<f32> = (0..n).map(|i| i as f32).collect();
    bench.alternate(backend, "upload", n, || {
        // A new array is where the last one was freed.
        let ours = typed.array(&data).expect("an array");
        let (ours, range) = placed(&data, ours.view().expect("a view").as_ptr());
        let (theirs, at) = placed(&data, plain.array(&data).address());
        vec![
            variant("plain", Budget::None, move || {
                plain.array(&theirs[at.clone()])
            }),
            variant("array", budget, move || {
                typed.array(&ours[range.clone()]).expect("an array")
            }),
        ]
    });
    bench.alternate(backend, "download", n, || {
        let (theirs, ours) = (plain.array(&data), typed.array(&data).expect("an array"));
        let (mut to, at) = placed(&data, theirs.address());
        let (mut to_ours, range) = placed(&data, ours.view().expect("a view").as_ptr());
        vec![
            variant("plain", Budget::None, move || {
                theirs.read_into(black_box(&mut to[at.clone()]));
            }),
            variant("read_into", budget, move || {
                let to = black_box(&mut to_ours[range.clone()]);
                ours.read_into(to).expect("a download");
            }),
        ]
    });
}

fn records(bench: &mut Bench, backend: Backend, typed: &Context, plain: &Calls) {
    let column: Vec<f32> = (0..RECORDS).map(|i| i as f32).collect();
    let rows: Vec<PtFields> = column.iter().map(|&x| PtFields { x, y: -x }).collect();
    // Plain C: the columns alone, from slices that hold them.
    bench.alternate(backend, "records from a slice", RECORDS, || {
        vec![
            variant("plain", Budget::None, || {
                (plain.array(&column), plain.array(&column))
            }),
            variant("from_slice", Budget::Ratio(1.2), || {
                ArrayPt::from_slice(typed, &rows).expect("an array")
            }),
        ]
    });
    bench.alternate(backend, "records to a vector", RECORDS, || {
        let theirs = plain.array(&column);
        let ours = ArrayPt::from_slice(typed, &rows).expect("an array");
        assert!(
            ours.to_vec().expect("a download") == rows,
            "the rows round-trip"
        );
        vec![
            variant("plain", Budget::None, move || {
                theirs.copy_to_new_memory();
                theirs.copy_to_new_memory();
            }),
            variant("to_vec", Budget::Ratio(1.2), move || {
                ours.to_vec().expect("a download")
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
