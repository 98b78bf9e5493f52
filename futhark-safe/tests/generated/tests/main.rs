//! The generated modules: they compile, are the committed ones, and refuse mistakes.

mod accepted;
mod golden;
mod many;
mod modules;
mod refusals;
