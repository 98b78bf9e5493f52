//! Misuse 5: a value that no call returned.

futhark_safe_generated_tests::declare_records!();

fn main() {}

fn mistake() -> records::Pt {
    records::Pt { __value: anything() }
}

fn anything<T>() -> T {
    loop {}
}
