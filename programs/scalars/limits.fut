-- The lowest and the highest number of every type are correct in every place where a program can
-- write them: as results, as elements of arrays, as operands, as neutral elements of reductions,
-- scans and histograms, in branches and loops, and in records.

module limits_of (N: numeric) = {
  def ends (x: N.t) : [3]N.t = [N.lowest, x, N.highest]

  def element (i: i64) : N.t = [N.lowest, N.highest][i]

  def filled (n: i64) : ([n]N.t, [n]N.t) = (replicate n N.lowest, replicate n N.highest)

  def written [n] (xs: *[n]N.t) (i: i64) : *[n]N.t =
    xs with [i] = N.lowest with [i + 1] = N.highest

  def bounds [n] (xs: [n]N.t) : (N.t, N.t) =
    (reduce N.max N.lowest xs, reduce N.min N.highest xs)

  def running [n] (xs: [n]N.t) : ([n]N.t, [n]N.t) =
    (scan N.max N.lowest xs, scan N.min N.highest xs)

  def chosen (x: N.t) : (N.t, bool, bool) =
    ( if x N.== N.lowest then N.highest else if x N.== N.highest then N.lowest else x
    , x N.<= N.lowest
    , x N.>= N.highest
    )

  def largest [n] (xs: [n]N.t) : N.t = loop m = N.lowest for x in xs do N.max m x

  def pair (n: i64) : {low: N.t, high: N.t, all: [n](N.t, N.t)} =
    {low = N.lowest, high = N.highest, all = replicate n (N.lowest, N.highest)}
}

module of_i8 = limits_of i8
module of_i16 = limits_of i16
module of_i32 = limits_of i32
module of_i64 = limits_of i64
module of_u8 = limits_of u8
module of_u16 = limits_of u16
module of_u32 = limits_of u32
module of_u64 = limits_of u64
module of_f16 = limits_of f16
module of_f32 = limits_of f32
module of_f64 = limits_of f64

-- ==
-- entry: arrays_i8
-- input { [1i8, 1i8, 1i8] 1i64 }
-- output { [-128i8, 1i8, 127i8] [-128i8, -128i8] [127i8, 127i8] [1i8, -128i8, 127i8] }
entry arrays_i8 [n] (xs: [n]i8) (i: i64) : ([3]i8, [2]i8, [2]i8, [n]i8) =
  let (low, high) = of_i8.filled 2
  in (of_i8.ends xs[0], low, high, of_i8.written (copy xs) i)

-- ==
-- entry: loops_i8
-- input { empty([0]i8) } output { -128i8 127i8 empty([0]i8) empty([0]i8) -128i8 }
-- input { [1i8, 3i8, 2i8] } output { 3i8 1i8 [1i8, 3i8, 3i8] [1i8, 1i8, 1i8] 3i8 }
entry loops_i8 [n] (xs: [n]i8) : (i8, i8, [n]i8, [n]i8, i8) =
  let (low, high) = of_i8.bounds xs
  let (lows, highs) = of_i8.running xs
  in (low, high, lows, highs, of_i8.largest xs)

-- ==
-- entry: element_i8
-- input { 0i64 } output { -128i8 }
-- input { 1i64 } output { 127i8 }
entry element_i8 (i: i64) : i8 = of_i8.element i

-- ==
-- entry: choices_i8
-- input { -128i8 } output { 127i8 true false }
-- input { 127i8 } output { -128i8 false true }
-- input { 1i8 } output { 1i8 false false }
entry choices_i8 (x: i8) = of_i8.chosen x

entry record_i8 (n: i64) = of_i8.pair n

-- ==
-- entry: arrays_i16
-- input { [1i16, 1i16, 1i16] 1i64 }
-- output { [-32768i16, 1i16, 32767i16] [-32768i16, -32768i16] [32767i16, 32767i16] [1i16,
--   -32768i16, 32767i16] }
entry arrays_i16 [n] (xs: [n]i16) (i: i64) : ([3]i16, [2]i16, [2]i16, [n]i16) =
  let (low, high) = of_i16.filled 2
  in (of_i16.ends xs[0], low, high, of_i16.written (copy xs) i)

