//! Compiles interop.fut for the backends whose features are enabled.

use futhark_safe::{Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("interop.fut").backends_of_features().compile()
}
