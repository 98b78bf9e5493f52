-- A spread of rows writes each row to the place that its index names, and the default row to all
-- others. An index out of bounds is ignored.

-- ==
-- tags { unordered_rows }
-- entry: rows
-- input { 3i64 [7i32, 8i32] [2i64, 9i64] [[1i32, 2i32], [3i32, 4i32]] }
-- output { [[7i32, 8i32], [7i32, 8i32], [1i32, 2i32]] }
entry rows [n] [m] (k: i64) (x: [m]i32) (is: [n]i64) (vss: [n][m]i32) : [k][m]i32 =
  spread k x is vss