-- ==
-- entry: loops_i16
-- input { empty([0]i16) } output { -32768i16 32767i16 empty([0]i16) empty([0]i16) -32768i16 }
-- input { [1i16, 3i16, 2i16] } output { 3i16 1i16 [1i16, 3i16, 3i16] [1i16, 1i16, 1i16] 3i16 }
entry loops_i16 [n] (xs: [n]i16) : (i16, i16, [n]i16, [n]i16, i16) =
  let (low, high) = of_i16.bounds xs
  let (lows, highs) = of_i16.running xs
  in (low, high, lows, highs, of_i16.largest xs)

-- ==
-- entry: element_i16
-- input { 0i64 } output { -32768i16 }
-- input { 1i64 } output { 32767i16 }
entry element_i16 (i: i64) : i16 = of_i16.element i

-- ==
-- entry: choices_i16
-- input { -32768i16 } output { 32767i16 true false }
-- input { 32767i16 } output { -32768i16 false true }
-- input { 1i16 } output { 1i16 false false }
entry choices_i16 (x: i16) = of_i16.chosen x

entry record_i16 (n: i64) = of_i16.pair n

-- ==
-- entry: arrays_i32
-- input { [1i32, 1i32, 1i32] 1i64 }
-- output { [-2147483648i32, 1i32, 2147483647i32] [-2147483648i32, -2147483648i32] [2147483647i32,
--   2147483647i32] [1i32, -2147483648i32, 2147483647i32] }
entry arrays_i32 [n] (xs: [n]i32) (i: i64) : ([3]i32, [2]i32, [2]i32, [n]i32) =
  let (low, high) = of_i32.filled 2
  in (of_i32.ends xs[0], low, high, of_i32.written (copy xs) i)

-- ==
-- entry: loops_i32
-- input { empty([0]i32) }
-- output { -2147483648i32 2147483647i32 empty([0]i32) empty([0]i32) -2147483648i32 }
-- input { [1i32, 3i32, 2i32] } output { 3i32 1i32 [1i32, 3i32, 3i32] [1i32, 1i32, 1i32] 3i32 }
entry loops_i32 [n] (xs: [n]i32) : (i32, i32, [n]i32, [n]i32, i32) =
  let (low, high) = of_i32.bounds xs
  let (lows, highs) = of_i32.running xs
  in (low, high, lows, highs, of_i32.largest xs)

-- ==
-- entry: element_i32
-- input { 0i64 } output { -2147483648i32 }
-- input { 1i64 } output { 2147483647i32 }
entry element_i32 (i: i64) : i32 = of_i32.element i

-- ==
-- entry: choices_i32
-- input { -2147483648i32 } output { 2147483647i32 true false }
-- input { 2147483647i32 } output { -2147483648i32 false true }
-- input { 1i32 } output { 1i32 false false }
entry choices_i32 (x: i32) = of_i32.chosen x

entry record_i32 (n: i64) = of_i32.pair n

-- ==
-- entry: arrays_i64
-- input { [1i64, 1i64, 1i64] 1i64 }
-- output { [-9223372036854775808i64, 1i64, 9223372036854775807i64] [-9223372036854775808i64,
--   -9223372036854775808i64] [9223372036854775807i64, 9223372036854775807i64] [1i64,
--   -9223372036854775808i64, 9223372036854775807i64] }
entry arrays_i64 [n] (xs: [n]i64) (i: i64) : ([3]i64, [2]i64, [2]i64, [n]i64) =
  let (low, high) = of_i64.filled 2
  in (of_i64.ends xs[0], low, high, of_i64.written (copy xs) i)

