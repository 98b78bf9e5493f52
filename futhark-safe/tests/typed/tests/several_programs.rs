//! Several programs and backends in one binary, and programs of two crates with one name.

use futhark_safe::Backend;
use futhark_safe_twin::twin as other_twin;
use futhark_safe_typed_tests::{first, twin};

use super::support::context;

#[test]
fn programs_with_equal_names_are_independent() {
    for backend in [Backend::C, Backend::Multicore] {
        let a: first::Context = context(backend);
        let b: twin::Context = context(backend);
        let c: other_twin::Context = context(backend);
        assert_eq!(a.backend(), backend);
        assert_eq!(a.entry().answer(5).unwrap(), 6);
        assert_eq!(b.entry().answer(5).unwrap(), 7);
        assert_eq!(c.entry().answer(5).unwrap(), 1005);
        let xs: Vec<i64> = (0..1000).collect();
        assert_eq!(a.entry().total(&a.array(&xs).unwrap()).unwrap(), 499_500);
        assert_eq!(b.entry().total(&b.array(&xs).unwrap()).unwrap(), 999_000);
        let same = c.entry().make(3).unwrap();
        assert_eq!(c.entry().take(&same).unwrap(), 3000);
    }
}

#[test]
fn two_backends_share_a_binary() {
    let c: first::Context = context(Backend::C);
    let multicore: first::Context = context(Backend::Multicore);
    let xs: Vec<i64> = (0..100_000).collect();
    let (a, b) = (c.array(&xs).unwrap(), multicore.array(&xs).unwrap());
    assert_eq!(
        c.entry().total(&a).unwrap(),
        multicore.entry().total(&b).unwrap()
    );
    // The array of the other context has the same type, so only the call detects this.
    let error = c.entry().total(&b).unwrap_err();
    assert_eq!(error.kind(), futhark_safe::ErrorKind::WrongContext);
}
