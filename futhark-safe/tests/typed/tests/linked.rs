//! Tests of the dynamic interface that need no compiler at run time, for targets where none runs.

#[path = "../../failures.rs"]
mod failures;
#[path = "../../stored.rs"]
mod stored;
#[path = "../../support/mod.rs"]
pub mod support;
