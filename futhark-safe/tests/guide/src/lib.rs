//! The programs of the guide, and its pages, whose snippets are documentation tests.
#![forbid(unsafe_code)]

futhark_safe::include_program!(pub checks);
futhark_safe::include_program!(pub matrix);
futhark_safe::include_program!(pub scene);
futhark_safe::include_program!(pub sim);
futhark_safe::include_program!(pub stats);

#[cfg(doctest)]
include!(concat!(env!("OUT_DIR"), "/pages.rs"));