-- ==
-- entry: loops_i64
-- input { empty([0]i64) }
-- output { -9223372036854775808i64 9223372036854775807i64 empty([0]i64) empty([0]i64)
--   -9223372036854775808i64 }
-- input { [1i64, 3i64, 2i64] } output { 3i64 1i64 [1i64, 3i64, 3i64] [1i64, 1i64, 1i64] 3i64 }
entry loops_i64 [n] (xs: [n]i64) : (i64, i64, [n]i64, [n]i64, i64) =
  let (low, high) = of_i64.bounds xs
  let (lows, highs) = of_i64.running xs
  in (low, high, lows, highs, of_i64.largest xs)

-- ==
-- entry: element_i64
-- input { 0i64 } output { -9223372036854775808i64 }
-- input { 1i64 } output { 9223372036854775807i64 }
entry element_i64 (i: i64) : i64 = of_i64.element i

-- ==
-- entry: choices_i64
-- input { -9223372036854775808i64 } output { 9223372036854775807i64 true false }
-- input { 9223372036854775807i64 } output { -9223372036854775808i64 false true }
-- input { 1i64 } output { 1i64 false false }
entry choices_i64 (x: i64) = of_i64.chosen x

entry record_i64 (n: i64) = of_i64.pair n

-- ==
-- entry: arrays_u8
-- input { [1u8, 1u8, 1u8] 1i64 }
-- output { [0u8, 1u8, 255u8] [0u8, 0u8] [255u8, 255u8] [1u8, 0u8, 255u8] }
entry arrays_u8 [n] (xs: [n]u8) (i: i64) : ([3]u8, [2]u8, [2]u8, [n]u8) =
  let (low, high) = of_u8.filled 2
  in (of_u8.ends xs[0], low, high, of_u8.written (copy xs) i)

-- ==
-- entry: loops_u8
-- input { empty([0]u8) } output { 0u8 255u8 empty([0]u8) empty([0]u8) 0u8 }
-- input { [1u8, 3u8, 2u8] } output { 3u8 1u8 [1u8, 3u8, 3u8] [1u8, 1u8, 1u8] 3u8 }
entry loops_u8 [n] (xs: [n]u8) : (u8, u8, [n]u8, [n]u8, u8) =
  let (low, high) = of_u8.bounds xs
  let (lows, highs) = of_u8.running xs
  in (low, high, lows, highs, of_u8.largest xs)

-- ==
-- entry: element_u8
-- input { 0i64 } output { 0u8 }
-- input { 1i64 } output { 255u8 }
entry element_u8 (i: i64) : u8 = of_u8.element i

-- ==
-- entry: choices_u8
-- input { 0u8 } output { 255u8 true false }
-- input { 255u8 } output { 0u8 false true }
-- input { 1u8 } output { 1u8 false false }
entry choices_u8 (x: u8) = of_u8.chosen x

entry record_u8 (n: i64) = of_u8.pair n

-- ==
-- entry: arrays_u16
-- input { [1u16, 1u16, 1u16] 1i64 }
-- output { [0u16, 1u16, 65535u16] [0u16, 0u16] [65535u16, 65535u16] [1u16, 0u16, 65535u16] }
entry arrays_u16 [n] (xs: [n]u16) (i: i64) : ([3]u16, [2]u16, [2]u16, [n]u16) =
  let (low, high) = of_u16.filled 2
  in (of_u16.ends xs[0], low, high, of_u16.written (copy xs) i)

-- ==
-- entry: loops_u16
-- input { empty([0]u16) } output { 0u16 65535u16 empty([0]u16) empty([0]u16) 0u16 }
-- input { [1u16, 3u16, 2u16] } output { 3u16 1u16 [1u16, 3u16, 3u16] [1u16, 1u16, 1u16] 3u16 }
entry loops_u16 [n] (xs: [n]u16) : (u16, u16, [n]u16, [n]u16, u16) =
  let (low, high) = of_u16.bounds xs
  let (lows, highs) = of_u16.running xs
  in (low, high, lows, highs, of_u16.largest xs)

