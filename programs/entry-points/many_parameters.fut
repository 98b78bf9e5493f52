-- An entry point with many parameters of mixed kinds receives each argument in its position.

-- ==
-- entry: weighted
-- input { 1i8 2i16 3i32 4i64 5u8 6u16 7u32 8u64 9f16 10f32 11f64 true [12i32] [[13f32]] 14i64 15i64 }
-- output { 1306.0 }
entry weighted (a: i8)
               (b: i16)
               (c: i32)
               (d: i64)
               (e: u8)
               (f: u16)
               (g: u32)
               (h: u64)
               (i: f16)
               (j: f32)
               (k: f64)
               (l: bool)
               (m: []i32)
               (n: [][]f32)
               (o: i64)
               (p: i64) : f64 =
  f64.i8 a
  + 2 * f64.i16 b
  + 3 * f64.i32 c
  + 4 * f64.i64 d
  + 5 * f64.u8 e
  + 6 * f64.u16 f
  + 7 * f64.u32 g
  + 8 * f64.u64 h
  + 9 * f64.f16 i
  + 10 * f64.f32 j
  + 11 * k
  + 12 * f64.bool l
  + 13 * f64.i32 m[0]
  + 14 * f64.f32 n[0, 0]
  + 15 * f64.i64 o
  + 16 * f64.i64 p
