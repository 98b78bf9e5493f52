//! Raw modules: plain C calls beside safe ones.
#![expect(unsafe_code, reason = "plain C is")]

mod backends;
mod ends;
mod several_programs;
mod support;
