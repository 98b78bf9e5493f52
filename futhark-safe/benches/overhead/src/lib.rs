//! The compared programs: through the typed face, and as plain C.

pub mod plain;

futhark_safe::include_program!(pub bench);
futhark_safe::include_program!(pub bench_untrapped);
