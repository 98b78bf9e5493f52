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
