use futhark_safe::{Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("stats.fut")
        .vendored("futhark-generated")
        .backends_of_features()
        .compile()
}
