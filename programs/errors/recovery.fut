-- After an error of any kind, and after repeated errors, the same context returns correct results,
-- with and without parallel work in between.

-- ==
-- entry: mean
-- input { [1f64, 3f64] } output { 2f64 }
-- input { empty([0]f64) } error: Assertion is false
-- input { [5f64] } output { 5f64 }
-- input { empty([0]f64) } error: Assertion is false
-- input { empty([0]f64) } error: Assertion is false
-- input { [f64.inf] } output { f64.inf }
entry mean [n] (xs: [n]f64) : f64 = assert (n > 0) (f64.sum xs / f64.i64 n)

-- ==
-- entry: scale
-- input { [1, 2, 3] 2 } output { [0, 1, 1] }
-- input { [1, 2, 3] 0 } error: division by zero
-- input { [1, 2, 3] 1 } output { [1, 2, 3] }
-- input { [1, 2, 3] 0 } error: division by zero
-- input { empty([0]i32) 1 } output { empty([0]i32) }
entry scale [n] (xs: [n]i32) (d: i32) : [n]i32 = map (/ d) xs

-- Fails twice in one call: one error is reported, and no error remains pending.
-- ==
-- entry: two_failures
-- input { [1, 2] 1i64 1 } output { 2 [1, 2] }
-- input { [1, 2] 2i64 0 } error: .*
-- input { [1, 2] 0i64 2 } output { 1 [0, 1] }
entry two_failures [n] (xs: [n]i32) (i: i64) (d: i32) : (i32, [n]i32) =
  (xs[i], map (/ d) xs)
