-- Test blocks can expect errors: a regular expression must match a part of the message; at the end
-- of a block it may be omitted; the cases after a failing one still run.

-- ==
-- entry: pick
-- input { [10, 20] 1i64 } output { 20 }
-- input { [10, 20] 2i64 } error: .
-- input { [10, 20] 2i64 } error: ^Error: Index
-- input { [10, 20] 2i64 } error: Index \[2\] out of bounds
-- input { [10, 20] 2i64 } error: \[[[:digit:]]+\] out
-- input { [10, 20] 2i64 } error: (nothing|bounds)
-- input { [10, 20] 2i64 } error: [Ii]ndex.*shape
-- input { [10, 20] 2i64 } error: shape \[2]\.$
-- input { [10, 20] 2i64 } error: s{2}|bounds for array
-- input { [10, 20] 2i64 } error: Backtrace:$
-- input { [10, 20] 0i64 } output { 10 }
-- input { [10, 20] -1i64 } error:
entry pick (xs: []i32) (i: i64) : i32 = xs[i]

-- ==
-- entry: halve
-- input { 4 } output { 2 }
-- input { 3 } error: Assertion is false
-- input { 3 } error: x % 2 == 0
-- input { -2 } output { -1 }
entry halve (x: i32) : i32 = assert (x % 2 == 0) (x / 2)
