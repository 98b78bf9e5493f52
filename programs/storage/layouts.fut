-- Opaque values of many layouts are unchanged after store and restore: fields of every width and
-- rank, empty arrays, and sums within records.

type scalars = {a: u8, b: i64, c: f16, d: bool, e: f64}

type~ columns = {ids: []u16, rows: [][]f32, cube: [][][]i8}

type~ tree = {left: columns, right: columns, depth: i32}

type~ choice = #nothing | #few [2]i32 | #many []i64

entry scalars (a: u8) (b: i64) (c: f16) (d: bool) (e: f64) : scalars = {a, b, c, d, e}

entry columns (ids: []u16) (rows: [][]f32) (cube: [][][]i8) : columns = {ids, rows, cube}

entry tree (left: columns) (right: columns) : tree = {left, right, depth = 2}

entry choose (i: i32) : choice =
  if i == 0 then #nothing else if i == 1 then #few [3, 4] else #many [5, 6, 7]

-- ==
-- entry: of_scalars
-- script input { scalars 1u8 2i64 0.5f16 true 4.0 } output { 8.5 }
-- script input { scalars 255u8 -1i64 0f16 false f64.inf } output { f64.inf }
entry of_scalars (s: scalars) : f64 =
  f64.u8 s.a + f64.i64 s.b + f64.f16 s.c + f64.bool s.d + s.e

-- ==
-- entry: of_columns
-- script input { columns [1u16, 2u16] [[0.5f32], [1.5f32]] [[[1i8, 2i8]]] } output { 2i64 2i64 1i64 }
-- script input { columns empty([0]u16) empty([3][0]f32) empty([0][2][1]i8) } output { 0i64 3i64 0i64 }
entry of_columns (c: columns) : (i64, i64, i64) =
  (length c.ids, length c.rows, length c.cube)

-- ==
-- entry: of_tree
-- script input { tree (columns [1u16] [[1f32]] [[[1i8]]])
--                     (columns [2u16, 3u16] empty([0][1]f32) empty([1][0][4]i8)) }
-- output { [1u16, 2u16, 3u16] 2i32 }
entry of_tree (t: tree) : ([]u16, i32) = (t.left.ids ++ t.right.ids, t.depth)

-- ==
-- entry: of_choice
-- script input { choose 0 } output { 0i64 }
-- script input { choose 1 } output { 7i64 }
-- script input { choose 2 } output { 18i64 }
entry of_choice (c: choice) : i64 =
  match c
  case #nothing -> 0
  case #few xs -> i64.i32 (i32.sum xs)
  case #many xs -> i64.sum xs
