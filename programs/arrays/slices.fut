-- Slices from either end, with strides, backwards, of columns and of slices are correct; a slice
-- out of bounds is an error that shows the slice.

-- ==
-- entry: stepped
-- input { [0, 1, 2, 3, 4, 5, 6] } output { [0, 2, 4, 6] [6, 5, 4, 3, 2, 1, 0] [5, 3] }
entry stepped [n] (xs: [n]i32) : ([]i32, []i32, []i32) = (xs[::2], xs[::-1], xs[n - 2:1:-2])

-- ==
-- entry: column
-- input { [[1, 2, 3], [4, 5, 6]] 1i64 } output { [2, 5] }
-- input { [[1, 2, 3], [4, 5, 6]] 3i64 } error: out of bounds
entry column (xss: [][]i32) (j: i64) : []i32 = xss[:, j]

-- ==
-- entry: inner
-- input { [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]] } output { [[11, 10], [7, 6]] }
entry inner (xss: [][]i32) : [][]i32 = xss[::-1][0:2, ::-1][:, 1:3]
