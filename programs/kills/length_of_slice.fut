-- The length of a slice is computed before it is checked, and overflows for the lowest number.

-- ==
-- tags { kills }
-- entry: backwards
-- input { [1, 2, 3] 2i64 0i64 -1i64 } output { [3, 2] }
-- input { [1, 2, 3] 0i64 -9223372036854775808i64 -1i64 } error: out of bounds
-- input { [1, 2, 3] 9223372036854775807i64 -1i64 -1i64 } error: out of bounds
entry backwards (xs: []i32) (i: i64) (j: i64) (s: i64) : []i32 = xs[i:j:s]
