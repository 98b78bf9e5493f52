-- Each field of a matrix of records is an array whose first two dimensions are those of the
-- matrix; programs can transpose the matrix and index it.

type pixel = {r: u8, g: u8, b: u8}

type cell = {weight: f32, near: [2]i32}

entry gradient (h: i64) (w: i64) : [h][w]pixel =
  tabulate_2d h w (\y x -> {r = u8.i64 x, g = u8.i64 y, b = 255})

entry flip [h] [w] (image: [h][w]pixel) : [w][h]pixel = transpose image

entry at (image: [][]pixel) (y: i64) (x: i64) : pixel = image[y, x]

entry red (p: pixel) : u8 = p.r

entry cells [n] [m] (weight: [n][m]f32) : [n][m]cell =
  let build i j w = {weight = w, near = [i32.i64 i, i32.i64 j]}
  in map2 (\i ws -> map2 (build i) (iota m) ws) (iota n) weight

entry heavier (cs: [][]cell) : [][]cell =
  map (map (\(c: cell) -> c with weight = c.weight * 2)) cs

-- ==
-- entry: channels
-- input { 2i64 3i64 }
-- output { [[0u8, 0u8], [1u8, 1u8], [2u8, 2u8]] [[0u8, 1u8], [0u8, 1u8], [0u8, 1u8]] }
-- input { 0i64 2i64 } output { empty([2][0]u8) empty([2][0]u8) }
entry channels (h: i64) (w: i64) : ([w][h]u8, [w][h]u8) =
  let image = flip (gradient h w)
  in (map (map (.r)) image, map (map (.g)) image)

-- ==
-- entry: reds
-- input { 2i64 3i64 1i64 2i64 } output { 2u8 1u8 }
-- input { 2i64 3i64 2i64 0i64 } error: .*
-- input { 2i64 3i64 0i64 -1i64 } error: .*
entry reds (h: i64) (w: i64) (y: i64) (x: i64) : (u8, u8) =
  let image = gradient h w
  in (red (at image y x), (at image y x).g)

-- ==
-- entry: near
-- input { [[1f32, 2f32]] } output { [[2f32, 4f32]] [[[0, 0], [0, 1]]] }
-- input { empty([2][0]f32) } output { empty([2][0]f32) empty([2][0][2]i32) }
entry near [n] [m] (weight: [n][m]f32) : ([n][m]f32, [n][m][2]i32) =
  let cs = heavier (cells weight) :> [n][m]cell
  in (map (map (.weight)) cs, map (map (.near)) cs)
