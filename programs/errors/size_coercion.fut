-- A failed size coercion is a program error that shows the sizes.

-- ==
-- entry: to_five
-- input { [1, 2, 3, 4, 5] } output { [1, 2, 3, 4, 5] }
-- input { [1, 2, 3] } error: cannot match shape
-- input { empty([0]i32) } error: cannot match shape
entry to_five (xs: []i32) : [5]i32 = xs :> [5]i32

-- ==
-- entry: to_n
-- input { [1, 2, 3] 3i64 } output { [1, 2, 3] }
-- input { [1, 2, 3] 2i64 } error: cannot match shape
-- input { [1, 2, 3] -3i64 } error: cannot match shape
-- input { empty([0]i32) 0i64 } output { empty([0]i32) }
entry to_n (xs: []i32) (n: i64) : [n]i32 = xs :> [n]i32

-- ==
-- entry: same_length
-- input { [1, 2, 3] [4, 5, 6] } output { [5, 7, 9] }
-- input { [1, -2, 3] [4, 5, 6] } error: cannot match shape
-- input { [-1] empty([0]i32) } output { empty([0]i32) }
entry same_length (xs: []i32) (ys: []i32) : []i32 =
  let as = filter (> 0) xs
  let bs = filter (> 0) ys
  let n = length as
  in map2 (+) (as :> [n]i32) (bs :> [n]i32)

-- ==
-- entry: square
-- input { [[1, 2], [3, 4]] } output { [[1, 3], [2, 4]] }
-- input { [[1, 2]] } error: cannot match shape
entry square [n] [m] (xss: [n][m]i32) : [n][n]i32 = transpose (xss :> [n][n]i32)
