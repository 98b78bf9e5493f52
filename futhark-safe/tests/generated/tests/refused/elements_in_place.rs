//! The elements of an array are used as if they were on the host.

futhark_safe_generated_tests::declare_entries!();

fn main() {}

fn index(xs: &entries::Array<f32, 1>) -> f32 {
    xs[0]
}

fn iterate(xs: &entries::Array<f32, 1>) {
    for _x in xs {}
}

fn print(xs: &entries::Array<f32, 1>) {
    println!("{xs}");
}
