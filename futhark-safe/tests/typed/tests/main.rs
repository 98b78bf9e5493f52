//! The typed interface, on every backend, and the dynamic one with linked programs.

mod arrays;
mod batches;
mod checkpoint;
mod context;
mod elements;
mod linked;
mod opaque;
mod raw_memory;
mod several_programs;
mod state;
mod stored;
mod support;
mod unary;
mod usage;
mod values;
mod views;
