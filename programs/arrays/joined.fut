-- Concatenation of arrays and of rows is correct for parts of any length, and so are rotation and
-- reversal.

-- ==
-- entry: three
-- input { [1] [2, 3] empty([0]i32) } output { [1, 2, 3] }
-- input { empty([0]i32) empty([0]i32) empty([0]i32) } output { empty([0]i32) }
entry three (a: []i32) (b: []i32) (c: []i32) : []i32 = a ++ b ++ c

-- ==
-- entry: beside
-- input { [[1], [2]] [[3, 4], [5, 6]] } output { [[1, 3, 4], [2, 5, 6]] }
-- input { empty([0][2]i32) empty([0][1]i32) } output { empty([0][3]i32) }
entry beside [n] [a] [b] (x: [n][a]i32) (y: [n][b]i32) : [n][a + b]i32 = map2 (++) x y

-- ==
-- entry: turned
-- input { 1i64 [1, 2, 3] } output { [2, 3, 1] [3, 2, 1] }
-- input { -1i64 [1, 2, 3] } output { [3, 1, 2] [3, 2, 1] }
entry turned (k: i64) (xs: []i32) : ([]i32, []i32) = (rotate k xs, reverse xs)
