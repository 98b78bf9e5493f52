//! The generated modules compile, equal the committed ones, and reject mistakes.

mod accepted;
mod fields;
mod golden;
mod many;
mod modules;
mod refusals;
