-- Arrays of rank 0 (a scalar) to 5 keep their shape and their row-major order as arguments and
-- results, including dimensions of size one and zero.

-- ==
-- entry: rank0
-- input { 7i32 } output { 7i32 }
entry rank0 (x: i32) : i32 = x

-- ==
-- entry: rank1
-- input { [1, 2, 3] } output { [1, 2, 3] }
-- input { [9] } output { [9] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry rank1 (x: []i32) : []i32 = x

-- ==
-- entry: rank2
-- input { [[1, 2], [3, 4], [5, 6]] } output { [[1, 2], [3, 4], [5, 6]] }
-- input { empty([0][4]i32) } output { empty([0][4]i32) }
-- input { empty([4][0]i32) } output { empty([4][0]i32) }
entry rank2 (x: [][]i32) : [][]i32 = x

-- ==
-- entry: rank3
-- input { [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] }
-- output { [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] }
-- input { empty([2][0][3]i32) } output { empty([2][0][3]i32) }
entry rank3 (x: [][][]i32) : [][][]i32 = x

-- ==
-- entry: rank4
-- input { [[[[1], [2]], [[3], [4]]]] } output { [[[[1], [2]], [[3], [4]]]] }
-- input { empty([1][2][3][0]i32) } output { empty([1][2][3][0]i32) }
entry rank4 (x: [][][][]i32) : [][][][]i32 = x

-- ==
-- entry: rank5
-- input { [[[[[1, 2]]], [[[3, 4]]]]] } output { [[[[[1, 2]]], [[[3, 4]]]]] }
-- input { empty([0][0][0][0][0]i32) } output { empty([0][0][0][0][0]i32) }
entry rank5 (x: [][][][][]i32) : [][][][][]i32 = x

-- Returns the dimensions as the program sees them.
-- ==
-- entry: shape5
-- input { [[[[[1, 2]], [[3, 4]], [[5, 6]]]]] } output { [1i64, 1i64, 3i64, 1i64, 2i64] }
-- input { empty([2][0][3][1][4]i32) } output { [2i64, 0i64, 3i64, 1i64, 4i64] }
entry shape5 [a] [b] [c] [d] [e] (_: [a][b][c][d][e]i32) : [5]i64 = [a, b, c, d, e]

-- Each position has a different element.
-- ==
-- entry: at5
-- input { [[[[[1, 2]], [[3, 4]], [[5, 6]]]]] 0i64 0i64 2i64 0i64 1i64 } output { 6 }
-- input { [[[[[1, 2]], [[3, 4]], [[5, 6]]]]] 0i64 0i64 1i64 0i64 0i64 } output { 3 }
entry at5 (x: [][][][][]i32) (a: i64) (b: i64) (c: i64) (d: i64) (e: i64) : i32 =
  x[a, b, c, d, e]

-- Permutes the dimensions, so the elements of the result have another order than the input's.
-- ==
-- entry: rotate3
-- input { [[[1, 2, 3], [4, 5, 6]]] } output { [[[1], [4]], [[2], [5]], [[3], [6]]] }
-- input { empty([1][0][3]i32) } output { empty([3][0][1]i32) }
entry rotate3 [a] [b] [c] (x: [a][b][c]i32) : [c][b][a]i32 =
  tabulate_3d c b a (\k j i -> x[i, j, k])

-- ==
-- entry: build4
-- input { 1i64 2i64 1i64 3i64 } output { [[[[0i64, 1i64, 2i64]], [[10i64, 11i64, 12i64]]]] }
-- input { 0i64 2i64 1i64 3i64 } output { empty([0][2][1][3]i64) }
entry build4 (a: i64) (b: i64) (c: i64) (d: i64) : [][][][]i64 =
  tabulate_3d a b c (\i j k -> map (\l -> 1000 * i + 10 * j + 100 * k + l) (iota d))
