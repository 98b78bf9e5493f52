//! The checks of `checks/`, once per backend: each has C types of its own.
#![expect(unsafe_code, reason = "plain C is")]

mod support;

/// Includes a file of checks as a module, in which `c` is the backend's raw module.
macro_rules! checks {
    ($($module:ident, $backend:ident, $wrong:ident;)*) => {$(
        mod $module {
            use futhark_safe::{Backend, ErrorKind, Raw};
            use futhark_safe_raw_tests::stats::{self, raw::$module as c, raw::$wrong as wrong};
            use crate::support::turn;

            const BACKEND: Backend = Backend::$backend;

            type Plain<'a> = Raw<'a, c::futhark_context>;

            include!("checks/calls.rs");
            include!("checks/failures.rs");
            include!("checks/values.rs");
        }
    )*};
}

checks! {
    c, C, opencl;
    multicore, Multicore, c;
    opencl, OpenCl, multicore;
}
