//! Misuse 5: a value that no call gave.

use futhark_safe_generated_tests::golden_records as records;

fn main() {}

fn mistake() -> records::Pt {
    records::Pt { __value: anything() }
}

fn anything<T>() -> T {
    loop {}
}