-- ==
-- entry: element_u16
-- input { 0i64 } output { 0u16 }
-- input { 1i64 } output { 65535u16 }
entry element_u16 (i: i64) : u16 = of_u16.element i

-- ==
-- entry: choices_u16
-- input { 0u16 } output { 65535u16 true false }
-- input { 65535u16 } output { 0u16 false true }
-- input { 1u16 } output { 1u16 false false }
entry choices_u16 (x: u16) = of_u16.chosen x

entry record_u16 (n: i64) = of_u16.pair n

-- ==
-- entry: arrays_u32
-- input { [1u32, 1u32, 1u32] 1i64 }
-- output { [0u32, 1u32, 4294967295u32] [0u32, 0u32] [4294967295u32, 4294967295u32] [1u32, 0u32,
--   4294967295u32] }
entry arrays_u32 [n] (xs: [n]u32) (i: i64) : ([3]u32, [2]u32, [2]u32, [n]u32) =
  let (low, high) = of_u32.filled 2
  in (of_u32.ends xs[0], low, high, of_u32.written (copy xs) i)

-- ==
-- entry: loops_u32
-- input { empty([0]u32) } output { 0u32 4294967295u32 empty([0]u32) empty([0]u32) 0u32 }
-- input { [1u32, 3u32, 2u32] } output { 3u32 1u32 [1u32, 3u32, 3u32] [1u32, 1u32, 1u32] 3u32 }
entry loops_u32 [n] (xs: [n]u32) : (u32, u32, [n]u32, [n]u32, u32) =
  let (low, high) = of_u32.bounds xs
  let (lows, highs) = of_u32.running xs
  in (low, high, lows, highs, of_u32.largest xs)

-- ==
-- entry: element_u32
-- input { 0i64 } output { 0u32 }
-- input { 1i64 } output { 4294967295u32 }
entry element_u32 (i: i64) : u32 = of_u32.element i

-- ==
-- entry: choices_u32
-- input { 0u32 } output { 4294967295u32 true false }
-- input { 4294967295u32 } output { 0u32 false true }
-- input { 1u32 } output { 1u32 false false }
entry choices_u32 (x: u32) = of_u32.chosen x

entry record_u32 (n: i64) = of_u32.pair n

-- ==
-- entry: arrays_u64
-- input { [1u64, 1u64, 1u64] 1i64 }
-- output { [0u64, 1u64, 18446744073709551615u64] [0u64, 0u64] [18446744073709551615u64,
--   18446744073709551615u64] [1u64, 0u64, 18446744073709551615u64] }
entry arrays_u64 [n] (xs: [n]u64) (i: i64) : ([3]u64, [2]u64, [2]u64, [n]u64) =
  let (low, high) = of_u64.filled 2
  in (of_u64.ends xs[0], low, high, of_u64.written (copy xs) i)

-- ==
-- entry: loops_u64
-- input { empty([0]u64) } output { 0u64 18446744073709551615u64 empty([0]u64) empty([0]u64) 0u64 }
-- input { [1u64, 3u64, 2u64] } output { 3u64 1u64 [1u64, 3u64, 3u64] [1u64, 1u64, 1u64] 3u64 }
entry loops_u64 [n] (xs: [n]u64) : (u64, u64, [n]u64, [n]u64, u64) =
  let (low, high) = of_u64.bounds xs
  let (lows, highs) = of_u64.running xs
  in (low, high, lows, highs, of_u64.largest xs)

-- ==
-- entry: element_u64
-- input { 0i64 } output { 0u64 }
-- input { 1i64 } output { 18446744073709551615u64 }
entry element_u64 (i: i64) : u64 = of_u64.element i

-- ==
-- entry: choices_u64
-- input { 0u64 } output { 18446744073709551615u64 true false }
-- input { 18446744073709551615u64 } output { 0u64 false true }
-- input { 1u64 } output { 1u64 false false }
entry choices_u64 (x: u64) = of_u64.chosen x

