-- Results that are views of one array, or that are the same array, are returned as separate
-- arrays, each with its own shape.

-- ==
-- entry: views
-- input { [[1, 2, 3], [4, 5, 6]] }
-- output { [[1, 4], [2, 5], [3, 6]] [1, 2, 3, 4, 5, 6] [4, 5, 6] [2, 5] [[6, 5, 4], [3, 2, 1]] }
entry views [n] [m] (xss: [n][m]i32) : ([][]i32, []i32, []i32, []i32, [][]i32) =
  (transpose xss, flatten xss, xss[n - 1], xss[:, 1], xss[::-1, ::-1])

-- ==
-- entry: twice
-- input { [1, 2] } output { [1, 2] [1, 2] [2, 1] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i32) }
entry twice (xs: []i32) : ([]i32, []i32, []i32) = (xs, xs, reverse xs)

-- ==
-- entry: broadcast
-- input { 7 } output { [[7, 7], [7, 7], [7, 7]] [7] }
entry broadcast (x: i32) : ([3][2]i32, [1]i32) = (replicate 3 (replicate 2 x), [x])
