//! Views: memory that is read without the lock, while other threads call and consume.

use super::*;

#[test]
fn a_view_never_changes() {
    let (_world, core) = world_and_core(Flavour::Host);
    let xs = ints(&core, &[1, 2, 3]);
    let alias = identity(&core, &xs).unwrap();
    let view = ffi::view::<i32>(&xs)
        .unwrap()
        .expect("the host can read it");
    let changed = set_first(&core, alias, 9).unwrap();
    assert_eq!(view, [1, 2, 3]);
    assert_eq!(ffi::view::<i32>(&changed).unwrap().unwrap(), [9, 2, 3]);
    assert!(ffi::view::<f32>(&xs).is_err());
}

/// One thread reads the memory in place, another consumes values that share it.
#[test]
fn views_can_be_read_while_another_thread_calls() {
    let (_world, core) = world_and_core(Flavour::Host);
    let xs = ints(&core, &[5, 6]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..times(500) as i32 {
                let alias = identity(&core, &xs).unwrap();
                assert_eq!(read(&set_first(&core, alias, i).unwrap()).unwrap(), [i, 6]);
            }
        });
        for _ in 0..times(500) {
            assert_eq!(ffi::view::<i32>(&xs).unwrap().unwrap(), [5, 6]);
        }
    });
    assert_eq!(read(&xs).unwrap(), [5, 6]);
}

/// Other values with the same memory, and constants, are not changed by writes.
#[test]
fn elements_are_written_in_place_only_if_nothing_shares_them() {
    let (_world, core) = world_and_core(Flavour::Host);
    let xs = ints(&core, &[1, 2, 3]);
    let alias = identity(&core, &xs).unwrap();
    let mut host = ffi::Host::<i32>::new(xs).unwrap();
    host.elements_mut().unwrap()[0] = 9;
    let place = host.elements().as_ptr();
    host.elements_mut().unwrap()[1] = 8;
    assert_eq!(host.elements(), [9, 8, 3]);
    assert_eq!(host.elements().as_ptr(), place);
    assert_eq!(read(&alias).unwrap(), [1, 2, 3]);
    let copies = core.copies();
    assert_eq!((copies.len(), copies[0].count), (1, 1));
    assert_eq!(copies[0].operation, "write elements");
    assert_eq!(copies[0].argument, "[]i32");
    assert_eq!(read(&host.into_array()).unwrap(), [9, 8, 3]);
}

#[test]
fn only_arrays_with_views_become_slices() {
    let (world, core) = world_and_core(Flavour::Gpu);
    let array = ffi::Host::<i32>::new(ints(&core, &[1])).unwrap_err();
    assert_eq!(read(&array).unwrap(), [1]);
    let core = world.core(Flavour::Host);
    assert!(ffi::Host::<f32>::new(ints(&core, &[1])).is_err());
    let mut empty = ffi::Host::<i32>::new(ints(&core, &[])).unwrap();
    assert!(empty.elements_mut().unwrap().is_empty());
}

/// Elements that were not written are never read, on any backend.
#[test]
fn arrays_are_made_of_iterators_that_are_long_enough() {
    let world = World::new();
    for flavour in [Flavour::Host, Flavour::Gpu] {
        let core = world.core(flavour);
        let make =
            |n: usize, values: std::ops::Range<i32>| ffi::create_of(&core, INTS, &[n], values);
        assert_eq!(read(&make(3, 5..8).unwrap()).unwrap(), [5, 6, 7]);
        assert_eq!(read(&make(2, 5..8).unwrap()).unwrap(), [5, 6]);
        assert!(read(&make(0, 0..0).unwrap()).unwrap().is_empty());
        let error = make(3, 5..7).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let stop = |i| if i == 0 { i } else { panic!("stop") };
        let panics = || ffi::create_of(&core, INTS, &[2], (0..2).map(stop));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(read(&make(1, 4..5).unwrap()).unwrap(), [4]);
    }
}

/// Whatever the order of the blocks, a column is handed out only when all its elements are written.
#[test]
fn columns_of_rows_are_complete_or_errors() {
    let world = World::new();
    let rows = [(1, 10), (2, 20), (3, 30), (4, 40), (5, 50)];
    for flavour in [Flavour::Host, Flavour::Gpu] {
        let core = world.core(flavour);
        let column = || ffi::NewArray::<i32>::start(&core, INTS, &[5]).unwrap();
        let (mut a, mut b) = (column(), column());
        for rows in [&rows[..2], &rows[2..3]] {
            ffi::fill_two(rows, (&mut a, &mut b), (|row| row.0, |row| row.1)).unwrap();
        }
        ffi::fill(&rows[3..], &mut a, |row| row.0).unwrap();
        // `b` has two elements left, `a` has none: nothing is written.
        let fields = (|row: &(i32, i32)| row.0, |row: &(i32, i32)| row.1);
        let error = ffi::fill_two(&rows[..1], (&mut b, &mut a), fields).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let refused = ffi::fill(&rows[..3], &mut b, |row| row.1);
        says(refused, ErrorKind::InvalidArgument, "2 elements left");
        ffi::fill(&rows[3..], &mut b, |row| row.1).unwrap();
        assert_eq!(read(&a.finish().unwrap()).unwrap(), [1, 2, 3, 4, 5]);
        assert_eq!(read(&b.finish().unwrap()).unwrap(), [10, 20, 30, 40, 50]);

        let mut short = column();
        ffi::fill(&rows[..4], &mut short, |row| row.0).unwrap();
        let words = "expected 5 elements, got 4";
        says(short.finish(), ErrorKind::InvalidArgument, words);
        let mut stopped = column();
        let stop = |row: &(i32, i32)| if row.0 < 3 { row.0 } else { panic!("stop") };
        let panics = || ffi::fill(&rows, &mut stopped, stop);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert!(stopped.finish().is_err());
    }
}

/// A failure that no call could report is reported before anything is written, and once.
#[test]
fn writing_elements_reports_an_earlier_failure() {
    let (world, core) = world_and_core(Flavour::Host);
    let mut host = ffi::Host::<i32>::new(ints(&core, &[1, 2])).unwrap();
    let other = ints(&core, &[3]);
    world.fail_frees(1);
    drop(other);
    let error = host.elements_mut().unwrap_err();
    assert!(error.is_from_earlier_call(), "{error}");
    assert!(error.to_string().contains("refused to free"), "{error}");
    assert_eq!(host.elements(), [1, 2]);
    host.elements_mut().unwrap()[0] = 9;
    assert_eq!(read(&host.into_array()).unwrap(), [9, 2]);
}

/// Only a copy needs the context.
#[test]
fn elements_of_a_lost_context_are_written_unless_they_are_shared() {
    let (_world, core) = world_and_core(Flavour::Host);
    let (xs, ys) = (ints(&core, &[1, 2]), ints(&core, &[3, 4]));
    let alias = identity(&core, &ys).unwrap();
    assert_eq!(fail(&core, 3).kind(), ErrorKind::ContextLost);
    let mut own = ffi::Host::<i32>::new(xs).unwrap();
    own.elements_mut().unwrap()[1] = 9;
    assert_eq!(own.elements(), [1, 9]);
    let mut shared = ffi::Host::<i32>::new(ys).unwrap();
    let error = shared.elements_mut().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
    assert_eq!(shared.elements(), [3, 4]);
    drop(alias);
    shared.elements_mut().unwrap()[0] = 5;
    assert_eq!(shared.elements(), [5, 4]);
}
