//! The version requirements of the workspace.

use std::path::Path;

use crate::common::read;

/// Cargo allows one version of a compatible series, so an upper bound within a series makes
/// resolution fail for users whose other dependencies need a later one. A bound between series is
/// fine: Cargo then takes two.
#[test]
fn no_requirement_has_an_upper_bound_within_a_series() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    for line in read(&manifest).lines() {
        for requirement in line.split('"').skip(1).step_by(2) {
            assert!(!requirement.starts_with(['=', '~']), "{line}");
            let Some((_, bound)) = requirement.split_once('<') else {
                continue;
            };
            // `1`, `2.0`, `0.18` and `0.18.0` begin a series; `2.7`, `0.18.1` and `=2` do not.
            let numbers = bound.trim().split('.').map(str::parse::<u32>);
            let mut numbers = numbers.skip_while(|number| *number == Ok(0));
            let begins = numbers.next().is_some_and(|number| number.is_ok());
            assert!(begins && numbers.all(|number| number == Ok(0)), "{line}");
        }
    }
}
