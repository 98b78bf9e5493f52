-- A record keeps the types, ranks and shapes of its array fields; an entry point rejects fields of
-- different sizes if the sizes must be equal.

type~ series = {name: []u8, times: []f64, values: []f32}

type~ grid = {cells: [][]i32, origin: [2]i64, mask: [][]bool}

type pair_of [n] = {left: [n]i32, right: [n]i32}

entry make_series (name: []u8) (times: []f64) (values: []f32) : series =
  {name, times, values}

entry shift_series (s: series) (dt: f64) : series =
  s with times = map (+ dt) s.times

entry make_grid (cells: [][]i32) (origin: [2]i64) (mask: [][]bool) : grid =
  {cells, origin, mask}

entry transpose_grid (g: grid) : grid =
  { cells = transpose g.cells
  , origin = reverse g.origin
  , mask = transpose g.mask
  }

entry make_pair [n] (left: [n]i32) (right: [n]i32) : pair_of [n] = {left, right}

-- This entry point must reject a record whose fields differ in length.
entry dot_pair [n] (p: pair_of [n]) : i32 = i32.sum (map2 (*) p.left p.right)

-- ==
-- entry: shifted
-- input { [104u8, 105u8] [1f64, 2f64, 3f64] [0.5f32] 10f64 }
-- output { [104u8, 105u8] [11f64, 12f64, 13f64] [0.5f32] }
-- input { empty([0]u8) empty([0]f64) empty([0]f32) 10f64 }
-- output { empty([0]u8) empty([0]f64) empty([0]f32) }
entry shifted (name: []u8) (times: []f64) (values: []f32) (dt: f64) : ([]u8, []f64, []f32) =
  let s = shift_series (make_series name times values) dt
  in (s.name, s.times, s.values)

-- ==
-- entry: transposed
-- input { [[1, 2, 3]] [5i64, 6i64] [[true], [false]] }
-- output { [[1], [2], [3]] [6i64, 5i64] [[true, false]] }
-- input { empty([0][2]i32) [0i64, 1i64] empty([3][0]bool) }
-- output { empty([2][0]i32) [1i64, 0i64] empty([0][3]bool) }
entry transposed (cells: [][]i32) (origin: [2]i64) (mask: [][]bool) : ([][]i32, [2]i64, [][]bool) =
  let g = transpose_grid (make_grid cells origin mask)
  in (g.cells, g.origin, g.mask)

-- ==
-- entry: dot
-- input { [1, 2, 3] [4, 5, 6] } output { 32 }
-- input { empty([0]i32) empty([0]i32) } output { 0 }
-- input { [1, 2, 3] [4, 5] } error: .*
entry dot [n] (left: [n]i32) (right: [n]i32) : i32 = dot_pair (make_pair left right)
