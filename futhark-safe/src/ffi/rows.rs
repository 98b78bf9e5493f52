//! Loops between rows and columns.
//!
//! Rows of two columns are made by instructions that interleave vectors. x86-64 alone has vectors of 16 bytes, with
//! which such a loop takes up to twice as long as the copies of the columns, which libc makes with wider ones. So
//! these loops are compiled a second time, for processors with AVX2. Measured for 1 Ki records of two `f32`: to
//! rows 177 ns without and 75 ns with AVX2, from rows 97 and 61 ns, copies of the columns 96 ns.

use std::mem::MaybeUninit;

use super::fresh::reserve;
use crate::error::Result;

/// Collects `n` rows, which `row` makes of their number.
///
/// # Errors
///
/// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory)
pub(crate) fn rows<Row>(
    n: usize,
    operation: &'static str,
    row: impl Fn(usize) -> Row,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    reserve(&mut rows, n, operation)?;
    write_rows(&mut rows.spare_capacity_mut()[..n], row);
    // SAFETY: all `n` rows are written; `write_rows` returns only then.
    unsafe { rows.set_len(n) };
    Ok(rows)
}

fn write_rows<Row>(places: &mut [MaybeUninit<Row>], row: impl Fn(usize) -> Row) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has AVX2.
        return unsafe { write_rows_with_avx2(places, row) };
    }
    write_each_row(places, row);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn write_rows_with_avx2<Row>(places: &mut [MaybeUninit<Row>], row: impl Fn(usize) -> Row) {
    write_each_row(places, row);
}

#[inline(always)] // As the caller is compiled.
fn write_each_row<Row>(places: &mut [MaybeUninit<Row>], row: impl Fn(usize) -> Row) {
    for (i, place) in places.iter_mut().enumerate() {
        place.write(row(i));
    }
}

/// Writes two fields of each row. All lists have the same length.
///
/// The compiler makes vector instructions of this loop that read each row once; with more columns it seldom does.
pub(super) fn write_two<Row, A, B>(
    rows: &[Row],
    places_1: &mut [MaybeUninit<A>],
    places_2: &mut [MaybeUninit<B>],
    field_1: impl Fn(&Row) -> A,
    field_2: impl Fn(&Row) -> B,
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has AVX2.
        return unsafe { write_two_with_avx2(rows, places_1, places_2, field_1, field_2) };
    }
    write_two_without(rows, places_1, places_2, field_1, field_2);
}

// Functions of their own, because the compiler knows of parameters that they do not overlap.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn write_two_with_avx2<Row, A, B>(
    rows: &[Row],
    places_1: &mut [MaybeUninit<A>],
    places_2: &mut [MaybeUninit<B>],
    field_1: impl Fn(&Row) -> A,
    field_2: impl Fn(&Row) -> B,
) {
    write_each_two(rows, places_1, places_2, field_1, field_2);
}

fn write_two_without<Row, A, B>(
    rows: &[Row],
    places_1: &mut [MaybeUninit<A>],
    places_2: &mut [MaybeUninit<B>],
    field_1: impl Fn(&Row) -> A,
    field_2: impl Fn(&Row) -> B,
) {
    write_each_two(rows, places_1, places_2, field_1, field_2);
}

#[inline(always)] // As the caller is compiled.
fn write_each_two<Row, A, B>(
    rows: &[Row],
    places_1: &mut [MaybeUninit<A>],
    places_2: &mut [MaybeUninit<B>],
    field_1: impl Fn(&Row) -> A,
    field_2: impl Fn(&Row) -> B,
) {
    for ((place_1, place_2), row) in places_1.iter_mut().zip(places_2).zip(rows) {
        place_1.write(field_1(row));
        place_2.write(field_2(row));
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each length up to several vectors, whatever the processor has.
    #[test]
    fn rows_and_columns_are_the_same_in_each_version_of_the_loops() {
        for n in 0..70 {
            let row = |i: usize| (i as f32, -(i as i64));
            let expected: Vec<(f32, i64)> = (0..n).map(row).collect();
            assert_eq!(rows(n, "test", row).unwrap(), expected);
            let mut without = Vec::with_capacity(n);
            write_each_row(&mut without.spare_capacity_mut()[..n], row);
            // SAFETY: all are written.
            unsafe { without.set_len(n) };
            assert_eq!(without, expected);

            for without in [false, true] {
                let (mut a, mut b) = (Vec::<f32>::with_capacity(n), Vec::<i64>::with_capacity(n));
                let fields = (|row: &(f32, i64)| row.0, |row: &(f32, i64)| row.1);
                let places_1 = &mut a.spare_capacity_mut()[..n];
                let places_2 = &mut b.spare_capacity_mut()[..n];
                match without {
                    true => write_two_without(&expected, places_1, places_2, fields.0, fields.1),
                    false => write_two(&expected, places_1, places_2, fields.0, fields.1),
                }
                // SAFETY: all are written.
                unsafe { a.set_len(n) };
                // SAFETY: all are written.
                unsafe { b.set_len(n) };
                assert!(expected.iter().copied().eq(a.into_iter().zip(b)));
            }
        }
    }
}
