-- In-place updates of an element, a row, a column and a slice are correct, and so are updates of
-- many elements by index, which ignore indices out of bounds.

-- ==
-- tags { unordered_scattered }
-- entry: element
-- input { [1, 2, 3] 1i64 9 } output { [1, 9, 3] }
-- input { [1, 2, 3] 3i64 9 } error: out of bounds
entry element (xs: *[]i32) (i: i64) (x: i32) : *[]i32 = xs with [i] = x

-- ==
-- entry: row_and_column
-- input { [[1, 2], [3, 4]] [7, 8] } output { [[7, 8], [7, 8]] [[7, 7], [8, 8]] }
entry row_and_column [n] (xss: [n][n]i32) (xs: [n]i32) : ([][]i32, [][]i32) =
  ( loop a = copy xss for i < n do a with [i] = xs
  , loop a = copy xss for i < n do a with [:, i] = xs
  )

-- ==
-- entry: scattered
-- input { [0, 0, 0] [2i64, 0i64, 5i64, -1i64] [7, 8, 9, 10] } output { [8, 0, 7] }
-- input { empty([0]i32) [0i64] [1] } output { empty([0]i32) }
entry scattered [n] (xs: *[]i32) (is: [n]i64) (vs: [n]i32) : *[]i32 = scatter xs is vs

-- ==
-- entry: counted
-- input { [1i64, 1i64, 3i64, 7i64] } output { [0, 2, 0, 1] }
entry counted (is: []i64) : [4]i32 = hist (+) 0 4 is (map (const 1) is)
