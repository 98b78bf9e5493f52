-- A result has the shape that the program computes, whether the sizes depend on an input array, on
-- a parameter, or on the computation.

-- ==
-- entry: positive
-- input { [3, -1, 4, -1, 5] } output { [3, 4, 5] }
-- input { [-1, -2] } output { empty([0]i32) }
-- input { empty([0]i32) } output { empty([0]i32) }
entry positive (xs: []i32) : []i32 = filter (> 0) xs

-- ==
-- entry: halves
-- input { [1, -2, 3, -4] } output { [1, 3] [-2, -4] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) }
entry halves (xs: []i32) : ([]i32, []i32) = partition (> 0) xs

-- ==
-- entry: count
-- input { 0i64 } output { empty([0]i64) }
-- input { 3i64 } output { [0i64, 1i64, 2i64] }
entry count (n: i64) : []i64 = iota n

-- ==
-- entry: append
-- input { [1, 2] [3] } output { [1, 2, 3] }
-- input { empty([0]i32) [3] } output { [3] }
-- input { empty([0]i32) empty([0]i32) } output { empty([0]i32) }
entry append [n] [m] (xs: [n]i32) (ys: [m]i32) : [n + m]i32 = xs ++ ys

-- ==
-- entry: outer
-- input { [1, 2] [3, 4, 5] } output { [[3, 4, 5], [6, 8, 10]] }
-- input { empty([0]i32) [3, 4, 5] } output { empty([0][3]i32) }
-- input { [1, 2] empty([0]i32) } output { empty([2][0]i32) }
entry outer [n] [m] (xs: [n]i32) (ys: [m]i32) : [n][m]i32 =
  map (\x -> map (x *) ys) xs

-- ==
-- entry: every_other
-- input { [0, 1, 2, 3, 4] } output { [0, 2, 4] }
-- input { [0] } output { [0] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry every_other (xs: []i32) : []i32 = xs[::2]

-- ==
-- entry: fixed
-- input { [1, 2, 3] } output { [3, 1, 2] }
entry fixed (xs: [3]i32) : [3]i32 = rotate (-1) xs

-- ==
-- entry: reshape
-- input { 2i64 3i64 [1, 2, 3, 4, 5, 6] } output { [[1, 2, 3], [4, 5, 6]] }
-- input { 0i64 3i64 empty([0]i32) } output { empty([0][3]i32) }
entry reshape (n: i64) (m: i64) (xs: [n * m]i32) : [n][m]i32 = unflatten xs

-- The largest number is a limit, not an invalid size.
-- ==
-- entry: limited
-- input { [1, 2, 3] 9223372036854775807i64 } output { [2, 3, 4, 2, 3, 4] }
-- input { [1, 2, 3] 4i64 } output { [2, 3, 4, 2] }
entry limited (xs: []i32) (most: i64) : []i32 =
  let all = xs ++ xs
  in map (+ 1) (take (i64.min i64.highest (i64.min most (length all))) all)
