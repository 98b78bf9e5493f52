//! Misuse 5: a value that no call returned.

#[path = "../../../golden/records.rs"]
#[allow(unused, reason = "the mistake needs few of the items")]
mod records;

fn main() {}

fn mistake() -> records::Pt {
    records::Pt { __value: anything() }
}

fn anything<T>() -> T {
    loop {}
}
