-- An invalid slice, update or size in any position is an error whose message shows the requested
-- and the actual values.

-- ==
-- entry: part
-- input { [1, 2, 3] 0i64 2i64 } output { [1, 2] }
-- input { [1, 2, 3] 1i64 3i64 } output { [2, 3] }
-- input { [1, 2, 3] -1i64 2i64 } error: out of bounds
-- input { [1, 2, 3] 2i64 5i64 } error: \[2:5\].*out of bounds.*shape \[3\]
-- input { [1, 2, 3] 3i64 3i64 } output { empty([0]i32) }
-- input { [1, 2, 3] 2i64 1i64 } error: \[2:1\]
entry part (xs: []i32) (i: i64) (j: i64) : []i32 = xs[i:j]

-- ==
-- entry: replaced
-- input { [1, 2, 3] 1i64 [8, 9] } output { [1, 8, 9] }
-- input { [1, 2, 3] 2i64 [8, 9] } error: out of bounds
entry replaced [n] (xs: *[]i32) (i: i64) (ys: [n]i32) : *[]i32 = xs with [i:i + n] = ys

-- ==
-- entry: rows
-- input { [[1, 2], [3, 4]] [0i64, 1i64, 1i64] } output { [[1, 2], [3, 4], [3, 4]] }
-- input { [[1, 2], [3, 4]] [0i64, 2i64] } error: Index \[2\] out of bounds
entry rows (xss: [][]i32) (is: []i64) : [][]i32 = map (\i -> xss[i]) is

-- ==
-- entry: counted_down
-- input { 3i64 } output { [3i64, 2i64, 1i64] }
-- input { 1i64 } output { [1i64] }
-- input { 0i64 } error: Range 0..-1...1 is invalid
entry counted_down (n: i64) : []i64 = n..n - 1...1

-- On GPU backends, the check is moved into a kernel, which fails after the copy of the slice has begun.
-- ==
-- entry: of_partition
-- input { [[[13u64, 5u64], [98u64, 5u64]], [[8u64, 1u64], [2u64, 24u64]]] 1i64 } error: out of bounds|outside of its array
entry of_partition [n] (xs: [n][n][n]u64) (i: i64) : [][][n]u64 =
  let (ys, _) = partition (\_ -> i != 0) xs
  in ys[(i & 3) - 1:i & 7, -1:i & 7]
