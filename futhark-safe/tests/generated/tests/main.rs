//! The generated modules compile, equal the committed ones, and reject mistakes.

mod fields;
mod golden;
mod many;
mod modules;
mod refusals;
