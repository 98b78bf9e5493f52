//! Raw modules: plain C calls beside safe ones.
#![expect(unsafe_code, reason = "plain C calls are unsafe")]

mod backends;
mod ends;
mod nested;
mod support;
