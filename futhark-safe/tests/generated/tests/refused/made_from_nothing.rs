//! Misuse 5: a value that no call gave.

#[path = "../../../golden/records.rs"]
#[allow(unused)]
mod records;

fn main() {}

fn mistake() -> records::Pt {
    records::Pt { __value: anything() }
}

fn anything<T>() -> T {
    loop {}
}
