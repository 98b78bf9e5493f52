-- One entry point for each way to fail.

-- ==
-- entry: at
-- input { [1i64, 2i64, 3i64] 1i64 } output { 2i64 }
-- input { [1i64, 2i64, 3i64] 3i64 } error: Index \[3\] out of bounds for array of shape \[3\]
entry at (xs: []i64) (i: i64): i64 = xs[i]

-- ==
-- entry: divide
-- input { 7i64 2i64 } output { 3i64 }
-- input { 7i64 0i64 } error: division by zero
entry divide (a: i64) (b: i64): i64 = a / b

-- ==
-- entry: pairs
-- input { [1i64, 2i64] [3i64, 4i64] } output { [4i64, 6i64] }
-- input { [1i64, 2i64] [3i64] } error: invalid sizes
entry pairs [n] (xs: [n]i64) (ys: [n]i64): [n]i64 = map2 (+) xs ys

-- ==
-- entry: gather
-- input { [1i64, 2i64, 3i64] [2i64, 0i64] } output { [3i64, 1i64] }
-- input { [1i64, 2i64, 3i64] [2i64, 5i64] } error: Index \[5\] out of bounds
entry gather (xs: []i64) (is: []i64): []i64 = map (\i -> xs[i]) is
