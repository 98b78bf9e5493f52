//! Replays regressions, and random operations from a fixed seed.

use std::panic::catch_unwind;
use std::sync::atomic::Ordering;

use futhark_safe_fuzz::user::{self, OP};

#[test]
fn operations_agree_with_the_model() {
    let fails = |operations: &[u8]| catch_unwind(|| user::run(operations)).is_err();
    let folder = std::fs::read_dir("regressions/user").into_iter().flatten();
    let files = folder.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    let mut random = fastrand::Rng::with_seed(7);
    let random = (0..300).map(|_| (0..64 * OP).map(|_| random.u8(..)).collect());
    for operations in files.chain(random) {
        if !fails(&operations) {
            continue;
        }
        // Leaves out each operation without which the sequence still fails.
        let mut least = operations;
        for i in (0..least.len() / OP).rev() {
            let shorter = [&least[..i * OP], &least[(i + 1) * OP..]].concat();
            if fails(&shorter) {
                least = shorter;
            }
        }
        user::VERBOSE.store(true, Ordering::Relaxed);
        fails(&least);
        panic!("the operations above fail: {least:?}");
    }
}
