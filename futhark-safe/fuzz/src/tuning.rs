//! Text of tuning files: what is accepted has one meaning, and names are compared with the program.

use futhark_safe::dynamic::Context;
use futhark_safe::{Config, ErrorKind, Tuning};

pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let tuning = match Tuning::parse(&text) {
        Ok(tuning) => tuning,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}"),
    };
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("--"));
    assert_eq!(tuning.values().count(), lines.count());
    let again = Tuning::parse(&tuning.to_string()).expect("it writes what it reads");
    assert!(again.values().eq(tuning.values()));

    let library = crate::without_driver();
    let params = library.tuning_params();
    let known = |name: &str| {
        name.starts_with("default_") || params.iter().any(|param| param.name() == name)
    };
    let unknown = tuning.values().any(|(name, _)| !known(name));
    let error =
        Context::new(library, &Config::new().tuning(&tuning)).expect_err("there is no driver");
    // `known` accepts more defaults than there are.
    assert!(
        !unknown || error.kind() == ErrorKind::InvalidArgument,
        "{error}"
    );
}

/// A file with the program's parameters.
pub fn seeds() -> Vec<Vec<u8>> {
    let params = crate::without_driver().tuning_params();
    let lines: String = params.iter().map(|p| format!("{}=7\n", p.name())).collect();
    let changed = format!("-- measured\n\n{lines}default_threshold = 0\n");
    vec![lines.into_bytes(), changed.into_bytes()]
}
