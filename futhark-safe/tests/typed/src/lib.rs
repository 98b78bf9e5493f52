//! The programs of the tests, compiled by the build script.
#![forbid(unsafe_code)]

futhark_safe::include_program!(pub arrays);
futhark_safe::include_program!(pub basics);
futhark_safe::include_program!(pub elements);
futhark_safe::include_program!(pub names);
futhark_safe::include_program!(pub state);
futhark_safe::include_program!(pub stored);
futhark_safe::include_program!(pub records);
futhark_safe::include_program!(pub tuples);
futhark_safe::include_program!(pub sums);
futhark_safe::include_program!(pub record_arrays);
futhark_safe::include_program!(pub record_consumption);
futhark_safe::include_program!(pub record_nesting);
futhark_safe::include_program!(pub record_matrices);
futhark_safe::include_program!(pub opaque_arrays);
futhark_safe::include_program!(pub opaque_matrices);
futhark_safe::include_program!(pub first);
futhark_safe::include_program!(pub twin);
futhark_safe::include_program!(pub unary);
futhark_safe::include_program!(pub failures);
futhark_safe::include_program!(pub growing);
futhark_safe::include_program!(pub lost_constant);
