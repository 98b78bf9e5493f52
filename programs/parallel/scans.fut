-- Scans are correct for numbers, booleans, tuples and rows, for operators that do not commute, in
-- parallel loops, and if other loops use their results or compute their arguments.

-- ==
-- tags { unordered_types }
-- entry: sums
-- input { 20000i64 } output { 199990000i64 1333333330000i64 }
-- input { 0i64 } output { 0i64 0i64 }
entry sums (n: i64) : (i64, i64) =
  let xs = scan (+) 0 (iota n)
  in (i64.max 0 (i64.maximum xs), i64.sum xs)

-- ==
-- entry: types
-- input { [1i64, 2i64, -3i64] }
-- output { [1i8, 3i8, 0i8] [1u16, 2u16, 65530u16] [1f16, 3f16, 0f16] [1f32, 2f32, 2f32]
--          [true, true, false] }
entry types [n] (xs: [n]i64) : ([n]i8, [n]u16, [n]f16, [n]f32, [n]bool) =
  ( scan (+) 0 (map i8.i64 xs)
  , scan (*) 1 (map u16.i64 xs)
  , scan (+) 0 (map f16.i64 xs)
  , scan f32.max f32.lowest (map f32.i64 xs)
  , scan (&&) true (map (> 0) xs)
  )

-- The operator composes linear functions: y[i] = a[i] * y[i - 1] + b[i].
-- ==
-- entry: recurrence
-- input { [9i64, 2i64, 3i64] [1i64, 1i64, 1i64] } output { [1i64, 3i64, 10i64] }
-- input { empty([0]i64) empty([0]i64) } output { empty([0]i64) }
entry recurrence [n] (a: [n]i64) (b: [n]i64) : [n]i64 =
  map (.1) (scan (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip a b))

-- A flag begins a new sum.
-- ==
-- entry: segmented
-- input { [true, false, true, false, false] [1i32, 2i32, 3i32, 4i32, 5i32] }
-- output { [1i32, 3i32, 3i32, 7i32, 12i32] }
entry segmented [n] (flags: [n]bool) (xs: [n]i32) : [n]i32 =
  let add (f, x) (g, y) = (f || g, if g then y else x + y)
  in map (.1) (scan add (false, 0) (zip flags xs))

-- ==
-- entry: rows
-- input { [[1i32, 2i32], [3i32, 4i32], [5i32, 6i32]] }
-- output { [[1i32, 2i32], [4i32, 6i32], [9i32, 12i32]]
--          [[1i32, 3i32], [3i32, 7i32], [5i32, 11i32]] }
-- input { empty([0][2]i32) } output { empty([0][2]i32) empty([0][2]i32) }
entry rows [n] [m] (xss: [n][m]i32) : ([n][m]i32, [n][m]i32) =
  (scan (map2 (+)) (replicate m 0) xss, map (scan (+) 0) xss)

-- One loop computes two scans, and a reduction of the same values.
-- ==
-- entry: several
-- input { [3i64, 1i64, 2i64] }
-- output { [3i64, 4i64, 6i64] [3i64, 1i64, 1i64] 6i64 [9i64, 10i64, 12i64] }
entry several [n] (xs: [n]i64) : ([n]i64, [n]i64, i64, [n]i64) =
  let total = i64.sum xs
  let sums = scan (+) 0 xs
  in (sums, scan i64.min i64.highest xs, total, map (+ total) sums)
