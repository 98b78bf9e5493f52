//! Calls each entry point of `hostile.fut` with all combinations of numbers. An access out of bounds is found by its
//! effects: a crash, or the report of a sanitizer.

use futhark_safe::compile::Compiler;
use futhark_safe::dynamic::Value;
use futhark_safe::{Backend, ErrorKind};

use crate::calls::Calls;
use crate::literals::Literals;
use crate::{build_text, combinations, full};

/// No array of a size in between fits into the memory and is small enough to be fast.
const SMALL: i64 = 29;

#[rustfmt::skip]
const NUMBERS: [i64; 24] = [
    0, 1, -5, i64::MAX, SMALL, (1 << 62) + 1, -1, 24, i64::MIN, 2,
    // With `FUTHARK_TESTS_FULL` only.
    5, 12, 6, 4, -25, -24, 1 << 61, i64::MAX - 4, i64::MIN + 24,
    // In slices only.
    1 << 31, 1 << 32, -(1 << 31), -(1 << 32) - 1, (1 << 32) + 24,
];

/// As literals: a loop over a huge one does not end.
const LITERALS: [i64; 4] = [0, -5, 24, SMALL];

pub fn check(literals: Literals, backend: Backend, compiler: &Compiler, threads: usize) {
    // A planted fault needs few entry points.
    let only = std::env::var("FUTHARK_TESTS_ONLY").unwrap_or_default();
    let items = include_str!("hostile.fut").split("\nentry ");
    let chosen = items
        .enumerate()
        .filter(|(i, item)| *i == 0 || item.starts_with(&only));
    let text = chosen
        .map(|(_, item)| item)
        .collect::<Vec<_>>()
        .join("\nentry ");
    let every = |name: &str| {
        let numbers = match (literals, full(), name.starts_with("s_")) {
            (Literals::None, false, _) => &NUMBERS[..10],
            (Literals::None, true, false) => &NUMBERS[..19],
            (Literals::None, true, true) => &NUMBERS[..],
            (Literals::All, ..) => &LITERALS[1..3],
            _ => &LITERALS,
        };
        let mut all = combinations(numbers, 3);
        all.retain(|numbers| !literals.leave_out(name, numbers));
        all
    };
    let text_of_calls = literals.program(&text, every);
    let name = format!("hostile_{backend}{only}_{literals:?}");
    let library = build_text(backend, compiler, &name, &text_of_calls).unwrap();
    let mut calls = Calls::with(&library, Some(threads), |context| {
        let some: [i64; 24] = std::array::from_fn(|i| i as i64);
        Some(context.array(&some).unwrap().into())
    })
    .literals(literals);
    let names = text.split("\nentry ").skip(1);
    let names: Vec<&str> = names.filter_map(|item| item.split(' ').next()).collect();
    assert!(names.len() > 100 || !only.is_empty());
    for &name in &names {
        for arguments in every(name) {
            let case = format!("{name} {arguments:?} on {backend}");
            match calls.call(name, &arguments) {
                Ok(Value::Array(array)) => {
                    let count: usize = array.shape().iter().product();
                    assert_eq!(array.to_vec::<i64>().unwrap().len(), count, "{case}");
                }
                Ok(_) => {}
                Err(error) => {
                    let lost = error.kind() == ErrorKind::ContextLost;
                    // The compiler's own divisions, of which it makes lengths of slices and ranges, never do that.
                    let own =
                        name == "quotients" && error.to_string().contains("overflow in a division");
                    assert!(!lost || own, "{case}: {error}");
                }
            }
        }
    }
    println!(
        "{calls}, {}, {threads} threads: {} hostile entry points",
        compiler.version(),
        names.len()
    );
    assert!(calls.errors > 0 && calls.errors < calls.calls);
}
