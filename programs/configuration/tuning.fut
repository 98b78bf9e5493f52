-- Tuning parameters select between versions of nested parallel code, and every version returns the
-- same result. This program has several such parameters.

-- ==
-- entry: row_sums
-- input { [[1, 2, 3], [4, 5, 6]] } output { [6, 15] }
-- input { empty([0][3]i32) } output { empty([0]i32) }
-- input { empty([2][0]i32) } output { [0, 0] }
entry row_sums (xss: [][]i32) : []i32 = map i32.sum xss

-- ==
-- entry: row_scans
-- input { [[1, 2, 3], [4, 5, 6]] } output { [[1, 3, 6], [4, 9, 15]] }
entry row_scans (xss: [][]i32) : [][]i32 = map (scan (+) 0) xss

-- ==
-- entry: product
-- input { [[1, 2], [3, 4]] [[5, 6], [7, 8]] } output { [[19, 22], [43, 50]] }
entry product [n] [m] [p] (a: [n][m]i32) (b: [m][p]i32) : [n][p]i32 =
  map (\r -> map (\c -> i32.sum (map2 (*) r c)) (transpose b)) a
