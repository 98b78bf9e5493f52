-- Tuples and the unit type, in parameters, results and values.

type~ labelled = (i64, []f64)

entry swap (p: (i32, f32)) : (f32, i32) = (p.1, p.0)

entry nest (a: i32) (b: f32) (c: bool) : ((i32, f32), bool) = ((a, b), c)

entry flatten (t: ((i32, f32), bool)) : (i32, f32, bool) = (t.0.0, t.0.1, t.1)

entry total (l: labelled) : f64 = f64.i64 l.0 + f64.sum l.1

entry many : (i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bool, i32, i64) =
  (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, true, 13, 14)

entry same_unit (u: ()) : () = u

entry beside (x: i32) (u: ()) : (i32, ()) = (x, u)

entry units (n: i64) : []() = replicate n ()

entry count_units [n] (_: [n]()) : i64 = n
