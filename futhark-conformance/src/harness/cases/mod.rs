//! Test cases of the program's test blocks: their arguments and expected results.

pub mod expected;
mod input;
mod script;

pub use input::{Input, all_known_inputs, known_inputs, on_host, written};
