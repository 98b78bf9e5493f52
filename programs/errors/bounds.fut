-- An index out of bounds is a program error with a message and never reads other memory; the
-- context remains usable.

-- ==
-- entry: index
-- input { [1, 2, 3] 0i64 } output { 1 }
-- input { [1, 2, 3] 3i64 } error: out of bounds
-- input { [1, 2, 3] -1i64 } error: out of bounds
-- input { [1, 2, 3] 9223372036854775807i64 } error: out of bounds
-- input { [1, 2, 3] -9223372036854775808i64 } error: out of bounds
-- input { empty([0]i32) 0i64 } error: out of bounds
-- input { [1, 2, 3] 2i64 } output { 3 }
entry index (xs: []i32) (i: i64) : i32 = xs[i]

-- ==
-- entry: index2
-- input { [[1, 2], [3, 4]] 1i64 0i64 } output { 3 }
-- input { [[1, 2], [3, 4]] 2i64 0i64 } error: out of bounds
-- input { [[1, 2], [3, 4]] 0i64 2i64 } error: out of bounds
-- input { [[1, 2], [3, 4]] 0i64 -1i64 } error: out of bounds
-- input { empty([2][0]i32) 0i64 0i64 } error: out of bounds
entry index2 (xss: [][]i32) (i: i64) (j: i64) : i32 = xss[i, j]

-- ==
-- entry: update
-- input { [1, 2, 3] 1i64 9 } output { [1, 9, 3] }
-- input { [1, 2, 3] 3i64 9 } error: out of bounds
-- input { empty([0]i32) 0i64 9 } error: out of bounds
entry update (xs: *[]i32) (i: i64) (v: i32) : *[]i32 = xs with [i] = v

-- ==
-- entry: range
-- input { 3i64 } output { [0i64, 1i64, 2i64] }
-- input { -1i64 } error: .*
entry range (n: i64) : []i64 = 0..<n
