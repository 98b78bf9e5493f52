//! The faults, by the part of the C API that they break.

mod arrays;
mod contexts;
mod devices;
mod entries;
mod leaks;
mod opaques;
mod parallel;
mod waits;

use crate::fault::Fault;

/// Every fault.
pub fn all() -> Vec<Fault> {
    [
        arrays::FAULTS,
        opaques::FAULTS,
        entries::FAULTS,
        parallel::FAULTS,
        contexts::FAULTS,
        leaks::FAULTS,
        waits::FAULTS,
        devices::FAULTS,
    ]
    .concat()
}

/// A fault that a check finds as a wrong result.
const fn fault(
    name: &'static str,
    what: &'static str,
    (backend, program): (&'static str, &'static str),
    check: &'static str,
    rules: &'static [crate::fault::Rule],
) -> Fault {
    Fault {
        name,
        what,
        backend,
        device: "",
        program,
        rules,
        check,
        cause: "mismatch",
        case: "",
    }
}
