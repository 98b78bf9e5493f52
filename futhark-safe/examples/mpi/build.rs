//! Compiles heat.fut for the backend that a feature selects.

fn main() -> Result<(), futhark_safe::Error> {
    futhark_safe::build::Program::new("heat.fut")
        .backends_of_features()
        .compile()
}
