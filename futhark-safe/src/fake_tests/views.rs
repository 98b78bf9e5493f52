//! Views: memory that is read without the lock, while other threads call and consume.

use super::*;
use futhark_fake::{Flavour, World};

#[test]
fn a_view_never_changes() {
    let world = World::new();
    let core = world.core(Flavour::Host);
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

#[test]
fn gpu_backends_have_no_views() {
    let world = World::new();
    let core = world.core(Flavour::Gpu);
    assert!(ffi::view::<i32>(&ints(&core, &[1])).unwrap().is_none());
}

/// One thread reads the memory in place, another consumes values that share it.
#[test]
fn views_can_be_read_while_another_thread_calls() {
    let world = World::new();
    let core = world.core(Flavour::Host);
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
        assert_eq!(error.kind(), crate::ErrorKind::InvalidArgument, "{error}");
        let panics = || {
            ffi::create_of(
                &core,
                INTS,
                &[2],
                (0..2).map(|i| if i == 0 { i } else { panic!("stop") }),
            )
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(read(&make(1, 4..5).unwrap()).unwrap(), [4]);
    }
}
