-- Reductions, scans, scatters and histograms return the same result on every backend, for empty
-- arrays and for arrays larger than a block of threads.

-- ==
-- tags { unordered_place }
-- entry: sums
-- input { [1i64, 2i64, 3i64] } output { 6i64 [1i64, 3i64, 6i64] }
-- input { empty([0]i64) } output { 0i64 empty([0]i64) }
-- input { [9223372036854775807i64, 1i64] }
-- output { -9223372036854775808i64 [9223372036854775807i64, -9223372036854775808i64] }
entry sums (xs: []i64) : (i64, []i64) = (i64.sum xs, scan (+) 0 xs)

-- ==
-- entry: extremes
-- input { [3i16, -7i16, 5i16] } output { -7i16 5i16 }
-- input { empty([0]i16) } output { 32767i16 -32768i16 }
entry extremes (xs: []i16) : (i16, i16) = (i16.minimum xs, i16.maximum xs)

-- This operator is not commutative, so the result depends on the order of the elements.
-- ==
-- entry: compose
-- input { [2i32, 3i32, 5i32] [1i32, 1i32, 1i32] } output { 30i32 21i32 }
-- input { empty([0]i32) empty([0]i32) } output { 1i32 0i32 }
entry compose [n] (a: [n]i32) (b: [n]i32) : (i32, i32) =
  reduce (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip a b)

-- ==
-- entry: triangle
-- input { 0i64 } output { 0i64 }
-- input { 1000i64 } output { 499500i64 }
-- input { 3001i64 } output { 4501500i64 }
entry triangle (n: i64) : i64 = i64.sum (iota n)

-- ==
-- entry: last_prefix
-- input { 1i64 } output { 0i64 }
-- input { 2049i64 } output { 2098176i64 }
entry last_prefix (n: i64) : i64 = last (scan (+) 0 (iota n))

-- ==
-- entry: place
-- input { [9, 9, 9] [2i64, 0i64, 7i64, -1i64] [1, 2, 3, 4] } output { [2, 9, 1] }
-- input { [9, 9, 9] empty([0]i64) empty([0]i32) } output { [9, 9, 9] }
-- input { empty([0]i32) [0i64] [1] } output { empty([0]i32) }
entry place [n] [m] (dest: [n]i32) (is: [m]i64) (vs: [m]i32) : [n]i32 =
  scatter (copy dest) is vs

-- ==
-- entry: histogram
-- input { 3i64 [0i64, 2i64, 2i64, 5i64, -1i64] } output { [1i32, 0i32, 2i32] }
-- input { 0i64 [0i64] } output { empty([0]i32) }
-- input { 2i64 empty([0]i64) } output { [0i32, 0i32] }
entry histogram [n] (k: i64) (is: [n]i64) : [k]i32 =
  reduce_by_index (replicate k 0) (+) 0 is (replicate n 1)

-- ==
-- entry: histogram_of_products
-- input { [1i64, 0i64, 1i64, 3i64] [2i64, 3i64, 5i64, 7i64] } output { [3i64, 10i64] }
-- input { empty([0]i64) empty([0]i64) } output { [1i64, 1i64] }
entry histogram_of_products [n] (is: [n]i64) (xs: [n]i64) : [2]i64 =
  reduce_by_index (replicate 2 1) (*) 1 is xs

-- ==
-- entry: any_all
-- input { [true, false] } output { true false }
-- input { [true, true] } output { true true }
-- input { empty([0]bool) } output { false true }
entry any_all (xs: []bool) : (bool, bool) = (or xs, and xs)
