//! Compiles service.fut for the backends that features select.

fn main() -> Result<(), futhark_safe::Error> {
    futhark_safe::build::Program::new("service.fut")
        .backends_of_features()
        .compile()
}
