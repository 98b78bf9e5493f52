//! Batches. On a GPU the fake program completes their transfers at the next wait, and reports a
//! violation if the data of an upload has changed by then.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::Error;
use ffi::{Batch, Downloaded, batch};

fn upload<'env>(batch: &Batch<'env>, data: &'env [i32]) -> Handle {
    batch.create(INTS, &[data.len()], data.into()).unwrap()
}

fn taken(place: &Downloaded<i32>) -> Option<Vec<i32>> {
    place.lock().unwrap().take()
}

/// An error of a closure.
fn own() -> Error {
    Error::new(ErrorKind::InvalidArgument, "a closure", "stopped")
}

#[test]
fn transfers_are_complete_when_a_batch_ends() {
    for flavour in FLAVOURS {
        let (_world, core) = world_and_core(flavour);
        let mut data = vec![1, 2, 3];
        let (mut out, place) = (vec![0; 3], Downloaded::default());
        let kept = batch(&core, |batch| {
            let xs = upload(batch, &data);
            let owned: Cow<'_, [i32]> = vec![4, 5].into();
            let ys = batch.create(INTS, &[2], owned)?;
            batch.read_into(&xs, &mut out)?;
            batch.read_vec(&ys, &place)?;
            if flavour == Flavour::Gpu {
                assert_eq!(taken(&place), None);
            }
            drop(ys);
            Ok(xs)
        });
        let kept = kept.unwrap();
        data.fill(9);
        assert_eq!(out, [1, 2, 3]);
        assert_eq!(taken(&place).unwrap(), [4, 5]);
        assert_eq!(read(&kept).unwrap(), [1, 2, 3]);
    }
}

#[test]
fn a_batch_waits_after_its_closure_failed_or_panicked() {
    for (_world, core) in each_flavour() {
        let data = vec![1, 2, 3];
        let mut out = vec![0; 3];
        let result = batch(&core, |batch| {
            batch.read_into(&upload(batch, &data), &mut out)?;
            Err::<(), _>(own())
        });
        assert_eq!(result.unwrap_err().operation(), "a closure");
        assert_eq!(out, data);
        out.fill(0);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            batch(&core, |batch| -> Result<()> {
                batch.read_into(&upload(batch, &data), &mut out)?;
                panic!("a test")
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(out, data);
    }
}

#[test]
fn the_wait_of_a_batch_reports_pending_failures() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let (xs, is) = (vec![1, 2], vec![0, 7]);
    let mut out = vec![0; 2];
    let mut kept = None;
    let result = batch(&core, |batch| {
        let (on_device, is) = (upload(batch, &xs), upload(batch, &is));
        let ys = gather(&core, &on_device, &is)?;
        batch.read_into(&ys, &mut out)?;
        kept = Some((on_device, ys));
        Ok(())
    });
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Program);
    assert_eq!(error.operation(), "batch");
    let (on_device, ys) = kept.unwrap();
    for value in [&on_device, &ys] {
        assert_eq!(read(value).unwrap_err().kind(), ErrorKind::Program);
    }
    drop((on_device, ys));
    // A closure that fails, too: both are reported.
    let result = batch(&core, |batch| {
        let (xs, is) = (upload(batch, &xs), upload(batch, &is));
        gather(&core, &xs, &is)?;
        Err::<(), _>(own())
    });
    let error = result.unwrap_err();
    assert_eq!(error.operation(), "a closure");
    assert_eq!(error.also().unwrap().kind(), ErrorKind::Program);
    // A closure that panics: the next call reports the failure.
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        batch(&core, |batch| -> Result<()> {
            let (xs, is) = (upload(batch, &xs), upload(batch, &is));
            gather(&core, &xs, &is)?;
            panic!("a test")
        })
    }));
    assert!(panicked.is_err());
    let error = sync(&core).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Program);
    assert!(error.is_from_earlier_call());
    sync(&core).unwrap();
}

/// The wait of another thread, or one whose error the closure ignores.
#[test]
fn a_failure_that_another_wait_has_reported_fails_the_batch() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let (xs, is) = (vec![1, 2], vec![0, 7]);
    let (mut out, place) = (vec![0; 2], Downloaded::default());
    let result = batch(&core, |batch| {
        let (xs, is) = (upload(batch, &xs), upload(batch, &is));
        let ys = gather(&core, &xs, &is)?;
        batch.read_into(&ys, &mut out)?;
        batch.read_vec(&ys, &place)?;
        std::thread::scope(|scope| {
            let error = scope.spawn(|| sync(&core)).join().unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Program);
        });
        Ok(())
    });
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Program);
    assert!(error.is_from_earlier_call());
    assert_eq!(taken(&place), None);
    // Without a transfer before the failure, there is nothing to report.
    let ok = batch(&core, |batch| {
        assert!(bad_gather(&core).is_ok());
        assert!(sync(&core).is_err());
        let mut out = [0];
        let xs = upload(batch, &[5]);
        ffi::read_into(&xs, &mut out)?;
        Ok(out)
    });
    assert_eq!(ok.unwrap(), [5]);
}

