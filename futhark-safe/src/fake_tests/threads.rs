//! Threads: one call at a time, and drops that never wait.

use super::*;

/// Runs `body` while a call has the lock of the context. Returns the length of `xs`, as the call does.
fn during_a_call(world: &World, core: &Arc<Core>, xs: &Handle, body: impl FnOnce()) -> i32 {
    std::thread::scope(|scope| {
        let call = scope.spawn(|| int(core, "entry_gated", [Input::Observed(xs)]));
        world.await_gated();
        body();
        world.open_gate();
        call.join().unwrap().unwrap()
    })
}

/// While a call runs, values are dropped without waiting for it, and freed when it ends.
#[test]
fn a_drop_does_not_wait_for_a_call() {
    for (world, core) in each_flavour() {
        let xs = ints(&core, &[1, 2, 3]);
        let dropped: Vec<Handle> = (0..10).map(|i| ints(&core, &[i])).collect();
        let length = during_a_call(&world, &core, &xs, || {
            drop(dropped);
            assert_eq!(world.values(), 11, "the running call holds the lock");
        });
        assert_eq!(length, 3);
        // No other call was needed to free them.
        assert_eq!(world.values(), 1);
    }
}

/// The same holds after a failure, once that is reported.
#[test]
fn a_download_on_a_host_backend_does_not_wait_for_a_call() {
    in_time(|| {
        let (world, core) = world_and_core(Flavour::Host);
        let xs = ints(&core, &[1, 2, 3]);
        for fails in [false, true] {
            if fails {
                world.fail_frees(1);
                drop(ints(&core, &[4]));
                reports_free(read(&xs));
            }
            let reads = || assert_eq!(read(&xs).unwrap(), [1, 2, 3]);
            during_a_call(&world, &core, &xs, reads);
            world.close_gate();
        }
    });
}

/// The context itself is dropped while its last call runs elsewhere.
#[test]
fn the_context_is_freed_with_its_last_user() {
    for (world, core) in each_flavour() {
        let xs = ints(&core, &[1, 2]);
        let ys = ints(&core, &[3]);
        std::thread::scope(|scope| {
            let theirs = scope.spawn(move || {
                let core = Arc::clone(xs.core());
                int(&core, "entry_gated", [Input::Consumed(xs)])
            });
            world.await_gated();
            drop(core);
            drop(ys);
            assert_eq!(world.contexts(), 1);
            world.open_gate();
            assert_eq!(theirs.join().unwrap().unwrap(), 2);
        });
        assert_eq!((world.contexts(), world.values()), (0, 0));
    }
}

#[test]
fn the_failure_of_a_deferred_free_is_reported() {
    let (world, core) = world_and_core(Flavour::Host);
    let (xs, dropped) = (ints(&core, &[1]), ints(&core, &[2]));
    during_a_call(&world, &core, &xs, || {
        world.fail_frees(1);
        drop(dropped);
    });
    reports_free(total(&core, &xs));
    assert_eq!(total(&core, &xs).unwrap(), 1);
}

#[test]
fn each_thread_gets_the_errors_of_its_calls() {
    let (_world, core) = world_and_core(Flavour::Host);
    let shared = ints(&core, &[5, 6]);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (core, shared) = (&core, &shared);
            scope.spawn(move || {
                for i in 0..times(500) as i32 {
                    match thread {
                        0 => assert_eq!(fail(core, 0).kind(), ErrorKind::Program),
                        1 => assert_eq!(fail(core, 2).kind(), ErrorKind::OutOfMemory),
                        2 => {
                            let alias = identity(core, shared).unwrap();
                            let changed = set_first(core, alias, i).unwrap();
                            assert_eq!(read(&changed).unwrap(), [i, 6]);
                        }
                        _ => assert_eq!(total(core, shared).unwrap(), 11),
                    }
                }
            });
        }
    });
    assert_eq!(read(&shared).unwrap(), [5, 6]);
}

/// Values are dropped on another thread while both threads make calls.
#[test]
fn values_can_be_dropped_on_another_thread() {
    let world = World::new();
    for _ in 0..times(50) {
        let core = world.core(Flavour::Host);
        let (give, take) = std::sync::mpsc::channel::<Handle>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for (i, value) in take.into_iter().enumerate() {
                    if i % 3 == 0 {
                        assert_eq!(value.core().table().backend(), "c");
                        read(&value).unwrap();
                    }
                }
            });
            for i in 0..times(100).max(4) as i32 {
                give.send(ints(&core, &[i])).unwrap();
            }
            // The last handle may keep the context alive on the other thread.
            drop((give, core));
        });
        assert_eq!((world.contexts(), world.values()), (0, 0));
    }
}