entry record_u64 (n: i64) = of_u64.pair n

-- ==
-- entry: arrays_f16
-- input { [1f16, 1f16, 1f16] 1i64 }
-- output { [-f16.inf, 1f16, f16.inf] [-f16.inf, -f16.inf] [f16.inf, f16.inf] [1f16, -f16.inf,
--   f16.inf] }
entry arrays_f16 [n] (xs: [n]f16) (i: i64) : ([3]f16, [2]f16, [2]f16, [n]f16) =
  let (low, high) = of_f16.filled 2
  in (of_f16.ends xs[0], low, high, of_f16.written (copy xs) i)

-- ==
-- entry: loops_f16
-- input { empty([0]f16) } output { -f16.inf f16.inf empty([0]f16) empty([0]f16) -f16.inf }
-- input { [1f16, 3f16, 2f16] } output { 3f16 1f16 [1f16, 3f16, 3f16] [1f16, 1f16, 1f16] 3f16 }
entry loops_f16 [n] (xs: [n]f16) : (f16, f16, [n]f16, [n]f16, f16) =
  let (low, high) = of_f16.bounds xs
  let (lows, highs) = of_f16.running xs
  in (low, high, lows, highs, of_f16.largest xs)

-- ==
-- entry: element_f16
-- input { 0i64 } output { -f16.inf }
-- input { 1i64 } output { f16.inf }
entry element_f16 (i: i64) : f16 = of_f16.element i

-- ==
-- entry: choices_f16
-- input { -f16.inf } output { f16.inf true false }
-- input { f16.inf } output { -f16.inf false true }
-- input { 1f16 } output { 1f16 false false }
entry choices_f16 (x: f16) = of_f16.chosen x

entry record_f16 (n: i64) = of_f16.pair n

-- ==
-- entry: arrays_f32
-- input { [1f32, 1f32, 1f32] 1i64 }
-- output { [-f32.inf, 1f32, f32.inf] [-f32.inf, -f32.inf] [f32.inf, f32.inf] [1f32, -f32.inf,
--   f32.inf] }
entry arrays_f32 [n] (xs: [n]f32) (i: i64) : ([3]f32, [2]f32, [2]f32, [n]f32) =
  let (low, high) = of_f32.filled 2
  in (of_f32.ends xs[0], low, high, of_f32.written (copy xs) i)

-- ==
-- entry: loops_f32
-- input { empty([0]f32) } output { -f32.inf f32.inf empty([0]f32) empty([0]f32) -f32.inf }
-- input { [1f32, 3f32, 2f32] } output { 3f32 1f32 [1f32, 3f32, 3f32] [1f32, 1f32, 1f32] 3f32 }
entry loops_f32 [n] (xs: [n]f32) : (f32, f32, [n]f32, [n]f32, f32) =
  let (low, high) = of_f32.bounds xs
  let (lows, highs) = of_f32.running xs
  in (low, high, lows, highs, of_f32.largest xs)

-- ==
-- entry: element_f32
-- input { 0i64 } output { -f32.inf }
-- input { 1i64 } output { f32.inf }
entry element_f32 (i: i64) : f32 = of_f32.element i

-- ==
-- entry: choices_f32
-- input { -f32.inf } output { f32.inf true false }
-- input { f32.inf } output { -f32.inf false true }
-- input { 1f32 } output { 1f32 false false }
entry choices_f32 (x: f32) = of_f32.chosen x

entry record_f32 (n: i64) = of_f32.pair n

-- ==
-- entry: arrays_f64
-- input { [1f64, 1f64, 1f64] 1i64 }
-- output { [-f64.inf, 1f64, f64.inf] [-f64.inf, -f64.inf] [f64.inf, f64.inf] [1f64, -f64.inf,
--   f64.inf] }
entry arrays_f64 [n] (xs: [n]f64) (i: i64) : ([3]f64, [2]f64, [2]f64, [n]f64) =
  let (low, high) = of_f64.filled 2
  in (of_f64.ends xs[0], low, high, of_f64.written (copy xs) i)