#[test]
fn refused_transfers_leave_the_batch_usable() {
    for flavour in FLAVOURS {
        let world = World::new();
        let (core, other) = (world.core(flavour), world.core(flavour));
        let theirs = ints(&other, &[1, 2]);
        let (mut two, mut three) = ([0; 2], [0; 3]);
        let (mut theirs_out, mut wrong) = ([0; 2], [0.0f32; 2]);
        batch(&core, |batch| {
            let xs = upload(batch, &[1, 2]);
            let kind = |result: Result<()>| result.unwrap_err().kind();
            let invalid = ErrorKind::InvalidArgument;
            assert_eq!(kind(batch.read_into(&xs, &mut three)), invalid);
            assert_eq!(kind(batch.read_into(&xs, &mut wrong)), invalid);
            let theirs = batch.read_into(&theirs, &mut theirs_out);
            assert_eq!(kind(theirs), ErrorKind::WrongContext);
            let shape = batch.create(INTS, &[3], Cow::from(vec![1i32, 2]));
            assert_eq!(kind(shape.map(drop)), invalid);
            batch.read_into(&xs, &mut two)
        })
        .unwrap();
        assert_eq!(two, [1, 2]);
    }
}

#[test]
fn batches_are_nested() {
    for flavour in FLAVOURS {
        let world = World::new();
        let (core, other) = (world.core(flavour), world.core(flavour));
        let (outer, inner, theirs) = (
            Downloaded::default(),
            Downloaded::default(),
            Downloaded::default(),
        );
        batch(&core, |a| {
            a.read_vec(&upload(a, &[1]), &outer)?;
            batch(&core, |b| b.read_vec(&upload(b, &[2]), &inner))?;
            batch(&other, |c| c.read_vec(&upload(c, &[3]), &theirs))?;
            assert_eq!(taken(&inner).unwrap(), [2]);
            assert_eq!(taken(&theirs).unwrap(), [3]);
            // Its batch has not ended, though the device has finished.
            assert_eq!(taken(&outer), None);
            Ok(())
        })
        .unwrap();
        assert_eq!(taken(&outer).unwrap(), [1]);
    }
}

#[test]
fn threads_share_a_batch() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let data: Vec<Vec<i32>> = (0..4).map(|i| vec![i; 3]).collect();
    let mut out = vec![vec![0; 3]; 4];
    batch(&core, |batch| {
        std::thread::scope(|scope| {
            for (data, out) in data.iter().zip(&mut out) {
                scope.spawn(move || {
                    for _ in 0..times(20) {
                        upload(batch, data);
                    }
                    batch.read_into(&upload(batch, data), out).unwrap();
                });
            }
        });
        Ok(())
    })
    .unwrap();
    assert_eq!(out, data);
}

/// The driver can still wait, so the transfers are complete before their memory is returned.
#[test]
fn a_batch_of_a_lost_context_waits_for_the_driver() {
    let (_world, core) = world_and_core(Flavour::Gpu);
    let data = vec![1, 2];
    let (mut out, place) = (vec![0; 2], Downloaded::default());
    let result = batch(&core, |batch| {
        let xs = upload(batch, &data);
        batch.read_into(&xs, &mut out)?;
        batch.read_vec(&xs, &place)?;
        let inputs = [scalar(3i32), Input::Consumed(xs)];
        value(&core, "entry_fail", inputs)
    });
    assert_eq!(result.unwrap_err().kind(), ErrorKind::ContextLost);
    assert_eq!(out, data);
    assert_eq!((taken(&place), Arc::strong_count(&place)), (None, 1));
}

/// `ci/sanitize` skips this test, because it leaks memory.
#[test]
fn memory_that_a_broken_driver_can_access_is_leaked() {
    let (world, core) = world_and_core(Flavour::Gpu);
    let place = Downloaded::default();
    let result = batch(&core, |batch| {
        let xs = upload(batch, &[1, 2]);
        batch.read_vec(&xs, &place)?;
        world.break_driver();
        let inputs = [scalar(3i32), Input::Consumed(xs)];
        value(&core, "entry_fail", inputs)
    });
    assert_eq!(result.unwrap_err().kind(), ErrorKind::ContextLost);
    assert_eq!((taken(&place), Arc::strong_count(&place)), (None, 2));
}
