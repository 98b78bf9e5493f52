//! Runs the tests in `checks/` for each backend, since each has its own C types.

/// Includes the tests as a module in which `c` is the raw module of the backend.
macro_rules! checks {
    ($($module:ident, $backend:ident;)*) => {$(
        mod $module {
            use futhark_safe::{Backend, ErrorKind, Raw};
            use futhark_safe_raw_tests::stats::{self, raw::$module as c};
            use crate::support::{free_text, turn};

            const BACKEND: Backend = Backend::$backend;

            type Plain<'a> = Raw<'a, c::futhark_context>;

            include!("checks/calls.rs");
            include!("checks/failures.rs");
            include!("checks/values.rs");
        }
    )*};
}

checks! {
    c, C;
    multicore, Multicore;
    opencl, OpenCl;
}
