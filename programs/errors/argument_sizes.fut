-- An entry point rejects arguments whose sizes do not match each other, or do not match an
-- explicit size, whatever their contents are.

-- ==
-- entry: dot
-- input { [1, 2, 3] [4, 5, 6] } output { 32 }
-- input { [1, 2, 3] [4, 5] } error: invalid size
-- input { [1, 2] [4, 5, 6] } error: invalid size
-- input { empty([0]i32) [4] } error: invalid size
-- input { empty([0]i32) empty([0]i32) } output { 0 }
entry dot [n] (xs: [n]i32) (ys: [n]i32) : i32 = i32.sum (map2 (*) xs ys)

-- ==
-- entry: three
-- input { [1, 2, 3] } output { 6 }
-- input { [1, 2] } error: invalid size
-- input { [1, 2, 3, 4] } error: invalid size
-- input { empty([0]i32) } error: invalid size
entry three (xs: [3]i32) : i32 = xs[0] + xs[1] + xs[2]

-- ==
-- entry: given
-- input { 2i64 [1, 2] } output { [2, 1] }
-- input { 3i64 [1, 2] } error: invalid size
-- input { -2i64 [1, 2] } error: invalid size
-- input { 0i64 empty([0]i32) } output { empty([0]i32) }
entry given (n: i64) (xs: [n]i32) : [n]i32 = reverse xs

-- ==
-- entry: multiply
-- input { [[1, 2]] [[3], [4]] } output { [[11]] }
-- input { [[1, 2]] [[3, 4]] } error: invalid size
-- input { empty([0][2]i32) empty([1][0]i32) } error: invalid size
-- input { empty([0][2]i32) empty([2][0]i32) } output { empty([0][0]i32) }
entry multiply [n] [m] [p] (a: [n][m]i32) (b: [m][p]i32) : [n][p]i32 =
  map (\r -> map (\c -> i32.sum (map2 (*) r c)) (transpose b)) a

-- ==
-- entry: square
-- input { [[1, 2], [3, 4]] } output { 5 }
-- input { [[1, 2, 3], [4, 5, 6]] } error: invalid size
-- input { empty([0][1]i32) } error: invalid size
entry square [n] (xss: [n][n]i32) : i32 = i32.sum (map (\i -> xss[i, i]) (iota n))