-- ==
-- entry: loops_f64
-- input { empty([0]f64) } output { -f64.inf f64.inf empty([0]f64) empty([0]f64) -f64.inf }
-- input { [1f64, 3f64, 2f64] } output { 3f64 1f64 [1f64, 3f64, 3f64] [1f64, 1f64, 1f64] 3f64 }
entry loops_f64 [n] (xs: [n]f64) : (f64, f64, [n]f64, [n]f64, f64) =
  let (low, high) = of_f64.bounds xs
  let (lows, highs) = of_f64.running xs
  in (low, high, lows, highs, of_f64.largest xs)

-- ==
-- entry: element_f64
-- input { 0i64 } output { -f64.inf }
-- input { 1i64 } output { f64.inf }
entry element_f64 (i: i64) : f64 = of_f64.element i

-- ==
-- entry: choices_f64
-- input { -f64.inf } output { f64.inf true false }
-- input { f64.inf } output { -f64.inf false true }
-- input { 1f64 } output { 1f64 false false }
entry choices_f64 (x: f64) = of_f64.chosen x

entry record_f64 (n: i64) = of_f64.pair n

-- ==
-- entry: bins_i32
-- input { [1i32, 3i32, 2i32] [0i64, 2i64, 0i64] }
-- output { [2i32, -2147483648i32, 3i32] [1i32, 2147483647i32, 3i32] }
entry bins_i32 [n] (xs: [n]i32) (is: [n]i64) : ([3]i32, [3]i32) =
  ( hist i32.max i32.lowest 3 is xs
  , reduce_by_index (replicate 3 i32.highest) i32.min i32.highest is xs
  )

-- ==
-- entry: bins_i64
-- input { [1i64, 3i64, 2i64] [0i64, 2i64, 0i64] }
-- output { [2i64, -9223372036854775808i64, 3i64] [1i64, 9223372036854775807i64, 3i64] }
entry bins_i64 [n] (xs: [n]i64) (is: [n]i64) : ([3]i64, [3]i64) =
  ( hist i64.max i64.lowest 3 is xs
  , reduce_by_index (replicate 3 i64.highest) i64.min i64.highest is xs
  )

-- ==
-- entry: bins_u32
-- input { [1u32, 3u32, 2u32] [0i64, 2i64, 0i64] }
-- output { [2u32, 0u32, 3u32] [1u32, 4294967295u32, 3u32] }
entry bins_u32 [n] (xs: [n]u32) (is: [n]i64) : ([3]u32, [3]u32) =
  ( hist u32.max u32.lowest 3 is xs
  , reduce_by_index (replicate 3 u32.highest) u32.min u32.highest is xs
  )

-- ==
-- entry: bins_f32
-- input { [1f32, 3f32, 2f32] [0i64, 2i64, 0i64] }
-- output { [2f32, -f32.inf, 3f32] [1f32, f32.inf, 3f32] }
entry bins_f32 [n] (xs: [n]f32) (is: [n]i64) : ([3]f32, [3]f32) =
  ( hist f32.max f32.lowest 3 is xs
  , reduce_by_index (replicate 3 f32.highest) f32.min f32.highest is xs
  )

-- ==
-- entry: bins_f64
-- input { [1f64, 3f64, 2f64] [0i64, 2i64, 0i64] }
-- output { [2f64, -f64.inf, 3f64] [1f64, f64.inf, 3f64] }
entry bins_f64 [n] (xs: [n]f64) (is: [n]i64) : ([3]f64, [3]f64) =
  ( hist f64.max f64.lowest 3 is xs
  , reduce_by_index (replicate 3 f64.highest) f64.min f64.highest is xs
  )
