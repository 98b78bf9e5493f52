//! The typed interface, on every backend.

mod arrays;
mod batches;
mod checkpoint;
mod context;
mod elements;
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
